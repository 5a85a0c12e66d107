"""gpu-burn's output. Its exit code is 0 for a faulty GPU: the lines "GPU n: FAULTY" decide.

The errors of a progress line are those of an interval and fall back to 0, so the worst counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count, whole
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

DIED = -1  # what gpu-burn prints as a GPU's count of results and of errors once it is gone

_DONE = re.compile(r"(-?\d+) \((\S+) Gflop/s\)")
_ERRORS = re.compile(r"(-?\d+)(?:\s+\((?:DIED|WARNING)!\))?")
_SHOWN = re.compile(r"(?:(\d{1,5}) [CW]|--)(?= |$)")
_TESTED = re.compile(r"Tested (\d{1,4}) GPUs:")
_VERDICT = re.compile(r"\s*GPU (\d{1,4}): (OK|FAULTY)\s*")
_DEVICE = re.compile(r"GPU (\d{1,4}): (.+) \(UUID: (\S+)\)")
_REASON = re.compile(r"(?:Failure during compute: |Couldn't init a GPU test: )(?:Error in )?.*")
_NOBODY = "No clients are alive"


@dataclass(frozen=True)
class BurntGpu:
    """One GPU. `ok` is None where gpu-burn ended without its verdict.

    `last_gflops` is None while nothing was reported, `hottest_c` and `highest_power_w` where no
    sensor was read.
    """

    index: int
    name: str | None
    uuid: str | None
    ok: bool | None
    died: bool
    worst_errors: int
    last_gflops: float | None
    hottest_c: int | None
    highest_power_w: int | None

    @property
    def is_good(self) -> bool:
        return self.ok is True and not self.died and self.worst_errors == 0


@dataclass(frozen=True)
class GpuBurnReport:
    """A burn that ended with its verdicts, or with every GPU dead after it had computed."""

    gpus: tuple[BurntGpu, ...]
    reasons: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return all(gpu.is_good for gpu in self.gpus)


@dataclass(frozen=True)
class _Moment:
    """One progress line, a value for each GPU."""

    done: tuple[int, ...]
    gflops: tuple[float, ...]
    errors: tuple[int, ...]
    temperatures_c: tuple[int | None, ...]
    powers_w: tuple[int | None, ...]


def parse(text: str) -> GpuBurnReport:
    """Return the report; raise ParseError on an output without verdict."""
    moments = [moment for line in text.splitlines() if (moment := _moment(line))]
    verdicts = _verdicts(text)
    reasons = tuple(dict.fromkeys(match[0].strip() for match in _REASON.finditer(text)))
    if verdicts is None:
        _refuse_without_verdicts(text, moments, reasons)
    gpus = range(len(verdicts or moments[-1].done))
    if any(len(moment.done) != len(gpus) for moment in moments):
        raise ParseError(
            "gpu-burn's progress lines and verdicts speak of different numbers of GPUs",
            kind=RefusalKind.CONTRADICTORY,
        )
    listed = [(match[2], match[3]) for match in _DEVICE.finditer(text)]
    if len(listed) != len(gpus):
        listed = []  # with -i one GPU of several is burnt, and which one is not said
    return GpuBurnReport(
        gpus=tuple(
            _gpu(
                index,
                moments,
                verdicts[index] if verdicts else None,
                listed[index] if listed else None,
            )
            for index in gpus
        ),
        reasons=reasons,
    )


def _moment(line: str) -> _Moment | None:
    """Read a progress line; None for others, and for one that a burning process wrote into."""
    _, is_progress, rest = line.partition("proc'd: ")
    done_text, has_errors, rest = rest.partition(" errors: ")
    errors_text, has_temperatures, rest = rest.partition(" temps: ")
    temperatures_text, _, powers_text = rest.partition(" power: ")
    done = [_DONE.fullmatch(part.strip()) for part in done_text.split(" - ")]
    # Behind a note gpu-burn prints no blank: "0 - 17  (WARNING!)- 0 ".
    errors_text = errors_text.replace(")- ", ") - ")
    errors = [_ERRORS.fullmatch(part.strip()) for part in errors_text.split(" - ")]
    is_whole = is_progress and has_errors and has_temperatures and len(done) == len(errors)
    if not (is_whole and all(done) and all(errors)):
        return None
    return _Moment(
        done=tuple(whole(match[1], "proc'd") for match in done if match),
        gflops=tuple(amount(match[2], "Gflop/s") for match in done if match),
        errors=tuple(whole(match[1], "errors") for match in errors if match),
        temperatures_c=_shown(temperatures_text, len(done)),
        powers_w=_shown(powers_text, len(done)),
    )


def _shown(text: str, gpu_count: int) -> tuple[int | None, ...]:
    """Read "38 C - -- - 40 C"; other words may follow the last one on its line."""
    values = [count(match[1], "sensor") if match[1] else None for match in _SHOWN.finditer(text)]
    values = values[:gpu_count]
    return tuple(values) if len(values) == gpu_count else (None,) * gpu_count


def _verdicts(text: str) -> tuple[bool, ...] | None:
    """Return what stands under "Tested n GPUs:", None where that was never printed."""
    head, tested, rest = text.rpartition("Tested ")
    found = _TESTED.match(tested + rest)
    if found is None:
        return None
    lines = [match for line in rest.splitlines() if (match := _VERDICT.fullmatch(line))]
    if len(lines) < int(found[1]):
        raise ParseError("gpu-burn's verdicts are cut", kind=RefusalKind.TRUNCATED)
    if [int(match[1]) for match in lines] != list(range(int(found[1]))) or _TESTED.search(head):
        raise ParseError(
            f"gpu-burn tested {found[1]} GPUs and gives {len(lines)} verdicts",
            kind=RefusalKind.CONTRADICTORY,
        )
    return tuple(match[2] == "OK" for match in lines)


def _refuse_without_verdicts(text: str, moments: list[_Moment], reasons: tuple[str, ...]) -> None:
    """Let pass only what ended because every GPU died under the load."""
    if not text.strip():
        raise ParseError("empty output: gpu-burn wrote nothing", kind=RefusalKind.NO_DATA)
    computed = any(done > 0 for moment in moments for done in moment.done)
    if _NOBODY in text and computed and all(done == DIED for done in moments[-1].done):
        return
    if _NOBODY in text or (reasons and not computed):
        why = reasons[0] if reasons else _NOBODY
        raise ParseError(f"gpu-burn did not start: {why}", kind=RefusalKind.SETUP_ERROR)
    if moments or _DEVICE.search(text):
        raise ParseError("gpu-burn's output has no verdict", kind=RefusalKind.TRUNCATED)
    line = text.strip().splitlines()[-1]
    raise ParseError(f"not a gpu-burn output: {line:.200}", kind=RefusalKind.MALFORMED)


def _gpu(
    index: int,
    moments: list[_Moment],
    ok: bool | None,
    identity: tuple[str, str] | None,
) -> BurntGpu:
    gflops = [moment.gflops[index] for moment in moments if moment.done[index] > 0]
    return BurntGpu(
        index=index,
        name=identity[0] if identity else None,
        uuid=identity[1] if identity else None,
        ok=ok,
        died=any(moment.done[index] == DIED for moment in moments),
        worst_errors=max((moment.errors[index] for moment in moments), default=0),
        last_gflops=gflops[-1] if gflops else None,
        hottest_c=_highest(moment.temperatures_c[index] for moment in moments),
        highest_power_w=_highest(moment.powers_w[index] for moment in moments),
    )


def _highest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
