"""The login host's scripts, run as they are run there, with sbatch replaced by a few words."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnin.slurm import login_files, login_host
from burnin.slurm.client import batch_tar
from burnin.slurm.cluster import Submission
from burnin.tests.slurm.jobs import new_token, submission

FIXTURES = Path(__file__).parents[3] / "fixtures" / "slurm" / "sbatch"
RECORDED = sorted(path.name.removesuffix(".meta.json") for path in FIXTURES.glob("*.meta.json"))
ANSWER_OF = {True: "back_off", False: "refused", "later": "back_off"}
# A request that may have arrived is in doubt, although a retry would help.
IN_DOUBT = {"controller_timeout", "controller_protocol"}


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    return tmp_path / "work"


def submit(
    work_dir: Path, sbatch: str, *batch: Submission, renewal: tuple[str, ...] = ("0",)
) -> list[dict[str, Any]]:
    """Submit with an sbatch that is this shell script; return the answers."""
    programs = work_dir.parent / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "sbatch").write_text(f"#!/bin/bash\n{sbatch}\n")
    (programs / "sbatch").chmod(0o755)
    done = run(
        login_host, "submit", work_dir, *renewal, stdin=batch_tar(batch), path=f"{programs}:/bin"
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def run(
    script: Any, verb: str, work_dir: Path, *arguments: str, stdin: bytes = b"", path: str = "/bin"
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-I", "-S", script.__file__, verb, str(work_dir), *arguments],
        input=stdin,
        capture_output=True,
        env={"PATH": path, "SBATCH_PARTITION": "leaked", "SLURM_CONF": "/kept"},
        timeout=30,
        check=False,
    )


def test_an_accepted_job_is_answered_from_its_claim_from_then_on(work_dir: Path) -> None:
    job = submission(new_token())

    [first] = submit(work_dir, "echo 42", job)
    [second] = submit(work_dir, "echo 43", job)

    assert (first["kind"], first["job_id"]) == (second["kind"], second["job_id"])
    assert first["job_id"] == "42"


def test_a_claim_holds_the_files_and_only_its_owner_may_look(work_dir: Path) -> None:
    job = submission(new_token())

    submit(work_dir, "echo 42", job)

    attempt = work_dir / "attempts" / job.token.directory
    clock = json.loads((attempt / "login-clock.json").read_text())
    assert attempt.stat().st_mode & 0o777 == 0o700
    assert (attempt / "context.json").stat().st_mode & 0o777 == 0o600
    assert (attempt / "script.sh").read_text() == job.script
    assert abs(clock["offset_s"]) < 1
    assert clock["filesystem"] not in ("", "unknown")
    assert not list((work_dir / "incoming").iterdir())


def test_sbatch_runs_in_the_attempts_directory_with_a_clean_environment(work_dir: Path) -> None:
    job = submission(new_token())

    submit(work_dir, "env > environment; pwd > where; echo 42", job)

    attempt = work_dir / "attempts" / job.token.directory
    assert (attempt / "where").read_text().strip() == str(attempt)
    assert "SBATCH_PARTITION" not in (attempt / "environment").read_text()
    assert "SLURM_CONF=/kept" in (attempt / "environment").read_text()


def test_a_banner_and_a_cluster_name_do_not_hide_the_id(work_dir: Path) -> None:
    [answer] = submit(
        work_dir, "echo Welcome to 2026!; echo '81234;tiger'", submission(new_token())
    )

    assert (answer["kind"], answer["job_id"]) == ("accepted", "81234")


@pytest.mark.parametrize("sbatch", ["printf 42", "exit 0", "echo hello"])
def test_no_whole_line_with_an_id_is_doubt(work_dir: Path, sbatch: str) -> None:
    job, next_job = submission(new_token()), submission(new_token())

    answers = submit(work_dir, sbatch, job, next_job)

    assert [answer["kind"] for answer in answers] == ["unknown"]


def test_an_sbatch_that_is_killed_is_doubt(work_dir: Path) -> None:
    [answer] = submit(work_dir, "kill -9 $$", submission(new_token()))

    assert answer["kind"] == "unknown"


def test_doubt_stays_until_the_caller_may_ask_again(work_dir: Path) -> None:
    job = submission(new_token())
    submit(work_dir, "exit 0", job)

    [plain] = submit(work_dir, "echo 42", job)
    [too_early] = submit(work_dir, "echo 42", job, renewal=("60", job.token.directory))
    [renewed] = submit(work_dir, "echo 42", job, renewal=("0", job.token.directory))

    assert plain["kind"] == too_early["kind"] == "unknown"
    assert plain["asked_s_ago"] >= 0
    assert (renewed["kind"], renewed["job_id"]) == ("accepted", "42")


def test_a_refusal_is_final(work_dir: Path) -> None:
    job = submission(new_token())
    words = "sbatch: error: Batch job submission failed: Invalid partition name specified"

    [first] = submit(work_dir, f"echo '{words}' >&2; exit 1", job)
    [second] = submit(work_dir, "echo 42", job, renewal=("0", job.token.directory))

    assert first["kind"] == second["kind"] == "refused"
    assert second["words"] == words


def test_a_limit_is_no_refusal_and_does_not_stop_the_batch(work_dir: Path) -> None:
    batch = [submission(new_token()) for _ in range(2)]
    words = (FIXTURES / "err_qos_limit.txt").read_text()

    answers = submit(work_dir, f'echo "{words}" >&2; exit 1', *batch)
    later = submit(work_dir, "echo 42", *batch)

    assert [answer["kind"] for answer in answers] == ["back_off", "back_off"]
    assert [answer["kind"] for answer in later] == ["accepted", "accepted"]


def test_a_controller_that_is_away_stops_the_batch(work_dir: Path) -> None:
    batch = [submission(new_token()) for _ in range(3)]
    words = (FIXTURES / "sbatch_noctld.txt").read_text()

    answers = submit(work_dir, f'echo "{words}" >&2; exit 1', *batch)
    later = submit(work_dir, "echo 42", *batch)

    assert [answer["kind"] for answer in answers] == ["back_off"]
    assert [answer["kind"] for answer in later] == ["accepted"] * 3


@pytest.mark.parametrize("name", [name for name in RECORDED if "ok" not in name])
def test_what_sbatch_says_is_classified(name: str) -> None:
    document = json.loads((FIXTURES / f"{name}.meta.json").read_text())
    error = document.get("expected_error")
    if error is None:
        assert login_host.JOB_ID.findall((FIXTURES / name).read_text()) == [("81234", ";tiger")]
        return

    kind = login_host.classify((FIXTURES / name).read_text())

    assert kind == ("unknown" if error["kind"] in IN_DOUBT else ANSWER_OF[error["retryable"]])


def test_words_that_nobody_has_heard_are_doubt() -> None:
    assert login_host.classify("sbatch: error: the moon is in the wrong house") == "unknown"
    assert login_host.classify("") == "unknown"


def test_uploads_of_killed_submits_are_swept_and_fresh_ones_are_not(work_dir: Path) -> None:
    old, fresh = work_dir / "incoming" / "old", work_dir / "incoming" / "fresh"
    for directory in (old, fresh):
        directory.mkdir(parents=True)
    os.utime(old, (1, 1))

    submit(work_dir, "echo 42", submission(new_token()))

    assert (old.exists(), fresh.exists()) == (False, True)


def test_a_tar_that_reaches_elsewhere_is_refused(work_dir: Path) -> None:
    work_dir.mkdir()
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("../../script.sh"))
    (work_dir / "sbatch").touch(0o755)

    done = run(login_host, "submit", work_dir, "0", stdin=buffer.getvalue(), path=str(work_dir))

    assert done.returncode == login_host.BAD_INPUT
    assert b"is no file of an attempt" in done.stderr


def test_a_host_without_sbatch_claims_nothing(work_dir: Path) -> None:
    work_dir.mkdir()

    done = run(login_host, "submit", work_dir, "0", path="/nowhere")

    assert done.returncode == login_host.NO_SLURM
    assert not list(work_dir.iterdir())


def test_a_work_dir_that_cannot_be_written_is_one_sentence() -> None:
    done = run(login_host, "submit", Path("/proc/nowhere"), "0", path="/bin:/usr/bin")

    assert done.returncode != 0
    assert len(done.stderr.splitlines()) == 1


def artifacts_of(attempt: Path, *wanted: str) -> subprocess.CompletedProcess[bytes]:
    return run(login_files, "fetch", attempt.parents[1], attempt.name, *wanted)


def test_only_the_wanted_artifacts_are_handed_out(work_dir: Path) -> None:
    attempt = work_dir / "attempts" / "a"
    attempt.mkdir(parents=True)
    (attempt / "stdout.txt").write_text("hello")
    (attempt / "context.json").write_text("secret")

    done = artifacts_of(attempt, "stdout.txt=10", "metadata.json=10")

    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        assert archive.getnames() == ["stdout.txt"]


def test_an_artifact_that_is_too_large_is_refused_by_name(work_dir: Path) -> None:
    attempt = work_dir / "attempts" / "a"
    attempt.mkdir(parents=True)
    (attempt / "stdout.txt").write_text("x" * 11)

    done = artifacts_of(attempt, "stdout.txt=10")

    assert done.returncode == login_files.OVERSIZE
    assert b"stdout.txt is 11 bytes long; at most 10 are taken" in done.stderr


def make_link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


@pytest.mark.parametrize("make", [make_link, os.mkfifo, Path.mkdir])
def test_an_artifact_that_is_no_plain_file_is_refused(
    work_dir: Path, make: Callable[[Path], None]
) -> None:
    attempt = work_dir / "attempts" / "a"
    attempt.mkdir(parents=True)
    path = attempt / "stdout.txt"
    make(path)

    done = artifacts_of(attempt, "stdout.txt=1000")

    assert done.returncode != 0
    assert b"stdout.txt" in done.stderr


def test_a_damaged_bundle_is_not_put_in_place(work_dir: Path) -> None:
    sha256 = hashlib.sha256(b"whole").hexdigest()

    damaged = run(login_files, "put-bundle", work_dir, "r.pyz", sha256, stdin=b"who")
    before = run(login_files, "has-bundle", work_dir, "r.pyz", sha256)
    whole = run(login_files, "put-bundle", work_dir, "r.pyz", sha256, stdin=b"whole")
    after = run(login_files, "has-bundle", work_dir, "r.pyz", sha256)

    assert (damaged.returncode, whole.returncode) == (login_files.BAD_INPUT, 0)
    assert (before.stdout, after.stdout) == (b"no", b"yes")
    assert [path.name for path in (work_dir / "bundles").iterdir()] == ["r.pyz"]


@pytest.mark.parametrize("script", [login_host, login_files])
def test_the_scripts_run_on_python_3_6(script: Any) -> None:
    vermin = Path(sys.executable).with_name("vermin")
    done = subprocess.run(
        [vermin, "-t=3.6-", "--no-tips", "--violations", script.__file__],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout
