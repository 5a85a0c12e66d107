"""A site with a token, and what the recorder was told."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from burnin.api.satellite import Facts
from burnin.satellite.messages import FactAnswer, FactBatch
from burnin.tests.models.world import make_site
from fleet.models import Site, SiteToken

FACTS = "/api/v1/satellite/facts"


class FakeRecorder:
    """Takes every fact, or answers as `answer` does."""

    def __init__(self) -> None:
        self.told: list[tuple[Site, FactBatch]] = []
        self.answer: Callable[[FactBatch], FactAnswer] = _take_all

    def __call__(self, site: Site, batch: FactBatch, *, now: datetime) -> FactAnswer:
        assert now.tzinfo is not None
        self.told.append((site, batch))
        return self.answer(batch)


def _take_all(batch: FactBatch) -> FactAnswer:
    return FactAnswer(acknowledged=tuple(envelope.id for envelope in batch.facts))


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> FakeRecorder:
    fake = FakeRecorder()
    monkeypatch.setattr(Facts, "record", staticmethod(fake))
    return fake


@pytest.fixture
def site(db: None) -> Site:
    return make_site("east")


@pytest.fixture
def token(site: Site) -> str:
    return SiteToken.issue(site)


@pytest.fixture
def satellite(token: str) -> Client:
    """A client that shows the site's token, from this machine."""
    return Client(headers={"authorization": f"Bearer {token}"})


def heartbeat(fact_id: str = "1") -> dict[str, Any]:
    fact = {"kind": "heartbeat", "at": "2026-11-29T12:00:00Z", "version": "1"}
    return {"id": fact_id, "fact": fact}
