"""Params: what is refused, and how it is said."""

import pytest

from burnin.hardware_tests.params import ORCHESTRATION_NAMES, BadParams, TestParams, parse_params
from burnin.tests.hardware_tests.toy import Toy, ToyParams


def test_defaults_are_filled() -> None:
    params = parse_params(Toy, "{}")

    assert params.resolved() == {"drives": ["a"], "duration_s": 10}


def test_json_text_and_a_mapping_give_the_same_params() -> None:
    from_text = parse_params(Toy, '{"drives": ["b", "c"]}')
    from_mapping = parse_params(Toy, {"drives": ["b", "c"]})

    assert from_text == from_mapping == ToyParams(drives=("b", "c"))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ('{"drvies": ["a"]}', "there is no param 'drvies', did you mean 'drives'?"),
        ('{"zzz": 1}', "there is no param 'zzz'; it has drives, duration_s"),
        ('{"duration_s": "10"}', "'duration_s' is '10': Input should be a valid integer"),
        ('{"duration_s": true}', "'duration_s' is True: Input should be a valid integer"),
        ('{"duration_s": 0}', "'duration_s' is 0: Input should be greater than or equal to 1"),
        ('{"drives": []}', "'drives' is []: Tuple should have at least 1 item"),
        ("[1]", "the params of single-node.toy must be a JSON object"),
        ("{", "the params of single-node.toy are not JSON: "),
        ("[" * 20_000, "the params of single-node.toy are nested too deeply"),
        ('{"drives": ' + "[" * 500 + "]" * 500 + "}", "recursion limit exceeded"),
        ('{"duration_s": NaN}', "'duration_s' is nan"),
    ],
)
def test_bad_params_are_refused_in_one_sentence(given: str, sentence: str) -> None:
    with pytest.raises(BadParams) as refused:
        parse_params(Toy, given)

    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "single-node.toy" in str(refused.value)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(BadParams, match="are not plain JSON"):
        parse_params(Toy, {"drives": object()})


def test_a_mapping_nested_too_deeply_is_refused() -> None:
    deep: list[object] = []
    for _ in range(20_000):
        deep = [deep]

    with pytest.raises(BadParams, match="are nested too deeply"):
        parse_params(Toy, {"drives": deep})


@pytest.mark.parametrize("name", sorted(ORCHESTRATION_NAMES))
def test_an_orchestration_name_in_params_is_refused(name: str) -> None:
    with pytest.raises(TypeError, match=f"Planted.{name} is orchestration"):
        type("Planted", (TestParams,), {"__annotations__": {name: int}})


def test_params_cannot_be_changed_after_the_fact() -> None:
    params = ToyParams()

    with pytest.raises(ValueError, match="frozen"):
        params.duration_s = 3  # type: ignore[misc]
