"""Limits are versions: what a release ships, what operators say, and which of them decides."""

from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.registry import UnknownSlug, list_all_tests
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.loader import THRESHOLDS_YAML
from burnin.models import AuditEntry, ThresholdVersion
from burnin.models.audit import Actor
from burnin.models.limits import (
    ChangedBound,
    add_operators_version,
    difference,
    limits_in_force,
    load_shipped,
)
from burnin.models.threshold import ThresholdsAreKept
from burnin.tests.factories import NOW
from fleet.models import ResourceClass
from runner.contract.slugs import Slugs

ON = "cpu-generic"
ANN = Actor("ann")
EDIT = {"disk_space": {"value": 20, "source": "our policy", "confidence": "C"}}
pytestmark = pytest.mark.django_db


def _newer_release(directory: Path, **changes: str) -> Path:
    text = THRESHOLDS_YAML.read_text().replace("shipped:0.1.0", "shipped:0.2.0")
    for before, after in changes.items():
        text = text.replace(before, after)
    path = directory / "thresholds.yaml"
    path.write_text(text)
    return path


def _edit(**values: object) -> ThresholdVersion:
    changes = {"disk_space": {**EDIT["disk_space"], **values}}
    return add_operators_version(
        Slugs.NODE_HEALTH, ON, changes, by=ANN, reason="full disks hurt", now=NOW
    )


def test_what_is_shipped_is_loaded_once() -> None:
    made = load_shipped()

    assert {each.slug for each in made} == {test.slug for test in list_all_tests()}
    assert {each.label for each in made} == {"shipped:0.1.0"}
    assert load_shipped() == []


@pytest.mark.parametrize("test", list_all_tests())
def test_what_is_in_force_is_what_the_file_says(test: type) -> None:
    load_shipped()

    on = test.resource_classes()[0]  # type: ignore[attr-defined]
    found = limits_in_force(test.slug, on)  # type: ignore[attr-defined]

    assert found.thresholds == test.load_thresholds(on)  # type: ignore[attr-defined]
    assert found.version.label == found.thresholds.version


def test_an_operators_version_changes_what_it_names_and_keeps_the_rest() -> None:
    load_shipped()

    version = _edit()

    found = limits_in_force(Slugs.NODE_HEALTH, ON)
    assert (found.version, version.label, version.number) == (version, "operator:1", 2)
    assert found.thresholds.bounds["disk_space"].value == 20
    assert found.thresholds.bounds["disk_space"].version == "operator:1"
    assert found.thresholds.bounds["clock_offset"].value == 100


def test_an_operators_version_wins_over_a_later_release(
    tmp_path: Path,
) -> None:
    load_shipped()
    edited = _edit()

    load_shipped(_newer_release(tmp_path))

    assert limits_in_force(Slugs.NODE_HEALTH, ON).version == edited


def test_a_later_release_wins_where_no_operator_has_spoken(tmp_path: Path) -> None:
    load_shipped()
    _edit()

    load_shipped(_newer_release(tmp_path))

    assert limits_in_force(Slugs.STORAGE, ON).version.label == "shipped:0.2.0"


def test_a_metric_that_only_one_version_has_is_a_difference() -> None:
    before, after = ThresholdVersion(bounds={}), ThresholdVersion(bounds=EDIT)

    assert difference(before, after) == [ChangedBound("disk_space", None, EDIT["disk_space"])]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"value": 0.2}, "disk_space is 0.2 %: outside 0.5 to 100, is the unit right?"),
        ({"value": 2000}, "disk_space is 2000 %: outside 0.5 to 100, is the unit right?"),
        ({"value": True}, "disk_space is True, which is no number"),
        ({"value": float("nan")}, "disk_space is nan, which is no number"),
        ({"value": "20"}, "disk_space is '20', which is no number"),
        ({"source": " "}, "disk_space must say its source in words"),
        ({"confidence": "high"}, "the confidence of disk_space is A, B or C"),
        ({"limit": 5}, "there is no key of disk_space 'limit'"),
    ],
)
def test_an_edit_that_cannot_be_meant_is_refused_in_one_sentence(
    values: dict[str, object], says: str
) -> None:
    load_shipped()
    before = ThresholdVersion.objects.count()

    with pytest.raises(BadThresholds) as refusal:
        _edit(**values)

    assert says in str(refusal.value)
    assert str(refusal.value).startswith("operator:1 of single-node.node-health on cpu-generic: ")
    assert "\n" not in str(refusal.value)
    assert ThresholdVersion.objects.count() == before


@pytest.mark.parametrize(
    "changes", [{"no_such_metric": EDIT["disk_space"]}, {"disk_space": 5}, {"disk_space": None}]
)
def test_an_edit_of_another_shape_is_refused(changes: dict[str, dict[str, object]]) -> None:
    load_shipped()

    with pytest.raises(BadThresholds):
        add_operators_version(Slugs.NODE_HEALTH, ON, changes, by=ANN, reason="why not", now=NOW)


