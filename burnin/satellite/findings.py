"""What a site check makes of what it read. Pure.

A probe that does not pass means that jobs could not be sent or their answers not be trusted. What
only narrows what can be tested passes, and its words say what will be missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from burnin.satellite.config import SiteConfig
from burnin.satellite.messages import CheckOrder, Finding
from burnin.satellite.probe_job import Clock, Probed
from burnin.satellite.reach import clip
from burnin.slurm.cluster import ClusterFacts
from runner.contract import artifacts

OLDEST_ON_LOGIN_HOST, OLDEST_ON_NODE = (3, 6), (3, 8)
CLOCKS_AGREE_WITHIN_S = 5.0
LOOKS_S = 30  # two looks at the slowest pace


def finding(probe: str, complaint: str, found: str = "") -> Finding:
    """Return a finding that passes unless there is a complaint."""
    return Finding(probe=probe, passed=not complaint, found=clip(found), words=clip(complaint))


def remark(probe: str, found: str, words: str = "") -> Finding:
    """Return a finding that passes, and says what to expect."""
    return Finding(probe=probe, passed=True, found=clip(found), words=clip(words))


def configuration(site: SiteConfig, order: CheckOrder) -> Finding:
    """Compare what the satellite's file and the hub's row say of the site."""
    names = ("work_dir", "facts_root", "node_path", "node_python")
    differing = [
        f"{name} is {getattr(site, name)!r} in the satellite's file and "
        f"{getattr(order, name)!r} at the hub"
        for name in names
        if getattr(site, name) != getattr(order, name)
    ]
    return finding("configuration", "; ".join(differing), found=f"work_dir {site.work_dir}")


def slurm(facts: ClusterFacts) -> Iterator[Finding]:
    yield remark("slurm", f"{facts.version}, cluster {facts.name}")
    least_s = 2 * facts.message_timeout_s + LOOKS_S
    is_short = 0 < facts.min_job_age_s < least_s
    yield finding(
        "min_job_age",
        f"a job is forgotten before a doubtful submission can be resolved: MinJobAge must be at "
        f"least {least_s} s with MessageTimeout {facts.message_timeout_s} s"
        if is_short
        else "",
        found=f"{facts.min_job_age_s} s",
    )
    yield remark("message_timeout", f"{facts.message_timeout_s} s")
    yield remark("max_job_count", f"{facts.max_job_count}")
    yield remark("job_requeue", f"{facts.job_requeue}", "our jobs ask for --no-requeue")
    yield _accounting(facts)


def _accounting(facts: ClusterFacts) -> Finding:
    words = "a job that Slurm forgot is judged by its artifacts alone"
    return (
        remark("accounting", "yes") if facts.has_accounting else remark("accounting", "no", words)
    )


def partition(facts: ClusterFacts, name: str) -> Finding:
    known = {each.name: each for each in facts.partitions}
    found = known.get(name)
    if found is None:
        names = ", ".join(sorted(known)) or "none"
        return finding("partition", f"there is no partition {name!r:.80}; there are: {names}")
    complaint = "" if found.state == "UP" else f"partition {name} is {found.state}: open it"
    if not found.node_count:
        complaint = f"partition {name} has no nodes"
    return finding("partition", complaint, found=f"{name}: {found.state}, {found.node_count} nodes")


def login_python(version: str) -> Finding:
    return finding("login_python", _too_old(version, OLDEST_ON_LOGIN_HOST), found=version)


def drain(may_drain: bool) -> Finding:
    if may_drain:
        return remark("drain", "yes")
    return remark(
        "drain", "no", "the satellite's user may not drain nodes: make it a Slurm operator"
    )


def node(probed: Probed) -> Iterator[Finding]:
    """What the probe job tells: that it came back at all shows that work_dir is shared."""
    report = probed.report
    yield remark("work_dir_shared", f"read and written on {report.node_name} and the login host")
    yield finding("node_python", _too_old(report.python, OLDEST_ON_NODE), found=report.python)
    yield _clock(report.clock, probed.login_clock)
    yield _identity(machine_id=report.machine_id, dmi_serial=report.dmi_serial)
    if report.kernel_log:
        words = f"node-health cannot see the kernel's complaints: {report.kernel_log}"
        yield remark("kernel_log", "no", words)
    else:
        yield remark("kernel_log", "yes")
    complaint = f"a node cannot upload to the store: {report.upload}" if report.upload else ""
    yield finding("upload", complaint, found="" if report.upload else "taken")


def _clock(node: Clock, login: Clock) -> Finding:
    strange = {node.filesystem, login.filesystem} - artifacts.COMMON_CLOCK
    if strange:
        names = ", ".join(sorted(strange))
        return remark("clock", "unknown", f"files on {names} are stamped by their writer")
    apart_s = abs(node.offset_s - login.offset_s)
    is_near = apart_s <= CLOCKS_AGREE_WITHIN_S
    complaint = "" if is_near else f"the clocks of node and login host are {apart_s:.1f} s apart"
    return finding("clock", complaint, found=f"{apart_s:.3f} s")


def _identity(*, machine_id: str, dmi_serial: str) -> Finding:
    why_not = {"serial number": dmi_serial, "machine-id": machine_id}
    readable = [name for name, words in why_not.items() if not words]
    missing = "; ".join(words for words in why_not.values() if words)
    if readable:
        return remark("identity", " and ".join(readable), missing)
    return remark("identity", "none", f"a node cannot prove which machine it is: {missing}")


def _too_old(version: str, oldest: tuple[int, int]) -> str:
    numbers = version.split(".")[:2]
    if all(number.isdecimal() for number in numbers) and tuple(map(int, numbers)) >= oldest:
        return ""
    return f"Python {version or '?'} is older than {oldest[0]}.{oldest[1]}, or unknown"
