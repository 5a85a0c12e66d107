"""Why what a Slurm command printed was not taken for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class SlurmRefusalKind(StrEnum):
    """The one fact a caller may branch on."""

    ACCOUNT = "account"
    ACCOUNTING_DISABLED = "accounting_disabled"
    BAD_SCRIPT = "bad_script"
    BUSY = "busy"
    CLUSTER_UNREACHABLE = "cluster_unreachable"
    CONTROLLER_FAILOVER = "controller_failover"
    CONTROLLER_PROTOCOL = "controller_protocol"
    CONTROLLER_TIMEOUT = "controller_timeout"
    CONTROLLER_UNREACHABLE = "controller_unreachable"
    DEPENDENCY = "dependency"
    INVALID_FEATURE = "invalid_feature"
    INVALID_NODE_NAME = "invalid_node_name"
    INVALID_OPTION = "invalid_option"
    INVALID_PARTITION = "invalid_partition"
    MALFORMED = "malformed"
    NO_DATA = "no_data"
    NODE_CONFIG_UNAVAILABLE = "node_config_unavailable"
    PARTITION_ACCESS = "partition_access"
    PLUGIN_REJECT = "plugin_reject"
    QOS = "qos"
    QOS_LIMIT = "qos_limit"
    REFUSED = "refused"
    SCRIPT_MISSING = "script_missing"
    TRUNCATED = "truncated"
    UNKNOWN_JOB = "unknown_job"


class SlurmParseError(Exception):
    """The output holds no answer. `facts` says what else could be learned, by name."""

    def __init__(
        self, reason: str, *, kind: SlurmRefusalKind, facts: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.kind, self.facts = reason, kind, dict(facts or {})
