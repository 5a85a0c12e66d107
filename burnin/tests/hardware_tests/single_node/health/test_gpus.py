"""What nvidia-smi says of eight GPUs, and of one of them that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.health.h100 import TABLE, XML
from burnin.tests.hardware_tests.single_node.health.reading import ended, read, said

WORST = "GPU 0 (00000000:00:00.0)"


def with_one_gpu(before: str, after: str) -> str:
    assert before in XML
    return XML.replace(before, after, 1)


@pytest.mark.parametrize(
    ("check", "before", "after", "found"),
    [
        ("gpus_without_ecc", "<current_ecc>Enabled", "<current_ecc>Disabled", (1, WORST)),
        ("gpus_without_ecc", "<pending_ecc>Enabled", "<pending_ecc>Disabled", (1, WORST)),
        ("uncorrected_ecc_errors", "<dram_uncorrectable>0", "<dram_uncorrectable>2", (2, WORST)),
        ("corrected_ecc_errors", "<dram_correctable>3", "<dram_correctable>9", (9, WORST)),
        ("pending_row_remaps", "pending>No", "pending>Yes", (1, WORST)),
        ("failed_row_remaps", "failure>No", "failure>Yes", (1, WORST)),
        ("remapped_rows", "row_unc>1", "row_unc>600", (600, WORST)),
        ("pending_page_retirements", "retirement>No", "retirement>Yes", (1, WORST)),
        ("gpu_temperature", "41 C", "91 C", (91, WORST)),
        ("throttled_gpus", "hw_slowdown>Not Active", "hw_slowdown>Active", (1, WORST)),
        ("throttled_gpus", "power_cap>Not Active", "power_cap>Active", (0, "")),
        ("gpus_without_persistence", "mode>Enabled", "mode>Disabled", (1, WORST)),
        ("pcie_width", "<current_link_width>16x", "<current_link_width>8x", (8, WORST)),
        ("pcie_generation", "<max_link_gen>5", "<max_link_gen>4", (4, WORST)),
        ("gpu_processes", "<processes>", "<processes><process_info/>", (1, WORST)),
        ("gpus_off_fabric", "<state>Completed", "<state>In Progress", (1, WORST)),
        ("gpus_off_fabric", "<status>Success", "<status>Failure", (1, WORST)),
        (
            "vbios_versions",
            "96.00.89.00.01",
            "96.00.74.00.01",
            (2, "96.00.74.00.01; 96.00.89.00.01"),
        ),
        ("retired_pages", "<retired_count>2", "<retired_count>70", (71, WORST)),
        ("lowered_application_clocks", "<graphics_clock>1980", "<graphics_clock>1155", (1, WORST)),
        ("application_clock", "<graphics_clock>1980", "<graphics_clock>1155", (1155, WORST)),
        ("application_memory_clock", "<mem_clock>2619", "<mem_clock>1593", (1593, WORST)),
        ("driver_versions", "550.54.15", "535.183.01", (1, "535.183.01")),
    ],
)
def test_the_worst_gpu_is_the_value_and_is_named(
    tmp_path: Path, check: str, before: str, after: str, found: tuple[float, str]
) -> None:
    assert said(check, with_one_gpu(before, after), tmp_path) == found


@pytest.mark.parametrize(
    ("check", "before"),
    [
        ("gpus_without_ecc", "<current_ecc>Enabled"),
        ("uncorrected_ecc_errors", "<volatile>"),
        ("pending_row_remaps", "<remapped_row_pending>No"),
        ("remapped_rows", "<remapped_row_unc>1"),
        ("gpu_temperature", "<gpu_temp>41 C"),
        ("pcie_width", "<current_link_width>16x"),
        ("gpus_off_fabric", "<state>Completed"),
        ("gpus_without_persistence", "<persistence_mode>Enabled"),
        ("vbios_versions", "<vbios_version>96.00.89.00.01"),
        ("driver_versions", "<driver_version>550.54.15"),
        ("retired_pages", "<retired_count>2"),
        ("lowered_application_clocks", "<graphics_clock>1980 MHz"),
        ("application_clock", "<graphics_clock>1980 MHz"),
        ("application_memory_clock", "<mem_clock>2619 MHz"),
    ],
)
def test_a_gpu_that_does_not_tell_is_no_good_gpu(tmp_path: Path, check: str, before: str) -> None:
    tag = before[1:].partition(">")[0]
    silent = with_one_gpu(before, f"<{tag}>N/A")
    silent = silent.replace("<volatile>N/A", "<volatile_of_another_kind>", 1)
    if tag == "volatile":
        silent = silent.replace("</volatile>", "</volatile_of_another_kind>", 1)

    with pytest.raises(NotMeasured, match="tell its"):
        said(check, silent, tmp_path)


def test_gpus_are_counted_and_those_out_of_reach_are_named(tmp_path: Path) -> None:
    lost = '<gpu id="00000000:00:00.0"><fan_speed>GPU is lost</fan_speed></gpu>'
    rest = XML.partition("</gpu>")
    text = rest[0].partition("\t<gpu ")[0] + lost + rest[2]

    assert said("gpu_count", XML, tmp_path) == (8, "")
    assert said("gpu_count", text, tmp_path) == (7, "out of reach: 00000000:00:00.0")
    with pytest.raises(NotMeasured, match="does not reach 00000000:00:00"):
        said("gpu_temperature", text, tmp_path)


def test_no_gpus_at_all_are_none_and_no_error(tmp_path: Path) -> None:
    text = (SHIPPED / "nvidia-smi/query_no_devices.txt").read_text()

    assert said("gpu_count", text, tmp_path, exit_code=6)[0] == 0


def test_a_driver_that_does_not_answer_is_a_fault_of_what_was_asked(tmp_path: Path) -> None:
    text = (SHIPPED / "nvidia-smi/query_driver_not_loaded.txt").read_text()

    value, detail = said("smi_responds", text, tmp_path, exit_code=9, words="no driver")
    assert (value, detail) == (0, "exit 9: no driver")
    with pytest.raises(ParseError, match="couldn't communicate"):
        said("gpu_temperature", text, tmp_path, exit_code=9)


def test_a_list_of_gpus_that_is_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="cut or damaged"):
        said("gpu_count", XML[: len(XML) // 2], tmp_path)


def test_a_corrupt_inforom_is_found_in_nvidia_smis_warning(tmp_path: Path) -> None:
    warning = "WARNING: infoROM is corrupted at gpu 0000:3B:00.0\n"

    assert said("corrupt_inforoms", TABLE, tmp_path) == (0, "")
    assert said("corrupt_inforoms", TABLE + warning, tmp_path) == (1, "0000:3B:00.0")
    with pytest.raises(NotMeasured, match="shows no table"):
        said("corrupt_inforoms", "", tmp_path)


def grown(check: str, directory: Path, before: str, after: str) -> tuple[float, str]:
    files = {"nvidia_smi_growth-before.txt": before, "nvidia_smi_growth-after.txt": after}
    return read(check, {"before": ended(), "after": ended()}, directory, files)


@pytest.mark.parametrize(
    ("check", "before", "after"),
    [
        ("new_uncorrected_ecc_errors", "<dram_uncorrectable>0", "<dram_uncorrectable>2"),
        ("new_corrected_ecc_errors", "<dram_correctable>3", "<dram_correctable>5"),
        ("new_pcie_replays", "<replay_counter>7", "<replay_counter>9"),
    ],
)
def test_only_the_growth_of_a_counter_counts(
    tmp_path: Path, check: str, before: str, after: str
) -> None:
    worse = with_one_gpu(before, after)

    assert grown(check, tmp_path, XML, XML)[0] == 0
    assert grown(check, tmp_path, XML, worse) == (2, WORST)
    with pytest.raises(NotMeasured, match="went backwards while it was watched"):
        grown(check, tmp_path, worse, XML)


def test_a_gpu_that_vanished_while_it_was_watched_is_refused(tmp_path: Path) -> None:
    fewer = XML.replace("<attached_gpus>8", "<attached_gpus>7")
    fewer = fewer.partition("\t<gpu id")[0] + fewer.partition("</gpu>\n")[2]

    with pytest.raises(NotMeasured, match="was there at one end of the run only"):
        grown("new_pcie_replays", tmp_path, XML, fewer)
