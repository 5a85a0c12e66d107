from __future__ import annotations

from burnin.hardware_tests.parsers import pci
from burnin.hardware_tests.parsers.pci import PciDevice
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of

GPU = "19:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)\n"
CAPABLE = "\t\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM L1, Exit Latency L1 <4us\n"
STATUS = "\t\tLnkSta:\tSpeed 32GT/s (ok), Width x16 (ok)\n"


def device(*lines: str) -> PciDevice:
    [found] = pci.parse("".join(lines) + "\n").devices
    return found


def test_a_link_at_its_maximum_is_good() -> None:
    gpu = device(GPU, CAPABLE, STATUS)

    assert gpu.is_gpu and gpu.is_degraded is False


def test_a_narrow_link_is_found_without_the_word_downgraded() -> None:
    gpu = device(GPU, CAPABLE, "\t\tLnkSta:\tSpeed 32GT/s, Width x8, TrErr- Train-\n")

    assert gpu.is_degraded


def test_a_slow_link_is_found() -> None:
    gpu = device(GPU, CAPABLE, "\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16 (ok)\n")

    assert gpu.is_degraded and gpu.status is not None and gpu.status.speed_gt_per_s == 2.5


def test_a_link_that_we_may_not_read_is_unknown_not_good() -> None:
    assert device(GPU, "\tCapabilities: <access denied>\n").is_degraded is None


def test_a_speed_that_lspci_does_not_know_is_unknown_not_good() -> None:
    gpu = device(GPU, CAPABLE, "\t\tLnkSta:\tSpeed unknown (downgraded), Width x0 (downgraded)\n")

    assert gpu.is_degraded is None


def test_a_device_that_fell_off_the_bus_is_marked() -> None:
    gone = GPU.replace("(rev a1)", "(rev ff) (prog-if ff)")

    assert device(gone, "\t!!! Unknown header type 7f\n").fell_off
    assert not device(GPU, CAPABLE, STATUS).fell_off


def test_gpus_of_both_vendors_are_known_and_a_console_is_none() -> None:
    amd = "05:00.0 Processing accelerators: Advanced Micro Devices, Inc. [AMD/ATI] Device 74a1\n"
    console = "03:00.0 VGA compatible controller: ASPEED Technology, Inc. ASPEED Graphics Family\n"

    assert device(amd).is_gpu
    assert not device(console).is_gpu


def test_a_domain_is_part_of_the_address() -> None:
    assert device("0001:" + GPU, CAPABLE, STATUS).address == "0001:19:00.0"


def test_a_device_without_its_status_is_cut() -> None:
    assert refusal_of(pci.parse, GPU + CAPABLE + "\n").kind is RefusalKind.TRUNCATED


def test_an_output_that_does_not_end_its_last_device_is_cut() -> None:
    assert refusal_of(pci.parse, GPU + CAPABLE + STATUS).kind is RefusalKind.TRUNCATED
