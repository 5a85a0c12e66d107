"""ReFrame's settings for the bench's cluster. Read by ReFrame, in its own environment."""

import os

site_configuration = {
    "systems": [
        {
            "name": "bench",
            "hostnames": [".*"],
            "modules_system": "nomod",
            "partitions": [
                {
                    "name": "nodes",
                    "scheduler": "squeue",
                    "launcher": "local",
                    "access": [f"--partition={os.environ['BENCH_PARTITION']}"],
                    "environs": ["plain"],
                    "max_jobs": 1000,
                }
            ],
        }
    ],
    "environments": [{"name": "plain"}],
    "general": [{"resolve_module_conflicts": False}],
}