def test_an_edit_needs_a_reason_a_change_a_known_test_and_a_known_class() -> None:
    load_shipped()

    with pytest.raises(BadThresholds, match="needs a reason"):
        add_operators_version(Slugs.NODE_HEALTH, ON, EDIT, by=ANN, reason=" ", now=NOW)
    with pytest.raises(BadThresholds, match="nothing changes in the limits of"):
        add_operators_version(Slugs.NODE_HEALTH, ON, {}, by=ANN, reason="x", now=NOW)
    standing = limits_in_force(Slugs.NODE_HEALTH, ON).version.bounds
    with pytest.raises(BadThresholds, match=r"shipped:\S+ says this"):
        add_operators_version(Slugs.NODE_HEALTH, ON, standing, by=ANN, reason="x", now=NOW)
    with pytest.raises(UnknownSlug, match=r"did you mean single-node\.node-health"):
        add_operators_version("single-node.node-healt", ON, EDIT, by=ANN, reason="x", now=NOW)
    with pytest.raises(NoThresholds, match="no resource class 'h100'"):
        add_operators_version(Slugs.NODE_HEALTH, "h100", EDIT, by=ANN, reason="x", now=NOW)


@pytest.mark.parametrize("entry", [{"source": "s" * 1001}, {"by_fabric": [{"source": "s" * 1001}]}])
def test_an_edit_is_short_and_what_was_said_before_the_rule_still_stands(
    entry: dict[str, Any],
) -> None:
    load_shipped()
    changes = {"disk_space": {**EDIT["disk_space"], **entry}}

    with pytest.raises(BadThresholds, match="1,001 characters of one thing: keep it to 1,000"):
        add_operators_version(Slugs.NODE_HEALTH, ON, changes, by=ANN, reason="x", now=NOW)

    version = _edit()
    long = {**version.bounds["disk_space"], "source": "s" * 1001}
    ThresholdVersion.objects.filter(pk=version.pk).update(
        bounds={**version.bounds, "disk_space": long}
    )
    assert limits_in_force(Slugs.NODE_HEALTH, ON).thresholds.bounds["disk_space"].value == 20


def test_a_class_that_no_release_knows_needs_every_limit() -> None:
    load_shipped()
    ResourceClass.objects.create(name="h100", gpus_per_node=0)

    with pytest.raises(NoThresholds, match=r"no limits for single-node\.node-health on h100"):
        limits_in_force(Slugs.NODE_HEALTH, "h100")
    with pytest.raises(NoThresholds, match="has no limit for"):
        add_operators_version(Slugs.NODE_HEALTH, "h100", EDIT, by=ANN, reason="x", now=NOW)

    whole = limits_in_force(Slugs.NODE_HEALTH, ON).version.bounds
    add_operators_version(
        Slugs.NODE_HEALTH, "h100", {**whole, **EDIT}, by=ANN, reason="new kind", now=NOW
    )
    assert limits_in_force(Slugs.NODE_HEALTH, "h100").thresholds.bounds["disk_space"].value == 20


def test_a_release_that_says_something_new_under_an_old_name_is_refused(tmp_path: Path) -> None:
    load_shipped()
    path = tmp_path / "thresholds.yaml"
    path.write_text(THRESHOLDS_YAML.read_text().replace("value: 5\n", "value: 6\n"))

    with pytest.raises(BadThresholds, match=r"stands as shipped:0\.1\.0 with other limits"):
        load_shipped(path)


def test_a_wrong_file_leaves_nothing_half_loaded(tmp_path: Path) -> None:
    path = _newer_release(tmp_path, **{"value: 5\n": "value: 5000\n"})

    with pytest.raises(BadThresholds, match=r"thresholds\.yaml:\d+: disk_space is 5000"):
        load_shipped(path)

    assert not ThresholdVersion.objects.exists()
    assert not ResourceClass.objects.exists()


def test_a_version_is_never_changed() -> None:
    [version, *_] = load_shipped()
    version.bounds = {}

    with pytest.raises(ThresholdsAreKept):
        version.save()


def test_an_edit_is_written_down_with_who_and_why() -> None:
    load_shipped()

    version = _edit(value=25)

    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.object_id, entry.at) == ("edit limits", str(version.pk), NOW)
    assert (entry.user_name, entry.reason) == ("ann", "full disks hurt")


def test_an_edit_of_what_is_no_longer_in_force_is_refused() -> None:
    load_shipped()
    seen = limits_in_force(Slugs.NODE_HEALTH, ON).version.number
    _edit(value=25)

    with pytest.raises(BadThresholds, match="operator:1 has come into force meanwhile"):
        add_operators_version(
            Slugs.NODE_HEALTH, ON, EDIT, by=ANN, reason="x", now=NOW, based_on=seen
        )

    assert AuditEntry.objects.count() == 1


def test_a_refused_edit_leaves_no_entry() -> None:
    load_shipped()

    with pytest.raises(BadThresholds):
        _edit(value="twenty")

    assert not AuditEntry.objects.exists()
