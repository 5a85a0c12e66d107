from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.cuda_bandwidth import BandwidthTestReport
from burnin.hardware_tests.parsers.cuda_p2p import P2pReport
from burnin.hardware_tests.parsers.cuda_samples import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of

BANDWIDTH = (
    "[CUDA Bandwidth Test] - Starting...\nRunning on...\n\n Device 0: NVIDIA H100\n Quick Mode\n\n"
    " Host to Device Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n"
    "   Transfer Size (Bytes)\tBandwidth(GB/s)\n   32000000\t\t\t55.3\n\n"
    " Device to Host Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n"
    "   Transfer Size (Bytes)\tBandwidth(GB/s)\n   32000000\t\t\t54.9\n\n"
    "Result = PASS\n"
)
PEERS = "{title}\n   D\\D     0      1 \n     0 {own} {there} \n     1 {back} {own} \n"
TITLES = (
    "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)",
    "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)",
    "Bidirectional P2P=Disabled Bandwidth Matrix (GB/s)",
    "Bidirectional P2P=Enabled Bandwidth Matrix (GB/s)",
)
LATENCY = (
    "P2P={word} Latency {how}Matrix (us)\n   GPU     0      1 \n     0   2.10   2.60 \n"
    "     1   2.50   2.11 \n\n   CPU     0      1 \n     0   1.90   5.20 \n     1   5.10   1.91 \n"
)
CONNECTIVITY = (
    "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n"
    "Device: 0, NVIDIA H100, pciBusID: 18, pciDeviceID: 0, pciDomainID:0\n"
    "P2P Connectivity Matrix\n     D\\D     0     1\n     0\t     1     1\n     1\t     1     1\n"
)
END = "\nNOTE: The CUDA Samples are not meant for performance measurements. Results may vary\n"
P2P = (
    CONNECTIVITY
    + "".join(
        PEERS.format(title=title, own=2500.12, there=380.5 + index, back=375.25 + index)
        for index, title in enumerate(TITLES)
    )
    + LATENCY.format(word="Disabled", how="")
    + LATENCY.format(word="Enabled", how="(P2P Writes) ")
    + END
)


def bandwidth(text: str) -> BandwidthTestReport:
    report = parse(text)
    assert isinstance(report, BandwidthTestReport)
    return report


def p2p(text: str) -> P2pReport:
    report = parse(text)
    assert isinstance(report, P2pReport)
    return report


def test_a_gigabyte_of_new_versions_is_decimal_and_a_megabyte_of_old_ones_is_binary() -> None:
    new = bandwidth(BANDWIDTH).fastest("Host to Device")
    old = bandwidth(BANDWIDTH.replace("GB/s", "MB/s")).fastest("Host to Device")

    assert new and new.bytes_per_s == pytest.approx(55.3e9)
    assert old and old.bytes_per_s == pytest.approx(55.3 * 1024 * 1024)


def test_the_word_of_the_tool_decides() -> None:
    assert bandwidth(BANDWIDTH).passed
    assert not bandwidth(BANDWIDTH.replace("PASS", "FAIL")).passed


def test_a_direction_that_was_not_run_has_no_rate() -> None:
    assert bandwidth(BANDWIDTH).fastest("Device to Device") is None


def test_between_gpus_is_off_the_diagonal_and_with_peer_access() -> None:
    matrices = p2p(P2P).bandwidths("Unidirectional")

    assert [matrix.method for matrix in matrices] == ["Writes"]
    assert list(matrices[0].between_gpus) == [381.5, 376.25]


def test_latencies_are_told_by_whom_they_were_measured() -> None:
    latencies = [matrix for matrix in p2p(P2P).matrices if matrix.quantity == "Latency"]

    assert [(each.p2p_enabled, each.measured_by) for each in latencies] == [
        (False, "GPU"),
        (False, "CPU"),
        (True, "GPU"),
        (True, "CPU"),
    ]
    assert list(latencies[3].between_gpus) == [5.2, 5.1]


def test_every_gpu_is_counted_and_named() -> None:
    report = p2p(P2P)

    assert (report.gpu_count, report.device_names) == (2, ("NVIDIA H100",))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (BANDWIDTH.replace("Result = PASS\n", ""), RefusalKind.TRUNCATED),
        (BANDWIDTH + "Result = PASS\n", RefusalKind.CONTRADICTORY),
        (BANDWIDTH.replace("PASS", "MAYBE"), RefusalKind.CONTRADICTORY),
        ("[CUDA Bandwidth Test] - Starting...\nResult = PASS\n", RefusalKind.CONTRADICTORY),
        (BANDWIDTH.replace("55.3", "inf"), RefusalKind.MALFORMED),
        (
            "[CUDA Bandwidth Test] - Starting...\nno CUDA-capable device is detected\n",
            RefusalKind.ERROR,
        ),
        (P2P.replace(END, ""), RefusalKind.TRUNCATED),
        (P2P.replace("2500.12 380.5", "2500.12"), RefusalKind.TRUNCATED),
        (P2P.replace(TITLES[3], "Some other Matrix"), RefusalKind.CONTRADICTORY),
        (P2P.replace("381.5", "nan"), RefusalKind.MALFORMED),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_what_is_no_whole_consistent_report_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
