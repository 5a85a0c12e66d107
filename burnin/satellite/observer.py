"""Looks at the cluster and tells the hub what has changed: one question per tick."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from burnin.satellite.config import PaceConfig
from burnin.satellite.doubts import Doubts
from burnin.satellite.messages import JobSeen, NodeSeen, NodesSeen
from burnin.satellite.outbox import Outbox
from burnin.satellite.reach import CLUSTER_PROBLEMS, NOT_TRIED, WELL, Reach, clip, reach_after
from burnin.satellite.submitter import Submitter, answered
from burnin.satellite.tracker import Tracker
from burnin.satellite.unwanted import Unwanted
from burnin.slurm.cluster import (
    AccountingUnreachable,
    Answer,
    Cluster,
    ClusterFacts,
    Node,
    Observation,
    Submission,
    SubmitAnswer,
)
from runner.contract.wire import AttemptToken

logger = logging.getLogger(__name__)

SLOWING = 1.5
REST_PER_LOOK = 4  # where a look takes long, slurmctld has enough to do without us
LONGEST_REST_S = 60.0
SLOW_LOOK_S = 10.0  # a look that takes longer is told of while it lasts
FACTS_VALID_FOR = timedelta(minutes=10)


class Observer:
    """One step is one look. `clock` is monotonic, in seconds; `now` is the time of day."""

    def __init__(
        self,
        cluster: Cluster,
        outbox: Outbox,
        tracker: Tracker,
        *,
        doubts: Doubts,
        unwanted: Unwanted,
        submitter: Submitter,
        pace: PaceConfig,
        now: Callable[[], datetime],
        clock: Callable[[], float],
    ) -> None:
        self._cluster, self._outbox, self._tracker = cluster, outbox, tracker
        self._doubts, self._unwanted, self._submitter = doubts, unwanted, submitter
        self._pace, self._now, self._clock = pace, now, clock
        self._delay_s = pace.fast_s
        self._reach = NOT_TRIED
        self._accounting = ""  # why it does not answer
        self._looking_since: float | None = None
        self._snapshot_due = self._nodes_due = clock()
        self._nodes: NodesSeen | None = None
        self._facts: tuple[datetime, ClusterFacts] | None = None

    def step(self) -> float:
        """Look once; return seconds until the next look: few while jobs move, more when idle."""
        began = self._looking_since = self._clock()
        try:
            has_moved = self._look()
            self._look_at_nodes()
            self._reach = replace(WELL, accounting=self._accounting)
            rest_s = min(LONGEST_REST_S, REST_PER_LOOK * (self._clock() - began))
        except CLUSTER_PROBLEMS as problem:  # no information: nothing is concluded from it
            has_moved, rest_s = False, 0.0
            self._note(problem)
        except Exception as defect:  # ours: the hub must not take what it heard last for news
            words = clip(f"the satellite cannot look: {type(defect).__name__}: {defect}")
            self._reach = replace(self._reach, slurmctld=words)
            raise
        finally:
            self._looking_since = None
        slower = min(self._pace.slow_s, self._delay_s * SLOWING)
        self._delay_s = self._pace.fast_s if has_moved else slower
        return max(self._delay_s, rest_s)

    def report_all(self) -> None:
        """Have the next look be reported in full."""
        self._snapshot_due = self._clock()
        self._nodes = None

    def reach(self) -> Reach:
        """Say what can be reached, as far as the last look told; one that hangs tells too."""
        since = self._looking_since
        if since is not None and self._clock() - since > SLOW_LOOK_S:
            words = f"has not answered for {self._clock() - since:.0f} s"
            return replace(
                self._reach,
                login_host=self._reach.login_host or words,
                slurmctld=self._reach.slurmctld or words,
            )
        return self._reach

    def _look(self) -> bool:
        observation = self._cluster.observe()
        look = self._tracker.see(observation)
        self._outbox.put(self._full_report() if self._is_snapshot_due() else look.news)
        self._end([*look.surplus, *self._unwanted.to_cancel(observation)])
        self._answer_cancelled(observation)
        self._look_up(look.missing)
        self._settle_doubts(observation)
        return bool(look.news or self._doubts)

    def _is_snapshot_due(self) -> bool:
        return self._clock() >= self._snapshot_due

    def _full_report(self) -> Sequence[JobSeen]:
        self._snapshot_due = self._clock() + self._pace.snapshot_s
        self._nodes = None
        return self._tracker.everything()

    def _end(self, job_ids: list[str]) -> None:
        if job_ids:
            logger.info("cancelling jobs %.500s", " ".join(job_ids))
            self._cluster.cancel(job_ids)

    def _answer_cancelled(self, observation: Observation) -> None:
        """Say of cancelled attempts that Slurm never had them; others end in the usual way."""
        for token, reason in self._unwanted.never_taken(observation).items():
            if not self._tracker.knows(token):
                self._doubts.drop(token)
                words = f"it was cancelled before Slurm had a job of it: {reason}"
                self._submitter.answer([token], "given_up", words)

    def _look_up(self, missing: Mapping[str, AttemptToken]) -> None:
        """Where accounting does not answer, only what it alone could tell has to wait."""
        if not missing:
            self._accounting = ""  # nobody needs it: what was said of it then is old
            return
        try:
            found, self._accounting = self._cluster.look_up(missing), ""
        except AccountingUnreachable as problem:
            found, self._accounting = dict(problem.found), clip(str(problem))
            missing = {job_id: token for job_id, token in missing.items() if job_id in found}
            logger.warning("accounting did not answer: %.500s", problem)
        self._outbox.put(self._tracker.looked_up(missing, found, at=self._now()))

    def _settle_doubts(self, observation: Observation) -> None:
        if not self._doubts:
            return
        settled = self._doubts.settle(observation, self._cluster_facts())
        for token, adopt in settled.adopted.items():
            self._tracker.adopt(token, adopt.job_id, at=self._now())
            self._outbox.put([answered(token, SubmitAnswer(Answer.ACCEPTED, adopt.job_id))])
        for token, sentence in settled.given_up.items():
            self._submitter.answer([token], "given_up", sentence)
        self._ask_again(settled.ask_again)

    def _ask_again(self, submissions: list[Submission]) -> None:
        wanted = [job for job in submissions if self._unwanted.reason(job.token) is None]
        if wanted:
            tokens = frozenset(job.token for job in wanted)
            self._submitter.submit(wanted, resubmit=tokens)

    def _cluster_facts(self) -> ClusterFacts:
        now = self._now()
        if self._facts is None or now - self._facts[0] > FACTS_VALID_FOR:
            self._facts = (now, self._cluster.facts())
        return self._facts[1]

    def _look_at_nodes(self) -> None:
        if self._clock() < self._nodes_due and self._nodes is not None:
            return
        nodes = NodesSeen(nodes=tuple(map(node_seen, self._cluster.nodes().values())))
        self._nodes_due = self._clock() + self._pace.nodes_s
        if nodes != self._nodes:
            self._nodes = nodes
            self._outbox.put([nodes])

    def _note(self, problem: Exception) -> None:
        reach = reach_after(problem)
        if reach != self._reach:
            logger.warning("the cluster did not answer: %.500s", problem)
        self._reach = reach


def node_seen(node: Node) -> NodeSeen:
    """Return a node as the hub is told of it."""
    return NodeSeen(
        name=clip(node.name, 255),
        state=clip("+".join([node.state, *sorted(node.flags)]), 63),
        reason=clip(node.reason, 1000),
        is_usable=node.is_usable,
        cpu_count=node.cpu_count,
        memory_mib=node.memory_mib,
        partitions=node.partitions,
    )
