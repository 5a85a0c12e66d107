"""No two clusters get one port, however close together they are planned."""

import itertools
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from deploy.cluster import ports
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Options

OPTIONS = Options(nodes=8)
LENGTH = OPTIONS.nodes + ports.BEFORE_NODES


@pytest.fixture(autouse=True)
def narrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave little room, where every port is free, with reservations of its own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(ports, "_highest", lambda: ports.LOWEST + 8 * LENGTH)
    monkeypatch.setattr(ports, "is_free", lambda port: True)


def home(tmp_path: Path, name: str) -> Path:
    directory = tmp_path / name
    directory.mkdir()
    return directory


def test_clusters_that_are_planned_at_once_do_not_meet(tmp_path: Path) -> None:
    homes = [home(tmp_path, f"c{number}") for number in range(4)]

    with ThreadPoolExecutor(len(homes)) as threads:
        chosen = list(threads.map(lambda directory: ports.choose(OPTIONS, directory), homes))

    firsts = sorted(block.slurmctld for block in chosen)
    assert all(second - first >= LENGTH for first, second in itertools.pairwise(firsts))


def test_a_block_is_free_again_after_a_wipe_or_when_its_directory_is_gone(tmp_path: Path) -> None:
    first = ports.choose(OPTIONS, home(tmp_path, "wiped")).slurmctld
    everything = Options(nodes=8 * LENGTH - 2 * ports.BEFORE_NODES)
    with pytest.raises(ClusterError, match=r"no \d+ free ports in a row"):
        ports.choose(everything, home(tmp_path, "large"))

    ports.release(tmp_path / "wiped")
    assert ports.choose(everything, tmp_path / "large").slurmctld < ports.LOWEST + LENGTH
    (tmp_path / "large").rmdir()
    assert ports.choose(everything, home(tmp_path, "other")).slurmctld < first + LENGTH


def test_what_is_reserved_for_no_cluster_is_not_given_to_one(tmp_path: Path) -> None:
    held = ports.reserve(home(tmp_path, "web"), 7 * LENGTH)

    with pytest.raises(ClusterError, match=r"no \d+ free ports in a row"):
        ports.choose(Options(nodes=2 * LENGTH), home(tmp_path, "cluster"))
    assert len(held) == 7 * LENGTH


def test_a_directory_that_chooses_again_gives_its_block_up(tmp_path: Path) -> None:
    directory = home(tmp_path, "again")
    for _ in range(50):
        ports.choose(OPTIONS, directory)

    assert len(list(tmp_path.glob("fleet-manager-ports-*/*.json"))) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"directory": 3}', "null"])
def test_a_reservation_that_nobody_can_read_is_forgotten(tmp_path: Path, text: str) -> None:
    ports.choose(OPTIONS, home(tmp_path, "one"))
    (registry,) = tmp_path.glob("fleet-manager-ports-*")
    (registry / "torn.json").write_text(text)

    ports.choose(OPTIONS, home(tmp_path, "two"))

    assert not (registry / "torn.json").exists()


@pytest.mark.parametrize(
    ("clients", "highest"),
    [("32768\t60999\n", 32000), ("16000\t65535\n", 16000), ("1024\t65535\n", 32000), ("", 32000)],
)
def test_ports_lie_below_those_of_clients_where_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clients: str, highest: int
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(ports, "CLIENT_PORTS", tmp_path / "range")
    (tmp_path / "range").write_text(clients)

    assert ports._highest() == highest
