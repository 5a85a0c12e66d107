from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import nvidia_smi
from burnin.hardware_tests.parsers.nvidia_smi_csv import NvidiaSmiQuery
from burnin.hardware_tests.parsers.nvidia_smi_links import NvidiaSmiLinks, NvidiaSmiTopology
from burnin.hardware_tests.parsers.nvidia_smi_xml import NvidiaSmiLog, NvidiaSmiXmlGpu
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

FAULTS = shipped("nvidia-smi", "query_gpu_mixed_faults.csv")


def query(text: str) -> NvidiaSmiQuery:
    report = nvidia_smi.parse(text)
    assert isinstance(report, NvidiaSmiQuery)
    return report


def test_what_a_gpu_does_not_tell_is_none_not_zero() -> None:
    last = query(FAULTS).gpus[3]

    assert (last.ecc_uncorrected, last.power_w, last.throttle_mask) == (None, None, None)
    assert last.throttle_reasons == ()


def test_throttle_reasons_are_named() -> None:
    assert query(FAULTS).gpus[2].throttle_reasons == ("HW slowdown", "HW thermal slowdown")


@pytest.mark.parametrize(
    "row", ["4, [GPU is lost], [GPU is lost]", "4, [Unknown Error], [Unknown Error]"]
)
def test_a_row_of_a_lost_gpu_is_no_gpu(row: str) -> None:
    header = "index, power.draw [W], ecc.errors.uncorrected.volatile.total"

    report = query(f"{header}\n0, 75.5, 0\n{row}\n")

    assert [gpu.index for gpu in report.gpus] == [0]
    assert report.lost == ("4",)


def test_one_value_that_cannot_be_read_is_unknown_and_the_gpu_is_there() -> None:
    header = "index, power.draw [W], ecc.errors.uncorrected.volatile.total"

    [gpu] = query(f"{header}\n0, [Unknown Error], 3\n").gpus

    assert (gpu.power_w, gpu.ecc_uncorrected) == (None, 3)


@pytest.mark.parametrize("unit", ["mW", "kW"])
def test_a_value_in_another_unit_is_refused(unit: str) -> None:
    refused = refusal_of(nvidia_smi.parse, f"index, power.draw [{unit}]\n0, 75\n")

    assert refused.reason == f"nvidia-smi's power.draw is in {unit}, not in W"


def test_a_row_that_does_not_fit_its_header_is_refused() -> None:
    refused = refusal_of(nvidia_smi.parse, "index, power.draw [W]\n0, 75.5, 3\n")

    assert refused.kind is RefusalKind.MALFORMED and "3 values under 2 columns" in refused.reason


def test_rows_without_a_header_are_refused() -> None:
    rows = FAULTS.partition("\n")[2]

    assert "not a header of nvidia-smi" in refusal_of(nvidia_smi.parse, rows).reason


def test_a_table_without_rows_is_no_data() -> None:
    assert refusal_of(nvidia_smi.parse, "index, uuid\n").kind is RefusalKind.NO_DATA


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch\n", "driver_error"),
        ('Field "power.drow" is not a valid field to query.\n', "usage"),
        ("timeout: failed to run command 'nvidia-smi': No such file or directory\n", "setup_error"),
        ("hello\n", "malformed"),
    ],
)
def test_what_is_no_report_is_refused_by_kind(words: str, kind: str) -> None:
    assert refusal_of(nvidia_smi.parse, words).kind == kind


def xml(*gpus: str, before: str = "") -> str:
    blocks = "".join(f'<gpu id="00000000:{i:02}:00.0">{gpu}</gpu>' for i, gpu in enumerate(gpus))
    return f"<?xml version='1.0' ?>\n<nvidia_smi_log>{before}{blocks}</nvidia_smi_log>\n"


def only_gpu(inside: str) -> NvidiaSmiXmlGpu:
    report = nvidia_smi.parse(xml(inside))
    assert isinstance(report, NvidiaSmiLog)
    return report.gpus[0]


def test_ecc_counts_of_an_old_driver_are_its_totals() -> None:
    inside = (
        "<ecc_errors><volatile><single_bit><device_memory>4</device_memory><total>5</total>"
        "</single_bit><double_bit><total>2</total></double_bit></volatile></ecc_errors>"
    )

    volatile = only_gpu(inside).volatile_ecc

    assert (volatile.corrected, volatile.uncorrected) == (5, 2)


def test_ecc_counts_of_a_new_driver_are_added_up() -> None:
    inside = (
        "<ecc_errors><volatile><sram_correctable>1</sram_correctable>"
        "<sram_uncorrectable_parity>2</sram_uncorrectable_parity>"
        "<sram_uncorrectable_secded>3</sram_uncorrectable_secded>"
        "<dram_correctable>N/A</dram_correctable><dram_uncorrectable>4</dram_uncorrectable>"
        "</volatile></ecc_errors>"
    )

    gpu = only_gpu(inside)

    assert (gpu.volatile_ecc.corrected, gpu.volatile_ecc.uncorrected) == (1, 9)
    assert gpu.aggregate_ecc.uncorrected is None


