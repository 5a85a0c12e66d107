"""What a visitor gets to read."""

from typing import Any

from django.test import Client


def page_text(client: Client, address: str, *, status: int = 200) -> str:
    """Return a page's markup."""
    response = client.get(address)
    assert response.status_code == status, response.content.decode()[:500]
    return response.content.decode()


def body_of(client: Client, address: str) -> str:
    """Return a streamed answer, whole."""
    response: Any = client.get(address)
    assert response.streaming, response.content[:500]
    return b"".join(response.streaming_content).decode()
