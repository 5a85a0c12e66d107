"""A node's run of HPC Challenge: hpccoutf.txt, and hpcc-node.json with what else decides it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import hpcc
from burnin.hardware_tests.parsers.hpcc_report import HpccReport

FINGERPRINT_TOOLS = ("hpcc", "blas", "mpirun")


class HpccNode(BaseModel):
    """What the node asked of hpcc, one process a core, and what its speed depends on."""

    model_config = ConfigDict(frozen=True, strict=True)

    n: int = Field(ge=1)
    nb: int = Field(ge=1)
    p: int = Field(ge=1)
    q: int = Field(ge=1)
    ranks: int = Field(ge=1)
    blas: str
    governors: list[str]
    load: float = Field(ge=0, allow_inf_nan=False)

    def __str__(self) -> str:
        governors = ", ".join(self.governors) or "unknown"
        blas = self.blas or "a BLAS of its own"
        return f"{blas}, governor {governors}, load before it {self.load:g}"


def read_hpcc(artifact_collector: ArtifactCollector) -> tuple[HpccReport, HpccNode]:
    """Return report and node. Raises NotMeasured if hpcc solved another problem than asked."""
    report = hpcc.parse(artifact_collector.get_custom_file("hpccoutf.txt").read_text())
    text = artifact_collector.get_custom_file("hpcc-node.json").read_text()
    node = HpccNode.model_validate_json(text)
    asked = (node.n, node.nb, node.p, node.q)
    found = [(each.n, each.nb, each.p, each.q) for each in report.hpl.results]
    if found != [asked] or report.processes != node.ranks:
        raise NotMeasured(
            f"hpcc was asked for N, NB, P, Q = {asked} and solved {found} with"
            f" {report.processes} processes"
        )
    return report, node


def hpcc_versions(artifact_collector: ArtifactCollector) -> Mapping[str, str]:
    """Return the versions of FINGERPRINT_TOOLS: only the report says which hpcc and BLAS it was."""
    report, node = read_hpcc(artifact_collector)
    own = {"hpcc": report.version, "blas": node.blas}
    return {**artifact_collector.metadata.tools, **own}


def wrong_parts(report: HpccReport) -> list[str]:
    """Say which parts came out wrong; where hpcc names none, that it says so."""
    residuals = [
        f"HPL: residual {residual.value:g} FAILED at N={result.n}"
        for result in report.hpl.results
        for residual in result.residuals
        if not residual.passed
    ]
    parts = [*residuals, *(name for name in report.wrong_sections if name != "HPL")]
    return parts or ([] if report.success else ["Success=0: hpcc does not say which part"])
