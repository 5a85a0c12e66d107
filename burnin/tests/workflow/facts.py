"""Facts as a satellite would post them, for tests of what they do."""

from typing import Any

from burnin.models import TestRun
from burnin.satellite.messages import (
    Envelope,
    Fact,
    FactAnswer,
    FactBatch,
    JobSeen,
    SubmitAnswered,
)
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.workflow.bells import Bell
from burnin.workflow.record import record_facts
from fleet.models import Site


class Rings:
    def __init__(self) -> None:
        self.rung: list[tuple[Bell, int]] = []

    def ring(self, bell: Bell, site_id: int) -> None:
        self.rung.append((bell, site_id))


def dispatched(*names: str) -> Hub:
    """A hub whose planned runs wait for the satellite's first word."""
    hub = make_hub(*names)
    hub.plan()
    hub.work()
    return hub


def post(hub: Hub, *facts: Fact, site: Site | None = None) -> FactAnswer:
    envelopes = tuple(Envelope(id=str(number), fact=fact) for number, fact in enumerate(facts))
    batch = FactBatch(facts=envelopes, sent_at=hub.now)
    return record_facts(site or hub.site_row, batch, now=hub.now, bells=Rings())


def about(run: TestRun, **values: Any) -> dict[str, Any]:
    return {"run_id": str(run.pk), "attempt": 1, **values}


def accepted(run: TestRun, job_id: str = "7") -> SubmitAnswered:
    return SubmitAnswered(**about(run, answer="accepted", job_id=job_id))


def seen(run: TestRun, state: str, job_id: str = "7", **more: Any) -> JobSeen:
    return JobSeen(**about(run, job_id=job_id, state=state, source="squeue", **more))
