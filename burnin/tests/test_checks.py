"""`manage.py check` names the piece of a test that is missing, and where it goes."""

from pathlib import Path

from django.core.checks import run_checks

from burnin import checks
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.stale_operations import StaleOperation
from burnin.tests.hardware_tests.toy import Toy, thresholds_file


def test_the_shipped_tests_are_whole() -> None:
    assert [each for each in run_checks() if (each.id or "").startswith("burnin.")] == []


def test_a_slug_without_a_test_class_is_named() -> None:
    [message] = checks.slugs_and_classes(["single-node.toy", "single-node.new-one"], [Toy])

    assert message.id == "burnin.E001"
    assert message.msg == "slug single-node.new-one has no test class"
    assert message.hint == (
        "create burnin/hardware_tests/single_node/new_one.py and add its class to "
        "_REGISTERED_TESTS in burnin/hardware_tests/registry.py"
    )


def test_a_test_outside_the_contract_is_named() -> None:
    [message] = checks.slugs_and_classes([], [Toy])

    assert (message.id, message.msg) == (
        "burnin.E001",
        "test single-node.toy is not in the contract",
    )


def test_a_test_without_thresholds_is_named_with_the_key_to_add(tmp_path: Path) -> None:
    empty = "version: v\nresource_classes: [cpu-generic]\ntests: {}\n"

    [message] = checks.thresholds([Toy], thresholds_file(tmp_path, empty))

    assert message.id == "burnin.E002"
    assert message.msg.startswith("single-node.toy on cpu-generic: thresholds.yaml has no limits")
    assert message.hint == (
        "in thresholds.yaml state tests: single-node.toy: cpu-generic (or defaults): for each of "
        "read_bandwidth, read_latency, responded, disk_space"
    )


def test_thresholds_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    [message] = checks.thresholds([Toy], thresholds_file(tmp_path, "- no mapping\n"))

    assert (message.id, message.msg) == ("burnin.E002", "thresholds.yaml:1: must be a mapping")


def test_a_test_without_a_stale_operation_is_named() -> None:
    other = StaleOperation("node-swap", "Another machine.", ("single-node.hello-world",))

    [message] = checks.stale_operations([Toy], {"node-swap": other})

    assert message.id == "burnin.E003"
    assert "single-node.toy" in message.msg
    assert "stale_test_operations.yaml" in (message.hint or "")


def test_a_test_without_canned_artifacts_is_named(tmp_path: Path) -> None:
    for outcome in ("pass", "fault"):
        (tmp_path / Toy.slug / outcome).mkdir(parents=True)
        (tmp_path / Toy.slug / outcome / "metadata.json").touch()

    [message] = checks.canned_artifacts([Toy], tmp_path)

    assert message.id == "burnin.E004"
    assert message.msg == "single-node.toy has no canned artifacts of an error"
    assert message.hint == "record an attempt into fixtures/artifacts/single-node.toy/error/"


def test_every_shipped_test_is_looked_at() -> None:
    missing = checks.canned_artifacts(list_all_tests(), Path("/nonexistent"))

    assert len(missing) == len(list_all_tests()) * len(checks.CANNED_OUTCOMES)
