"""What is wrong with a filter, in one sentence that says what could have been given."""

from __future__ import annotations

from collections.abc import Iterator

from django.http import QueryDict
from django_filters import FilterSet

from burnin import stock_words


def wrong_choices(filters: type[FilterSet], given: QueryDict) -> Iterator[tuple[str, str]]:
    """Yield the name of each filter that was given none of its choices, and those choices."""
    for name, each in filters.base_filters.items():
        choices = [str(value) for value, _ in each.extra.get("choices", ())]
        wrong = [value for value in given.getlist(name) if value and value not in choices]
        if choices and wrong:
            yield name, f"{wrong[0]!r:.80} is none of {', '.join(choices)}"


def complaints_of(filters: FilterSet) -> list[str]:
    """Return a sentence for each filter that makes no sense; none of them is a framework's."""
    given = filters.data if isinstance(filters.data, QueryDict) else QueryDict()
    choices = dict(wrong_choices(type(filters), given))
    said = [
        (name, choices.get(name) or stock_words.said(str(error)))
        for name, errors in filters.errors.items()
        for error in errors
    ]
    return [f"{filters.filters[name].label}: {words}" for name, words in dict.fromkeys(said)]
