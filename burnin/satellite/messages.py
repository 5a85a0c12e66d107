"""What hub and satellite say to each other. JSON only, and each side checks what it is told.

Hub to satellite: an order is the one argument `order` of a Celery task in the site's own queue.
Satellite to hub: batches of facts, POSTed to /api/v1/satellite/facts with the site's token.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Base64Bytes, BaseModel, ConfigDict, Field

from runner.contract.wire import AttemptToken

FACTS_PER_POST = 1000
LOG_PART_BYTES = 64 * 1024
MOST_TAILED_BYTES = 16 * LOG_PART_BYTES
LONGEST_WORDS = 4000

RunId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Words = Annotated[str, Field(max_length=LONGEST_WORDS)]
JobId = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]


class TaskName:
    """The tasks a satellite has. There are no others in its queue."""

    SUBMIT = "satellite.submit"
    CANCEL = "satellite.cancel"
    TAIL = "satellite.tail"
    RELAY = "satellite.relay"
    CHECK = "satellite.check"
    REFRESH = "satellite.refresh"  # send a full snapshot now


class Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OfAttempt(Message):
    """Whatever is about one attempt."""

    run_id: RunId
    attempt: int = Field(ge=1)

    @property
    def token(self) -> AttemptToken:
        return AttemptToken(self.run_id, self.attempt)


# --- hub to satellite -------------------------------------------------------------------------


class JobOrder(OfAttempt):
    """One Slurm job. `context` is context.json as text; it holds the upload URLs."""

    script: str
    context: str


class SubmitOrder(Message):
    """A batch for one exec. The bundle is fetched from the hub if it is not at the site."""

    bundle_name: str = Field(pattern=r"^runner-[0-9a-f]{64}\.pyz$")
    bundle_sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    jobs: tuple[JobOrder, ...] = Field(min_length=1)


class CancelOrder(Message):
    """End these attempts' jobs. The satellite finds their ids by token if it has none."""

    attempts: tuple[OfAttempt, ...] = Field(min_length=1)
    reason: Words


class TailOrder(OfAttempt):
    """Send what a log has from a byte offset on, in parts."""

    name: Literal["stdout.txt", "stderr.txt", "slurm.out"]
    offset: int = Field(ge=0)
    limit: int = Field(default=MOST_TAILED_BYTES, ge=1, le=MOST_TAILED_BYTES)


class RelayOrder(OfAttempt):
    """Upload what the node could not, from work_dir. URLs are fresh, by artifact name."""

    uploads: dict[str, str]


class CheckOrder(Message):
    """Probe the site from login host and node. `probe_url` takes one small PUT."""

    request_id: RunId
    partition: str
    work_dir: str
    facts_root: str
    node_path: str
    node_python: str
    probe_url: str


class KnownJob(OfAttempt):
    """A job whose end the hub has not heard of."""

    job_id: JobId


class RefreshOrder(Message):
    """Report everything again, and find out what became of `jobs`.

    A satellite that was away while a job ended and left squeue knows of it only from here.
    """

    jobs: tuple[KnownJob, ...] = Field(default=(), max_length=FACTS_PER_POST)


# --- satellite to hub -------------------------------------------------------------------------


class SubmitAnswered(OfAttempt):
    """What became of a submission. `unknown` is news, not an end: the satellite works on it."""

    kind: Literal["submit_answered"] = "submit_answered"
    answer: Literal["accepted", "refused", "back_off", "unknown", "not_asked", "given_up"]
    job_id: JobId | None = None
    words: Words = ""


class JobSeen(OfAttempt):
    """A job as Slurm shows it now."""

    kind: Literal["job_seen"] = "job_seen"
    job_id: JobId
    state: str = Field(max_length=63)
    reason: Words = ""
    node_list: Words = ""
    exit_code: str = Field(default="", max_length=15)
    derived_exit_code: str = Field(default="", max_length=15)
    source: str = Field(max_length=15)


class JobGone(OfAttempt):
    """Neither squeue, scontrol nor accounting knows the job any more."""

    kind: Literal["job_gone"] = "job_gone"
    job_id: JobId


class LogPart(OfAttempt):
    kind: Literal["log_part"] = "log_part"
    name: str = Field(max_length=255)
    offset: int = Field(ge=0)
    content: Base64Bytes = Field(max_length=2 * LOG_PART_BYTES)


class Relayed(OfAttempt):
    """Which artifacts the satellite uploaded, and what kept it from the others ("" for none)."""

    kind: Literal["relayed"] = "relayed"
    names: tuple[str, ...]
    words: Words = ""


class NodeSeen(Message):
    name: str = Field(max_length=255)
    state: str = Field(max_length=63)
    reason: str = Field(default="", max_length=1000)
    is_usable: bool
    cpu_count: int = Field(ge=0)
    memory_mib: int = Field(ge=0)
    partitions: tuple[str, ...] = ()


class NodesSeen(Message):
    """Every node of the cluster."""

    kind: Literal["nodes_seen"] = "nodes_seen"
    nodes: tuple[NodeSeen, ...]


class Heartbeat(Message):
    """The satellite is alive, and what it can reach: "" is well, else why not."""

    kind: Literal["heartbeat"] = "heartbeat"
    at: AwareDatetime
    version: str = Field(max_length=63)
    login_host: Words = ""
    slurmctld: Words = ""
    accounting: Words = ""


class Finding(Message):
    """One probe of a site check. `found` is what was read, for people."""

    probe: str = Field(max_length=63)
    passed: bool
    found: Words = ""
    words: Words = ""


class ClockOwner(StrEnum):
    LOGIN_HOST = "login host"
    NODE = "node"


class ClockSeen(Message):
    """By how many seconds a clock is at least ahead of the satellite's own; 0 if it may agree."""

    whose: ClockOwner
    ahead_s: float = Field(allow_inf_nan=False)


class SiteChecked(Message):
    kind: Literal["site_checked"] = "site_checked"
    request_id: RunId
    findings: tuple[Finding, ...]
    clocks: tuple[ClockSeen, ...] = ()


Fact = Annotated[
    SubmitAnswered | JobSeen | JobGone | LogPart | Relayed | NodesSeen | Heartbeat | SiteChecked,
    Field(discriminator="kind"),
]


class Envelope(Message):
    """A fact and the id under which it is acknowledged."""

    id: str = Field(max_length=63)
    fact: Fact


class FactBatch(Message):
    """One POST.

    `sent_at` is the satellite's clock as it posts: what it is off by is what the hub sees.
    """

    sent_at: AwareDatetime | None = None
    facts: tuple[Envelope, ...] = Field(max_length=FACTS_PER_POST)


class Refusal(Message):
    id: str
    words: str


class FactAnswer(Message):
    """What the hub took (also what it knew already), and what it will never take."""

    acknowledged: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
