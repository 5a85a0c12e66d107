"""Writes fixtures/sbatch/: `python -m burnin.tests.hardware_tests.golden`, then read the diff."""

from __future__ import annotations

from pathlib import Path

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.sbatch import RunnerLaunch, render
from burnin.tests.hardware_tests.toy import context
from fleet.hardware import AMD
from runner.contract.wire import AttemptToken

GOLDEN = Path(__file__).resolve().parents[3] / "fixtures" / "sbatch"
WORK_DIR = "/shared/burnin"
SHA256 = "0123456789abcdef" * 4


def golden_launch(
    slug: str,
    token: AttemptToken,
    *,
    resource_class: str = "",
    gpu_maker: str = "",
    container: str = "",
) -> RunnerLaunch:
    return RunnerLaunch(
        slug=slug,
        resource_class=resource_class,
        gpu_maker=gpu_maker,
        container=container,
        bundle_path=f"{WORK_DIR}/bundles/runner-{SHA256}.pyz",
        bundle_sha256=SHA256,
        attempt_dir=f"{WORK_DIR}/attempts/{token.directory}",
        python="python3",
        path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    )


def golden_scripts() -> dict[str, tuple[type[BaseTest], str]]:
    """Return test and class of each golden script, by its name without `.sh`.

    That is the first class of each test, and the first with GPUs of AMD, which has other tools.
    """
    found = {}
    for test in list_all_tests():
        first, *others = test.resource_classes()
        found[test.slug] = (test, first)
        amd = [each for each in others if hardware_of(each).gpu_maker == AMD]
        if test.gpu_makers and amd:
            found[f"{test.slug}.{amd[0]}"] = (test, amd[0])
    return found


def golden_script(test: type[BaseTest], on: str) -> str:
    """Return the script of an hour on node n1 of partition main, n1 to n4 for several nodes."""
    count = {"single-node": 1, "pairwise": 2}.get(test.stage, 4)
    nodelist = ("n1", "n2", "n3", "n4")[:count]
    hardware = hardware_of(on)
    asked = context(nodelist=nodelist, timeout_minutes=60, gpus_per_node=hardware.gpus_per_node)
    image = test.container_on(hardware)
    launch = golden_launch(
        test.slug,
        asked.token,
        resource_class=on if test.gpu_makers else "",
        gpu_maker=hardware.gpu_maker if test.gpu_makers else "",
        container=f"/shared/images/{image}.sqsh" if image else "",
    )
    return render(test().make_batch_config(asked), launch)


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, (test, on) in golden_scripts().items():
        (GOLDEN / f"{name}.sh").write_text(golden_script(test, on))


if __name__ == "__main__":
    main()
