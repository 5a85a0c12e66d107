"""A real satellite as a process of its own, in a virtual environment that has no Django."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from burnin.tests.slurm.jobs import until
from deploy.one_machine.child import TETHER

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[3]
REQUIREMENTS = ROOT / "deploy" / "satellite" / "requirements.txt"
KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "TMPDIR", "USER")


def satellite_venv() -> Path:
    """Return the satellite's virtual environment, made when its requirements have changed."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
    venv = ROOT / "var" / "satellite-venvs" / digest
    if not (venv / "complete").exists():
        uv = str(Path(sysconfig.get_path("scripts")) / "uv")
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        _run(uv, "venv", "--quiet", "--clear", "--python", python, str(venv))
        target = ("--python", str(venv / "bin" / "python"))
        _run(uv, "pip", "sync", "--quiet", *target, str(REQUIREMENTS))
        (venv / "complete").touch()
    return venv


def _run(*argv: str) -> None:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def environment(site_file: Path | None = None) -> dict[str, str]:
    """Return what a satellite gets to know: no database, no store."""
    kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    named = {} if site_file is None else {"FLEET_SITE_FILE": str(site_file)}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **named}


def eventually(look: Callable[[], T | None], *, what: str) -> T:
    """Look until there is something to see, as long as a busy machine may take to start one."""
    return until(look, within_s=180, what=what)


class SatelliteProcess:
    """`celery -A burnin.satellite.app worker`, its log beside the site file."""

    def __init__(self, site_file: Path, *options: str) -> None:
        self.log_file = site_file.with_suffix(".log")
        celery = str(satellite_venv() / "bin" / "celery")
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [*TETHER, celery, "-A", "burnin.satellite.app", "worker", "-l", "INFO", *options],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=site_file.parent,
                env=environment(site_file),
            )

    @property
    def log(self) -> str:
        return self.log_file.read_text(errors="replace")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def stop(self, within_s: float = 30) -> int:
        """End it as an operator would; return its exit code."""
        if self.is_alive:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
