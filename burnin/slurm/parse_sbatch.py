"""What sbatch (salloc, srun) says: a job id, or why there is none.

A client-side error has no "submission failed" before it. Where the answer of the controller was
lost, the job may exist: `may_have_been_accepted`. What the product itself submits is read on the
login host (`burnin.slurm.login_host`), which takes no such answer for a refusal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from burnin.slurm.parse_words import count
from burnin.slurm.refusal import SlurmParseError, SlurmRefusalKind


class Retry(StrEnum):
    """Whether the same request may succeed later."""

    NEVER = "never"
    NOW = "now"
    LATER = "later"
    AFTER_CHECKING = "only after checking by job name/comment that it was not accepted"


@dataclass(frozen=True)
class SbatchAnswer:
    """`cluster` is None where sbatch names none."""

    job_id: int
    cluster: str | None


_KIND = SlurmRefusalKind
_SUBMITTED = re.compile(r"^Submitted batch job (\d+)(?: on cluster (\S+))?$", re.MULTILINE)
_PARSABLE = re.compile(r"^(\d+)(?:;([^\s;]+))?$", re.MULTILINE)
_PREFIX = re.compile(
    r"^(?:sbatch|salloc|srun): (?:error: )?"
    r"(?:Batch job submission failed: |Job submit/allocate failed: "
    r"|Unable to allocate resources: )?"
)
_ANSWERED = re.compile(r"submission failed: |allocate failed: |allocate resources: ")

# Tried in this order; the first words that are found decide.
_REFUSALS = tuple(
    (kind, retry, re.compile(words))
    for kind, retry, words in (
        (
            _KIND.CONTROLLER_TIMEOUT,
            Retry.AFTER_CHECKING,
            r"Socket timed out on send/recv operation",
        ),
        (_KIND.CONTROLLER_PROTOCOL, Retry.NOW, r"Zero Bytes were transmitted or received"),
        (_KIND.CONTROLLER_FAILOVER, Retry.NOW, r"Slurm backup controller in standby mode"),
        (_KIND.CONTROLLER_UNREACHABLE, Retry.NOW, r"Unable to contact slurm controller.*"),
        (_KIND.BUSY, Retry.NOW, r"Requested nodes are busy"),
        (_KIND.QOS_LIMIT, Retry.LATER, r"Job violates accounting/QOS policy.*"),
        (
            _KIND.CLUSTER_UNREACHABLE,
            Retry.NEVER,
            r"'\S+' can't be reached now, or it is an invalid entry for --cluster",
        ),
        (
            _KIND.BAD_SCRIPT,
            Retry.NEVER,
            r"Batch script (?:contains DOS line breaks|is empty.*)|.*look like a batch script.*",
        ),
        (_KIND.SCRIPT_MISSING, Retry.NEVER, r"Unable to open file \S+"),
        (
            _KIND.INVALID_OPTION,
            Retry.NEVER,
            r"(?:unrecognized|invalid) option.*|Invalid --\S+ specification|.*requires an argument",
        ),
        (_KIND.INVALID_NODE_NAME, Retry.NEVER, r"Invalid node name specified"),
        (_KIND.INVALID_FEATURE, Retry.NEVER, r"Invalid feature specification"),
        (_KIND.INVALID_PARTITION, Retry.NEVER, r"[Ii]nvalid partition (?:name )?specified.*"),
        (_KIND.DEPENDENCY, Retry.NEVER, r"Job dependency problem"),
        (_KIND.ACCOUNT, Retry.NEVER, r"Invalid account or account/partition combination specified"),
        (_KIND.QOS, Retry.NEVER, r"Invalid qos specification"),
        (
            _KIND.PARTITION_ACCESS,
            Retry.NEVER,
            r"User's group not permitted to use this partition|Access/permission denied",
        ),
        (
            _KIND.NODE_CONFIG_UNAVAILABLE,
            Retry.NEVER,
            r"Requested node configuration is not available",
        ),
    )
)
_IN_DOUBT = frozenset({_KIND.CONTROLLER_TIMEOUT, _KIND.CONTROLLER_PROTOCOL})
_RETRYABLE: dict[Retry, bool | str] = {
    Retry.NEVER: False,
    Retry.NOW: True,
    Retry.LATER: str(Retry.LATER),
    Retry.AFTER_CHECKING: str(Retry.AFTER_CHECKING),
}


def parse(text: str) -> SbatchAnswer:
    """Return the job id; raise SlurmParseError with Slurm's words where there is none."""
    if not text.strip():
        raise SlurmParseError("empty output: sbatch said nothing", kind=_KIND.NO_DATA)
    answers = [*_SUBMITTED.findall(text), *_PARSABLE.findall(text)]
    if not answers:
        raise _refusal(text)
    # An id without the end of its line may be the beginning of another one.
    if len(answers) > 1 or not text.endswith("\n"):
        raise _refused(
            "sbatch's answer is cut, or names several jobs", _KIND.TRUNCATED, in_doubt=True
        )
    job_id, cluster = answers[0]
    return SbatchAnswer(count(job_id, "sbatch's job id"), cluster or None)


def _refusal(text: str) -> SlurmParseError:
    for kind, retry, pattern in _REFUSALS:
        if found := pattern.search(text):
            words = _with_cause(found[0].strip(), text)
            return _refused(words, kind, retry=retry, in_doubt=kind in _IN_DOUBT)
    lines = [_PREFIX.sub("", line).strip() or line for line in text.splitlines() if line.strip()]
    if lines[-1] == "Unspecified error" and len(lines) > 1:
        return _refused(lines[0], _KIND.PLUGIN_REJECT)
    # Words that we do not know, or that are cut, may stand for a lost answer.
    answered = _ANSWERED.search(text) is not None and text.endswith("\n")
    return _refused(lines[-1][:200], _KIND.REFUSED, in_doubt=not answered)


def _with_cause(words: str, text: str) -> str:
    """Put before Slurm's general sentence the one that sbatch found out itself."""
    causes = re.findall(r"(Memory specification can not be satisfied)", text)
    return " / ".join([*causes, words])


def _refused(
    words: str, kind: SlurmRefusalKind, *, retry: Retry = Retry.NEVER, in_doubt: bool = False
) -> SlurmParseError:
    facts = {"retryable": _RETRYABLE[retry], "may_have_been_accepted": in_doubt}
    return SlurmParseError(words, kind=kind, facts=facts)
