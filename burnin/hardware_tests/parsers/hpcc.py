"""hpccoutf.txt of HPC Challenge: HPL, DGEMM, STREAM and more in one run, checked by the tool.

"Node(s) with error" counts processes that could not run a part, for want of memory; what came out
wrong only makes "Success=0". hpcc appends to the file: two runs in one are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from burnin.hardware_tests.parsers import hpl
from burnin.hardware_tests.parsers.hpcc_report import HpccRate, HpccReport, HpccStream
from burnin.hardware_tests.parsers.hpl_report import HplReport
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_BANNER = "This is the DARPA/DOE HPC Challenge Benchmark version"
_END = "End of HPC Challenge tests."
_SECTION = re.compile(r"^Begin of (\w+) section\.\n(.*?)^End of \1 section\.$", re.DOTALL | re.M)
_PAIR = re.compile(r"^(\w+)=(.*)$", re.MULTILINE)
_COULD_NOT_RUN = re.compile(r"^Node\(s\) with error (?!0$)(.*)$|^Failed to allocate .*$", re.M)
_WRONG = re.compile(
    r"^Found \d+ errors in \d+ locations \(failed\)\.$"
    r"|^(?:WALL|CPU) .* FAILED .*$"
    r"|^Failed Validation on array .*$",
    re.MULTILINE,
)


def parse(text: str) -> HpccReport:
    """Return the report; raise ParseError when it stops before its end, or a part was not run."""
    _refuse_what_is_no_run(text)
    sections = {found[1]: found[2] for found in _SECTION.finditer(text)}
    summary = dict(_PAIR.findall(_needed(sections, "Summary")))
    solved = hpl.parse(_needed(sections, "HPL"))
    _refuse_what_was_not_run(sections, solved)
    report = HpccReport(
        version=".".join(_value(summary, f"Version{part}") for part in ("Major", "Minor", "Micro")),
        processes=count(_value(summary, "CommWorldProcs"), "CommWorldProcs"),
        success=_success(summary),
        hpl=solved,
        dgemm=_dgemm(sections),
        stream=_stream(sections, summary),
        wrong_sections=_wrong_sections(sections, solved),
    )
    _refuse_contradictions(report, amount(_value(summary, "HPL_Tflops"), "HPL_Tflops"))
    return report


def _refuse_what_is_no_run(text: str) -> None:
    if not text.strip():
        raise ParseError("empty output: hpcc wrote nothing", kind=RefusalKind.NO_DATA)
    runs = text.count(_BANNER)
    if runs > 1:
        raise ParseError(f"{runs} hpcc runs in one output", kind=RefusalKind.CONTRADICTORY)
    if not runs:
        last = text.strip().splitlines()[-1]
        raise ParseError(f"not an hpcc output: {last:.200}", kind=RefusalKind.MALFORMED)
    if f"\n{_END}\n" not in text:
        done = [found[1] for found in _SECTION.finditer(text)]
        raise ParseError(
            f"the hpcc output is cut after {done[-1] if done else 'its head'}",
            kind=RefusalKind.TRUNCATED,
            facts={"complete_sections": len(done)},
        )


def _refuse_what_was_not_run(sections: Mapping[str, str], solved: HplReport) -> None:
    for name, section in sections.items():
        if found := _COULD_NOT_RUN.search(section):
            raise ParseError(f"hpcc could not run {name}: {found[0]}", kind=RefusalKind.TOOL_ERROR)
    if solved.skipped or solved.unchecked or not solved.tests:
        raise ParseError(
            f"hpcc skipped {solved.skipped} problems of HPL and left {solved.unchecked} unchecked",
            kind=RefusalKind.USAGE,
        )


def _success(summary: Mapping[str, str]) -> bool:
    said = _value(summary, "Success")
    if said not in ("0", "1"):
        raise ParseError(f"hpcc says Success={said:.40}", kind=RefusalKind.MALFORMED)
    return said == "1"


def _dgemm(sections: Mapping[str, str]) -> HpccRate:
    star, single = _needed(sections, "StarDGEMM"), _needed(sections, "SingleDGEMM")
    return _rate(star, "Gflop/s", single, "Single DGEMM Gflop/s")


def _stream(sections: Mapping[str, str], summary: Mapping[str, str]) -> HpccStream:
    star, single = _needed(sections, "StarSTREAM"), _needed(sections, "SingleSTREAM")
    rates = {
        name.lower(): _rate(star, f"{name} GB/s", single, f"Single STREAM {name} GB/s")
        for name in ("Copy", "Scale", "Add", "Triad")
    }
    elements = count(_value(summary, "STREAM_VectorSize"), "STREAM_VectorSize")
    return HpccStream(array_elements=elements, **rates)


def _rate(star: str, unit: str, single: str, alone: str) -> HpccRate:
    """Read the three numbers of all processes at once, and that of one alone."""
    return HpccRate(
        slowest=_number(star, f"Minimum {unit}"),
        mean=_number(star, f"Average {unit}"),
        fastest=_number(star, f"Maximum {unit}"),
        alone=_number(single, alone),
    )


def _number(section: str, label: str) -> float:
    found = re.findall(rf"^{re.escape(label)} (\S+)$", section, re.MULTILINE)
    if len(found) != 1:
        raise ParseError(
            f"the hpcc output has {len(found)} lines of '{label}'",
            kind=RefusalKind.CONTRADICTORY if found else RefusalKind.TRUNCATED,
        )
    return amount(found[0], label)


def _wrong_sections(sections: Mapping[str, str], solved: HplReport) -> tuple[str, ...]:
    wrong = [name for name, section in sections.items() if _WRONG.search(section)]
    return (*wrong, "HPL") if solved.failed else tuple(wrong)


def _refuse_contradictions(report: HpccReport, hpl_tflops: float) -> None:
    """The table prints four digits of what the summary prints six of."""
    if report.success and report.wrong_sections:
        raise ParseError(
            f"hpcc says Success=1, and {report.wrong_sections[0]} came out wrong",
            kind=RefusalKind.CONTRADICTORY,
        )
    shown = max(result.gflops for result in report.hpl.results)
    if not abs(hpl_tflops * 1000 - shown) <= 0.002 * shown:
        raise ParseError(
            f"hpcc's summary says HPL_Tflops={hpl_tflops:g}, its table {shown:g} Gflops",
            kind=RefusalKind.CONTRADICTORY,
        )


def _needed(sections: Mapping[str, str], name: str) -> str:
    if name not in sections:
        raise ParseError(f"the hpcc output has no section {name}", kind=RefusalKind.TRUNCATED)
    return sections[name]


def _value(summary: Mapping[str, str], key: str) -> str:
    if key not in summary:
        raise ParseError(f"the hpcc summary has no {key}", kind=RefusalKind.TRUNCATED)
    return summary[key]
