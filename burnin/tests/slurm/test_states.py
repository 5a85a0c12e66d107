"""Every state that Slurm knows, row by row, and what pending reasons say."""

from __future__ import annotations

import pytest

from burnin.slurm.states import (
    Meaning,
    full_name,
    has_ended,
    never_starts,
    outcome_of,
    waits_because,
)

W, R, F = Meaning.WAITING, Meaning.RUNNING, Meaning.FINISHING
ERRORED, SUSPECT = Meaning.ERRORED, Meaning.INCONCLUSIVE

ROWS = [
    ("PENDING", W, False, "", False),
    ("CONFIGURING", W, False, "", False),
    ("POWER_UP_NODE", W, False, "", False),
    ("REQUEUED", W, False, "", False),
    ("REQUEUE_FED", W, False, "", False),
    ("REQUEUE_HOLD", W, False, "", True),
    ("SPECIAL_EXIT", W, False, "", True),
    ("RESV_DEL_HOLD", W, False, "", True),
    ("RUNNING", R, False, "", False),
    ("RESIZING", R, False, "", False),
    ("SIGNALING", R, False, "", False),
    ("SUSPENDED", R, False, "", False),
    ("STOPPED", R, False, "", False),
    ("STAGE_OUT", F, False, "", False),
    ("COMPLETING", F, False, "", False),
    ("COMPLETED", Meaning.JUDGE, True, "", False),
    ("FAILED", Meaning.JUDGE, True, "", False),
    ("TIMEOUT", Meaning.TIMED_OUT, True, "test", False),
    ("DEADLINE", ERRORED, True, "infrastructure", False),
    ("OUT_OF_MEMORY", ERRORED, True, "test", False),
    ("NODE_FAIL", SUSPECT, True, "hardware", False),
    ("BOOT_FAIL", SUSPECT, True, "hardware", False),
    ("LAUNCH_FAILED", SUSPECT, True, "infrastructure", False),
    ("CANCELLED", Meaning.CANCELLED, True, "", False),
    ("PREEMPTED", ERRORED, False, "infrastructure", False),
    ("REVOKED", ERRORED, True, "infrastructure", False),
    ("RECONFIG_FAIL", ERRORED, True, "infrastructure", False),
    ("LOST_IN_SPACE", Meaning.UNKNOWN, False, "infrastructure", True),
    ("", Meaning.UNKNOWN, False, "infrastructure", True),
]


@pytest.mark.parametrize(("state", "meaning", "final", "cause", "needs_human"), ROWS)
def test_each_state_means_one_thing(
    state: str, meaning: Meaning, final: bool, cause: str, needs_human: bool
) -> None:
    outcome = outcome_of(state)

    assert (outcome.meaning, outcome.final) == (meaning, final)
    assert (outcome.cause, outcome.needs_human) == (cause, needs_human)
    assert outcome.sentence


@pytest.mark.parametrize(
    ("printed", "state"),
    [
        ("CANCELLED by 1001", "CANCELLED"),
        ("COMPLETI+", "COMPLETING"),
        ("OUT_OF_ME+", "OUT_OF_MEMORY"),
        ("CG", "COMPLETING"),
        ("NF", "NODE_FAIL"),
        ("OOM", "OUT_OF_MEMORY"),
    ],
)
def test_a_state_is_known_however_slurm_prints_it(printed: str, state: str) -> None:
    assert outcome_of(printed) == outcome_of(state)


def test_a_state_cut_off_too_early_is_unknown() -> None:
    assert outcome_of("COMPLET+").meaning is Meaning.UNKNOWN


def test_a_job_that_slurm_fails_for_its_constraints_never_ran() -> None:
    outcome = outcome_of("FAILED", "BadConstraints")

    assert (outcome.meaning, outcome.final) == (Meaning.ERRORED, True)


@pytest.mark.parametrize(
    "reason",
    [
        "PartitionNodeLimit",
        "PartitionTimeLimit",
        "PartitionConfig",
        "BadConstraints",
        "DependencyNeverSatisfied",
        "InvalidAccount",
        "InvalidQOS",
        "AccountNotAllowed",
        "QOSNotAllowed",
        "ReservationDeleted",
    ],
)
def test_a_job_that_can_never_start_says_so_and_needs_a_person(reason: str) -> None:
    outcome = outcome_of("PENDING", reason)

    assert never_starts(reason) == outcome.sentence
    assert reason in outcome.sentence
    assert (outcome.meaning, outcome.needs_human) == (Meaning.WAITING, True)


@pytest.mark.parametrize("reason", ["None", "Priority", "Resources", "BeginTime", "Reservation"])
def test_a_job_that_may_start_yet_only_waits(reason: str) -> None:
    assert never_starts(reason) is None
    assert not outcome_of("PENDING", reason).needs_human


@pytest.mark.parametrize(
    "reason",
    [
        "JobHeldUser",
        "JobHeldAdmin",
        "JobHoldMaxRequeue",
        "PartitionDown",
        "launch failed requeued held",
        "ReqNodeNotAvail, UnavailableNodes:n[3-4]",
    ],
)
def test_a_job_that_waits_for_a_person_says_so(reason: str) -> None:
    assert never_starts(reason) is None
    assert outcome_of("PENDING", reason).needs_human


def test_nodes_that_are_down_are_told_from_nodes_that_are_busy() -> None:
    down = waits_because("ReqNodeNotAvail, UnavailableNodes:n[3-4]")
    busy = waits_because("ReqNodeNotAvail, UnavailableNodes:(null)")

    assert down == "nodes are down, drained or not responding: n[3-4]"
    assert busy == waits_because("ReqNodeNotAvail") == "a node it needs is busy or reserved"


def test_an_unknown_reason_is_shown_as_slurm_says_it() -> None:
    assert waits_because("QOSGrpNodeLimit") == "Slurm says QOSGrpNodeLimit"


def test_a_job_has_ended_once_its_script_is_over() -> None:
    assert all(map(has_ended, ["COMPLETED", "COMPLETING", "NODE_FAIL", "PREEMPTED", "TIMEOUT"]))
    assert not any(map(has_ended, ["PENDING", "RUNNING", "SUSPENDED", "NEVER_HEARD_OF"]))


@pytest.mark.parametrize(
    ("state", "source", "final"),
    [
        ("PREEMPTED", "sacct", True),
        ("PREEMPTED", "squeue", False),
        ("PREEMPTED", "scontrol", False),
        ("PR", "sacct", True),
        ("RUNNING", "sacct", False),
        ("NO_SUCH_STATE", "sacct", False),
        ("COMPLETED", "squeue", True),
    ],
)
def test_a_preempted_job_has_ended_only_when_accounting_says_so(
    state: str, source: str, final: bool
) -> None:
    assert outcome_of(state, source=source).final is final


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("COMPLETI", "COMPLETING"),
        ("COMPLETE", "COMPLETED"),
        ("PREEMPTE", "PREEMPTED"),
        ("COMPLETI+", "COMPLETING"),
        ("CG", "COMPLETING"),
        ("CANCELLED by 1001", "CANCELLED"),
        ("REQUEUE_", "REQUEUE_"),
        ("COMP", "COMP"),
        ("", ""),
    ],
)
def test_a_name_that_a_column_cut_is_completed_if_only_one_fits(printed: str, name: str) -> None:
    assert full_name(printed) == name
