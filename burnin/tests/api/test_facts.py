"""A batch of facts comes in whole, or is told what is wrong with it."""

import json
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from burnin.api.facts import BadBatch, read_batch
from burnin.api.satellite import LARGEST_BODY_BYTES
from burnin.satellite.messages import FactAnswer, FactBatch, Refusal
from burnin.tests.api.conftest import FACTS, FakeRecorder, heartbeat

database = pytest.mark.django_db
RUN_ID = "0b0e1f6e-5a3c-4f57-9d0c-6f1b8a2f7c11"


def post(client: Client, body: object, **extra: Any) -> Any:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.generic("POST", FACTS, text, **{"content_type": "application/json"} | extra)


def job_seen(fact_id: str, **changes: object) -> dict[str, Any]:
    fact = {
        "kind": "job_seen",
        "run_id": RUN_ID,
        "attempt": 1,
        "job_id": "7",
        "state": "RUNNING",
        "source": "squeue",
    }
    return {"id": fact_id, "fact": fact | changes}


@database
def test_facts_are_recorded_and_acknowledged(recorder: FakeRecorder, satellite: Client) -> None:
    answer = post(satellite, {"facts": [heartbeat("a"), job_seen("b")]})

    assert answer.status_code == 200
    assert FactAnswer.model_validate_json(answer.content).acknowledged == ("a", "b")
    ((_, batch),) = recorder.told
    assert [envelope.fact.kind for envelope in batch.facts] == ["heartbeat", "job_seen"]


@database
def test_what_the_recorder_refuses_is_told(recorder: FakeRecorder, satellite: Client) -> None:
    words = "this run is another site's"
    recorder.answer = lambda _: FactAnswer(refused=(Refusal(id="a", words=words),))

    answer = post(satellite, {"facts": [job_seen("a")]})

    assert answer.status_code == 200
    assert answer.json() == {"acknowledged": [], "refused": [{"id": "a", "words": words}]}


@database
def test_a_body_nested_too_deeply_is_refused(recorder: FakeRecorder, satellite: Client) -> None:
    answer = post(satellite, b"[" * 20_000)

    assert answer.status_code == 422
    assert answer.json()["error"].startswith("the body is no whole JSON document: ")
    assert recorder.told == []


@database
def test_a_malformed_fact_is_refused_and_holds_up_no_other(
    recorder: FakeRecorder, satellite: Client
) -> None:
    facts = [
        heartbeat("good"),
        job_seen("wrong attempt", attempt=0),
        job_seen("wrong type", job_id=7),
        job_seen("unknown field", verdict="passed"),
        {"id": "unknown kind", "fact": {"kind": "verdict"}},
        {"id": "no fact", "fact": None},
        job_seen("also good"),
    ]

    answer = post(satellite, {"facts": facts}).json()

    assert answer["acknowledged"] == ["good", "also good"]
    refused = {refusal["id"]: refusal["words"] for refusal in answer["refused"]}
    assert list(refused) == [
        *("wrong attempt", "wrong type", "unknown field", "unknown kind", "no fact")
    ]
    assert "attempt: Input should be greater than or equal to 1" in refused["wrong attempt"]
    assert "verdict: Extra inputs are not permitted" in refused["unknown field"]


@database
@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"facts": [', "no whole JSON document"),
        (b"\xff\xfe", "no whole JSON document"),
        ([], "the body: Input should be an object"),
        ({}, "facts: Field required"),
        ({"facts": {}}, "facts: Input should be a valid array"),
        ({"facts": [7]}, "facts.0: Input should be an object"),
        ({"facts": [{"fact": heartbeat()["fact"]}]}, "facts.0.id: Field required"),
        ({"facts": [{"id": "x" * 64, "fact": {}}]}, "facts.0.id: String should have at most 63"),
        ({"facts": [], "site": "west"}, "site: Extra inputs are not permitted"),
        ({"facts": [heartbeat()] * 1001}, "a batch holds at most 1000 facts: send the rest"),
    ],
)
def test_a_malformed_batch_is_refused_with_one_sentence(
    recorder: FakeRecorder, satellite: Client, body: object, sentence: str
) -> None:
    answer = post(satellite, body)

    assert answer.status_code == 422
    assert sentence in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert recorder.told == []


