"""What RVS's modules hold against the hardware, and what they did not do.

Every verdict of the summary but FAIL is passed over: it says of a slow action that it ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from burnin.hardware_tests.parsers.rvs_report import (
    RvsAction,
    RvsMemoryTest,
    RvsPower,
    RvsProducts,
    RvsReport,
)

# What every one of AMD's rvs/conf/MI300X/levels holds, and what they add from level 4 on.
_MODULES = ("BABEL", "PEBB", "PBQT", "GST")
_MODULES_ABOVE_3 = ("MEM", "IET")


@dataclass(frozen=True)
class Finding:
    """One fault, of an action on a GPU; None where RVS does not say on which."""

    action: str
    gpu_id: int | None
    words: str


def findings_of(report: RvsReport) -> list[Finding]:
    """Return every fault that RVS found, GPU by GPU where it names them."""
    return [
        *(found for each in report.products if (found := _of_products(each))),
        *(found for each in report.powers if (found := _of_power(each))),
        *(found for each in report.memory_tests if (found := _of_memory(each))),
        *(Finding("BABEL", None, words) for words in report.wrong_data),
    ]


def undone(report: RvsReport, *, level: int) -> list[str]:
    """Say what of the level RVS left out, could not do, or did on some of the GPUs."""
    modules = {action.module for action in report.actions}
    wanted = _MODULES + (_MODULES_ABOVE_3 if level > 3 else ())
    missing = [module for module in wanted if module not in modules]
    failed = [f"{action.name} failed" for action in report.actions if not action.passed]
    left_out = [words for action in report.actions if (words := _left_out(report, action))]
    return [*missing, *failed, *left_out, *report.errors]


def _of_products(each: RvsProducts) -> Finding | None:
    if each.wrong_products:
        return Finding(each.action, each.gpu_id, f"{each.wrong_products} wrong products")
    if each.broke_off:
        return Finding(each.action, each.gpu_id, f"broke off: {each.failure or 'RVS says not why'}")
    if each.met is False:
        words = f"{each.best_gflops:.0f} GFLOPS, AMD asks for {each.target_gflops:.0f}"
        return Finding(each.action, each.gpu_id, words)
    return None


def _of_power(each: RvsPower) -> Finding | None:
    if each.passed is not False:
        return None
    reached = f"{max(each.samples_w):.0f} W at most" if each.samples_w else "no power told"
    return Finding(each.action, each.gpu_id, f"did not reach its power: {reached}")


def _of_memory(each: RvsMemoryTest) -> Finding | None:
    if not each.failed:
        return None
    return Finding(each.action, None, f"memory test {each.number} failed {each.failed} times")


def _left_out(report: RvsReport, action: RvsAction) -> str:
    """Say of how many GPUs the action has no result; "" if of none."""
    done = {gpu_id for name, gpu_id in _ended(report, action.module) if name == action.name}
    if action.module in ("GST", "IET", "BABEL"):
        missing = [str(gpu) for gpu in report.gpus if gpu.gpu_id not in done]
        return f"{action.name} on {', '.join(missing)}" if missing else ""
    if action.module in ("PEBB", "PBQT"):
        ways = [each.printed_gbps for each in report.transfers if each.action == action.name]
        return "" if ways and None not in ways else f"transfers of {action.name}"
    if action.module == "MEM":
        ran = any(each.action == action.name for each in report.memory_tests)
        return "" if ran else action.name
    return ""


def _ended(report: RvsReport, module: str) -> Iterator[tuple[str, int]]:
    """Yield action and GPU of each end that the module came to."""
    ends: Iterable[tuple[str, int, bool]] = ()
    if module == "GST":
        ends = ((each.action, each.gpu_id, each.met is not None) for each in report.products)
    elif module == "IET":
        ends = ((each.action, each.gpu_id, each.passed is not None) for each in report.powers)
    elif module == "BABEL":
        ends = ((each.action, each.gpu_id, True) for each in report.streams)
    return ((action, gpu_id) for action, gpu_id, ended in ends if ended)
