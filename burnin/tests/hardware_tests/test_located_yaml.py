"""YAML that cannot be read is refused in one sentence, with its line where one is known."""

import pytest

from burnin.hardware_tests.located_yaml import BadYaml, parse

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("2026-99-99", "f.yaml:2: '2026-99-99' cannot be read as timestamp"),
        ("2026-01-01T25:00:00", "f.yaml:2: '2026-01-01T25:00:00' cannot be read as timestamp"),
        ("!!timestamp x", "f.yaml:2: 'x' cannot be read as timestamp"),
        ("!!int abc", "f.yaml:2: 'abc' cannot be read as int"),
        ("!!int ''", "f.yaml:2: '' cannot be read as int"),
        ("!!float x", "f.yaml:2: 'x' cannot be read as float"),
        ("!!bool x", "f.yaml:2: 'x' cannot be read as bool"),
        ("!!binary a", "f.yaml:2: 'a' cannot be read as binary"),
        ("!own x", "f.yaml:2: 'x' cannot be read as !own"),
        ("[1, {in: !!int abc}]", "f.yaml:2: 'abc' cannot be read as int"),
        (LONG, f"f.yaml:2: '{LONG[:39]} cannot be read as int"),
        ("0x" + LONG, f"f.yaml:2: '0x{LONG[:37]} cannot be read as int"),
        ("&a {value: *a}", "f.yaml: something in it is nested too deeply, or holds itself"),
        ("&a [*a]", "f.yaml: something in it is nested too deeply, or holds itself"),
        ("[" * 3000, "f.yaml: something in it is nested too deeply, or holds itself"),
        ("[" * 3000 + "]" * 3000, "f.yaml: something in it is nested too deeply, or holds itself"),
        (r'"\UFFFFFFFF"', "f.yaml: cannot be read: "),
    ],
    ids=lambda text: text[:30],
)
def test_a_value_that_cannot_be_read_is_refused(value: str, sentence: str) -> None:
    with pytest.raises(BadYaml) as refused:
        parse(f"first: 1\nvalue: {value}\n", "f.yaml")

    said = str(refused.value)
    assert said == sentence or (sentence.endswith(": ") and said.startswith(sentence))
    assert "\n" not in said


def test_what_yaml_knows_is_read() -> None:
    top = parse("a: 1\nb: [1.5, true, ~]\nc: {d: 2026-01-02}\n", "f.yaml")

    assert (top["a"], top["b"], top["c"].at("d")) == (1, [1.5, True, None], "f.yaml:3")
