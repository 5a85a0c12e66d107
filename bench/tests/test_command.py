import pytest

from bench import command
from bench.parts import PARTS
from bench.place import Place
from bench.table import NotMeasured


def test_an_unknown_part_is_refused_before_anything_is_started(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        command.main(["p99"])

    assert "p99" in capsys.readouterr().err


def test_a_part_that_fails_is_shown_and_costs_the_others_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(name: str, place: Place) -> None:
        raise RuntimeError("no cluster\nhere")

    monkeypatch.setattr(command, "measure", fail)

    (line,) = command.measured("p1", Place())

    assert line == NotMeasured("P1", PARTS["p1"][1], "RuntimeError: no cluster here")
