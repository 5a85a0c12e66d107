"""results/training.json, as the first rank of a training writes it: what both trainings share."""

from __future__ import annotations

from collections import Counter

from pydantic import BaseModel, ConfigDict, Field, model_validator

from burnin.hardware_tests.artifacts import ArtifactCollector


class _Edge(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)


class UnequalRound(_Edge):
    """A round that not every rank ended with the same weights."""

    number: int = Field(alias="round", ge=1)
    checksums: tuple[str, ...]

    @property
    def outsiders(self) -> set[int]:
        """The ranks that differ from the rest; all of them where no majority agrees."""
        checksum, count = Counter(self.checksums).most_common(1)[0]
        agreed = checksum if 2 * count > len(self.checksums) else None
        return {rank for rank, each in enumerate(self.checksums) if each != agreed}


class RisenRound(_Edge):
    """A round whose loss did not fall. A loss that is no number is None."""

    number: int = Field(alias="round", ge=1)
    losses: tuple[float | None, ...]


class TrainingReport(_Edge):
    """Times are by rank, over all its steps; of the rounds that went wrong the first few are kept.

    `flop` is what one rank computes in one step; `losses` are those of the last round.
    """

    ranks: int = Field(ge=1)
    places: tuple[str, ...] = Field(description="By rank: the node, or the node and its GPU.")
    flop: int = Field(gt=0)
    rounds: int = Field(ge=1)
    steps: int = Field(ge=2)
    losses: tuple[float | None, ...]
    compute_s: tuple[float, ...] = Field(description="Median.")
    step_s: tuple[float, ...] = Field(description="Median.")
    p99_step_s: tuple[float, ...]
    unequal: tuple[UnequalRound, ...]
    risen: tuple[RisenRound, ...]
    versions: dict[str, str]

    @model_validator(mode="after")
    def _every_rank_and_step_is_there(self) -> TrainingReport:
        by_rank = (self.places, self.compute_s, self.step_s, self.p99_step_s)
        checksums = [each.checksums for each in self.unequal]
        if any(len(column) != self.ranks for column in (*by_rank, *checksums)):
            raise ValueError(f"not each of {self.ranks} ranks said how it went")
        if len(self.losses) != self.steps:
            raise ValueError(f"{len(self.losses)} losses of {self.steps} steps")
        if not min(*self.compute_s, *self.step_s) > 0:
            raise ValueError("a step that took no time: no clock of a rank")
        return self

    @property
    def rising_rounds(self) -> set[int]:
        last = set() if is_falling(self.losses) else {self.rounds}
        return {each.number for each in self.risen} | last

    @property
    def differing_ranks(self) -> list[int]:
        return sorted(set[int]().union(*(each.outsiders for each in self.unequal)))


def read_report(artifact_collector: ArtifactCollector) -> TrainingReport:
    text = artifact_collector.get_custom_file("training.json").read_text()
    return TrainingReport.model_validate_json(text)


def is_falling(losses: tuple[float | None, ...]) -> bool:
    numbers = [loss for loss in losses if loss is not None]
    return len(numbers) == len(losses) and numbers[-1] < numbers[0]
