"""The output of AMD's ROCm Validation Suite (`rvs -c`, `rvs -r`), version 1.3 and newer.

Its forms stand in ROCm/ROCmValidationSuite, docs/ug1main.md and the sources of its modules:
gst.so/src/gst_worker.cpp, iet.so/src/iet_worker.cpp, babel.so/src/rvs_stress.cpp, pebb.so and
pbqt.so/src/action.cpp. An action that ran is PASS in the summary though its products are wrong or
slow: the lines of the modules decide. Only [RESULT] lines count, for what RVS says between them
may be "-nan GBps".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.parsers.rvs_report import (
    RvsMemoryTest,
    RvsPower,
    RvsProducts,
    RvsReport,
    RvsStream,
    RvsTransfer,
)
from burnin.hardware_tests.parsers.rvs_summary import Summary, summary_in

_LINE = re.compile(r"\[(RESULT|ERROR|INFO|DEBUG|TRACE) *\] *\[ *[\d.]+ *\] ?(.*)")
_ACTION = re.compile(r"Action name :(.+?) *")
_OF_GPU = re.compile(r"\[([^\]]+)\] \[GPU:: *(\d{1,9})\] (.+)")
_GFLOPS = re.compile(r"GFLOPS (\S+)(?: Target GFLOPS: (\S+) met: (TRUE|FALSE))?")
_WRONG = re.compile(r"(?:self|accu|crc)-check error .+")
_POWER = re.compile(r"Power\(W\) (\S+)")
_PASSES = re.compile(r"pass: (TRUE|FALSE)")
_FAILED_GPU = re.compile(r"\[([^\]]+)\] gst (\d{1,9}) (.+)")
_TRANSFER = re.compile(
    r"\[([^\]]+)\] (?:pcie|p2p)-bandwidth *\[ *\d+/\d+\] \[((?:CPU|GPU)::[^\]]+)\]"
    r" \[(GPU::[^\]]+)\] .*?(?:(\S+) GBps|\(not measured\)).*"
)
_MEMORY = re.compile(r"\[([^\]]+)\] mem Test (\d{1,3}) : (PASS|FAIL)\b.*")
_STREAM = re.compile(r" *(\d{1,9}) +(Read|Write|Copy|Mul|Add|Triad|Dot) +(\S+) .*")
_UNIT = re.compile(r" *GPU Id +Function +(MBytes|MiBytes)/sec .*")
_WRONG_DATA = re.compile(r".*(Validation failed on .+)")
_RVS_ERROR = re.compile(r"RVS-ERROR (.+)")
_NO_REASON = "Action failed to run successfully."
_BYTES = {"MBytes": 1e6, "MiBytes": 1 << 20}

_Said = list[tuple[str, int, str]]  # action, GPU id, words


def parse(text: str) -> RvsReport:
    """Return the report; raise ParseError when it has no summary, or another than its actions."""
    summary = summary_in(text)
    lines = [found for line in text.splitlines() if (found := _LINE.fullmatch(line.strip()))]
    results = [line[2] for line in lines if line[1] == "RESULT"]
    started = [found[1] for each in results if (found := _ACTION.fullmatch(each))]
    if summary is None:
        raise _refusal(text, started)
    _refuse_other_actions(summary, started)
    errors = [line[2] for line in lines if line[1] == "ERROR"]
    of_gpus = [_of_gpu(found) for each in results if (found := _OF_GPU.fullmatch(each))]
    return RvsReport(
        version=summary.version,
        gpus=summary.gpus,
        actions=summary.actions,
        products=tuple(_products(of_gpus, errors)),
        powers=tuple(_powers(of_gpus)),
        streams=tuple(_streams(text)),
        transfers=tuple(_transfers(results)),
        memory_tests=tuple(_memory_tests(results)),
        wrong_data=tuple(_wrong_data(text)),
        errors=tuple(dict.fromkeys([*errors, *_rvs_errors(text)])),
    )


def _refusal(text: str, started: list[str]) -> ParseError:
    if not text.strip():
        return ParseError("empty output: RVS wrote nothing", kind=RefusalKind.NO_DATA)
    if started:
        return ParseError(
            f"RVS's output has no summary; its last action is {started[-1]}: it is cut, or of an"
            " RVS older than 1.3 (ROCm 7.0.2)",
            kind=RefusalKind.TRUNCATED,
        )
    errors = list(_rvs_errors(text))
    if errors:
        return ParseError(f"RVS did not start: {errors[0]:.200}", kind=RefusalKind.SETUP_ERROR)
    last = text.strip().splitlines()[-1]
    return ParseError(f"not an output of RVS: {last:.200}", kind=RefusalKind.MALFORMED)


def _refuse_other_actions(summary: Summary, started: list[str]) -> None:
    listed = [action.name for action in summary.actions]
    if listed != started or not listed:
        raise ParseError(
            f"RVS began {len(started)} actions, and its summary lists {len(listed)}"
            " or others than those",
            kind=RefusalKind.CONTRADICTORY,
        )


def _of_gpu(found: re.Match[str]) -> tuple[str, int, str]:
    return found[1], count(found[2], "GPU id"), found[3].strip()


def _products(of_gpus: _Said, errors: Iterable[str]) -> Iterator[RvsProducts]:
    failures = {
        (found[1], count(found[2], "GPU id")): found[3]
        for each in errors
        if (found := _FAILED_GPU.fullmatch(each))
    }
    said = _by_gpu(of_gpus, ("Start of GPU ramp up", "End of GPU ramp up"), _GFLOPS, _WRONG)
    for (action, gpu_id), words in said.items():
        yield _product(action, gpu_id, words, failures.get((action, gpu_id)))


def _product(action: str, gpu_id: int, words: list[str], failure: str | None) -> RvsProducts:
    speeds = [found for each in words if (found := _GFLOPS.fullmatch(each))]
    ends = [found for found in speeds if found[2]]
    if len(ends) > 1 or (ends and failure):
        raise ParseError(
            f"RVS ends {action} on GPU {gpu_id} more than once", kind=RefusalKind.CONTRADICTORY
        )
    end = ends[0] if ends else None
    return RvsProducts(
        action=action,
        gpu_id=gpu_id,
        intervals_gflops=tuple(amount(found[1], "GFLOPS") for found in speeds if not found[2]),
        best_gflops=amount(end[1], "GFLOPS") if end else None,
        target_gflops=amount(end[2], "Target GFLOPS") if end else None,
        met=end[3] == "TRUE" if end else None,
        wrong_products=sum(bool(_WRONG.fullmatch(each)) for each in words),
        failure=failure,
    )


def _powers(of_gpus: _Said) -> Iterator[RvsPower]:
    for (action, gpu_id), words in _by_gpu(of_gpus, (), _POWER, _PASSES).items():
        verdicts = [found[1] for each in words if (found := _PASSES.fullmatch(each))]
        if len(verdicts) > 1:
            raise ParseError(
                f"RVS ends {action} on GPU {gpu_id} more than once", kind=RefusalKind.CONTRADICTORY
            )
        samples = [found[1] for each in words if (found := _POWER.fullmatch(each))]
        yield RvsPower(
            action=action,
            gpu_id=gpu_id,
            samples_w=tuple(amount(each, "Power(W)") for each in samples),
            passed=verdicts[0] == "TRUE" if verdicts else None,
        )


def _by_gpu(
    of_gpus: _Said, phrases: tuple[str, ...], *patterns: re.Pattern[str]
) -> dict[tuple[str, int], list[str]]:
    """Return what is said of each action and GPU, as far as it is one of these."""
    found: dict[tuple[str, int], list[str]] = {}
    for action, gpu_id, words in of_gpus:
        if words in phrases or any(pattern.fullmatch(words) for pattern in patterns):
            found.setdefault((action, gpu_id), []).append(words)
    return found


def _streams(text: str) -> Iterator[RvsStream]:
    """Read the tables of BABEL, whose rows bear no action: it is the one begun last."""
    action, unit = "", ""
    for line in text.splitlines():
        words = _LINE.fullmatch(line.strip())
        if words and (began := _ACTION.fullmatch(words[2])):
            action, unit = began[1], ""
        elif head := _UNIT.fullmatch(line):
            unit = head[1]
        elif row := _STREAM.fullmatch(line):
            if not unit:
                raise ParseError("a row of BABEL without a unit", kind=RefusalKind.MALFORMED)
            yield RvsStream(
                action=action,
                gpu_id=count(row[1], "GPU Id"),
                kernel=row[2],
                gb_per_s=amount(row[3], f"{unit}/sec") * _BYTES[unit] / 1e9,
            )


def _transfers(results: Iterable[str]) -> Iterator[RvsTransfer]:
    for found in filter(None, map(_TRANSFER.fullmatch, results)):
        yield RvsTransfer(
            action=found[1],
            source=" ".join(found[2].split()),
            target=" ".join(found[3].split()),
            printed_gbps=amount(found[4], "GBps") if found[4] else None,
        )


def _memory_tests(results: Iterable[str]) -> Iterator[RvsMemoryTest]:
    said = [found for each in results if (found := _MEMORY.fullmatch(each))]
    counts = Counter((found[1], count(found[2], "mem Test"), found[3]) for found in said)
    for action, number in dict.fromkeys((action, number) for action, number, _ in counts):
        yield RvsMemoryTest(
            action=action,
            number=number,
            passed=counts[action, number, "PASS"],
            failed=counts[action, number, "FAIL"],
        )


def _wrong_data(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if found := _WRONG_DATA.fullmatch(line):
            yield found[1].strip()


def _rvs_errors(text: str) -> Iterator[str]:
    """Yield RVS's own errors; that an action failed is no reason, and the summary says it."""
    for line in text.splitlines():
        found = _RVS_ERROR.match(line.strip())
        if found and _NO_REASON not in found[1]:
            yield found[1].strip()
