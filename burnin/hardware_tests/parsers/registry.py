"""Which parser reads which tool's output, and the plain form of what it says."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Callable, Mapping, Set
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from burnin.hardware_tests.parsers import (
    cuda_samples,
    dcgmi_diag,
    elbencho,
    fio_text,
    gpu_burn,
    gpu_fryer,
    hpcc,
    hpcg,
    hpl,
    infiniband,
    ior,
    iperf2,
    iperf3,
    kernel_log,
    mdtest,
    nccl_tests,
    nvbandwidth,
    nvidia_smi,
    nvme,
    pci,
    perftest,
    rocm_bandwidth,
    rocm_smi,
    rvs,
    smartctl,
    stream,
    stress_ng,
    stressapptest,
    training,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Parser = Callable[[str], DataclassInstance]

PARSERS: Mapping[str, Parser] = {
    "cuda-samples": cuda_samples.parse,
    "dcgmi-diag": dcgmi_diag.parse,
    "elbencho": elbencho.parse,
    "fio": fio_text.parse_either,
    "gpu-burn": gpu_burn.parse,
    "gpu-fryer": gpu_fryer.parse,
    "hpcc": hpcc.parse,
    "hpcg": hpcg.parse,
    "hpl": hpl.parse,
    "infiniband": infiniband.parse,
    "ior": ior.parse,
    "iperf2": iperf2.parse,
    "iperf3": iperf3.parse,
    "kernel-log": kernel_log.parse,
    "mdtest": mdtest.parse,
    "nccl-tests": nccl_tests.parse,
    "nvbandwidth": nvbandwidth.parse,
    "nvidia-smi": nvidia_smi.parse,
    "nvme": nvme.parse,
    "pci": pci.parse,
    "perftest": perftest.parse,
    "rocm-bandwidth-test": rocm_bandwidth.parse,
    "rocm-smi": rocm_smi.parse,
    "rvs": rvs.parse,
    "smartctl": smartctl.parse,
    "stream": stream.parse,
    "stress-ng": stress_ng.parse,
    "stressapptest": stressapptest.parse,
    "training": training.parse,
}


class UnknownTool(Exception):
    """No parser of that name."""

    def __init__(self, tool: str, known: Mapping[str, Parser]) -> None:
        near = difflib.get_close_matches(tool, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}."
        super().__init__(f"there is no parser for '{tool}': {hint}")
        self.tool = tool


def parser_of(tool: str, parsers: Mapping[str, Parser] = PARSERS) -> Parser:
    """Return the parse function of a tool; raise UnknownTool."""
    try:
        return parsers[tool]
    except KeyError:
        raise UnknownTool(tool, parsers) from None


def parse_to_json(tool: str, text: str, parsers: Mapping[str, Parser] = PARSERS) -> str:
    """Return the typed report as JSON text; raise UnknownTool or what the parser refuses with."""
    report = parser_of(tool, parsers)(text)
    return json.dumps({"tool": tool, **_plain(asdict(report))}, indent=2, allow_nan=False)


def _plain(value: Any) -> Any:
    """Make JSON of a value: a NaN that a tool itself calls FAILED has no number there."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Set):
        return sorted(_plain(each) for each in value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
