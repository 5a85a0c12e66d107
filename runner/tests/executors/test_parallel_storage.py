"""fio, IOR and mdtest over several nodes, on stand-ins: what is asked of them, what they left."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runner import fio_servers
from runner.endings import CannotRun
from runner.executors import parallel_storage
from runner.executors.parallel_storage import PHASES, ParallelStorage, fio_jobs
from runner.tests.given import REPOSITORY, workspace_in, write_tool
from runner.workers import fio_server
from runner.workspace import WorkspaceManager

RECORDED = REPOSITORY / "fixtures/corpus"
SCONTROL = """echo "NodeName=n1 NodeAddr=10.0.0.1 State=IDLE"
echo "NodeName=n2 NodeAddr=10.0.0.2 State=IDLE" """
WRITES_A_REPORT = """echo "$@" >> {asked}
for word; do case $word in --output=*) echo '{"fio version": "x"}' > "${word#--output=}";; esac
done; exit 1"""
PRINTS = """echo "$@" >> {asked}
case "$*" in *" ior "*) tool=ior/ior_text;; *) tool=mdtest/mdtest_3_iter;; esac
cat {corpus}/$tool.txt"""
Run = Callable[..., None]


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[WorkspaceManager]:
    (tmp_path / "run-1").mkdir()
    with closing(workspace_in(tmp_path / "run-1")) as workspace:
        yield workspace


@pytest.fixture
def run(tmp_path: Path, workspace: WorkspaceManager, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the test on two nodes, with these stand-ins first in PATH."""
    (tmp_path / "shared").mkdir()
    monkeypatch.setattr(fio_servers, "_answers", lambda place: True)

    def execute(*, path: Path = tmp_path / "shared", **tools: str) -> None:
        given = {"scontrol": SCONTROL, "srun": "exec sleep 60", **tools}
        for name, script in given.items():
            script = script.replace("{corpus}", str(RECORDED))
            write_tool(tmp_path / "bin", name, script.replace("{asked}", str(tmp_path / "asked")))
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
        context: Any = SimpleNamespace(num_nodes=2, params={"path": str(path), "duration_s": 3})
        ParallelStorage().execute(context, workspace)

    return execute


def test_each_phase_is_one_client_with_a_job_for_every_node(run: Run, tmp_path: Path) -> None:
    run(fio=WRITES_A_REPORT)

    asked = (tmp_path / "asked").read_text().replace(str(tmp_path / "run-1"), "RUN").splitlines()
    assert asked[1].split() == [
        "--output-format=json",
        "--output=RUN/results/fio-verify.json",
        "--client=ip:10.0.0.1,18765",
        "RUN/fio-verify.n1.fio",
        "--client=ip:10.0.0.2,18766",
        "RUN/fio-verify.n2.fio",
    ]
    assert len(asked) == len(PHASES)
    assert (tmp_path / "run-1/results/tool.txt").read_text() == "fio\n"
    assert list((tmp_path / "shared").iterdir()) == []


def test_whoever_reads_reads_what_the_next_node_wrote() -> None:
    def files(phase: str) -> list[str]:
        jobs = fio_jobs(phase, ["n1", "n2", "n3"], 7)
        assert [job.splitlines()[0] for job in jobs.values()] == ["[n1]", "[n2]", "[n3]"]
        return [re.findall("filename=(.*)", job)[0] for job in jobs.values()]

    assert files("fill") == files("write") == ["n1", "n2", "n3"]
    assert files("verify") == files("read") == ["n2", "n3", "n1"]


def test_the_recipe_checks_every_byte_and_makes_no_file() -> None:
    fill, verify, read = (fio_jobs(phase, ["n1"], 7)["n1"] for phase in ("fill", "verify", "read"))

    assert "verify=crc32c\ndo_verify=0\n" in fill
    assert "rw=read\nverify=crc32c\n" in verify
    assert "runtime=7\n" in read
    assert all("direct=1\nallow_file_create=0\n" in job for job in (fill, verify, read))


