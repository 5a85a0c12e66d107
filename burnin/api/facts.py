"""A body of facts as the satellite sent it → what can be believed of it, and what cannot."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from burnin.satellite.messages import FACTS_PER_POST, FactBatch, Refusal


class BadBatch(Exception):
    """The body as a whole is no batch of facts. The message says what is wrong and where."""


@dataclass(frozen=True)
class ReadBatch:
    batch: FactBatch
    refused: tuple[Refusal, ...] = ()


def read_batch(body: bytes) -> ReadBatch:
    """Return the facts that are well-formed, and a refusal for each that is not.

    One malformed fact must not hold up the others for ever. Raises BadBatch.
    """
    try:
        return ReadBatch(FactBatch.model_validate_json(body))
    except ValidationError as error:
        # Neither the input nor a link to pydantic's pages belongs into an answer.
        problems = error.errors(include_url=False, include_input=False, include_context=False)
    malformed = {_fact_index(problem["loc"]): _words(problem) for problem in reversed(problems)}
    if None in malformed:
        raise BadBatch(malformed[None])
    return _without({index: words for index, words in malformed.items() if index is not None}, body)


def _fact_index(location: Sequence[int | str]) -> int | None:
    """Return which fact is wrong; None if the batch or an envelope is."""
    match location:
        case ("facts", int(index), "fact", *_):
            return index
        case _:
            return None


def _without(malformed: dict[int, str], body: bytes) -> ReadBatch:
    document = json.loads(body)
    envelopes = document["facts"]
    refused = tuple(Refusal(id=envelopes[i]["id"], words=malformed[i]) for i in sorted(malformed))
    kept = [each for index, each in enumerate(envelopes) if index not in malformed]
    return ReadBatch(FactBatch.model_validate(document | {"facts": kept}), refused)


def _words(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "json_invalid":
        return f"the body is no whole JSON document: {problem['msg']}"
    if problem["type"] == "too_long" and problem["loc"] == ("facts",):
        return f"a batch holds at most {FACTS_PER_POST} facts: send the rest in another one"
    return f"{where or 'the body'}: {problem['msg']}"
