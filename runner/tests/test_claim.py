"""Exactly one start of an attempt works."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from runner.claim import CLAIM, AlreadyClaimed, claim_attempt
from runner.contract.wire import ExitCode
from runner.tests.given import context_told, environment_of_node, runner_command

HOLDER = {"job_id": "7", "node": "n1", "pid": 1}


def test_the_second_claim_is_refused_and_names_the_holder(tmp_path: Path) -> None:
    claim_attempt(tmp_path, HOLDER)

    with pytest.raises(AlreadyClaimed, match='"job_id": "7"'):
        claim_attempt(tmp_path, {**HOLDER, "job_id": "8"})

    assert [path.name for path in tmp_path.iterdir()] == [CLAIM]


def test_a_claim_whose_reply_was_lost_is_still_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def link_and_lose_the_reply(source: Path, target: Path) -> None:
        link(source, target)
        raise FileExistsError

    monkeypatch.setattr(os, "link", link_and_lose_the_reply)

    claim_attempt(tmp_path, HOLDER)

    assert (tmp_path / CLAIM).exists()


def test_of_several_starts_at_once_exactly_one_works(tmp_path: Path) -> None:
    command = runner_command(tmp_path / "attempt", context_told())
    starts = [
        subprocess.Popen(command, env=environment_of_node(), stderr=subprocess.DEVNULL)
        for _ in range(4)
    ]

    codes = sorted(start.wait(timeout=60) for start in starts)

    assert codes == [ExitCode.RAN, *[ExitCode.ALREADY_CLAIMED] * 3]
