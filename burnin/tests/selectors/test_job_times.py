"""What is known of durations is told, and nothing else."""

from datetime import timedelta

import pytest
from pytest_django import DjangoAssertNumQueries

from burnin.models import Job, StepTime
from burnin.selectors.job_times import ends_at, expected_node_seconds
from burnin.states import RunState
from burnin.tests.factories import NOW, a_preset, a_site, bring_to, nodes_of
from burnin.tests.jobs import planned_job
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db
HELLO, MEMORY = Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS


def _took(job: Job, step: int, slug: str, seconds: int, runs: int = 1) -> None:
    StepTime.objects.create(job=job, stage=step, step=step, slug=slug, runs=runs, seconds=seconds)


def test_what_is_left_takes_its_mean_as_many_at_once_as_run_now() -> None:
    job, runs = planned_job(nodes_of(a_site(), 4))
    bring_to([runs["n1", HELLO], runs["n2", HELLO]], RunState.RUNNING)
    _took(job, 1, HELLO, seconds=20, runs=2)
    _took(job, 2, MEMORY, seconds=60)

    assert ends_at([job], NOW) == {job.pk: NOW + timedelta(seconds=(4 * 10 + 4 * 60) / 2)}


def test_a_stage_that_was_never_measured_leaves_the_end_unknown() -> None:
    job, runs = planned_job(nodes_of(a_site(), 1))
    bring_to([runs["n1", HELLO]], RunState.RUNNING)
    _took(job, 1, HELLO, seconds=20)

    assert ends_at([job], NOW) == {}


def test_a_job_of_which_nothing_runs_has_no_end() -> None:
    job, _ = planned_job(nodes_of(a_site(), 1), HELLO)
    _took(job, 1, HELLO, seconds=20)

    assert ends_at([job], NOW) == {}


def test_ends_of_many_jobs_cost_two_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    nodes = nodes_of(a_site(), 1)
    jobs = [planned_job(nodes, HELLO)[0] for _ in range(4)]

    with django_assert_num_queries(2):
        ends_at(jobs, NOW)


def test_a_preset_takes_what_its_newest_whole_job_took() -> None:
    preset, nodes = a_preset("quick", HELLO, MEMORY), nodes_of(a_site(), 1)
    whole, part = (planned_job(nodes, preset=preset)[0] for _ in range(2))
    _took(whole, 1, HELLO, seconds=30, runs=3)
    _took(whole, 2, MEMORY, seconds=60)
    _took(part, 1, HELLO, seconds=999)

    assert expected_node_seconds(preset) == 70


def test_a_preset_that_never_ran_has_no_time() -> None:
    assert expected_node_seconds(a_preset("quick", HELLO)) is None
