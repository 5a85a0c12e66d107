from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers import rocm_smi
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of


def report(**card: Any) -> str:
    return json.dumps({"card0": card, "system": {"Driver version": "6.3.6"}})


def test_units_stand_in_the_keys() -> None:
    text = report(
        **{"Temperature (Sensor junction) (C)": "55.0", "VRAM Total Memory (B)": "34342961152"}
    )

    parsed = rocm_smi.parse(text)

    assert parsed.driver_version == "6.3.6"
    assert parsed.cards[0].junction_temperature_c == 55.0
    assert parsed.cards[0].memory_total_bytes == 34342961152


@pytest.mark.parametrize(
    "key",
    ["Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)"],
)
def test_power_is_found_under_each_generations_name(key: str) -> None:
    assert rocm_smi.parse(report(**{key: "140.0"})).cards[0].power_w == 140.0


@pytest.mark.parametrize("word", ["N/A", "", "None"])
def test_what_a_card_does_not_tell_is_none(word: str) -> None:
    card = rocm_smi.parse(report(**{"PCIe Replay Count": word})).cards[0]

    assert card.pcie_replays is None


def test_how_cards_are_linked_is_read() -> None:
    system = {"(Topology) Link type between DRM devices 0 and 1": "XGMI"}

    parsed = rocm_smi.parse(json.dumps({"card0": {}, "card1": {}, "system": system}))

    assert parsed.links == {"0 and 1": "XGMI"}


def test_a_value_that_is_no_number_is_refused_with_its_place() -> None:
    refused = refusal_of(rocm_smi.parse, report(**{"GPU use (%)": "much"}))

    assert refused.reason == "rocm-smi's card0, GPU use (%): 'much' is no number"


def test_a_report_without_cards_has_no_device() -> None:
    assert refusal_of(rocm_smi.parse, '{"system": {}}').kind is RefusalKind.NO_DEVICE


def test_a_card_that_is_no_block_is_refused() -> None:
    assert refusal_of(rocm_smi.parse, '{"card0": 3}').kind is RefusalKind.MALFORMED
