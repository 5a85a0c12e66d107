"""What a Slurm state means for a run: the one table, and what pending reasons say."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

ACCOUNTING = "sacct"
NARROW_COLUMN = 8  # what squeue's own formats leave of a state's name


class Meaning(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    FINISHING = "finishing"  # the epilog still runs; the node is not free yet
    JUDGE = "judge"  # the artifacts decide
    ERRORED = "errored"
    INCONCLUSIVE = "inconclusive"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"  # errored, or inconclusive when progress had stopped
    UNKNOWN = "unknown"  # keep asking, and raise an alarm


@dataclass(frozen=True)
class Outcome:
    """`cause` is "hardware", "test", "infrastructure", or "" while nothing is wrong."""

    meaning: Meaning
    final: bool
    cause: str
    sentence: str
    needs_human: bool = False


def _waits(sentence: str, *, needs_human: bool = False) -> Outcome:
    return Outcome(Meaning.WAITING, False, "", sentence, needs_human)


def _runs(sentence: str) -> Outcome:
    return Outcome(Meaning.RUNNING, False, "", sentence)


def _ends(meaning: Meaning, cause: str, sentence: str, *, needs_human: bool = False) -> Outcome:
    return Outcome(meaning, True, cause, sentence, needs_human)


_TABLE = {
    "PENDING": _waits("waits in the queue"),
    "CONFIGURING": _waits("waits until its nodes are ready"),
    "POWER_UP_NODE": _waits("waits until its nodes are powered up"),
    "REQUEUED": _waits("was put back into the queue by Slurm"),
    "REQUEUE_FED": _waits("was put back into the queue by the federation"),
    "REQUEUE_HOLD": _waits("was put back and is held; release or cancel it", needs_human=True),
    "SPECIAL_EXIT": _waits("was put back and is held (special exit)", needs_human=True),
    "RESV_DEL_HOLD": _waits("is held: its reservation was deleted", needs_human=True),
    "RUNNING": _runs("runs"),
    "RESIZING": _runs("runs and is being resized"),
    "SIGNALING": _runs("runs and is being signalled"),
    "SUSPENDED": _runs("is suspended"),
    "STOPPED": _runs("is stopped"),
    "STAGE_OUT": Outcome(Meaning.FINISHING, False, "", "has run; its files are being staged out"),
    "COMPLETING": Outcome(Meaning.FINISHING, False, "", "has run; its nodes are being cleaned up"),
    "COMPLETED": _ends(Meaning.JUDGE, "", "ran to its end"),
    "FAILED": _ends(Meaning.JUDGE, "", "ended with a non-zero exit code"),
    "TIMEOUT": _ends(Meaning.TIMED_OUT, "test", "ran into its time limit"),
    "DEADLINE": _ends(Meaning.ERRORED, "infrastructure", "did not get to run before its deadline"),
    "OUT_OF_MEMORY": _ends(
        Meaning.ERRORED, "test", "was ended: it took more host memory than it had"
    ),
    "NODE_FAIL": _ends(Meaning.INCONCLUSIVE, "hardware", "lost a node: it stopped answering Slurm"),
    "BOOT_FAIL": _ends(Meaning.INCONCLUSIVE, "hardware", "never started: its node did not boot"),
    "LAUNCH_FAILED": _ends(
        Meaning.INCONCLUSIVE, "infrastructure", "could not be launched on its node"
    ),
    "CANCELLED": _ends(Meaning.CANCELLED, "", "was cancelled"),
    "REVOKED": _ends(Meaning.ERRORED, "infrastructure", "was revoked by the federation"),
    "RECONFIG_FAIL": _ends(
        Meaning.ERRORED, "infrastructure", "its nodes could not be reconfigured"
    ),
    # Final only from accounting: a job that was put back into the queue comes under the same id.
    "PREEMPTED": Outcome(
        Meaning.ERRORED, False, "infrastructure", "was preempted by a more important job"
    ),
}

_SHORT = {
    "PD": "PENDING", "CF": "CONFIGURING", "R": "RUNNING", "CG": "COMPLETING", "CD": "COMPLETED",
    "F": "FAILED", "TO": "TIMEOUT", "DL": "DEADLINE", "OOM": "OUT_OF_MEMORY", "NF": "NODE_FAIL",
    "BF": "BOOT_FAIL", "PR": "PREEMPTED", "CA": "CANCELLED", "RQ": "REQUEUED", "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD", "SE": "SPECIAL_EXIT", "RD": "RESV_DEL_HOLD", "RS": "RESIZING",
    "SI": "SIGNALING", "S": "SUSPENDED", "ST": "STOPPED", "SO": "STAGE_OUT", "RV": "REVOKED",
}  # fmt: skip

NEVER_STARTS = "the job can never start"  # by it a kept reason is known again
_NEVER = {
    "PartitionNodeLimit": "asks for more nodes than the partition has or allows",
    "PartitionTimeLimit": "asks for more time than the partition allows",
    "PartitionConfig": "asks for what no node of the partition has",
    "BadConstraints": "asks for what no node of the cluster has",
    "DependencyNeverSatisfied": "depends on a job that did not end as required",
    "InvalidAccount": "names an account that is not valid here",
    "InvalidQOS": "names a QOS that is not valid here",
    "AccountNotAllowed": "names an account that the partition does not allow",
    "QOSNotAllowed": "names a QOS that the partition does not allow",
    "ReservationDeleted": "asks for a reservation that was deleted",
}

_WAITS = {
    "None": "has not been looked at by the scheduler yet",
    "Priority": "jobs of higher priority go first",
    "Resources": "its nodes are busy",
    "Reservation": "its reservation has not begun",
    "BeginTime": "its begin time has not come",
    "Prolog": "the prolog runs on its nodes",
    "Cleaning": "its earlier run is still being cleaned up",
    "Dependency": "another job has to end first",
    "JobArrayTaskLimit": "the array's task limit is reached",
    "PartitionDown": "the partition is down; an administrator has to open it",
    "PartitionInactive": "the partition is inactive; an administrator has to open it",
    "JobHeldUser": "it is held by its user; release it",
    "JobHeldAdmin": "it is held by an administrator",
    "JobHoldMaxRequeue": "it is held: it was put back into the queue too often",
    "NodeDown": "a node it needs is down",
    "launch_failed_requeued_held": "it is held: the prolog of its node failed; is it drained?",
}

_HUMAN = frozenset(
    {"PartitionDown", "PartitionInactive", "JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"}
    | {"NodeDown", "launch_failed_requeued_held"}
)


def outcome_of(state: str, reason: str = "", *, source: str = "") -> Outcome:
    """Translate Slurm's state ("CANCELLED by 1001", "COMPLETI+", "CG") to what it means.

    `source` is who showed it: accounting alone ("sacct") tells only of what has left the queue.
    """
    name = full_name(state)
    if name == "PREEMPTED" and source == ACCOUNTING:
        return replace(_TABLE[name], final=True)
    if name == "PENDING":
        return _pending(reason)
    if name == "FAILED" and _word(reason) == "BadConstraints":
        return _ends(Meaning.ERRORED, "test", f"could not start: it {_NEVER['BadConstraints']}")
    unknown = Outcome(
        Meaning.UNKNOWN, False, "infrastructure", f"is in a state we do not know: {state!r}", True
    )
    return _TABLE.get(name, unknown)


@lru_cache(maxsize=1024)  # asked of 10,000 jobs at each look, of a handful of states
def has_ended(state: str) -> bool:
    """Say whether the job's own script is over, so that its exit code means something."""
    outcome = outcome_of(state)
    return outcome.final or outcome.meaning in {Meaning.FINISHING, Meaning.ERRORED}


