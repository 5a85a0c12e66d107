"""Where and how long: each refusal is one sentence."""

from typing import Any

import pytest

from burnin.hardware_tests.run_context import BadRunContext
from burnin.tests.hardware_tests.toy import context


def test_the_length_of_a_nodelist_counts() -> None:
    named = context(nodelist=("n1", "n2", "n3"), nodes=7)

    assert (named.num_nodes, named.nodes) == (3, 1)


def test_without_a_nodelist_the_number_of_nodes_counts() -> None:
    assert context(nodes=4).num_nodes == 4


def test_the_deadline_covers_the_wait_the_run_and_a_margin() -> None:
    assert context(timeout_minutes=60, max_wait_minutes=120).deadline_minutes == 210


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"timeout_minutes": 0}, "the timeout in minutes must be between 1 and 10080, not 0"),
        ({"timeout_minutes": -5}, "the timeout in minutes must be between 1 and 10080, not -5"),
        ({"timeout_minutes": 10081}, "must be between 1 and 10080, not 10081"),
        ({"timeout_minutes": "10"}, "must be a whole number, not '10'"),
        ({"timeout_minutes": True}, "must be a whole number, not True"),
        ({"timeout_minutes": 10080}, "make more than 7 days: shorten one"),
        ({"nodes": 0}, "the number of nodes must be between 1"),
        ({"iterations": 0}, "the number of iterations must be between 1"),
        ({"max_wait_minutes": 0}, "the wait in minutes must be between 1"),
        ({"nodelist": ()}, "the node list is empty"),
        ({"nodelist": ("n1", "n2", "n1")}, "the node list names n1 more than once"),
        ({"nodelist": ("n[1-4]",)}, "'n[1-4]' is no node name: expand host lists first"),
        ({"nodelist": ("n1\n",)}, "is no node name"),
        ({"partition": ""}, "'' is no partition name"),
        ({"partition": "main\n#SBATCH --begin=now"}, "is no partition name"),
        ({"partition": "main\n"}, "is no partition name"),
        ({"partition": "a b"}, "'a b' is no partition name"),
        ({"partition": "a;b"}, "'a;b' is no partition name"),
    ],
)
def test_what_cannot_run_is_refused_in_one_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadRunContext) as refused:
        context(**changes)

    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
