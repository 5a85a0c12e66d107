"""Whether what was once shown about a node still counts. Pure.

The questions are asked in the order of how little is left: nothing was shown, it may be of
another machine, something was done while it was shown, or since, or it is long ago.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Standing(StrEnum):
    FRESH = "fresh"
    STALE = "stale"  # something was done to the node since, or it has other hardware now
    EXPIRED = "expired"
    VOID = "void"  # something was done to the node while it was tested
    MISSING = "missing"
    UNMET = "unmet"  # it was asked to do less than its class must pass
    UNVERIFIED = "unverified"  # it is not shown which machine was tested


@dataclass(frozen=True)
class Identity:
    """What tells a machine from another; "" and () are unknown."""

    dmi_serial: str = ""
    machine_id: str = ""
    gpu_uuids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """The newest conclusive result of one test on one node, and who the node said it was."""

    slug: str
    started_at: datetime
    finished_at: datetime
    identity: Identity


@dataclass(frozen=True)
class Operation:
    """Something that was done to the node. `stales` are the slugs whose evidence it spoils."""

    name: str
    performed_at: datetime
    stales: frozenset[str]


@dataclass(frozen=True)
class Evidence:
    """A standing and the one sentence that says why."""

    standing: Standing
    reason: str

    @property
    def counts(self) -> bool:
        return self.standing is Standing.FRESH


def weigh(
    shown: Shown | None,
    *,
    inventory: Identity,
    operations: Sequence[Operation],
    lives_for: timedelta,
    now: datetime,
) -> Evidence:
    """Return whether a result still counts for its node. What is not known never counts."""
    if shown is None:
        return Evidence(Standing.MISSING, "the test has never come to a conclusion on this node")
    if unverified := _unverified(shown.identity, inventory):
        return Evidence(Standing.UNVERIFIED, unverified)
    if other := _other_hardware(shown.identity, inventory):
        return Evidence(Standing.STALE, other)
    since = [each for each in operations if each.performed_at >= shown.started_at]
    if during := _first(since, until=shown.finished_at):
        return Evidence(Standing.VOID, f"{during.name} was done while the test ran")
    if spoiled := _first([each for each in since if shown.slug in each.stales]):
        when = f"{spoiled.performed_at:%Y-%m-%d %H:%M}"
        return Evidence(Standing.STALE, f"{spoiled.name} was done on {when}, after the test began")
    age = now - shown.finished_at
    if not timedelta(0) <= age <= lives_for:
        return Evidence(
            Standing.EXPIRED, f"it is {age.days} days old, {lives_for.days} are allowed"
        )
    return Evidence(Standing.FRESH, f"shown {shown.finished_at:%Y-%m-%d %H:%M}, nothing since")


def _first(operations: Sequence[Operation], until: datetime | None = None) -> Operation | None:
    found = [each for each in operations if until is None or each.performed_at <= until]
    return min(found, key=lambda each: each.performed_at, default=None)


def _unverified(said: Identity, inventory: Identity) -> str:
    pairs = [
        (said.dmi_serial, inventory.dmi_serial),
        (said.machine_id, inventory.machine_id),
        (said.gpu_uuids, inventory.gpu_uuids),
    ]
    if not any(known for _, known in pairs):
        return "the inventory knows neither serial, machine id nor GPUs of this node"
    if not any(mine and known for mine, known in pairs):
        return "the node could not read anything by which the inventory knows it"
    return ""


def _other_hardware(said: Identity, inventory: Identity) -> str:
    if _differ(said.dmi_serial, inventory.dmi_serial):
        return f"the test ran on serial {said.dmi_serial}, the node has {inventory.dmi_serial}"
    if _differ(said.machine_id, inventory.machine_id):
        return f"the test ran on machine {said.machine_id}, the node is {inventory.machine_id}"
    if said.gpu_uuids and inventory.gpu_uuids and set(said.gpu_uuids) != set(inventory.gpu_uuids):
        return "the test saw other GPUs than the node has"
    return ""


def _differ(said: str, known: str) -> bool:
    return bool(said and known and said != known)