def never_starts(reason: str) -> str | None:
    """Say why a job with this pending reason can never start; None if it may yet."""
    meaning = _NEVER.get(_word(reason))
    return None if meaning is None else f"{NEVER_STARTS}: it {meaning} ({_word(reason)})"


def waits_because(reason: str) -> str:
    """Say in words why a pending job waits."""
    word = _word(reason)
    unavailable = _unavailable_nodes(reason)
    if word == "ReqNodeNotAvail" and unavailable:
        return f"nodes are down, drained or not responding: {unavailable}"
    if word == "ReqNodeNotAvail":
        return "a node it needs is busy or reserved"
    return _WAITS.get(word, _NEVER.get(word, f"Slurm says {reason or 'nothing'}"))


def _unavailable_nodes(reason: str) -> str:
    nodes = reason.partition("UnavailableNodes:")[2].strip()
    return "" if nodes == "(null)" else nodes


def _pending(reason: str) -> Outcome:
    impossible = never_starts(reason)
    if impossible is not None:
        return _waits(impossible, needs_human=True)
    held = _word(reason) in _HUMAN or bool(_unavailable_nodes(reason))
    return _waits(f"waits in the queue: {waits_because(reason)}", needs_human=held)


def full_name(state: str) -> str:
    """Return the first word; undo what a narrow column cut off."""
    word = state.split()[0] if state.split() else ""
    if word in _TABLE or not (word.endswith("+") or len(word) == NARROW_COLUMN):
        return _SHORT.get(word, word)
    candidates = [name for name in _TABLE if name.startswith(word.removesuffix("+"))]
    return candidates[0] if len(candidates) == 1 else word


def _word(reason: str) -> str:
    return reason.partition(",")[0].strip().replace(" ", "_")