def test_remapped_rows_and_fabric_are_read() -> None:
    gpu = only_gpu(
        "<remapped_rows><remapped_row_corr>1</remapped_row_corr>"
        "<remapped_row_unc>2</remapped_row_unc><remapped_row_pending>Yes</remapped_row_pending>"
        "<remapped_row_failure>No</remapped_row_failure></remapped_rows>"
        "<fabric><state>Completed</state><status>Success</status></fabric>"
    )

    assert (gpu.remapping.pending, gpu.remapping.failed) == (True, False)
    assert (gpu.fabric_state, gpu.fabric_status) == ("Completed", "Success")


@pytest.mark.parametrize("word", ["throttle", "event"])
def test_active_reasons_are_named_in_either_generation(word: str) -> None:
    inside = (
        f"<clocks_{word}_reasons>"
        f"<clocks_{word}_reason_hw_slowdown>Active</clocks_{word}_reason_hw_slowdown>"
        f"<clocks_{word}_reason_gpu_idle>Not Active</clocks_{word}_reason_gpu_idle>"
        f"</clocks_{word}_reasons>"
    )

    assert only_gpu(inside).throttle_reasons == ("hw_slowdown",)


def test_a_gpu_that_tells_no_reasons_has_none_checked() -> None:
    assert only_gpu("<product_name>X</product_name>").throttle_reasons is None


def test_a_lost_gpu_is_listed_apart() -> None:
    report = nvidia_smi.parse(
        xml("<uuid>GPU-1</uuid><temperature><gpu_temp>GPU is lost</gpu_temp></temperature>", "")
    )

    assert isinstance(report, NvidiaSmiLog)
    assert report.lost == ("00000000:00:00.0",) and len(report.gpus) == 1


def test_a_gpu_that_is_attached_and_not_listed_is_noticed() -> None:
    text = xml("", before="<attached_gpus>8</attached_gpus>")

    refused = refusal_of(nvidia_smi.parse, text)

    assert refused.reason == "nvidia-smi has 8 GPUs attached and lists 1"


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><nvidia_smi_log>&a;</nvidia_smi_log>'

    assert "declares entities" in refusal_of(nvidia_smi.parse, bomb).reason


UUID = "GPU-00000000-0000-0000-0000-000000000000"


def links(text: str) -> NvidiaSmiLinks:
    report = nvidia_smi.parse(text)
    assert isinstance(report, NvidiaSmiLinks)
    return report


def test_an_inactive_link_has_no_speed() -> None:
    text = f"GPU 0: NVIDIA H100 (UUID: {UUID})\n\t Link 0: 26.562 GB/s\n\t Link 1: <inactive>\n"

    first, second = links(text).gpus[0].links

    assert (first.active, first.bytes_per_s) == (True, 26.562e9)
    assert (second.active, second.bytes_per_s) == (False, None)


def test_the_errors_of_a_link_are_counted_by_name() -> None:
    text = (
        f"GPU 0: NVIDIA H100 (UUID: {UUID})\n"
        "\t Link 0: Replay Errors: 0\n\t Link 0: Recovery Errors: 2\n\t Link 0: CRC Errors: 7\n"
    )

    [link] = links(text).gpus[0].links

    assert link.errors == {"Replay Errors": 0, "Recovery Errors": 2, "CRC Errors": 7}
    assert link.active is None


def test_the_list_of_gpus_has_no_links() -> None:
    gpus = links(f"GPU 0: NVIDIA H100 (UUID: {UUID})\n  MIG 1g.10gb Device 0: (UUID: M)\n").gpus

    assert [(gpu.index, gpu.uuid, gpu.links) for gpu in gpus] == [(0, UUID, ())]


def test_a_topology_with_network_adapters_is_read() -> None:
    report = nvidia_smi.parse(
        "\t\x1b[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\x1b[0m\n"
        "GPU0\t X \tNV18\tPIX\t0-55\t0\nGPU1\tNV18\t X \tSYS\t56-111\t1\n"
        "NIC0\tPIX\tSYS\t X \t\t\n\nLegend:\n\n  X    = Self\n"
    )

    assert isinstance(report, NvidiaSmiTopology)
    assert report.rows[0].reaches == {"GPU1": "NV18", "NIC0": "PIX"}


def test_a_matrix_that_lacks_a_row_is_cut() -> None:
    refused = refusal_of(nvidia_smi.parse, "     GPU0 GPU1\nGPU0  X  OK\n")

    assert refused.kind is RefusalKind.TRUNCATED
