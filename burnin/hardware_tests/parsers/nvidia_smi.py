"""nvidia-smi in every form we ask it for: XML, CSV queries, links, topology, the list of GPUs."""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers import nvidia_smi_csv, nvidia_smi_links, nvidia_smi_xml
from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.nvidia_smi_csv import NvidiaSmiQuery
from burnin.hardware_tests.parsers.nvidia_smi_links import NvidiaSmiLinks, NvidiaSmiTopology
from burnin.hardware_tests.parsers.nvidia_smi_xml import NvidiaSmiLog
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_FAILURES = (
    (
        RefusalKind.DRIVER_ERROR,
        re.compile(r"couldn't communicate with the NVIDIA driver|Failed to initialize NVML: .*"),
    ),
    (RefusalKind.NO_DEVICE, re.compile(r"^No devices were found", re.MULTILINE)),
    (
        RefusalKind.USAGE,
        re.compile(r'Field "[^"\n]*" is not a valid field to query|Invalid combination of .*'),
    ),
    (RefusalKind.SETUP_ERROR, re.compile(r".*nvidia-smi.*(?:not found|No such file).*")),
)


def parse(text: str) -> NvidiaSmiLog | NvidiaSmiQuery | NvidiaSmiLinks | NvidiaSmiTopology:
    """Return what nvidia-smi reports; raise ParseError where it could not ask the driver."""
    if not text.strip():
        raise ParseError("empty output: nvidia-smi wrote nothing", kind=RefusalKind.NO_DATA)
    if text.lstrip().startswith("<"):
        return nvidia_smi_xml.parse(text)
    for kind, words in _FAILURES:
        if found := words.search(text):
            raise ParseError(found[0].strip(), kind=kind)
    if nvidia_smi_links.is_list(text):
        return nvidia_smi_links.parse(text)
    if nvidia_smi_links.is_matrix(text):
        return nvidia_smi_links.parse_matrix(text)
    if "," in text.splitlines()[0]:
        return nvidia_smi_csv.parse(text)
    raise ParseError(f"not nvidia-smi's output: {last_line(text)}", kind=RefusalKind.MALFORMED)
