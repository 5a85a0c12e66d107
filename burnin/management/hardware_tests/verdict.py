"""A verdict on a terminal: what was measured, against which bound, and what that makes."""

from django.core.management.base import OutputWrapper

from burnin.hardware_tests.iterations import Measured
from burnin.hardware_tests.metrics import Better, shown
from burnin.hardware_tests.thresholds.schema import Bound, Standing
from burnin.states import Verdict
from burnin.workflow.author_loop import Report
from burnin.workflow.judge import Judgement
from burnin.workflow.render import Order

EXIT_CODES = {
    Verdict.PASSED: 0,
    Verdict.FAILED: 1,
    Verdict.ERRORED: 2,
    Verdict.INCONCLUSIVE: 3,
    Verdict.SKIPPED: 4,
    Verdict.MEASURED: 5,
}
_NEEDS = {Better.HIGHER: "at least", Better.LOWER: "at most", Better.EXACT: "exactly"}


def write(stdout: OutputWrapper, judgement: Judgement) -> None:
    """Print every metric with its bound, and the verdict with its reason last."""
    if judgement.measured:
        for row in _rows(judgement.measured):
            stdout.write("  " + row)
    cause = f" ({judgement.cause})" if judgement.cause else ""
    reason = " ".join(judgement.reason.split())  # a tool's own words may have lines
    stdout.write(f"{judgement.verdict.upper()}{cause}: {reason}")


def write_evidence(stdout: OutputWrapper, order: Order, report: Report) -> None:
    """Print what a reviewer needs to find the run again and to believe it."""
    snapshot = report.snapshot
    stdout.write("evidence:")
    stdout.write(f"  run id       {order.token.run_id}, attempt {order.token.attempt}")
    if snapshot is None:
        stdout.write("  Slurm        knows no job of it")
    else:
        codes = f"exit {snapshot.exit_code}, derived {snapshot.derived_exit_code}"
        job = f"job {snapshot.job_id} {snapshot.state} on {snapshot.node_list}"
        stdout.write(f"  Slurm        {job}, {codes}")
    if report.judgement.measured:
        metrics = report.judgement.measured.metrics
        stdout.write(f"  fingerprint  {metrics.fingerprint}")
        for each in metrics.to_metrics_response():
            stdout.write(f"  metric       {each['name']} = {each['value']} {each['unit']}".rstrip())
    if report.directory.is_dir():
        stdout.write(f"  artifacts    {report.directory}")


def _rows(measured: Measured) -> list[str]:
    response = measured.metrics.to_metrics_response()
    labels = [str(each["label"]) for each in response]
    values = [f"{shown(each['value'])} {each['unit']}".rstrip() for each in response]
    bounds = [_bound(measured.bounds.get(str(each["name"]))) for each in response]
    details = [f"  [{each['detail']}]" if each["detail"] else "" for each in response]
    wide, wider = max(map(len, labels)), max(map(len, values))
    return [
        f"{label:<{wide}}  {value:>{wider}}  {bound}{detail}"
        for label, value, bound, detail in zip(labels, values, bounds, details, strict=True)
    ]


def _bound(bound: Bound | None) -> str:
    if bound is None:
        return "-"
    if bound.standing is not Standing.GATES:
        return f"{bound.standing.replace('_', ' ')}: {bound.why}"
    limit = f"{_NEEDS[bound.better]} {shown(bound.value)} {bound.unit}".rstrip()
    return f"{limit} ({bound.version}; {bound.source})"
