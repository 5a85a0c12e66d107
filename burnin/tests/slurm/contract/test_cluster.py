"""What every cluster does, the fake one and the real one."""

from __future__ import annotations

import io
import tarfile
from dataclasses import replace

from burnin.slurm.cluster import Answer
from burnin.tests.slurm.contract.conftest import Site
from burnin.tests.slurm.jobs import new_token


def test_a_second_submit_finds_the_first_job(site: Site) -> None:
    job = site.job(new_token(), "passes")

    first = site.cluster.submit([job])[job.token]
    second = site.cluster.submit([job], resubmit=frozenset({job.token}))[job.token]

    assert first.kind is second.kind is Answer.ACCEPTED
    assert first.job_id == second.job_id
    assert site.follow(job.token, "COMPLETED").job_id == first.job_id


def test_a_batch_is_answered_job_by_job(site: Site) -> None:
    jobs = [site.job(new_token(), "passes") for _ in range(3)]

    answers = site.cluster.submit(jobs)

    assert list(answers) == [job.token for job in jobs]
    assert len({answer.job_id for answer in answers.values()}) == 3


def test_an_empty_batch_is_no_question(site: Site) -> None:
    assert site.cluster.submit([]) == {}


def test_an_unknown_partition_is_refused_for_good_and_the_batch_goes_on(site: Site) -> None:
    good, bad = (site.job(new_token(), "passes") for _ in range(2))
    bad = replace(bad, script=bad.script.replace("\n", "\n#SBATCH --partition=nowhere\n", 1))

    answers = site.cluster.submit([bad, good])
    again = site.cluster.submit([bad])

    assert (answers[bad.token].kind, answers[good.token].kind) == (Answer.REFUSED, Answer.ACCEPTED)
    assert "Invalid partition" in answers[bad.token].words
    assert again[bad.token].kind is Answer.REFUSED


def test_a_job_that_fails_shows_its_exit_code(site: Site) -> None:
    job = site.job(new_token(), "fails")
    site.cluster.submit([job])

    ended = site.follow(job.token, "FAILED")

    assert (ended.exit_code, ended.reason) == ("3:0", "NonZeroExitCode")


def test_a_running_job_is_cancelled_however_often_it_is_asked(site: Site) -> None:
    job = site.job(new_token(), "hangs")
    job_id = site.cluster.submit([job])[job.token].job_id
    running = site.follow(job.token, "RUNNING")

    site.cluster.cancel([job_id])
    ended = site.follow(job.token, "CANCELLED")
    site.cluster.cancel([job_id, "99999999"])

    assert running.node_list
    assert running.exit_code is None
    assert ended.exit_code in ("0:15", "143:0")  # the signal, or the script that caught it


def test_a_job_that_was_never_submitted_is_not_observed(site: Site) -> None:
    assert new_token() not in site.cluster.observe().snapshots


def test_later_observations_are_later(site: Site) -> None:
    first = site.cluster.observe()
    site.wait()

    assert site.cluster.observe().at > first.at


def test_a_job_is_looked_up_by_its_id_and_token(site: Site) -> None:
    job = site.job(new_token(), "fails")
    job_id = site.cluster.submit([job])[job.token].job_id
    site.follow(job.token, "FAILED")

    found = site.cluster.look_up({job_id: job.token, "99999999": new_token()})
    other = site.cluster.look_up({job_id: new_token()})

    assert {name: (it.state, it.exit_code) for name, it in found.items()} == {
        job_id: ("FAILED", "3:0")
    }
    assert other == {}


def test_output_is_read_from_a_byte_offset(site: Site) -> None:
    job = site.job(new_token(), "passes")
    site.cluster.submit([job])
    site.follow(job.token, "COMPLETED")

    assert site.cluster.tail(job.token, "stdout.txt", offset=1, limit=3) == b"ell"
    assert site.cluster.tail(job.token, "stdout.txt", offset=6, limit=3) == b""
    assert site.cluster.tail(job.token, "stderr.txt", offset=0, limit=3) == b""


def test_only_an_attempts_artifacts_are_fetched(site: Site) -> None:
    job = site.job(new_token(), "passes")
    site.cluster.submit([job])
    site.follow(job.token, "COMPLETED")

    with tarfile.open(fileobj=io.BytesIO(site.cluster.fetch(job.token))) as archive:
        assert sorted(archive.getnames()) == ["metadata.json", "stdout.txt"]


def test_a_bundle_is_deployed_once(site: Site) -> None:
    path = site.cluster.deploy_bundle("runner-1.pyz", b"bundle")

    assert site.cluster.deploy_bundle("runner-1.pyz", b"bundle") == path
    assert path.endswith("/runner-1.pyz")


def test_the_cluster_tells_its_limits_and_nodes(site: Site) -> None:
    facts, nodes = site.cluster.facts(), site.cluster.nodes()

    [main] = [partition for partition in facts.partitions if partition.is_default]
    assert (main.name, main.state, main.node_count) == ("main", "UP", len(nodes))
    assert facts.message_timeout_s < facts.min_job_age_s
