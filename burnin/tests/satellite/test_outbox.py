"""Facts wait until they are answered for: none is lost, none is kept in vain."""

from __future__ import annotations

import base64

from hypothesis import given, settings
from hypothesis import strategies as st

from burnin.satellite.messages import Fact, FactAnswer, FactBatch, JobSeen, LogPart, SubmitAnswered
from burnin.satellite.outbox import LOG_PARTS_KEPT, Outbox

RUN = "00000000-0000-0000-0000-000000000001"


def run_id(number: int) -> str:
    return f"00000000-0000-0000-0000-{number:012d}"


def seen(state: str, number: int = 1) -> JobSeen:
    return JobSeen(run_id=run_id(number), attempt=1, job_id="7", state=state, source="squeue")


def answered(answer: str, number: int = 1) -> SubmitAnswered:
    return SubmitAnswered.model_validate(
        {"run_id": run_id(number), "attempt": 1, "answer": answer, "job_id": "7"}
    )


def log_part(offset: int, size_bytes: int = 10) -> LogPart:
    content = base64.b64encode(b"x" * size_bytes)
    return LogPart(run_id=RUN, attempt=1, name="stdout.txt", offset=offset, content=content)


def in_batch(outbox: Outbox) -> FactBatch:
    batch = outbox.batch()
    assert batch is not None
    return batch


def facts(batch: FactBatch) -> list[Fact]:
    return [envelope.fact for envelope in batch.facts]


def acknowledge(outbox: Outbox, batch: FactBatch) -> None:
    outbox.settle(FactAnswer(acknowledged=tuple(envelope.id for envelope in batch.facts)))


def test_the_newest_fact_about_a_job_takes_the_place_of_an_older_one() -> None:
    outbox = Outbox()

    outbox.put([seen("PENDING"), seen("PENDING", 2)])
    outbox.put([seen("RUNNING")])

    assert facts(in_batch(outbox)) == [seen("RUNNING"), seen("PENDING", 2)]


def test_a_fact_is_sent_again_until_it_is_answered_for() -> None:
    outbox = Outbox()
    outbox.put([seen("RUNNING")])

    first, second = in_batch(outbox), in_batch(outbox)
    acknowledge(outbox, second)

    assert first == second
    assert outbox.batch() is None


def test_a_change_while_its_predecessor_is_in_flight_is_not_acknowledged_with_it() -> None:
    outbox = Outbox()
    outbox.put([seen("RUNNING")])
    in_flight = in_batch(outbox)

    outbox.put([seen("COMPLETED")])
    acknowledge(outbox, in_flight)

    assert facts(in_batch(outbox)) == [seen("COMPLETED")]


def test_an_accepted_submission_is_not_talked_away_by_a_later_order_that_was_not_asked() -> None:
    outbox = Outbox()

    outbox.put([answered("accepted")])
    outbox.put([answered("not_asked")])

    assert facts(in_batch(outbox)) == [answered("accepted")]


def test_doubt_gives_way_to_what_is_found_out() -> None:
    outbox = Outbox()

    outbox.put([answered("unknown")])
    outbox.put([answered("accepted")])

    assert facts(in_batch(outbox)) == [answered("accepted")]


def test_old_parts_of_logs_go_before_anything_about_a_job_does() -> None:
    outbox = Outbox()

    outbox.put([seen("COMPLETED")])
    outbox.put([log_part(offset) for offset in range(1000)])

    kept = facts(in_batch(outbox))
    assert kept[0] == seen("COMPLETED")
    assert len(kept) == 1 + LOG_PARTS_KEPT
    assert kept[-1] == log_part(999)


def test_a_post_holds_a_thousand_facts_and_no_more() -> None:
    outbox = Outbox()

    outbox.put([seen("RUNNING", number) for number in range(2500)])

    sizes = []
    while (batch := outbox.batch()) is not None:
        sizes.append(len(batch.facts))
        acknowledge(outbox, batch)
    assert sizes == [1000, 1000, 500]


def test_a_post_of_large_facts_stays_small_enough_for_the_hub() -> None:
    outbox = Outbox()
    outbox.put([log_part(offset, size_bytes=64 * 1024) for offset in range(90)])

    batch = in_batch(outbox)

    assert 1 < len(batch.facts) < 90
    assert len(batch.model_dump_json()) < 2.5e6


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from("ABCD"), st.booleans()), max_size=30))
def test_whatever_is_lost_on_the_way_the_hub_ends_up_with_the_newest_of_each(
    steps: list[tuple[int, str, bool]],
) -> None:
    outbox, hub, newest = Outbox(), {}, {}

    def post(*, answer_arrives: bool) -> None:
        batch = outbox.batch(2)
        if batch is not None:
            hub.update({fact.run_id: fact for fact in facts(batch) if isinstance(fact, JobSeen)})
            if answer_arrives:
                acknowledge(outbox, batch)

    for number, state, answer_arrives in steps:
        outbox.put([seen(state, number)])
        newest[run_id(number)] = seen(state, number)
        post(answer_arrives=answer_arrives)
    while len(outbox):
        post(answer_arrives=True)

    assert hub == newest
