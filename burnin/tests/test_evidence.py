"""What still counts, and the one reason why something does not."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from burnin.evidence import Evidence, Identity, Operation, Shown, Standing, weigh

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
STARTED, FINISHED = NOW - timedelta(days=10, hours=1), NOW - timedelta(days=10)
SLUG = "single-node.storage"
NODE = Identity(dmi_serial="S1", machine_id="m1", gpu_uuids=("GPU-1", "GPU-2"))
SHOWN = Shown(SLUG, STARTED, FINISHED, NODE)


def weighed(shown: Shown | None = SHOWN, *operations: Operation, **changes: Any) -> Evidence:
    given: dict[str, Any] = {
        "inventory": NODE,
        "operations": operations,
        "lives_for": timedelta(days=90),
        "now": NOW,
    }
    return weigh(shown, **{**given, **changes})


def operation(at: datetime, *slugs: str) -> Operation:
    return Operation("drive-replaced", at, frozenset(slugs))


def test_what_nothing_has_spoiled_is_fresh() -> None:
    assert weighed().counts


def test_what_was_never_shown_is_missing() -> None:
    assert weighed(None).standing is Standing.MISSING


def test_an_operation_after_the_test_stales_it() -> None:
    found = weighed(SHOWN, operation(NOW - timedelta(days=1), SLUG))

    assert found.standing is Standing.STALE
    assert found.reason == "drive-replaced was done on 2026-06-29 12:00, after the test began"


def test_an_operation_that_does_not_concern_the_test_leaves_it() -> None:
    assert weighed(SHOWN, operation(NOW - timedelta(days=1), "single-node.other")).counts


def test_an_operation_before_the_test_leaves_it() -> None:
    assert weighed(SHOWN, operation(STARTED - timedelta(seconds=1), SLUG)).counts


def test_an_operation_at_the_very_start_counts_as_after() -> None:
    assert not weighed(SHOWN, operation(STARTED, SLUG)).counts


def test_an_operation_that_is_dated_in_the_future_stales_it_already() -> None:
    assert weighed(SHOWN, operation(NOW + timedelta(days=1), SLUG)).standing is Standing.STALE


def test_any_operation_during_the_test_voids_it() -> None:
    found = weighed(SHOWN, operation(STARTED + timedelta(minutes=1), "single-node.other"))

    assert found.standing is Standing.VOID


def test_age_expires_it() -> None:
    assert weighed(lives_for=timedelta(days=9)).standing is Standing.EXPIRED


def test_a_result_from_the_future_proves_nothing() -> None:
    later = replace(SHOWN, finished_at=NOW + timedelta(days=1))

    assert weighed(later).standing is Standing.EXPIRED


@pytest.mark.parametrize(
    "other",
    [
        replace(NODE, dmi_serial="S2"),
        replace(NODE, machine_id="m2"),
        replace(NODE, gpu_uuids=("GPU-1", "GPU-3")),
        replace(NODE, gpu_uuids=("GPU-1",)),
    ],
)
def test_other_hardware_than_the_inventory_knows_stales_it(other: Identity) -> None:
    assert weighed(replace(SHOWN, identity=other)).standing is Standing.STALE


def test_the_order_of_gpus_does_not_matter() -> None:
    turned = replace(NODE, gpu_uuids=("GPU-2", "GPU-1"))

    assert weighed(replace(SHOWN, identity=turned)).counts


def test_a_node_that_could_read_nothing_of_itself_is_unverified() -> None:
    assert weighed(replace(SHOWN, identity=Identity())).standing is Standing.UNVERIFIED


def test_one_thing_that_can_be_compared_is_enough() -> None:
    assert weighed(replace(SHOWN, identity=Identity(machine_id="m1"))).counts


def test_an_inventory_that_knows_nothing_verifies_nothing() -> None:
    assert weighed(inventory=Identity()).standing is Standing.UNVERIFIED


def test_things_that_cannot_be_compared_verify_nothing() -> None:
    only_serial = replace(SHOWN, identity=Identity(dmi_serial="S1"))

    found = weighed(only_serial, inventory=Identity(machine_id="m1"))

    assert found.standing is Standing.UNVERIFIED
