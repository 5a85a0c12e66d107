"""The commands, as they are sent."""

from __future__ import annotations

from burnin.slurm import commands


def test_squeue_asks_for_every_job_with_the_comment_last() -> None:
    argv = commands.squeue("m0")

    assert argv[:5] == ["squeue", "-h", "-a", "-t", "all"]
    assert argv[-1].startswith("JobID:0|m0|,State:0|")
    assert argv[-1].endswith(",Comment:0")


def test_a_users_environment_cannot_narrow_what_is_shown() -> None:
    argv = commands.limited(["squeue"], 30)

    assert argv[:4] == ["timeout", "-k", "2", "30"]
    assert {"-uSQUEUE_USERS", "-uSQUEUE_STATES", "-uSQUEUE_PARTITION", "-uSLURM_CLUSTERS"} < set(
        argv
    )
    assert "-uSLURM_CONF" not in argv
    assert argv[-2:] == ["SLURM_TIME_FORMAT=%s", "squeue"]


def test_accounting_is_asked_once_for_all_jobs() -> None:
    argv = commands.sacct(["7", "8"])

    assert argv[argv.index("-j") + 1] == "7,8"
    assert "-D" in argv