@database
@pytest.mark.parametrize(
    ("extra", "status", "sentence"),
    [
        ({"content_type": "text/plain"}, 415, "send the body as Content-Type: application/json"),
        ({"content_type": ""}, 415, "send the body as Content-Type: application/json"),
        ({"CONTENT_LENGTH": ""}, 411, "send the body with a Content-Length"),
        ({"CONTENT_LENGTH": str(LARGEST_BODY_BYTES + 1)}, 413, "send fewer facts at a time"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(
    recorder: FakeRecorder, satellite: Client, extra: dict[str, str], status: int, sentence: str
) -> None:
    answer = post(satellite, {"facts": []}, **extra)

    assert answer.status_code == status
    assert sentence in answer.json()["error"]
    assert recorder.told == []


@database
def test_an_empty_body_is_no_batch(recorder: FakeRecorder, satellite: Client) -> None:
    answer = post(satellite, b"", CONTENT_LENGTH="0", CONTENT_TYPE="application/json")

    assert answer.status_code == 422
    assert "the body is no whole JSON document" in answer.json()["error"]


@database
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_facts_are_posted_and_nothing_else(satellite: Client, method: str) -> None:
    answer = satellite.generic(method, FACTS)

    assert answer.status_code == 405
    assert list(answer.json()) == ["error"]


@database
def test_a_database_that_is_away_asks_for_patience(
    recorder: FakeRecorder, satellite: Client
) -> None:
    def fail(_: FactBatch) -> FactAnswer:
        raise OperationalError("connection to server at 10.1.2.3 failed for user fleet")

    recorder.answer = fail

    answer = post(satellite, {"facts": [heartbeat()]})

    assert answer.status_code == 503
    assert answer.json() == {"error": "the hub's database does not answer; try again in a while"}
    assert answer.headers["Retry-After"] == "5"


@database
def test_a_defect_of_ours_shows_nothing_of_us(recorder: FakeRecorder, token: str) -> None:
    def fail(_: FactBatch) -> FactAnswer:
        raise RuntimeError("a secret of the hub")

    recorder.answer = fail
    client = Client(headers={"authorization": f"Bearer {token}"}, raise_request_exception=False)

    answer = post(client, {"facts": [heartbeat()]})

    assert answer.status_code == 500
    assert "secret" not in answer.content.decode()
    assert "Traceback" not in answer.content.decode()


@database
def test_an_address_that_is_not_there_says_so(satellite: Client) -> None:
    answer = satellite.get("/api/v1/satellite/nothing")

    assert answer.status_code == 404
    assert "there is nothing at /api/v1/satellite/nothing" in answer.json()["error"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["facts", "id", "fact", "kind", "sent_at", "run_id"]) | st.text(),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(body=JSON)
def test_whatever_comes_is_read_or_refused(body: object) -> None:
    try:
        read = read_batch(json.dumps(body).encode())
    except BadBatch as error:
        assert str(error)
    else:
        assert isinstance(body, dict)
        assert len(read.batch.facts) + len(read.refused) == len(body["facts"])


@given(facts=st.lists(JSON, max_size=5))
def test_each_fact_is_taken_or_refused_by_its_id(facts: list[object]) -> None:
    envelopes = [{"id": str(number), "fact": fact} for number, fact in enumerate(facts)]

    read = read_batch(json.dumps({"facts": envelopes}).encode())

    taken = [envelope.id for envelope in read.batch.facts]
    refused = [refusal.id for refusal in read.refused]
    assert sorted(taken + refused, key=int) == [str(number) for number in range(len(facts))]


@given(body=st.binary(max_size=50))
def test_whatever_bytes_come_are_read_or_refused(body: bytes) -> None:
    try:
        read_batch(body)
    except BadBatch as error:
        assert str(error)
