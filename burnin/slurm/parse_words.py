"""What Slurm's commands say instead of an answer."""

from __future__ import annotations

import re

from burnin.slurm.refusal import SlurmParseError, SlurmRefusalKind

# A line of its own: the same words inside a row may be somebody's job name.
_ERRORS = (
    (
        SlurmRefusalKind.ACCOUNTING_DISABLED,
        re.compile(r"^(?:sacct: (?:error: )?)?(Slurm accounting storage is disabled)$", re.M),
    ),
    (
        SlurmRefusalKind.UNKNOWN_JOB,
        re.compile(r"^slurm_load_jobs? error: (Invalid job id specified)$", re.MULTILINE),
    ),
    (
        SlurmRefusalKind.CONTROLLER_UNREACHABLE,
        re.compile(
            r"^((?:\w+: )?(?:error: )?(?:slurm_load_\w+(?: error)?: )?(?:Unable to contact slurm"
            r" controller|Socket timed out|Zero Bytes were|Connection refused)[^\n|]*)$",
            re.MULTILINE,
        ),
    ),
)


def refuse_error(text: str, command: str) -> None:
    """Raise SlurmParseError on an error message, on nothing at all, and on a line cut in two."""
    if not text.strip():
        words = f"empty output: {command} wrote nothing"
        raise SlurmParseError(words, kind=SlurmRefusalKind.NO_DATA)
    for kind, words_of in _ERRORS:
        if found := words_of.search(text):
            raise SlurmParseError(found[1], kind=kind)


def refuse_cut(text: str, command: str) -> None:
    if not text.endswith("\n"):
        raise cut(f"{command}'s last line is cut")


def cut(words: str) -> SlurmParseError:
    return SlurmParseError(words, kind=SlurmRefusalKind.TRUNCATED)


def malformed(words: str) -> SlurmParseError:
    return SlurmParseError(words, kind=SlurmRefusalKind.MALFORMED)


def count(word: str, where: str) -> int:
    """Read a whole number of up to twelve digits."""
    if not re.fullmatch(r"[0-9]{1,12}", word):
        raise malformed(f"{where}: '{word[:40]}' is no number")
    return int(word)