def test_a_node_that_cannot_serve_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_servers, "_answers", lambda place: False)

    with pytest.raises(CannotRun, match=r"did not start: n2: fio is not installed$"):
        run(srun="echo 'srun: error' >&2; echo 'n2: fio is not installed' >&2; exec sleep 60")
    assert list((tmp_path / "shared").iterdir()) == []


def test_who_answers_in_a_servers_place_is_not_taken_for_it(run: Run, tmp_path: Path) -> None:
    said = tmp_path / "run-1/fio-servers.txt"

    with pytest.raises(CannotRun, match=r"did not start: n2: port 18766 of 10\.0\.0\.2 is taken$"):
        run(
            srun="echo 'n2: port 18766 of 10.0.0.2 is taken' >&2; exec sleep 60",
            fio=f"until grep -qs taken {said}; do :; done; exit 1",
        )


def test_a_worker_leaves_a_port_to_who_listens_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write_tool(tmp_path / "bin", "fio", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("SLURMD_NODENAME", "n1")

    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = fio_server.main([f"directory={tmp_path}", f"places=n1@127.0.0.1:{port}"])

    assert ended == fio_server.CANNOT_SERVE
    assert f"n1: port {port} of 127.0.0.1 is taken: " in capfd.readouterr().err


def test_a_silent_server_is_not_waited_for_for_ever(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fio_servers, "_answers", lambda place: False)
    monkeypatch.setattr(fio_servers, "START_S", 0.0)

    with pytest.raises(CannotRun, match=r"server on n1 does not answer at 10\.0\.0\.1:18765: "):
        run()


def test_a_client_without_a_report_could_not_run(run: Run) -> None:
    with pytest.raises(CannotRun, match=r"fill phase left no report \(exit 1\): fio: bad option"):
        run(fio="echo 'fio: bad option' >&2; exit 1")


def test_a_client_that_hangs_is_ended(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_storage, "SETTLE_S", -2.9)

    with pytest.raises(CannotRun, match="fio's fill phase hung and was ended after 0 s"):
        run(fio="exec sleep 60")


def test_a_missing_directory_is_named(run: Run, tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"no scratch directory .*/no/\.burn-in\.run-1: No such"):
        run(path=tmp_path / "no")


def test_a_full_file_system_is_left_alone(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_storage, "FIO_BYTES", 1 << 60)

    with pytest.raises(CannotRun, match=r"MiB free, needs \d+: the scratch files may take half"):
        run()


def test_a_site_with_ior_and_mdtest_uses_both(run: Run, tmp_path: Path) -> None:
    run(ior="", mdtest="", srun=PRINTS)

    where = f"{tmp_path}/shared/.burn-in.run-1"
    tasks = "--nodes=2 --ntasks=2 --ntasks-per-node=1 --kill-on-bad-exit=1"
    assert (tmp_path / "asked").read_text().splitlines() == [
        f"{tasks} ior -a POSIX -e -g -C -w -r -R -F -t 1m -b 4g -o {where}/ior-easy",
        f"{tasks} ior -a POSIX -e -g -C -w -r -R -t 47008 -b 47008 -s 20000 -o {where}/ior-hard",
        f"{tasks} mdtest -F -u -n 1000 -N 1 -d {where}/mdtest",
    ]
    assert (tmp_path / "run-1/results/tool.txt").read_text() == "ior\n"


def test_a_site_with_one_of_them_uses_fio(run: Run, tmp_path: Path) -> None:
    run(ior="", fio=WRITES_A_REPORT)

    assert (tmp_path / "run-1/results/tool.txt").read_text() == "fio\n"


def test_ior_without_a_report_could_not_run(run: Run) -> None:
    with pytest.raises(CannotRun, match=r"ior-easy left no report \(exit 1\): no plugin pmi"):
        run(ior="", mdtest="", srun="echo no plugin pmi >&2; exit 1")


def test_ior_that_hangs_is_ended(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_storage, "IOR_S", 0.1)

    with pytest.raises(CannotRun, match="ior-easy hung and was ended after 0 s"):
        run(ior="", mdtest="", srun="exec sleep 60")
