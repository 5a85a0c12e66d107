"""Logs of training runs: Megatron's lines of iterations, and `step=… loss=…` lines.

Each line may begin with its node's or rank's name. The first iteration is warm-up. TFLOPs are of
one GPU.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from burnin.hardware_tests.parsers import training_failure
from burnin.hardware_tests.parsers.number import amount, count, decimal
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_ITERATION = re.compile(r"\biteration +(\d+)/ *(\d+) \|(.*)")
_STEP = re.compile(r"\bstep=(\d+)((?: \w+=\S+)+)")
_WORDS = re.compile(r"(\w+)=(\S+)")
_WORLD = re.compile(r"(?:dist_world_size|world[ _]size)\s*[=:]\s*(\d{1,7})")
_NO_NUMBER = frozenset({"nan", "inf"})


@dataclass(frozen=True)
class TrainingStep:
    """One iteration. What its line does not hold is None.

    `loss` is None for a loss that is no finite number too; `loss_is_finite` tells.
    """

    number: int
    time_s: float | None
    samples_per_s: float | None
    tokens_per_s: float | None
    tflops_per_gpu: float | None
    loss: float | None
    loss_is_finite: bool
    skipped: bool


@dataclass(frozen=True)
class TrainingLog:
    """A run that reached its last step. `planned_steps` is None where the log does not say."""

    steps: tuple[TrainingStep, ...]
    planned_steps: int | None
    world_size: int | None

    @property
    def after_warm_up(self) -> tuple[TrainingStep, ...]:
        return self.steps[1:]

    @property
    def broken_steps(self) -> tuple[TrainingStep, ...]:
        """The steps whose loss was NaN or infinite."""
        return tuple(step for step in self.steps if not step.loss_is_finite)


def parse(text: str) -> TrainingLog:
    """Return the log; raise ParseError where the run failed or stopped before its last step."""
    if not text.strip():
        raise ParseError("empty output: the training wrote nothing", kind=RefusalKind.NO_DATA)
    training_failure.refuse_failures(text)
    # A line without its end is cut: its numbers may lack digits.
    lines = [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    planned, steps = _megatron(lines)
    steps = steps or list(_plain(lines))
    if not steps:
        raise ParseError("the training log holds no step", kind=RefusalKind.NO_DATA)
    numbers = [step.number for step in steps]
    if numbers != sorted(set(numbers)):
        raise ParseError(
            "the steps of the training are out of order", kind=RefusalKind.CONTRADICTORY
        )
    if planned is not None and numbers[-1] != planned:
        raise ParseError(
            f"the training stops after step {numbers[-1]} of {planned}",
            kind=RefusalKind.TRUNCATED,
            facts={"complete_steps": len(steps)},
        )
    world = _WORLD.search(text)
    return TrainingLog(tuple(steps), planned, int(world[1]) if world else None)


def _megatron(lines: list[str]) -> tuple[int | None, list[TrainingStep]]:
    steps: list[TrainingStep] = []
    planned: set[int] = set()
    for found in filter(None, map(_ITERATION.search, lines)):
        cells = (cell.partition(":") for cell in found[3].split("|"))
        pairs = {name.partition(" (")[0].strip(): value.strip() for name, _, value in cells}
        planned.add(count(found[2], "iterations"))
        steps.append(_iteration(count(found[1], "iteration"), pairs))
    if len(planned) > 1:
        raise ParseError("the training log holds several runs", kind=RefusalKind.CONTRADICTORY)
    return (planned.pop() if planned else None), steps


def _iteration(number: int, pairs: dict[str, str]) -> TrainingStep:
    time_ms = _of(pairs, "elapsed time per iteration")
    loss, is_finite = _loss(pairs.get("lm loss"))
    nan_count = count(pairs.get("number of nan iterations", "0"), "number of nan iterations")
    skipped = count(pairs.get("number of skipped iterations", "0"), "skipped iterations")
    return TrainingStep(
        number=number,
        time_s=None if time_ms is None else time_ms / 1e3,
        samples_per_s=_of(pairs, "samples per second"),
        tokens_per_s=_of(pairs, "tokens per second"),
        tflops_per_gpu=_of(pairs, "TFLOPs", "throughput per GPU"),
        loss=loss,
        loss_is_finite=is_finite and not nan_count,
        skipped=bool(skipped),
    )


def _plain(lines: list[str]) -> Iterator[TrainingStep]:
    for found in filter(None, map(_STEP.search, lines)):
        pairs = dict(_WORDS.findall(found[2]))
        loss, is_finite = _loss(pairs.get("loss"))
        yield TrainingStep(
            number=count(found[1], "step"),
            time_s=_of(pairs, "step_time_s"),
            samples_per_s=_of(pairs, "samples_per_sec"),
            tokens_per_s=_of(pairs, "tokens_per_sec"),
            tflops_per_gpu=_of(pairs, "tflops"),
            loss=loss,
            loss_is_finite=is_finite,
            skipped=False,
        )


def _of(pairs: dict[str, str], *names: str) -> float | None:
    word = next((pairs[name] for name in names if name in pairs), None)
    return None if word is None else amount(word, names[0])


def _loss(word: str | None) -> tuple[float | None, bool]:
    """Read a loss; NaN and infinity are findings of the run, not of the parser."""
    if word is None:
        return None, True
    if word.lstrip("+-").lower() in _NO_NUMBER:
        return None, False
    return decimal(word, "loss"), True
