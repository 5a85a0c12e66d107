"""Params that a preset leaves to the site: written as $setting, filled in for each site. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

_EXAMPLES: Mapping[str, str] = MappingProxyType({"$shared_storage": "/shared"})


class SiteSettings(Protocol):
    """What presets may take from a site."""

    @property
    def name(self) -> str: ...
    @property
    def shared_storage(self) -> str: ...


class SiteLacks(LookupError):
    """The site does not set what the step takes from it. The message says what to set."""


def filled_in(params: Mapping[str, Any], site: SiteSettings) -> dict[str, Any]:
    """Return the params as runs at the site are told them. Raises SiteLacks."""
    return {name: _at(site, value) for name, value in params.items()}


def with_examples(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the params as some site would have them, to try whether a test takes them."""
    return {name: _EXAMPLES[value] if _is_left(value) else value for name, value in params.items()}


def _is_left(value: Any) -> bool:
    return isinstance(value, str) and value in _EXAMPLES


def _at(site: SiteSettings, value: Any) -> Any:
    if not _is_left(value):
        return value
    setting = value.removeprefix("$")
    found: str = getattr(site, setting)
    if not found:
        raise SiteLacks(
            f"site {site.name} sets no {setting}: an admin names it under Administration, Sites"
        )
    return found
