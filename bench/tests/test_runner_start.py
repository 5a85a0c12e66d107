import json
import subprocess
import sys
from pathlib import Path

from bench import runner_start
from runner.contract.slugs import Slugs


def test_the_probe_reports_the_cpu_used_when_the_workload_would_begin(tmp_path: Path) -> None:
    bundle = tmp_path / "runner.pyz"
    bundle.write_bytes(runner_start.bundle_with_probe())
    argv: list[str | Path] = [sys.executable, "-I", "-S", bundle, "run", Slugs.HELLO_WORLD]

    with runner_start.Sink() as url:
        runner_start.write_context(tmp_path, 0, url)
        argv += ["--workspace", tmp_path / "0", "--config-file", tmp_path / "0" / "context.json"]
        done = subprocess.run(argv, capture_output=True, check=True, timeout=30)

    assert 0 < float(done.stdout) < 30
    started = json.loads((tmp_path / "0" / "started.json").read_text())
    assert started["slug"] == Slugs.HELLO_WORLD
    assert not (tmp_path / "0" / "metadata.json").exists()
