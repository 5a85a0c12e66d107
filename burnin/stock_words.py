"""What the frameworks say of a wrong value, in words that say what to send instead."""

from __future__ import annotations

import re

_TYPES = {"str": "a text", "list": "a list", "dict": "an object", "int": "a number"}
_TIME = "give a time like 2026-11-02T09:15:00Z"
_SAID = tuple(
    (re.compile(stock, re.DOTALL), ours)
    for stock, ours in (
        (r"This field is required\.", "send it, it is missing"),
        (r"This field may not be null\.", "give a value, or leave it out"),
        (r"This field may not be blank\.", "say something, it is empty"),
        (r"This list may not be empty\.", "name at least one"),
        (r"Null characters are not allowed\.", "take the NUL characters out of it"),
        (
            r"Expected a list of items but got type \"(\w+)\"\.",
            'send a JSON list, like ["a", "b"], not {}',
        ),
        (
            r"Expected a dictionary of items but got type \"(\w+)\"\.",
            "send a JSON object, like {{…}}, not {}",
        ),
        (
            r"Invalid data\. Expected a dictionary, but got (\w+)\.",
            "send a JSON object, like {{…}}, not {}",
        ),
        (r"Not a valid string\.", 'send a text, like "a"'),
        (r"A valid integer is required\.", "send a whole number"),
        (r"Enter a number\.", "give a number"),
        (r"Must be a valid boolean\.", "send true or false"),
        (r"Datetime has wrong format\..*", _TIME),
        (r"Expected a datetime but got a date\.", _TIME),
        (r"Enter a valid date/time\.", _TIME),
        (r"Enter a valid UUID\.", "give the whole id, as lists show it"),
        (
            r"Ensure this field has no more than (\d+) characters\.",
            "at most {} characters are taken",
        ),
        (r"Ensure this field has no more than (\d+) elements\.", "at most {} are taken"),
        (r"Ensure this value is less than or equal to (\d+)\.", "send at most {}"),
        (r"Ensure this value is greater than or equal to (\d+)\.", "send at least {}"),
        (r"JSON parse error - (.*)", "the body is no JSON ({})"),
    )
)


def said(text: str) -> str:
    """Return our words for a stock text; any other text is ours already."""
    for stock, ours in _SAID:
        if found := stock.fullmatch(text):
            return ours.format(*(_TYPES.get(each, each) for each in found.groups()))
    return text
