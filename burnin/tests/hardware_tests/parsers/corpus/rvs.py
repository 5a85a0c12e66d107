from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.rvs_report import RvsReport


def as_expected(report: RvsReport) -> dict[str, Any]:
    best = [each.best_gflops for each in report.products if each.best_gflops is not None]
    watts = [sample for each in report.powers for sample in each.samples_w]
    return {
        "version": report.version,
        "gpus": len(report.gpus),
        "actions": [action.name for action in report.actions],
        "products": len(report.products),
        "slowest_best_gflops": min(best, default=None),
        "wrong_products": sum(bool(each.wrong_products) for each in report.products),
        "met": sum(each.met is True for each in report.products),
        "powers": len(report.powers),
        "highest_power_w": max(watts, default=None),
        "streams": len(report.streams),
        "transfers": len(report.transfers),
        "memory_tests": len(report.memory_tests),
    }
