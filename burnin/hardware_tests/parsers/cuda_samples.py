"""CUDA's bandwidthTest and p2pBandwidthLatencyTest."""

from __future__ import annotations

from burnin.hardware_tests.parsers import cuda_bandwidth, cuda_p2p
from burnin.hardware_tests.parsers.cuda_bandwidth import BandwidthTestReport
from burnin.hardware_tests.parsers.cuda_p2p import P2pReport
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind


def parse(text: str) -> BandwidthTestReport | P2pReport:
    """Return the report of the one whose output this is; raise ParseError."""
    if not text.strip():
        raise ParseError("empty output: the CUDA sample wrote nothing", kind=RefusalKind.NO_DATA)
    if "[CUDA Bandwidth Test]" in text or "bandwidthTest-" in text:
        return cuda_bandwidth.parse(text)
    if "P2P" in text:
        return cuda_p2p.parse(text)
    line = text.strip().splitlines()[-1]
    raise ParseError(f"no output of a known CUDA sample: {line:.200}", kind=RefusalKind.MALFORMED)
