"""What the bar above every page shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from django.http import HttpRequest

from fleet.access import Role, role_of

START_URL = "/jobs/new"
_ROLE_WORDS = {
    None: "You have no role here: ask an admin for one.",
    Role.VIEWER: "Viewer: you read.",
    Role.OPERATOR: "Operator: you start, cancel and re-run jobs.",
    Role.ADMIN: "Admin: you also edit inventory, presets and limits.",
}


@dataclass(frozen=True)
class Place:
    word: str
    url: str
    is_current: bool


@dataclass(frozen=True)
class Link:
    word: str
    url: str


def context(request: HttpRequest) -> dict[str, object]:
    """A context processor. What costs a query is asked for only where a template shows it."""

    @cache
    def role() -> Role | None:
        return role_of(request.user)

    def account_links() -> list[Link]:
        links = [Link("Tokens for scripts", "/account/tokens"), Link("REST", "/api/v1/docs")]
        return [*links, Link("Administration", "/admin/")] if request.user.is_staff else links

    lazy: dict[str, Callable[[], object]] = {
        "may_operate": lambda: role() in (Role.OPERATOR, Role.ADMIN),
        "is_admin": lambda: role() is Role.ADMIN,
        "role_words": lambda: _ROLE_WORDS[role()],
        "account_links": account_links,
    }
    return {"places": _places(request.path), "start_url": START_URL, **lazy}


def _places(path: str) -> list[Place]:
    sections = {"Jobs": "/jobs/", "Nodes": "/nodes/", "Tests": "/tests/", "Sites": "/sites/"}
    if path.startswith("/runs/"):
        path = sections["Jobs"]
    below = [Place(word, url, path.startswith(url)) for word, url in sections.items()]
    return [Place("Home", "/", path == "/"), *below]
