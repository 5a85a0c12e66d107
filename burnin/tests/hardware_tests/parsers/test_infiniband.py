from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import infiniband
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

FOUR = shipped("infiniband", "ibstat_four_hcas_faults.txt")
COUNTERS = """\
# Port extended counters: Lid 12 port 1 (CapMask: 0x5A00)
PortSelect:......................1
CounterSelect:...................0x0000
SymbolErrorCounter:..............3
LinkDownedCounter:...............0
PortXmitData:....................18446744073709551615
"""


def test_a_port_is_up_when_both_its_states_say_so() -> None:
    adapters = infiniband.parse(FOUR).adapters

    assert [adapter.ports[0].is_up for adapter in adapters] == [True, False, False, True]


def test_the_rate_is_in_bits() -> None:
    assert infiniband.parse(FOUR).adapters[0].ports[0].rate_bits_per_s == 400e9


def test_a_rate_with_its_name_is_read() -> None:
    text = FOUR.replace("Rate: 400", "Rate: 40 (FDR10)")

    assert infiniband.parse(text).adapters[0].ports[0].rate_bits_per_s == 40e9


def test_a_port_that_the_adapter_has_and_ibstat_does_not_show_is_noticed() -> None:
    refused = refusal_of(infiniband.parse, FOUR.replace("ports: 1", "ports: 2", 1))

    assert refused.reason == "ibstat shows 1 ports of mlx5_0, which has 2"


@pytest.mark.parametrize("field", ["State", "Physical state", "Rate", "Link layer", "SM lid"])
def test_a_port_that_lacks_a_field_is_cut(field: str) -> None:
    kept = "\n".join(line for line in FOUR.splitlines() if not line.strip().startswith(field))

    assert refusal_of(infiniband.parse, kept).kind is RefusalKind.TRUNCATED


def test_counters_are_read_by_name() -> None:
    [port] = infiniband.parse(COUNTERS).counters

    assert (port.lid, port.port) == (12, 1)
    assert port.values["SymbolErrorCounter"] == 3
    assert port.values["PortXmitData"] == 2**64 - 1


def test_a_counter_that_may_be_cut_is_refused() -> None:
    assert refusal_of(infiniband.parse, COUNTERS[:-4]).kind is RefusalKind.TRUNCATED


def test_a_failure_is_refused_in_the_tools_words() -> None:
    refused = refusal_of(infiniband.parse, "ibpanic: [12] main: stat of IB device failed: (No)\n")

    assert refused.kind is RefusalKind.TOOL_ERROR and "stat of IB device" in refused.reason
