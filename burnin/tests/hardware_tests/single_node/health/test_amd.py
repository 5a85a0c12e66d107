"""GPUs of AMD."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.tests.hardware_tests.single_node.health.reading import read, said

GOOD = {"blocks": {"umc": "ue: 0\nce: 4\n", "xgmi_wafl": "ue: 0\nce: 0\n"}, "bad_pages": ""}


def cards(**changes: Any) -> dict[str, Any]:
    return {"card0": GOOD, "card1": {**GOOD, **changes}}


def test_uncorrected_errors_of_the_worst_card_are_added_up(tmp_path: Path) -> None:
    blocks = {"umc": "ue: 1\nce: 0\n", "xgmi_wafl": "ue: 2\nce: 0\n"}

    assert read("rocm_uncorrected_errors", cards(), tmp_path)[0] == 0
    assert read("rocm_uncorrected_errors", cards(blocks=blocks), tmp_path) == (3, "card1")


@pytest.mark.parametrize("text", ["", "ue: x\nce: 0", "0"])
def test_counts_in_another_form_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotMeasured, match="the error counts of card1 are not as amdgpu"):
        read("rocm_uncorrected_errors", cards(blocks={"umc": text}), tmp_path)


def test_bad_pages_are_counted(tmp_path: Path) -> None:
    pages = "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : P\n"

    assert read("rocm_bad_pages", cards(), tmp_path)[0] == 0
    assert read("rocm_bad_pages", cards(bad_pages=pages), tmp_path) == (2, "card1")
    with pytest.raises(NotMeasured, match="the bad pages of card1"):
        read("rocm_bad_pages", cards(bad_pages="?"), tmp_path)


def test_cards_are_counted_and_the_hottest_is_named(tmp_path: Path) -> None:
    report = {f"card{at}": {"Temperature (Sensor junction) (C)": f"{50 + at}.0"} for at in range(8)}

    assert said("rocm_gpu_count", json.dumps(report), tmp_path)[0] == 8
    assert said("rocm_temperature", json.dumps(report), tmp_path) == (57, "card7")
    assert said("rocm_gpu_count", "Driver not initialized (amdgpu not found)", tmp_path)[0] == 0
