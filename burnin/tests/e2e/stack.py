"""The whole product as processes of its own, each of which a test may kill: hub, web, satellite."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.cluster import ports
from deploy.cluster.testing import RealCluster, RealServices
from deploy.one_machine.child import TETHER

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
SITE = "east"
START_S = 60.0
LOOK_EVERY_S = 0.25
PACE = ("[pace]", "fast_s = 1.0", "slow_s = 2.0", "heartbeat_s = 1.0", "nodes_s = 5.0")
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR")
SATELLITE_REQUIREMENTS = ROOT / "deploy" / "satellite" / "requirements.txt"


class StackFailed(AssertionError):
    """Something did not come up or get where it should in time. Holds the ends of the logs."""


def satellite_python(home: Path) -> Path:
    """Return the interpreter of a virtualenv with the satellite's requirements and nothing else."""
    venv = home / "satellite-venv"
    if not (venv / "synced").exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
        subprocess.run(
            [BIN / "uv", "pip", "sync", "--quiet", "--python", venv / "bin" / "python",
             SATELLITE_REQUIREMENTS],
            check=True,
            timeout=300,
        )  # fmt: skip
        (venv / "synced").touch()
    return venv / "bin" / "python"


@dataclass
class Stack:
    """One hub with one site. `home` holds its logs and files; nothing else is touched."""

    home: Path
    cluster: RealCluster
    services: RealServices
    venv_home: Path
    database: str
    site: str = SITE
    node_path: str = ""  # PATH on the nodes, if not the usual one
    login_path: str = ""  # what stands before the PATH of the login host
    pace: Sequence[str] = PACE  # the satellite's, as lines of its file
    port: int = 0  # of its web, if not one that is kept for `home`
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.port = self.port or ports.reserve(self.home, 1).start

    # Its environments

    @property
    def hub_environment(self) -> dict[str, str]:
        own = {
            "FLEET_DATABASE_URL": self.services.database_url(self.database),
            "FLEET_VAR_DIR": str(self.home / "var"),
            "FLEET_PUBLIC_URL": f"http://127.0.0.1:{self.port}",
            "PYTHONUNBUFFERED": "1",
            "DJANGO_SETTINGS_MODULE": "fleet.settings",
        }
        return _inherited() | self.services.environment | own

    @property
    def satellite_environment(self) -> dict[str, str]:
        """No database, no store key, no Django settings."""
        own = {
            "FLEET_SITE_FILE": str(self.site_file),
            "PYTHONPATH": str(ROOT),
            "PYTHONUNBUFFERED": "1",
        }
        return _inherited() | own

    @property
    def site_file(self) -> Path:
        return self.home / "site.toml"

    # Making it

    def prepare(self) -> None:
        """Migrate, load the catalogue, make the site and its satellite's file."""
        (self.home / "var").mkdir(parents=True, exist_ok=True)
        self.manage("migrate", "--verbosity", "0")
        self.manage("load_catalogue")
        token = self.django(_MAKE_SITE, site=self.site, values=self._site_values())
        token_file = self.home / "token"
        token_file.touch(mode=0o600)
        token_file.write_text(token)
        self.site_file.touch(mode=0o600)
        self.site_file.write_text(self._site_toml(token_file))

    def _site_values(self) -> dict[str, str]:
        values = {
            "work_dir": str(self.work_dir),
            "facts_root": str(self.cluster.directory / "roots" / "%N"),
        }
        return values | ({"node_path": self.node_path} if self.node_path else {})

    @property
    def work_dir(self) -> Path:
        return self.cluster.work_dir / self.home.name

    def _site_toml(self, token_file: Path) -> str:
        own = {"name": self.site, **self._site_values()}
        kept = [
            line
            for line in self.cluster.site_toml.read_text().splitlines()
            if line.partition(" ")[0] not in own
        ]
        head = [f'{key} = "{value}"' for key, value in own.items()]
        if self.login_path:
            at = kept.index("[environment]") + 1
            kept.insert(at, f'PATH = "{self.login_path}:/usr/local/bin:/usr/bin:/bin:/usr/sbin"')
        hub = ["[hub]", f'url = "http://127.0.0.1:{self.port}"', f'token_file = "{token_file}"']
        broker = ["[broker]", f'url = "{self.services.site_broker_url(self.site)}"']
        return "\n".join([*head, *kept, *hub, *broker, *self.pace, ""])

    # Its processes

    def commands(self) -> dict[str, tuple[list[str], dict[str, str]]]:
        hub, celery = self.hub_environment, [str(BIN / "celery"), "-A", "fleet.celery"]
        python = str(satellite_python(self.venv_home))
        return {
            "web": (
                [str(BIN / "gunicorn"), "fleet.wsgi", "--bind", f"127.0.0.1:{self.port}",
                 "--worker-class", "gthread", "--threads", "4"],
                hub,
            ),
            "worker": ([*celery, "worker", "-Q", "hub", "-c", "2", "-l", "info"], hub),
            "beat": ([*celery, "beat", "-l", "info"], hub),
            "satellite": (
                [python, "-m", "celery", "-A", "burnin.satellite.app", "worker", "-l", "info"],
                self.satellite_environment,
            ),
        }  # fmt: skip

    def start(self, *names: str) -> None:
        """Start these processes, or all that are not running."""
        commands = self.commands()
        for name in names or [name for name in commands if name not in self.running]:
            argv, environment = commands[name]
            with self.log(name).open("ab") as log:
                self.running[name] = subprocess.Popen(
                    [*TETHER, *argv],
                    cwd=ROOT if name != "satellite" else self.home,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        if "web" in (names or ("web",)):
            self.wait(self._web_answers, "the web answers")

    def kill(self, name: str, sent: signal.Signals = signal.SIGKILL) -> None:
        """End a process and its children at once, as a power cut would."""
        process = self.running.pop(name)
        os.killpg(process.pid, sent)
        process.wait(timeout=30)

    def open_site(self) -> None:
        """Bring everything up and let the site prove itself, so that jobs are taken."""
        self.prepare()
        self.start()
        self.wait(lambda: self.site_row()["alive"], "the satellite reports")
        self.manage("load_inventory", self.site)
        self.manage("site_check", self.site, timeout_s=180)

    def supervise(self) -> None:
        """Start again what ended by itself, as a supervisor would: a worker may end with Redis."""
        time.sleep(5)
        self.start(*[name for name, each in self.running.items() if each.poll() is not None])

    def stop(self) -> None:
        for name in list(self.running):
            self.kill(name)

    def log(self, name: str) -> Path:
        return self.home / f"{name}.log"

    # Asking it

    def manage(self, *arguments: str, timeout_s: float = 120) -> str:
        """Run a management command in the hub's environment; return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.hub_environment,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if done.returncode:
            raise StackFailed(f"{arguments} exited {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def django(self, code: str, **values: Any) -> Any:
        """Run code in the hub; it finds `values` as a dict and leaves its answer in `answer`."""
        program = (
            "import django, json, sys\ndjango.setup()\nvalues = json.loads(sys.argv[1])\n"
            f"{code}\nprint(json.dumps(answer, default=str))\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps(values)],
            cwd=ROOT,
            env=self.hub_environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            raise StackFailed(done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def site_row(self) -> dict[str, Any]:
        row: dict[str, Any] = self.django(_SITE, site=self.site)
        return row

    def start_job(self, node_names: Sequence[str], steps: Sequence[Mapping[str, Any]]) -> str:
        """Start a job without a preset; each step is the keywords of a StepRequest."""
        job_id: str = self.django(
            _START_JOB, site=self.site, nodes=list(node_names), steps=list(steps)
        )
        return job_id

    def runs(self, job_id: str) -> list[dict[str, Any]]:
        """Return every run of a job: id, node (or "n1,n2"), slug, state, verdict, reason, …"""
        rows: list[dict[str, Any]] = self.django(_RUNS, job=job_id)
        return rows

    def job(self, job_id: str) -> dict[str, Any]:
        """Return the job's state and verdict, its counters and their recount."""
        row: dict[str, Any] = self.django(_JOB, job=job_id)
        return row

    def wait_for_end(
        self, job_id: str, *, for_s: float, every_s: float = LOOK_EVERY_S
    ) -> dict[str, Any]:
        def is_done() -> bool:
            return bool(self.job(job_id)["state"] == "done")

        self.wait(is_done, "the job ends", for_s=for_s, every_s=every_s)
        return self.job(job_id)

    def wait(
        self,
        holds: Callable[[], Any],
        what: str,
        *,
        for_s: float = START_S,
        every_s: float = LOOK_EVERY_S,
    ) -> Any:
        """Ask until it holds; return what it said. Fails with the end of every log."""
        deadline = time.monotonic() + for_s
        while time.monotonic() < deadline:
            if said := holds():
                return said
            time.sleep(every_s)
        raise StackFailed(f"not within {for_s:.0f} s: {what}\n{self._ends_of_logs()}")

    def _web_answers(self) -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=2).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def _ends_of_logs(self) -> str:
        logs = sorted(self.home.glob("*.log"))
        return "\n".join(f"--- {log.name}\n{log.read_text()[-3000:]}" for log in logs)


