"""Say where we are. The shortest executor there is: start reading here."""

from __future__ import annotations

import json
import os
import sys

from runner.base import BaseRunner
from runner.contract.slugs import Slugs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager


class HelloWorld(BaseRunner):
    slug = Slugs.HELLO_WORLD
    reads = frozenset()

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        machine = os.uname()
        greeting = {
            "node_name": workspace_manager.node_name,
            "hostname": machine.nodename,
            "kernel": machine.release,
            "python": sys.version.split()[0],
        }
        workspace_manager.write_file("hello.json", json.dumps(greeting))
        workspace_manager.say(f"Hello from {workspace_manager.node_name}.")
