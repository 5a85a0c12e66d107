"""An operator's day in a real browser, on the real product: what is started, seen, and done."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from burnin.tests.e2e.browser import Visitor, visitor
from burnin.tests.e2e.conftest import MakeStack
from burnin.tests.e2e.stack import Stack
from deploy.cluster.testing import RealCluster, RealServices

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("browser")]
GOOD, FAULTY, TOOLLESS, BUSY = "n1", "n2", "n3", "n4"
PASSWORD = "a long word of the tests"
ENDS_S = 180
NODE_TOOLS = ("bash", "python3", "sha256sum", "env", "uname", "scontrol", "srun", "sleep", "sh")
PEOPLE = """
from django.contrib.auth.models import Group, User
from burnin.models import Preset, PresetStep
from fleet.models import SiteAccess
for name, role in (("olga", "operator"), ("ada", "admin")):
    user = User.objects.create_user(name, password=values["password"])
    user.groups.add(Group.objects.get(name=role))
    SiteAccess.objects.create(user=user, site=None)
preset = Preset.objects.create(name="short", description="A minute of everything.")
steps = [("single-node.hello-world", 1, {}, True),
         ("single-node.storage", 2, {"duration_s": 1}, False),
         ("single-node.memory-stress", 2, {"duration_s": 10}, True)]
for position, (slug, stage, params, is_gate) in enumerate(steps, start=1):
    PresetStep.objects.create(preset=preset, position=position, stage=stage, slug=slug,
                              params=params, is_gate=is_gate, timeout_minutes=5)
answer = None
"""


def node_tools(home: Path) -> Path:
    """A PATH in which one node's memory has errors and another has no fio."""
    tools = home / "node-tools"
    tools.mkdir(parents=True)
    for name in NODE_TOOLS:
        (tools / name).symlink_to(Path("/usr/bin") / name)
    _wrapper(
        tools / "stressapptest",
        f"""case $SLURMD_NODENAME in
    {FAULTY}) exec /usr/bin/stressapptest --force_errors "$@" ;;
    *) exec /usr/bin/stressapptest "$@" ;;
esac""",
    )
    _wrapper(
        tools / "fio",
        f"""case $SLURMD_NODENAME in
    {TOOLLESS}) echo "fio: cannot open shared object file" >&2; exit 127 ;;
    *) exec /usr/bin/fio "$@" ;;
esac""",
    )
    return tools


def _wrapper(path: Path, body: str) -> None:
    path.write_text(f"#!/usr/bin/bash\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def stack(
    make_stack: MakeStack,
    start_cluster: Callable[..., RealCluster],
    start_services: Callable[[], RealServices],
) -> Stack:
    cluster = start_cluster("--node-roots", "--nodes", "4", "--memory-mb", "400")
    stack = make_stack(cluster, start_services())
    stack.node_path = str(node_tools(stack.home))
    stack.open_site()
    stack.django(PEOPLE, password=PASSWORD)
    return stack


def test_an_operators_day_and_an_admins(stack: Stack) -> None:
    with visitor(f"http://127.0.0.1:{stack.port}") as operator:
        burn_in_and_look_around(stack, operator)
    with visitor(f"http://127.0.0.1:{stack.port}") as admin:
        edit_a_limit_and_see_the_difference(admin)

    complaints = [*operator.complaints, *admin.complaints]
    assert not complaints, "\n".join(complaints)


def burn_in_and_look_around(stack: Stack, operator: Visitor) -> None:
    occupy(stack, BUSY)
    operator.log_in("olga", PASSWORD)
    job = start_a_job(operator, "n[1-4]")
    see_what_waits(operator, job, stack)
    see_it_end_without_reloading(operator, job)
    read_why(operator, job, FAULTY, "memory-stress", "Memory errors")
    read_why(operator, job, TOOLLESS, "storage", "fio left no report")
    open_a_line_of_the_log(operator)
    download_an_artifact(operator)
    export_the_matrix(operator, job)
    rerun_and_cancel(operator, job)
    look_around(operator)


def edit_a_limit_and_see_the_difference(admin: Visitor) -> None:
    page = admin.page
    admin.log_in("ada", PASSWORD)
    admin.go("/tests/single-node.memory-stress/limits/cpu-generic/")
    admin.look("limits")
    page.get_by_role("link", name="Edit limits").click()
    page.locator("#copy_bandwidth-standing").select_option(index=0)
    page.locator("#copy_bandwidth-value").fill("1.5")
    page.locator("#copy_bandwidth-source").fill("the slowest of our 40 nodes")
    page.locator("#copy_bandwidth-confidence").select_option("B")
    page.locator("#reason").fill("nodes below 1.5 GB/s were too slow for customers")
    admin.look("edit-limits")
    page.get_by_role("button", name="Put in force").click()
    expect(page.locator("#diff")).to_contain_text("1.5")
    expect(page.locator("#diff")).to_contain_text("the slowest of our 40 nodes")
    admin.look("limits-diff")


