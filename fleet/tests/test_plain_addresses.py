"""A NUL in an address is refused in one sentence, on both kinds of database."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db
SENTENCE = "the address holds a NUL (%00), which no name has: leave it out"


@pytest.mark.parametrize("path", ["/nodes/east/n%001/", "/find?q=%00", "/jobs/?node=a%00b"])
def test_a_page(admin_client: Client, path: str) -> None:
    answer = admin_client.get(path)

    assert (answer.status_code, answer.content.decode()) == (400, SENTENCE)


@pytest.mark.parametrize("path", ["/api/v1/nodes?site=%00", "/api/v1/presets/a%00"])
def test_the_api(admin_client: Client, path: str) -> None:
    answer = admin_client.get(path)

    assert (answer.status_code, answer.json()) == (400, {"error": SENTENCE})
