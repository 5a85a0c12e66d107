"""Writes fixtures/sbatch/: `python -m burnin.tests.hardware_tests.golden`, then read the diff."""

from __future__ import annotations

from pathlib import Path

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.sbatch import RunnerLaunch, render
from burnin.tests.hardware_tests.toy import context
from runner.contract.wire import AttemptToken

GOLDEN = Path(__file__).resolve().parents[3] / "fixtures" / "sbatch"
WORK_DIR = "/shared/burnin"
SHA256 = "0123456789abcdef" * 4


def golden_launch(slug: str, token: AttemptToken) -> RunnerLaunch:
    return RunnerLaunch(
        slug=slug,
        bundle_path=f"{WORK_DIR}/bundles/runner-{SHA256}.pyz",
        bundle_sha256=SHA256,
        attempt_dir=f"{WORK_DIR}/attempts/{token.directory}",
        python="python3",
        path="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    )


def golden_script(test: type[BaseTest]) -> str:
    """Return the script of an hour on node n1 of partition main."""
    asked = context(nodelist=("n1",), timeout_minutes=60)
    return render(test().make_batch_config(asked), golden_launch(test.slug, asked.token))


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for test in list_all_tests():
        (GOLDEN / f"{test.slug}.sh").write_text(golden_script(test))


if __name__ == "__main__":
    main()