def occupy(stack: Stack, node: str) -> None:
    """Have somebody else's job on the node, so that ours must wait in Slurm."""
    stack.cluster.run("sbatch", "--exclusive", "-w", node, "-t", "10", "-J", "customer",
                      "-o", "/dev/null", "--wrap", "sleep 600", timeout_s=30)  # fmt: skip


def start_a_job(operator: Visitor, hosts: str) -> str:
    """Start the short preset after a dry run; return the job's path."""
    page = operator.page
    page.get_by_role("link", name="Start a job").click()
    page.locator("input[name=preset][value=short]").check()
    page.get_by_label("Hostlist").fill(hosts)
    operator.look("start")
    page.get_by_role("button", name="Dry run").click()
    expect(page.get_by_role("heading", name="First script")).to_be_visible()
    operator.look("start-dry-run")
    page.get_by_role("button", name=re.compile("Start on 4 nodes")).click()
    page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}/"))
    return page.url.removeprefix(operator.origin)


def see_what_waits(operator: Visitor, job: str, stack: Stack) -> None:
    page = operator.page
    waits = page.locator("section", has_text="Why runs wait")
    expect(waits).to_contain_text(re.compile("its nodes are busy"), timeout=180_000)
    operator.look("job-running")
    page.evaluate("window.wasNotReloaded = true")
    stack.cluster.run("scancel", "--name", "customer", timeout_s=30)


def see_it_end_without_reloading(operator: Visitor, job: str) -> None:
    page = operator.page
    expect(page.locator("#state h1")).to_contain_text(
        re.compile("failed", re.I), timeout=ENDS_S * 1000
    )
    assert page.evaluate("window.wasNotReloaded") is True
    expect(page.locator("#matrix")).to_contain_text(GOOD)
    operator.look("job")


def read_why(operator: Visitor, job: str, node: str, test: str, why: str) -> None:
    page = operator.page
    operator.go(f"{job}runs?slug=single-node.{test}")
    operator.look(f"runs-{test}")
    page.locator("tr", has_text=node).get_by_role("link").first.click()
    expect(page.locator("section.verdict")).to_contain_text(why)
    operator.look(f"run-{test}")


def open_a_line_of_the_log(operator: Visitor) -> None:
    page = operator.page
    page.get_by_role("link", name="Log", exact=True).first.click()
    page.locator("#log a").first.wait_for()
    line = page.locator("#log a").last
    line.click()
    assert re.search(r"#L\d+$", page.url)
    page.reload()
    expect(page.locator("#log a:target")).to_be_visible()
    operator.look("log")


def download_an_artifact(operator: Visitor) -> None:
    page = operator.page
    page.go_back()
    operator.page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").last.click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="metadata.json").click()
    assert '"run_id"' in waiting.value.path().read_text()


def export_the_matrix(operator: Visitor, job: str) -> None:
    operator.go(job)
    with operator.page.expect_download() as waiting:
        operator.page.locator("section", has=operator.page.locator("#matrix")).get_by_role(
            "link", name="CSV"
        ).click()
    rows = list(csv.reader(waiting.value.path().read_text().splitlines()))
    assert {row[0] for row in rows[1:]} >= {GOOD, FAULTY, TOOLLESS, BUSY}


def rerun_and_cancel(operator: Visitor, job: str) -> None:
    page = operator.page
    operator.go(job)
    page.get_by_role("link", name="Re-run failed").click()
    page.locator("dialog[open] textarea").fill("the DIMM was reseated")
    page.locator("dialog[open]").get_by_role("button", name=re.compile("Re-run")).click()
    page.wait_for_url(lambda url: "/jobs/" in url and job not in url)
    page.get_by_role("link", name="Cancel").click()
    page.locator("dialog[open] textarea").fill("wrong node")
    page.locator("dialog[open]").get_by_role("button", name=re.compile("Cancel")).click()
    expect(page.locator("#state")).to_contain_text("wrong node")
    operator.go("/audit/")
    expect(page.locator("main")).to_contain_text("wrong node")
    expect(page.locator("main")).to_contain_text("the DIMM was reseated")
    operator.look("audit")


def look_around(operator: Visitor) -> None:
    for name, path in {
        "home": "/", "jobs": "/jobs/", "nodes": "/nodes/", "node": f"/nodes/east/{FAULTY}/",
        "tests": "/tests/", "test": "/tests/single-node.storage/", "sites": "/sites/",
        "site": "/sites/east/",
    }.items():  # fmt: skip
        operator.go(path)
        operator.look(name)
