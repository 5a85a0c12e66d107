"""What a person can get wrong, or a site can refuse. Each is one sentence, never a traceback."""

from django.db.utils import OperationalError, ProgrammingError

from burnin.hardware_tests.artifacts import AmbiguousArtifact, MissingArtifact, WrongAttempt
from burnin.hardware_tests.batch import BadBatchConfig
from burnin.hardware_tests.params import BadParams
from burnin.hardware_tests.parsers.registry import UnknownTool
from burnin.hardware_tests.registry import UnknownSlug
from burnin.hardware_tests.run_context import BadRunContext
from burnin.hardware_tests.sbatch import UnsafeValue
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.unpack import TornArtifact
from burnin.management.scaffold.names import ScaffoldRefused
from burnin.runner_bundle import BrokenBundle, UnprovenBundle
from burnin.satellite.config import BadSite
from burnin.slurm.cluster import (
    ClusterUnreachable,
    HostKeyRefused,
    LoginHostFailed,
    LoginRefused,
    NoSlurm,
    SlurmRefused,
)
from burnin.slurm.hostlist import BadHostList
from burnin.workflow.author_loop import Refused
from burnin.workflow.cancel import CancelRefused
from burnin.workflow.plan import PlanRefused
from fleet.management.database import DatabaseNotReady

ERRORS = (
    AmbiguousArtifact,
    BadBatchConfig,
    BadHostList,
    BadParams,
    BadRunContext,
    BadSite,
    BadThresholds,
    BrokenBundle,
    CancelRefused,
    ClusterUnreachable,
    DatabaseNotReady,
    HostKeyRefused,
    LoginHostFailed,
    LoginRefused,
    MissingArtifact,
    NoSlurm,
    NoThresholds,
    PlanRefused,
    Refused,
    ScaffoldRefused,
    SlurmRefused,
    TornArtifact,
    UnknownSlug,
    UnknownTool,
    UnprovenBundle,
    UnsafeValue,
    WrongAttempt,
)

# The database is away, or its tables are not there yet.
DATABASE_ERRORS = (OperationalError, ProgrammingError)