def _inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}


_MAKE_SITE = """
from fleet.models import Site, SiteToken
site, _ = Site.objects.get_or_create(name=values["site"],
                                     defaults={"partition": "main", **values["values"]})
answer = SiteToken.issue(site)
"""
_SITE = """
from fleet.models import Site, SiteToken
site, _ = Site.objects.get_or_create(name=values["site"], defaults=dict(
    partition="main", work_dir=values["work_dir"], facts_root=values["facts_root"]))
answer = SiteToken.issue(site)
"""

_SITE = """
from django.utils import timezone
from burnin.workflow.sites import why_silent
from fleet.models import Site
site = Site.objects.get(name=values["site"])
answer = {"alive": not why_silent(site, timezone.now()), "reach": site.reach,
          "capabilities": site.capabilities, "is_checked": site.is_checked}
"""
_START_JOB = """
from django.utils import timezone
from burnin.workflow import plan, wiring
from fleet.models import Site
job = plan.plan_job(
    plan.JobRequest(site=Site.objects.get(name=values["site"]), node_names=values["nodes"],
                    steps=[plan.StepRequest(**step) for step in values["steps"]]),
    store=wiring.store(), bells=wiring.bells(), now=timezone.now())
answer = str(job.pk)
"""
_RUNS = """
from burnin.models import TestRun
answer = [
    {"id": str(run.pk), "slug": run.slug,
     "node": ",".join(run.members.order_by("position").values_list("node__name", flat=True)),
     "stage": run.stage, "state": run.state, "verdict": run.verdict, "cause": run.cause,
     "reason": run.reason, "attempts": run.attempts.count(),
     "results": int(hasattr(run, "result")), "waits_because": run.waits_because}
    for run in TestRun.objects.filter(job=values["job"]).select_related("result")
]
"""
_JOB = """
from collections import Counter
from burnin.models import Job, JobCount, TestRun
job = Job.objects.get(pk=values["job"])
counted = {f"{c.stage}:{c.key}": c.count for c in JobCount.objects.filter(job=job) if c.count}
recount = Counter(f"{stage}:{verdict or state}" for stage, state, verdict in
                  TestRun.objects.filter(job=job).values_list("stage", "state", "verdict"))
answer = {"state": job.state, "verdict": job.verdict, "counts": counted,
          "recount": dict(recount), "nodes": job.members.count(), "node_count": job.node_count}
"""
