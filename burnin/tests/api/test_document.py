"""The OpenAPI document tells the truth: schemathesis asks every operation what it promises."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given
from pytest_django import Settings
from schemathesis.generation import GenerationMode

from burnin.api.schema import document
from burnin.models.limits import load_shipped
from burnin.tests.api.callers import API, fill, text_of_token
from burnin.tests.factories import a_site, a_user
from burnin.tests.workflow.trouble import FakeQueue
from burnin.workflow import wiring
from fleet.access import Role
from fleet.wsgi import application

EXAMPLES = 5  # for each operation and mode
OPERATIONS = [
    (method.upper(), path)
    for path, stated in document()["paths"].items()
    for method in stated
    if method in ("get", "post", "put", "patch", "delete")
]
# A valid request may ask for what there is not: a node, a test, a job.
REFUSED_FOR_ITS_MEANING = ("400", "401", "403", "404", "409", "422", "429", "503", "2xx", "304")


def _app(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
    environ["REMOTE_ADDR"] = "127.0.0.1"
    return application(environ, start)


@cache
def _schema() -> Any:
    config = schemathesis.Config.from_dict(
        {"checks": {"positive_data_acceptance": {"expected-statuses": REFUSED_FOR_ITS_MEANING}}}
    )
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(document())), config=config)
    schema.app = _app
    return schema


@pytest.fixture
def token(db: None, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An admin's token, at a hub with a row of everything."""
    settings.STORE = f"local:{tmp_path / 'store'}"
    settings.LOGGING_CONFIG = None
    queue = FakeQueue(timezone.now)
    monkeypatch.setattr(wiring, "site_queue", lambda: queue)
    load_shipped()
    fill(a_site("east"), 2)
    return text_of_token(a_user(Role.ADMIN, None))


@pytest.mark.one_database
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_an_operation_keeps_its_promises(
    token: str, method: str, path: str, mode: GenerationMode
) -> None:
    operation = _schema()[path][method]

    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        case.call_and_validate(headers={"Authorization": f"Bearer {token}"})

    try:
        ask()
    except hypothesis.errors.Unsatisfiable:
        assert mode is GenerationMode.NEGATIVE, "no request can be made of what is declared"


def test_the_document_is_valid_and_nothing_in_it_was_guessed(tmp_path: Path) -> None:
    target = tmp_path / "schema.yaml"

    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(target))

    assert "openapi: 3." in target.read_text()


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_operation_declares_its_refusals_with_an_example(method: str, path: str) -> None:
    answers = document()["paths"][path][method.lower()]["responses"]

    refused = {code: each for code, each in answers.items() if code >= "400"}
    assert {"401", "403", "429", "503"} <= set(refused)
    for each in refused.values():
        shown = each["content"]["application/json"]
        assert shown["schema"] == {"$ref": "#/components/schemas/Refusal"}
        assert all("error" in example["value"] for example in shown["examples"].values())


def test_every_body_that_is_sent_has_an_example() -> None:
    bodies = [
        (path, method, stated["requestBody"]["content"]["application/json"])
        for path, operations in document()["paths"].items()
        for method, stated in operations.items()
        if "requestBody" in stated
    ]

    assert bodies
    assert [(path, method) for path, method, body in bodies if "examples" not in body] == []


@pytest.mark.django_db
def test_the_document_is_for_everybody_and_sent_once() -> None:
    first = Client().get(f"{API}schema")

    again = Client().get(f"{API}schema", headers={"if-none-match": first["ETag"]})

    assert first.json()["info"]["title"] == "Fleet Manager"
    assert again.status_code == 304


@pytest.mark.django_db
def test_the_pages_of_the_document_load_only_what_is_ours() -> None:
    page = Client().get(f"{API}docs")

    text = page.content.decode()
    assert page.status_code == 200
    assert "script-src 'self';" in page["Content-Security-Policy"]
    assert "http://" not in text and "https://" not in text
    assert "<script>" not in text
    assert "swagger-ui-bundle.js" in text
