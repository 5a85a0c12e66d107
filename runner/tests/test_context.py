"""What the node is told is checked before anything happens."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runner.context import BadContext, check_params, parse_context
from runner.contract.slugs import Slugs
from runner.tests.given import context_told


def test_a_sound_context_is_read() -> None:
    context = parse_context(json.dumps(context_told(attempt=3)), slug=Slugs.HELLO_WORLD)

    assert context.attempt == 3
    assert context.token.comment.endswith(":3")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"schema": 2}, "schema is 2, this runner reads 1"),
        ({"attempt": "1"}, "'attempt' is str, not int"),
        ({"attempt": True}, "'attempt' is bool, not int"),
        ({"attempt": 0}, "'attempt' is 0, must be at least 1"),
        ({"num_nodes": 0}, "'num_nodes' is 0"),
        ({"time_limit_s": 0}, "'time_limit_s' is 0"),
        ({"node_names": [1]}, "'node_names' holds something that is not a string"),
        ({"facts_root": "roots"}, "not an absolute path"),
        ({"params": []}, "'params' is list, not dict"),
        ({"slug": Slugs.STORAGE}, "is for 'single-node.storage'"),
        ({"uploads": {"stdout.txt": "file:///x"}}, "'stdout.txt' is no artifact with an http"),
        ({"uploads": {"stdout.txt": "http://x/\r\nX: y"}}, "'stdout.txt' is no artifact with an"),
        ({"uploads": {"stdout.txt": "http://x/é"}}, "'stdout.txt' is no artifact with an"),
        ({"uploads": {"stdout.txt": "http:///k"}}, "'stdout.txt' is no artifact with an"),
        ({"uploads": {"stdout.txt": "http://h:99999/k"}}, "'stdout.txt' is no artifact with an"),
        ({"uploads": {"stdout.txt": "http://[::1/k"}}, "'stdout.txt' is no artifact with an"),
        ({"uploads": {"other": "http://x/"}}, "'other' is no artifact"),
    ],
)
def test_a_wrong_field_is_named(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadContext, match=sentence):
        parse_context(json.dumps(context_told(**changes)), slug=Slugs.HELLO_WORLD)


@pytest.mark.parametrize("name", [name for name in context_told() if name != "schema"])
def test_a_missing_field_is_named(name: str) -> None:
    told = context_told()
    del told[name]

    with pytest.raises(BadContext, match=f"lacks '{name}'"):
        parse_context(json.dumps(told), slug=Slugs.HELLO_WORLD)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": NaN}'])
def test_what_is_not_a_whole_json_object_is_refused(text: str) -> None:
    with pytest.raises(BadContext):
        parse_context(text, slug=Slugs.HELLO_WORLD)


def test_a_refusal_never_quotes_an_upload_url() -> None:
    told = context_told(uploads={"stdout.txt": "ftp://store/secret"})

    with pytest.raises(BadContext) as refusal:
        parse_context(json.dumps(told), slug=Slugs.HELLO_WORLD)

    assert "secret" not in str(refusal.value)


def test_params_must_be_exactly_what_the_executor_reads() -> None:
    told = context_told(params={"duration": 5})
    context = parse_context(json.dumps(told), slug=Slugs.HELLO_WORLD)

    with pytest.raises(BadContext, match=r"lack \['duration_s'\] and have unknown \['duration'\]"):
        check_params(context, frozenset({"duration_s"}))
