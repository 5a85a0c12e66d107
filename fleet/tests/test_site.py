"""What a site's row may say, and what of it a check has looked at."""

import logging
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ValidationError

from burnin.satellite.redaction import Redaction
from fleet.models import Site


def a_site(**fields: object) -> Site:
    return Site(**{"name": "east", "partition": "main", "work_dir": "/work", **fields})


@pytest.mark.parametrize("partition", ["main\n#SBATCH --uid=0", "a b", "a,b", "", "main\n", "%j"])
def test_a_partition_is_a_plain_name(partition: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        a_site(partition=partition).clean_fields()

    assert set(refusal.value.message_dict) == {"partition"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "east\n"),
        ("work_dir", "/work\n"),
        ("work_dir", "work"),
        ("facts_root", "/roots/%N\n"),
        ("facts_root", "/roots/%n"),
        ("shared_storage", "/scratch\n"),
    ],
)
def test_a_name_or_path_is_one_whole_text(field: str, value: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        a_site(**{field: value}).clean_fields()

    assert set(refusal.value.message_dict) == {field}


def test_a_partition_may_be_named_as_runs_may_name_it() -> None:
    a_site(partition="gpu-h100_b200.new").clean_fields()


def test_a_site_with_another_image_must_be_checked_again() -> None:
    plain, old, new = (
        a_site(containers=images).configuration_digest()
        for images in ({}, {"dcgm": "/images/1.sqsh"}, {"dcgm": "/images/2.sqsh"})
    )

    assert len({plain, old, new}) == 3
    assert plain == a_site().configuration_digest()


def test_what_the_hub_logs_goes_through_the_redaction() -> None:
    logging_: dict[str, Any] = settings.LOGGING
    assert logging_["handlers"]["stderr"]["filters"] == ["redaction"]
    record = logging.LogRecord("burnin", logging.INFO, "", 1, "PUT https://s/k?sig=S", None, None)
    assert Redaction().filter(record)
    assert record.getMessage() == "PUT https://s/k?…"
