"""What comes in: text and JSON that a database can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

MOST_BYTES = 64 * 1024


class Stated(serializers.Serializer[Any]):
    """What a caller states. A field that means nothing is refused: dropped, it reads as done."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            for name in data:
                if name not in self.fields:
                    says = f"there is no such field; there are {', '.join(self.fields)}"
                    raise serializers.ValidationError({str(name)[:80]: says})
        return super().to_internal_value(data)


class Words(serializers.CharField):
    """Text that says something."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=True, allow_blank=False, **kwargs)


class PlainObject(serializers.DictField):
    """A JSON object, of a size that can be meant."""

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError) as error:
            raise serializers.ValidationError(
                "this holds text or numbers that JSON has not"
            ) from error
        if "\\u0000" in json.dumps(value):
            raise serializers.ValidationError("take the NUL characters out of it")
        if len(text) > MOST_BYTES:
            raise serializers.ValidationError(f"it has {len(text)} bytes, more than {MOST_BYTES}")
        return value


class Choice(serializers.ChoiceField):
    """One of a few words, which are told to whoever sends another."""

    def __init__(self, choices: Sequence[Any], **kwargs: Any) -> None:
        super().__init__(choices, **kwargs)
        known = ", ".join(map(str, self.choices))
        self.error_messages["invalid_choice"] = f"'{{input}}' is none of {known}"
