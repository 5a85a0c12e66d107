"""Limits: every version and what it changed, and an edit that says what cannot be meant."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from burnin.dashboards.limits_form import LimitsForm
from burnin.dashboards.limits_line import FIELDS
from burnin.hardware_tests.registry import get_test_class, list_all_tests
from burnin.models import AuditEntry, ThresholdVersion
from burnin.models.audit import Actor
from burnin.models.limits import add_operators_version, limits_in_force, load_shipped
from burnin.tests.factories import NOW, a_class, a_site, a_user
from fleet.access import Role
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

ON = "cpu-generic"
PAGE = f"/tests/{Slugs.NODE_HEALTH}/limits/{ON}/"
EDIT = f"{PAGE}edit"


@pytest.fixture
def admin_user() -> User:
    load_shipped()
    return a_user(Role.ADMIN, a_site())


@pytest.fixture
def admin(client: Client, admin_user: User) -> Client:
    client.force_login(admin_user)
    return client


def _add(value: float, *, reason: str = "full disks hurt") -> ThresholdVersion:
    stated = {"value": value, "source": "our policy", "confidence": "C"}
    return add_operators_version(
        Slugs.NODE_HEALTH, ON, {"disk_space": stated}, by=Actor("ann"), reason=reason, now=NOW
    )


def _posted(slug: str = Slugs.NODE_HEALTH, on: str = ON, **changed: str) -> dict[str, Any]:
    """Return what a browser would post of the form as it was opened, with these fields changed."""
    in_force = limits_in_force(slug, on).version
    form = LimitsForm(get_test_class(slug), a_class(on), in_force)
    fields = {"based_on": str(in_force.number), "reason": "a new policy"}
    for line in form.lines:
        for name in FIELDS:
            fields[f"{line.name}-{name}"] = getattr(line, name)
    return {**fields, **{name.replace("__", "-"): value for name, value in changed.items()}}


def test_a_page_without_an_edit_shows_one_version(admin: Client) -> None:
    page = admin.get(PAGE).content.decode()

    assert "shipped:0.1.0 decides since" in page
    assert "One version only" in page
    assert "Other than the release says" not in page


def test_an_edit_shows_what_it_changed_and_why(admin: Client) -> None:
    _add(20)

    page = admin.get(PAGE).content.decode()

    assert "operator:1 decides since" in page
    assert "Other than the release says" in page
    assert "full disks hurt" in page
    assert "≥ 5 %" in page and "≥ 20 %" in page


def test_any_two_versions_can_be_compared(admin: Client) -> None:
    _add(20)
    _add(30)

    page = admin.get(f"{PAGE}?before=2&after=3").content.decode()
    same = admin.get(f"{PAGE}?before=3&after=3").content.decode()

    assert "≥ 20 %" in page and "≥ 30 %" in page
    assert "operator:2 and operator:2 say the same" in same
    assert admin.get(f"{PAGE}?before=2&after=9").status_code == 404
    assert admin.get(f"{PAGE}?before=x").status_code == 404


def test_every_version_goes_out(admin: Client) -> None:
    _add(20)

    answer = admin.get(f"{PAGE}?export=json")

    rows = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    assert [row["label"] for row in rows] == ["operator:1", "shipped:0.1.0"]
    assert rows[0]["bounds"]["disk_space"]["value"] == 20


def test_more_versions_cost_no_more(admin: Client) -> None:
    _add(20)
    few = _queries(admin)
    for value in range(21, 30):
        _add(value)

    assert _queries(admin) == few


def _queries(client: Client) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(PAGE).status_code == 200
    return len(asked)


def test_a_bound_is_edited_and_comes_into_force(admin: Client) -> None:
    answer = admin.post(EDIT, _posted(disk_space__value="12.5"))

    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    in_force = limits_in_force(Slugs.NODE_HEALTH, ON)
    assert in_force.version.label == "operator:1"
    assert in_force.thresholds.bounds["disk_space"].value == 12.5
    assert str(in_force.version.created_by) == "ada"
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.user_name, entry.reason) == ("edit limits", "ada", "a new policy")


def test_an_older_version_is_restored_with_a_reason(admin: Client) -> None:
    shipped = limits_in_force(Slugs.NODE_HEALTH, ON).version
    _add(20)
    address = f"{PAGE}restore/{shipped.number}"
    assert f'href="{address}"' in admin.get(PAGE).content.decode()

    asked = admin.get(address).content.decode()
    unsaid = admin.post(address, {"reason": " ", "based_on": "2"})
    overtaken = admin.post(address, {"reason": "too strict", "based_on": "1"})
    answer = admin.post(address, {"reason": "too strict", "based_on": "2"})

    assert 'name="based_on" value="2"' in asked and "Restore shipped:0.1.0" in asked
    assert (unsaid.status_code, overtaken.status_code) == (400, 409)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    in_force = limits_in_force(Slugs.NODE_HEALTH, ON).version
    assert (in_force.label, in_force.bounds) == ("operator:2", shipped.bounds)
    assert AuditEntry.objects.first().reason == "restores shipped:0.1.0: too strict"  # type: ignore[union-attr]
    assert admin.get(f"{PAGE}restore/9").status_code == 404


def test_only_an_admin_restores(client: Client, admin_user: User) -> None:
    client.force_login(a_user(Role.OPERATOR, None, name="eve"))

    assert client.post(f"{PAGE}restore/1", {"reason": "x"}).status_code == 403
    assert "Restore" not in client.get(PAGE).content.decode()


def test_what_was_not_touched_stays(admin: Client) -> None:
    before = limits_in_force(Slugs.NODE_HEALTH, ON).version.bounds
    admin.post(EDIT, _posted(disk_space__value="12.5"))

    after = limits_in_force(Slugs.NODE_HEALTH, ON).version.bounds

    assert {**after, "disk_space": None} == {**before, "disk_space": None}
    assert {**after["disk_space"], "value": 5} == before["disk_space"]


@pytest.mark.parametrize("odd", ["one", "1", "2.5", "100001", "9" * 5000])
def test_a_number_of_nodes_that_cannot_be_is_refused(admin: Client, odd: str) -> None:
    slug, on = Slugs.NCCL_ALL_REDUCE, "h200-8x"
    form = _posted(slug, on, bus_bandwidth__num_nodes=odd)

    refused = admin.post(f"/tests/{slug}/limits/{on}/edit", form)

    said = html.unescape(refused.content.decode())
    assert f"“{odd:.40}” nodes cannot be meant: give 2 to 100,000." in said


@pytest.mark.parametrize("field", ["disk_space__source", "disk_space__fingerprint", "reason"])
def test_words_are_refused_rather_than_cut(admin: Client, field: str) -> None:
    before = limits_in_force(Slugs.NODE_HEALTH, ON).version

    refused = admin.post(EDIT, _posted(**{"disk_space__value": "12.5", field: "w" * 1001}))

    assert refused.status_code == 400
    assert "1,001 characters are too many: keep it to 1,000." in refused.content.decode()
    assert limits_in_force(Slugs.NODE_HEALTH, ON).version == before


def test_a_limit_can_be_that_of_another_number_of_nodes(admin: Client) -> None:
    slug, on = Slugs.NCCL_ALL_REDUCE, "h200-8x"
    page = f"/tests/{slug}/limits/{on}/"

    admin.post(f"{page}edit", _posted(slug, on, bus_bandwidth__num_nodes="8"))

    assert limits_in_force(slug, on).thresholds.bounds["bus_bandwidth"].num_nodes == 8
    assert ">8 nodes</span>" in admin.get(page).content.decode()


def test_a_metric_can_cease_to_decide(admin: Client) -> None:
    admin.post(
        EDIT,
        _posted(disk_space__standing="not_gated", disk_space__why="disks are watched elsewhere"),
    )

    bound = limits_in_force(Slugs.NODE_HEALTH, ON).thresholds.bounds["disk_space"]
    assert (bound.value, bound.why) == (None, "disks are watched elsewhere")


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"disk_space__value": "0.2"}, "Fullest filesystem, free space is 0.2 %: outside 0.5 to"),
        ({"disk_space__value": "NaN"}, "“NaN” is no number"),
        ({"disk_space__value": "1e400"}, "“1e400” is too large to be a bound"),
        ({"disk_space__value": "80 TB/s"}, "“80 TB/s” is no number: give a plain number of %"),
        ({"disk_space__value": ""}, "Give a number of %."),
        ({"disk_space__source": ""}, "Say where the bound comes from."),
        ({"disk_space__confidence": "D"}, "Choose A, B or C."),
        ({"disk_space__standing": "not_gated"}, "Say why it does not decide."),
        ({"kernel_errors__value": "0.5"}, "a count is a whole number"),
        ({"reason": " ", "disk_space__value": "9"}, "Say why it changes"),
        ({}, "Nothing was changed"),
    ],
)
def test_what_cannot_be_meant_is_told_and_nothing_is_written(
    admin: Client, changed: dict[str, str], says: str
) -> None:
    answer = admin.post(EDIT, _posted(**changed))

    assert answer.status_code == 400
    assert says in html.unescape(answer.content.decode())
    assert ThresholdVersion.objects.filter(origin="operator").count() == 0
    assert not AuditEntry.objects.exists()


def test_two_faults_are_told_at_once_each_beside_its_field(admin: Client) -> None:
    page = admin.post(
        EDIT, _posted(disk_space__value="0.2", kernel_errors__value="many")
    ).content.decode()

    assert page.count('class="field bad"') == 2
    assert 'value="0.2"' in page and 'value="many"' in page
    assert "Nothing was saved: 2 fields to mend" in page
    assert 'href="#disk_space-value"' in page and 'href="#kernel_errors-value"' in page
    assert page.count("autofocus") == 1


@pytest.mark.parametrize(
    ("changed", "ident"),
    [
        ({"disk_space__source": ""}, "disk_space-source"),
        ({"disk_space__confidence": "D"}, "disk_space-confidence"),
        ({"disk_space__standing": "not_gated"}, "disk_space-why"),
        ({"disk_space__value": "9", "reason": ""}, "reason"),
    ],
)
def test_what_has_to_be_mended_is_marked_and_has_the_focus(
    admin: Client, changed: dict[str, str], ident: str
) -> None:
    page = admin.post(EDIT, _posted(**changed)).content.decode()

    [marked] = re.findall(r'<(?:input|select) id="([^"]+)"[^>]* aria-invalid="true"', page)
    [focused] = re.findall(r'<(?:input|select) id="([^"]+)"[^>]* autofocus', page)
    assert marked == focused == ident
    assert f'href="#{ident}"' in page


def test_of_many_metrics_those_to_mend_are_open(admin: Client) -> None:
    opened = admin.get(EDIT).content.decode()
    refused = admin.post(EDIT, _posted(disk_space__value="many")).content.decode()
    few = admin.get(f"/tests/{Slugs.MEMORY_STRESS}/limits/{ON}/edit").content.decode()

    assert (opened.count('<details class="panel">'), opened.count(" open>")) == (
        len(LimitsForm(get_test_class(Slugs.NODE_HEALTH), a_class(ON), None).lines),
        0,
    )
    assert refused.count(" open>") == 1
    assert few.count('<details class="panel">') == 0
    assert "data-narrows" in opened and "data-narrows" not in few


def test_saving_what_stands_offers_no_changes_to_look_at(admin: Client) -> None:
    assert "See what changed" not in admin.post(EDIT, _posted()).content.decode()


def test_an_edit_that_was_overtaken_is_refused(admin: Client) -> None:
    posted = _posted(disk_space__value="12.5")
    _add(20)

    answer = admin.post(EDIT, posted)

    assert answer.status_code == 409
    assert "Operator:1 has come into force meanwhile" in answer.content.decode()
    assert "See what changed" in answer.content.decode()
    assert limits_in_force(Slugs.NODE_HEALTH, ON).thresholds.bounds["disk_space"].value == 20


@pytest.mark.parametrize("test", list_all_tests())
def test_the_form_as_it_opens_changes_nothing(admin: Client, test: type) -> None:
    slug = test.slug  # type: ignore[attr-defined]
    on = test.resource_classes()[0]  # type: ignore[attr-defined]
    address = f"/tests/{slug}/limits/{on}/edit"
    assert admin.get(address).status_code == 200

    answer = admin.post(address, _posted(slug, on))

    assert answer.status_code == 400
    assert "Nothing was changed" in answer.content.decode()


def test_limits_of_a_new_class_are_set_whole(admin: Client) -> None:
    a_class("h100")
    address = f"/tests/{Slugs.MEMORY_STRESS}/limits/h100/edit"
    assert admin.get(address).status_code == 200
    fields = {
        "reason": "a new kind of node",
        "memory_errors-standing": "gates",
        "memory_errors-value": "0",
        "memory_errors-source": "stressapptest",
        "memory_errors-confidence": "A",
    }

    half = admin.post(address, fields)
    whole = admin.post(
        address,
        {**fields, "copy_bandwidth-standing": "not_gated", "copy_bandwidth-why": "not measured"},
    )

    assert half.status_code == 400
    assert "or choose that it never decides and say why" in half.content.decode()
    assert whole.status_code == 302
    assert limits_in_force(Slugs.MEMORY_STRESS, "h100").version.label == "operator:1"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_only_an_admin_edits(client: Client, admin_user: User, role: Role) -> None:
    client.force_login(a_user(role, None, name="eve"))
    posted = _posted(disk_space__value="12.5")

    assert client.get(EDIT).status_code == 403
    assert client.post(EDIT, posted).status_code == 403
    assert "Edit limits" not in client.get(PAGE).content.decode()
    assert ThresholdVersion.objects.filter(origin="operator").count() == 0


def test_a_class_that_is_not_there_is_not_found(admin: Client) -> None:
    assert admin.get(f"/tests/{Slugs.STORAGE}/limits/h900/").status_code == 404
    assert admin.get(f"/tests/nonsense/limits/{ON}/edit").status_code == 404


def test_limits_by_network_are_shown_and_survive_the_edit_of_another_limit(admin: Client) -> None:
    slug, on = Slugs.NCCL_ALL_GATHER, "h100-sxm5-8x"
    page = f"/tests/{slug}/limits/{on}/"

    shown = admin.get(page).content.decode()
    posted = _posted(slug, on, wrong_values__standing="not_gated", wrong_values__why="we know")
    answer = admin.post(f"{page}edit", posted)

    for part in ("≥ 321 GB/s", "≥ 60 GB/s", "network GPUDirectTCPX", "4 nodes"):
        assert part in shown
    assert answer.status_code == 302, answer.content.decode()
    kept = limits_in_force(slug, on).version
    assert [each["value"] for each in kept.bounds["bus_bandwidth"]["by_fabric"]] == [
        *(321, 150, 60, 307),
    ]
    assert "has a limit for each network" in admin.get(f"{page}edit").content.decode()
