"""Examples for the OpenAPI document. Each is the whole of what is sent or answered."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from drf_spectacular.utils import OpenApiExample

from burnin.satellite.config import VERSION
from burnin.satellite.messages import Heartbeat
from burnin.workflow.clocks import SKEW

JOB_ID = "7f0c1d3e-9a51-4a8e-8a15-2b7d7f6a9c10"
RUN_ID = "1f0c5b1e-2c1a-4a70-b6fd-6d8c0c7ce001"
AT = "2026-11-30T09:15:00Z"
HEARTBEAT = Heartbeat(at=datetime.fromisoformat(AT), version=VERSION)

SITE = {
    "name": "east",
    "description": "Hall 2",
    "is_enabled": True,
    "partition": "burnin",
    "work_dir": "/shared/fleet",
    "shared_storage": "/shared/scratch",
    "queue_ahead": 2,
    "max_in_flight": 500,
    "max_wait_minutes": 1440,
    "is_checked": True,
    "checked_at": AT,
    "heartbeat_at": AT,
    "closed_because": "",
    "capabilities": {"is_good": True, "at": AT, "request_id": JOB_ID, "findings": []},
    "reach": HEARTBEAT.model_dump(mode="json", exclude={"kind"}) | {SKEW: 0.02},
}
RESOURCE_CLASS = {
    "name": "l40s-4x",
    "description": "Four L40S on PCIe.",
    "gpus_per_node": 4,
    "gpu_maker": "NVIDIA",
    "parts": ["board", "gpu-lanes", "nvme", "pcie-links"],
}
NODE = {
    "site": "east",
    "name": "n001",
    "resource_class": "cpu-generic",
    "place": "failing",
    "why": "single-node.memory-stress failed: Memory errors 3, allows at most 0",
    "required_tests": 4,
    "passed_tests": 3,
    "dmi_serial": "S4711",
    "machine_id": "3d1f…",
    "gpu_uuids": [],
    "cpu_count": 64,
    "memory_mib": 257024,
    "slurm_state": "IDLE",
    "slurm_reason": "",
    "is_usable": True,
    "seen_at": AT,
    "excluded_because": "",
}
OPERATION = {
    "id": 12,
    "site": "east",
    "node": "n001",
    "operation": "dimm-swap",
    "performed_at": AT,
    "recorded_at": AT,
    "recorded_by": "ann",
    "note": "slot B2",
}
NEW_OPERATION = {
    "site": "east",
    "node": "n001",
    "operation": "dimm-swap",
    "performed_at": AT,
    "note": "slot B2",
}
STEP = {
    "position": 1,
    "stage": 1,
    "slug": "single-node.hello-world",
    "params": {},
    "iterations": 1,
    "timeout_minutes": 5,
    "is_gate": True,
    "measure_only": False,
    "max_attempts": 2,
    "only_if_site_sets": False,
}
PRESET = {
    "name": "cpu-quick",
    "description": "Does a machine answer?",
    "accepts": ["cpu-generic"],
    "steps": [STEP],
}
THRESHOLD = {
    "slug": "single-node.memory-stress",
    "resource_class": "cpu-generic",
    "number": 2,
    "label": "operator:1",
    "origin": "operator",
    "bounds": {"memory_errors": {"value": 0, "source": "operators", "confidence": "high"}},
    "created_at": AT,
    "created_by": "ann",
    "reason": "no error is acceptable here",
}
NEW_THRESHOLD = {
    "slug": "single-node.memory-stress",
    "resource_class": "cpu-generic",
    "changes": {"memory_errors": {"value": 0, "source": "operators", "confidence": "high"}},
    "reason": "no error is acceptable here",
}
NEW_JOB = {
    "site": "east",
    "preset": "cpu-quick",
    "nodes": ["n[001-100]"],
    "reason": "new rack 7",
}
NEW_JOB_OF_STEPS = {
    "site": "east",
    "steps": [{"slug": "single-node.hello-world", "timeout_minutes": 5}],
    "nodes": ["n001", "n002"],
}
JOB = {
    "id": JOB_ID,
    "site": "east",
    "preset": "cpu-quick",
    "state": "active",
    "verdict": "",
    "stage": 1,
    "node_count": 100,
    "counts": [
        {"stage": 1, "key": "running", "count": 98},
        {"stage": 1, "key": "passed", "count": 2},
    ],
    "requested_by": "ann",
    "created_at": AT,
    "finished_at": None,
    "cancel_reason": "",
}
JOB_NODE = {
    "node": "n001",
    "resource_class": "cpu-generic",
    "left_because": "",
    "open_runs": 0,
    "worst": None,
    "runs": [
        {
            "run_id": RUN_ID,
            "slug": "single-node.memory-stress",
            "stage": 2,
            "state": "judged",
            "verdict": "failed",
            "cause": "hardware",
            "reason": "Memory errors 3, allows at most 0",
            "attempt": 1,
            "moved_at": AT,
            "value": 3.0,
            "unit": "",
        }
    ],
}
FLEET = {
    "total": 3,
    "counts": {
        "accepted": 1,
        "failing": 1,
        "suspect": 0,
        "running": 1,
        "waiting": 0,
        "untested": 0,
        "stale": 0,
        "skipped": 0,
    },
}
REVOKE = {"reason": "the laptop that held it was stolen"}
WHY = {"reason": "rack 7 goes back to the vendor"}
RERUN = {"what": "failed", "reason": "the cable was replaced"}
RUN = {
    "id": RUN_ID,
    "job": JOB_ID,
    "site": "east",
    "stage": 2,
    "step": 4,
    "slug": "single-node.memory-stress",
    "nodes": ["n001"],
    "state": "judged",
    "verdict": "failed",
    "cause": "hardware",
    "reason": "Memory errors 3, allows at most 0",
    "waits_because": "",
    "attempt_number": 1,
    "rerun_of": None,
    "cancel_reason": "",
    "created_at": AT,
    "moved_at": AT,
}
ATTEMPT = {
    "run": RUN_ID,
    "number": 1,
    "submission": "accepted",
    "slurm_job_id": "4711",
    "slurm_state": "COMPLETED",
    "slurm_reason": "None",
    "node_list": "n001",
    "exit_code": "0:0",
    "derived_exit_code": "0:0",
    "bundle_sha256": "0" * 64,
    "asked_at": AT,
    "submitted_at": AT,
    "started_at": AT,
    "ended_at": AT,
    "observed_at": AT,
}
METRIC = {
    "name": "memory_errors",
    "label": "Memory errors",
    "value": 3.0,
    "unit": "",
    "better": "lower",
    "node": "n001",
    "detail": "DIMM B2",
    "slug": "single-node.memory-stress",
    "site": "east",
    "run": RUN_ID,
    "judged_at": AT,
}
PAIR = {
    "source": "n001",
    "target": "n002",
    "link": "mlx5_3:1",
    "metric": "port_share",
    "label": "Slowest link, share of its port's rate",
    "value": 49.1,
    "unit": "%",
    "better": "higher",
}
RESULT = {
    "id": 815,
    "run": RUN_ID,
    "job": JOB_ID,
    "site": "east",
    "slug": "single-node.memory-stress",
    "nodes": ["n001"],
    "verdict": "failed",
    "cause": "hardware",
    "reason": "Memory errors 3, allows at most 0",
    "deviation": None,
    "thresholds": "shipped:0.1.0",
    "fingerprint": "",
    "started_at": AT,
    "finished_at": AT,
    "judged_at": AT,
    "metrics": [
        {
            "name": "memory_errors",
            "label": "Memory errors",
            "value": 3.0,
            "unit": "",
            "better": "lower",
            "node": "n001",
            "detail": "DIMM B2",
        }
    ],
    "evaluation": [],
    "iterations": None,
    "tools": {},
    "facts": [],
}
ARTIFACT = {
    "id": 9001,
    "run": RUN_ID,
    "attempt": 1,
    "name": "stdout.txt",
    "size_bytes": 4711,
    "sha256": "0" * 64,
    "stored_at": AT,
}
LINK = {"url": "https://store.example.com/artifacts/…?signature=…", "expires_at": AT}
TEST = {
    "slug": "single-node.hello-world",
    "display_name": "Hello, world",
    "stage": "single-node",
    "measures": "Whether a node runs anything at all.",
    "recipe_version": 1,
    "fixed_knobs": {},
    "fingerprint_tools": [],
    "expected_duration_s": 2,
    "stale_after": ["os-reinstall"],
    "params": {"type": "object", "properties": {}},
    "metrics": [],
    "thresholds": {},
}
AUDIT = {
    "id": 77,
    "at": AT,
    "user": "ann",
    "token": "nightly",
    "action": "cancel job",
    "object_kind": "job",
    "object_id": JOB_ID,
    "object_name": "cpu-quick at east",
    "site": "east",
    "reason": "rack 7 goes back to the vendor",
}
TOKEN = {
    "prefix": "fm_A1b2C3d4E",
    "name": "nightly burn-in",
    "scopes": ["read", "operate"],
    "created_at": AT,
    "expires_at": "2027-02-28T00:00:00Z",
    "revoked_at": None,
    "used_at": None,
}
NEW_TOKEN = {"name": "nightly burn-in", "scopes": ["read", "operate"], "days": 90}


def example(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, response_only=True)


def request_example(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)
