"""Home, nodes and sites show what stands in the database, and cost the same whatever its size."""

from __future__ import annotations

import csv
import io
import json
import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from burnin.models import AuditEntry, LatestResult, NodeStanding, PartHealth
from burnin.selectors.nodes import counts, nodes_at
from burnin.states import Verdict
from burnin.tests.dashboards.world import PLACES, SLUGS, World, a_result, a_world
from burnin.tests.factories import a_site, a_user, nodes_of
from fleet.access import Role
from fleet.models import HardwareOperation, Node, Site

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def world() -> World:
    return a_world(timezone.now())


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(a_user(Role.OPERATOR, None, name="olga"))
    return client


def _text(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def _queries(client: Client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(
        connection,
    ) as caught:
        assert client.get(url).status_code == 200
    return len(caught)


def test_every_node_is_counted_once_and_the_counts_add_up(world: World) -> None:
    nodes = nodes_at(Site.objects.all(), timezone.now()).order_by("pk")

    assert [vars(node)["place"] for node in nodes] == list(PLACES)
    assert counts(nodes) == dict.fromkeys(PLACES, 1)


def test_an_acceptance_whose_time_is_over_is_not_believed_before_it_is_weighed(
    world: World,
) -> None:
    late = timezone.now() + timedelta(days=40)

    places = [vars(node)["place"] for node in nodes_at(Site.objects.all(), late).order_by("pk")]

    assert places[0] == "stale"


def test_home_shows_the_counts_the_trouble_and_the_job(operator: Client, world: World) -> None:
    page = _text(operator, "/")

    assert "8 nodes at 1 site" in page
    assert "n2 failed single-node.memory-stress" in page
    assert "Memory errors 3, allows at most 0" in page
    assert f"/jobs/{world.job.pk}/" in page


def test_failed_gates_come_before_what_could_not_be_measured(
    operator: Client, world: World
) -> None:
    page = _text(operator, "/")

    order = [page.index(words) for words in ("n2 failed", "n3 came to no", "n4 could not be")]
    assert order == sorted(order)


def test_nodes_with_the_same_trouble_are_one_entry(operator: Client) -> None:
    now = timezone.now()
    a_world(now)
    for node in nodes_of(Site.objects.get(), 3, prefix="gpu-r07-n"):
        reason = f"the node {node.name} vanished (NODE_FAIL)"
        a_result(node, Verdict.INCONCLUSIVE, SLUGS[1], at=now, reason=reason)

    page = _text(operator, "/")

    assert "4 nodes came to no conclusion in single-node.memory-stress" in page
    assert "gpu-r07-n[1-3],n3 at east" in page
    assert "4 of 11 cpu-generic nodes" in page


def test_home_says_that_nobody_knows_what_nobody_measured(operator: Client, world: World) -> None:
    PartHealth.objects.all().delete()

    page = _text(operator, "/")

    assert page.count("never heard: start the hub&#x27;s worker and beat") == 3


def test_a_worker_that_went_silent_is_not_green(operator: Client, world: World) -> None:
    PartHealth.objects.update(heard_at=timezone.now() - timedelta(minutes=5))

    page = _text(operator, "/")

    assert page.count("no worker has looked since") == 3


def test_a_hub_without_nodes_says_what_to_do_next(operator: Client) -> None:
    page = _text(operator, "/")

    assert "From nothing to the first verdict" in page
    assert "Nothing to look at" in page


def test_home_answers_304_while_nothing_has_changed(operator: Client, world: World) -> None:
    first = operator.get("/?part=fleet")

    again = operator.get("/?part=fleet", headers={"If-None-Match": first["ETag"]})

    assert (first.status_code, again.status_code) == (200, 304)
    NodeStanding.objects.update(state="failing")
    changed = operator.get("/?part=fleet", headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200


@pytest.mark.parametrize(
    "query, names",
    [
        ("place=failing", ["n2"]),
        ("place=failing&place=stale", ["n2", "n5"]),
        ("nodes=n[1-2]", ["n1", "n2"]),
        ("q=RMA-4471", ["n6"]),
        ("q=serial-n3", ["n3"]),
        ("site=nowhere", []),
        ("resource_class=cpu-generic&place=accepted", ["n1"]),
    ],
)
def test_the_list_of_nodes_is_narrowed_by_its_address(
    operator: Client, world: World, query: str, names: list[str]
) -> None:
    rows = json.loads(b"".join(_streamed(operator, f"/nodes/?{query}&export=json")))

    assert [row["node"] for row in rows] == names


def test_a_filter_that_makes_no_sense_shows_nothing_and_says_why(
    operator: Client, world: World
) -> None:
    page = _text(operator, "/nodes/?nodes=n[4-1]")

    assert "[4-1] in" in page and "counts backwards" in page
    assert "No node is like that" in page


def test_the_csv_is_what_the_page_shows(operator: Client, world: World) -> None:
    text = b"".join(_streamed(operator, "/nodes/?place=skipped&export=csv")).decode()

    (row,) = csv.DictReader(io.StringIO(text))
    assert (row["node"], row["stands"]) == ("n6", "skipped")
    assert row["why"] == "RMA-4471: back to the vendor"


def test_a_text_that_a_spreadsheet_would_run_is_quoted(operator: Client) -> None:
    site = a_site()
    nodes_of(site, 1, slurm_reason="=HYPERLINK(1)")

    text = b"".join(_streamed(operator, "/nodes/?export=csv")).decode()

    assert "'=HYPERLINK(1)" in text


def test_an_export_that_there_is_not_gets_one_sentence(operator: Client) -> None:
    answer = operator.get("/nodes/?export=xlsx")

    assert answer.status_code == 400
    assert b"take export=csv or export=json" in answer.content


def _streamed(client: Client, url: str) -> Any:
    answer: Any = client.get(url)
    assert answer.status_code == 200
    return answer.streaming_content


@pytest.mark.parametrize("place, node", [(place, f"n{n}") for n, place in enumerate(PLACES, 1)])
def test_the_page_of_a_node_says_where_it_stands_and_why(
    operator: Client, world: World, place: str, node: str
) -> None:
    page = _text(operator, f"/nodes/east/{node}/")

    assert f'chip">{place.capitalize()}</span>' in page
    assert "single-node.memory-stress" in page
    assert f'href="/jobs/new?site=east&amp;hosts={node}">Test this node' in page


def test_the_page_of_a_node_names_the_operation_that_spoiled_evidence(
    operator: Client, world: World
) -> None:
    page = _text(operator, "/nodes/east/n5/")

    assert "dimm-swap was done on" in page
    assert "RMA-4388" in page


def test_an_operation_is_logged_with_its_time_and_spoils_what_it_touches(
    operator: Client, world: World
) -> None:
    answer = operator.post(
        "/nodes/east/n1/operation",
        {
            "operation": "dimm-swap",
            "performed_at": f"{timezone.now() - timedelta(hours=1):%Y-%m-%dT%H:%M}",
            "note": "RMA-1",
        },
    )

    assert answer.status_code == 302
    assert HardwareOperation.objects.get(note="RMA-1").operation == "dimm-swap"
    assert NodeStanding.objects.get(node__name="n1").state == "stale"
    assert AuditEntry.objects.filter(action="report operation").count() == 1


@pytest.mark.parametrize(
    "given, says",
    [
        ({"operation": "", "performed_at": "2026-11-01T10:00"}, "Choose what was done"),
        ({"operation": "", "performed_at": ""}, "Choose what was done; say when it was done"),
        ({"operation": "dimm-swap", "performed_at": "soon"}, "Say when it was done"),
        ({"operation": "dimm-swap", "performed_at": "2999-01-01T10:00"}, "yet to come"),
    ],
)
def test_an_operation_that_makes_no_sense_is_refused_in_one_sentence(
    operator: Client, world: World, given: dict[str, str], says: str
) -> None:
    before = HardwareOperation.objects.count()

    answer = operator.post("/nodes/east/n1/operation", given)

    assert answer.status_code == 400
    assert says in answer.content.decode()
    assert HardwareOperation.objects.count() == before


def test_a_node_is_left_out_with_a_reason_and_taken_back(operator: Client, world: World) -> None:
    operator.post("/nodes/east/n1/exclude", {"reason": "smells of smoke"})
    assert Node.objects.get(name="n1").excluded_because == "smells of smoke"
    assert "smells of smoke" in _text(operator, "/nodes/east/n1/")

    operator.post("/nodes/east/n1/take-back", {"reason": "it was the coffee"})

    assert NodeStanding.objects.get(node__name="n1").state == "accepted"
    assert list(AuditEntry.objects.values_list("reason", flat=True)) == [
        "it was the coffee",
        "smells of smoke",
    ]


def _sent_twice(client: Client, url: str, **given: str) -> None:
    """Send the form of a page as an impatient hand does, with the key that it holds."""
    key = re.search(r'name="key" value="([^"]+)"', _text(client, url))
    assert key
    for _ in range(2):
        assert client.post(url, {**given, "key": key[1]}).status_code == 302


def test_a_form_that_is_sent_twice_acts_once(operator: Client, world: World) -> None:
    _sent_twice(operator, "/nodes/east/n1/exclude", reason="smells of smoke")
    _sent_twice(operator, "/nodes/east/n1/take-back", reason="it was the coffee")
    _sent_twice(
        operator,
        "/nodes/east/n1/operation",
        operation="dimm-swap",
        performed_at="2026-11-01T10:00",
        note="RMA-1",
    )

    assert HardwareOperation.objects.filter(node__name="n1").count() == 1
    assert list(AuditEntry.objects.values_list("action", flat=True)) == [
        "report operation",
        "take node back",
        "exclude node",
    ]


def test_a_form_that_comes_back_with_something_else_is_told_so(
    operator: Client, world: World
) -> None:
    key = str(uuid.uuid4())
    operator.post("/nodes/east/n1/exclude", {"reason": "smells of smoke", "key": key})

    again = operator.post("/nodes/east/n1/exclude", {"reason": "on fire", "key": key})
    damaged = operator.post("/nodes/east/n1/exclude", {"reason": "on fire", "key": "mine"})

    assert again.status_code == damaged.status_code == 409
    assert "This form was sent before (exclude node n1" in again.content.decode()
    assert "This form is damaged: open the page again" in damaged.content.decode()
    assert Node.objects.get(name="n1").excluded_because == "smells of smoke"


def test_nothing_is_done_without_a_reason(operator: Client, world: World) -> None:
    answer = operator.post("/nodes/east/n1/exclude", {"reason": "  "})

    assert answer.status_code == 409
    assert Node.objects.get(name="n1").excluded_because == ""
    assert not AuditEntry.objects.exists()


def test_a_node_that_the_inventory_does_not_know_can_be_recognised(
    operator: Client, world: World
) -> None:
    Node.objects.filter(name="n1").update(dmi_serial="")
    Node.objects.get(name="n1").save()
    assert NodeStanding.objects.get(node__name="n1").state == "stale"
    assert "so no evidence counts" in _text(operator, "/nodes/east/n1/")

    page = operator.get("/nodes/east/n1/confirm-identity")
    assert "serial-n1" in page.content.decode()
    given = {"reason": "read the sticker", "shown": page.context["mark"]}
    LatestResult.objects.filter(node__name="n1").update(identity={"dmi_serial": "another"})
    assert operator.post("/nodes/east/n1/confirm-identity", given).status_code == 409
    assert Node.objects.get(name="n1").dmi_serial == ""
    LatestResult.objects.filter(node__name="n1").update(identity={"dmi_serial": "serial-n1"})
    given["shown"] = operator.get("/nodes/east/n1/confirm-identity").context["mark"]
    operator.post("/nodes/east/n1/confirm-identity", given)

    assert Node.objects.get(name="n1").dmi_serial == "serial-n1"
    assert NodeStanding.objects.get(node__name="n1").state == "accepted"


@pytest.mark.parametrize("act", ["operation", "exclude", "take-back", "confirm-identity"])
def test_a_viewer_does_nothing_to_a_node(client: Client, world: World, act: str) -> None:
    client.force_login(a_user(Role.VIEWER, None))

    assert client.post(f"/nodes/east/n1/{act}", {"reason": "no"}).status_code == 403
    assert "Leave out" not in _text(client, "/nodes/east/n1/")


def test_a_site_that_one_may_not_see_is_not_there(client: Client, world: World) -> None:
    nodes_of(a_site("west"), 1, prefix="w")
    client.force_login(a_user(Role.OPERATOR, Site.objects.get(name="west")))

    assert client.get("/nodes/east/n1/").status_code == 404
    assert client.get("/sites/east/").status_code == 404
    assert client.post("/sites/east/check").status_code == 404
    assert not re.search(r"\bn2\b", _text(client, "/"))  # not within a token of the form
    rows = json.loads(b"".join(_streamed(client, "/nodes/?export=json")))
    assert [row["node"] for row in rows] == ["w1"]


def test_the_page_of_a_site_says_why_no_job_can_be_sent(operator: Client, world: World) -> None:
    Site.objects.update(work_dir="/elsewhere")

    page = _text(operator, "/sites/east/")

    assert "The configuration of site east has changed since its check" in page
    assert "run <code>manage.py site_check east</code> again, or press Check it now" in page


def test_a_site_without_a_satellite_is_unknown_and_the_check_is_not_sent(
    operator: Client, world: World
) -> None:
    Site.objects.update(heartbeat_at=None)
    assert 'chip">Unknown</span>' in _text(operator, "/sites/east/")

    answer = operator.post("/sites/east/check")

    page = answer.content.decode()
    above_what_changes = page.split('id="site"')[0]
    assert answer.status_code == 409
    assert "The check was not sent" in above_what_changes
    assert "No satellite of site east has ever reported" in above_what_changes
    assert 'class="toast' not in page
    assert 'hx-get="/sites/east/?part=site"' in page
    assert "asked" not in Site.objects.get().capabilities
    assert operator.get("/sites/east/check")["Location"] == "/sites/east/"


@pytest.mark.parametrize(
    "words, url",
    [
        ("n1", "/nodes/east/n1/"),
        ("n", "/nodes/?q=n"),
        ("nothing-like-it", "/nodes/"),
    ],
)
def test_the_search_field_leads_to_the_one_thing_that_is_meant(
    operator: Client, world: World, words: str, url: str
) -> None:
    assert operator.get("/find", {"q": words})["Location"] == url


def test_the_search_field_knows_jobs_and_runs_by_the_start_of_their_id(
    operator: Client, world: World
) -> None:
    job = world.job
    run = job.runs.first()
    assert run is not None

    assert operator.get("/find", {"q": str(job.pk)})["Location"] == f"/jobs/{job.pk}/"
    assert operator.get("/find", {"q": run.pk.hex[:12]})["Location"] == f"/runs/{run.pk}/"


def test_pages_cost_as_many_queries_for_many_nodes_as_for_few(
    operator: Client, world: World
) -> None:
    urls = ["/", "/?part=fleet", "/nodes/", "/nodes/?place=failing", "/nodes/east/n2/", "/sites/",
            "/sites/east/"]  # fmt: skip
    few = {url: _queries(operator, url) for url in urls}

    a_world(timezone.now(), count=40, name="big")

    assert {url: _queries(operator, url) for url in urls} == few


def test_the_page_of_a_node_costs_as_many_queries_for_many_tests_as_for_few(
    operator: Client, world: World
) -> None:
    few = _queries(operator, "/nodes/east/n1/")

    for number in range(20):
        a_result(world.nodes[0], Verdict.PASSED, f"single-node.other-{number}", at=timezone.now())

    assert _queries(operator, "/nodes/east/n1/") == few


def test_the_page_of_a_node_opens_where_little_is_known_of_its_machine(
    operator: Client, world: World
) -> None:
    LatestResult.objects.update(identity={"dmi_serial": "serial-n1"})
    assert "in its newest result" in _text(operator, "/nodes/east/n1/")

    LatestResult.objects.update(identity={})
    assert "in its newest result" not in _text(operator, "/nodes/east/n1/")
