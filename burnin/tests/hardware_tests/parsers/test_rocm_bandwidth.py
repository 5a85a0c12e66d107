from __future__ import annotations

from itertools import count

import pytest

from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.hardware_tests.parsers.rocm_bandwidth import parse
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

TOOL = "rocm-bandwidth-test"
ONE_WAY = shipped(TOOL, "mi300x_8x_one_way.txt")
CHECKED = shipped(TOOL, "mi300x_8x_checked.txt")
ROWS = ONE_WAY[ONE_WAY.index("Unidirectional") :]
LAST = ROWS.rstrip().splitlines()[-1]


def test_rows_are_sources_and_columns_targets() -> None:
    report = parse(ONE_WAY)

    speeds = {(each.source, each.target): each.gb_per_s for each in report.one_way}
    row = next(line for line in ROWS.splitlines() if line.split()[:1] == ["3"]).split()
    assert speeds[3, 0] == float(row[1])
    assert speeds[3, 9] == float(row[10])
    assert (0, 1) not in speeds  # N/A


def test_a_gpu_has_a_bus_id_and_a_cpu_none() -> None:
    devices = parse(ONE_WAY).devices

    assert [each.is_gpu for each in devices] == [False] * 2 + [True] * 8
    assert devices[2].bus_id == "05:0.0"


def test_a_path_is_right_only_where_the_tool_says_pass() -> None:
    report = parse(CHECKED.replace("PASS", "FAIL", 1))

    assert [(each.source, each.target) for each in report.checks if not each.passed] == [(0, 2)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", RefusalKind.NO_DATA),
        ("rocm-bandwidth-test: cannot open /dev/kfd\n", RefusalKind.MALFORMED),
        (ONE_WAY[: ONE_WAY.index("Unidirectional")], RefusalKind.TRUNCATED),
        (ONE_WAY.replace(LAST, ""), RefusalKind.TRUNCATED),
        (ONE_WAY.replace(LAST, LAST.rsplit(maxsplit=1)[0]), RefusalKind.MALFORMED),
        (ONE_WAY + ROWS, RefusalKind.CONTRADICTORY),
        (ONE_WAY.replace(LAST.split()[-1], "-nan"), RefusalKind.MALFORMED),
        (CHECKED.replace("PASS", "MAYBE", 1), RefusalKind.MALFORMED),
    ],
    ids=count(),
)
def test_what_says_nothing_certain_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
