from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import fio_text
from burnin.hardware_tests.parsers.fio import FioReport
from burnin.hardware_tests.parsers.fio_text import FioTextReport
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

TEXT = shipped("fio", "text_readwrite.txt")


def test_the_text_gives_the_sums_of_its_group() -> None:
    report = fio_text.parse(TEXT)

    read, write = report.sums
    assert (report.jobs[0].processes, report.jobs[0].error) == (2, 0)
    assert read.bytes_per_s == 2249 * 1024**2 and write.io_bytes == 6789 * 1024**2
    assert read.longest_run_s == 3.002


def test_either_form_is_read_and_tells_its_own() -> None:
    json_report = shipped("fio", "seqread_json.json")

    assert isinstance(fio_text.parse_either(TEXT), FioTextReport)
    assert isinstance(fio_text.parse_either(json_report), FioReport)
    assert refusal_of(fio_text.parse_either, "fio: failed parsing rw=reed").kind == "usage"


@pytest.mark.parametrize(
    ("printed", "bytes_per_s"),
    [("2249KiB/s", 2249 * 1024), ("2.20GiB/s", 2.2 * 1024**3), ("2249MB/s", 2249e6)],
)
def test_the_unit_of_a_sum_is_read_with_it(printed: str, bytes_per_s: float) -> None:
    text = TEXT.replace("READ: bw=2249MiB/s", f"READ: bw={printed}")

    assert fio_text.parse(text).sums[0].bytes_per_s == pytest.approx(bytes_per_s)


def test_a_direction_without_its_sum_is_cut() -> None:
    cut = TEXT[: TEXT.index("  WRITE: bw=")]

    assert refusal_of(fio_text.parse, cut).kind is RefusalKind.TRUNCATED


def test_the_error_of_a_job_is_kept() -> None:
    assert fio_text.parse(TEXT.replace("err= 0", "err= 5")).jobs[0].error == 5
