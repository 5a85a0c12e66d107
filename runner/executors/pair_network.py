"""Each link between two nodes in both directions: perftest where there is RDMA, MPI where not."""

from __future__ import annotations

import json
import os

from runner import perftest
from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.gpu_tools import CONTAINER
from runner.multi_node import mpi_workers, why_no_report
from runner.node_ports import ports_of_nodes
from runner.places import places_of_nodes
from runner.rdma import links_between, refuse_unknown_rates
from runner.workers.names import MPI_PING_PONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

FIRST_PORT = 18515  # then one for each measurement: a closed one is held for a while


class PairNetwork(BaseRunner):
    """The family's base. `recipe` is perftest's, `mpi` the worker's operation where it has one."""

    reads = frozenset({"devices"})
    recipe: ClassVar[str]
    mpi: ClassVar[str] = ""
    on_gpus: ClassVar[bool] = False

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        places = places_of_nodes(workspace_manager, first_port=FIRST_PORT)
        where = {name: place.rpartition(":")[0] for name, place in places.items()}
        if len(where) != 2:
            raise CannotRun(f"a pair is two nodes, and this job has {len(where)}: name two")
        ends = (min(where), max(where))
        ports = ports_of_nodes(context, workspace_manager)
        devices = list(context.params["devices"])
        _refuse_unknown(devices, ports)
        refuse_unknown_rates(ports, devices)
        links, lost = links_between(ports[ends[0]], ports[ends[1]], ends=ends, devices=devices)
        is_mpi = bool(self.mpi) and not links and not lost
        found = {"links": links, "lost": lost, "transport": "mpi" if is_mpi else "rdma"}
        workspace_manager.write_file("links.json", json.dumps(found))
        if is_mpi:
            self._ping_pong(context, workspace_manager)
            return
        ways = [(link, *way) for link in links for way in (ends, ends[::-1])]
        for number, (link, source, target) in enumerate(ways, start=FIRST_PORT):
            server = self._perftest(target, link, ports[target][link], number)
            client = self._perftest(source, link, ports[source][link], number)
            place = f"perftest/{source}--{target}--{link.replace(':', '.')}.txt"
            report = workspace_manager.get_custom_artifact_path(place)
            client.append(where[target])
            done = perftest.measure(workspace_manager, server, client, report=report)
            what = f"{self.tools[0][0]} {source}→{target} over {link}"
            perftest.refuse_no_work(done, report, what)
            workspace_manager.say(f"{what}: done")

    def _ping_pong(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        report = workspace_manager.get_custom_artifact_path("mpi-ping-pong.json")
        done = workspace_manager.run_command(
            mpi_workers(context, MPI_PING_PONG, f"op={self.mpi}", f"report={report}")
        )
        if not report.exists():
            raise CannotRun(why_no_report(done, f"the {self.mpi} between both nodes"))

    def _perftest(self, node: str, link: str, port: Any, number: int) -> list[str]:
        """Return how one end of a measurement is started from the batch script's node."""
        device, _, index = link.partition(":")
        numa = str(port["numa_node"])
        pin = ["numactl", f"--cpunodebind={numa}", f"--membind={numa}"] if numa != "-1" else []
        gid = ["-x", str(port["gid_index"])] if port["gid_index"] is not None else []
        return [
            *("srun", "--nodes=1", "--ntasks=1", f"--nodelist={node}", "--cpu-bind=none"),
            *(self._container() if self.on_gpus else ()),
            *(*pin, *self.recipe.split(), "-d", device, "-i", index, "-p", str(number), *gid),
            *(_gpu_words(node, link, port["gpu"]) if self.on_gpus else ()),
        ]

    def _container(self) -> list[str]:
        image = os.environ.get(CONTAINER, "")
        return [f"--container-image={image}", "--no-container-mount-home"] if image else []


def _refuse_unknown(devices: list[str], ports: dict[str, dict[str, Any]]) -> None:
    known = {name.partition(":")[0] for each in ports.values() for name in each}
    if unknown := sorted(set(devices) - known):
        raise CannotRun(
            f"neither node has the RDMA device {', '.join(unknown)};"
            f" they have {', '.join(sorted(known)) or 'none'}"
        )


def _gpu_words(node: str, link: str, gpu: list[Any] | None) -> list[str]:
    if gpu is None:
        raise CannotRun(f"{node} lists no GPU beside {link}: is the GPU's driver loaded?")
    driver, index = gpu
    return [f"--use_rocm={index}" if driver == "amdgpu" else f"--use_cuda={index}"]


class PairNetBandwidth(PairNetwork):
    slug = Slugs.PAIR_NET_BANDWIDTH
    tools = (("ib_write_bw", "--version"),)
    recipe = "ib_write_bw -F --report_gbits -s 8388608 -n 5000"
    mpi = "bandwidth"


class PairNetLatency(PairNetwork):
    slug = Slugs.PAIR_NET_LATENCY
    tools = (("ib_write_lat", "--version"),)
    recipe = "ib_write_lat -F -s 8 -n 10000"
    mpi = "latency"


class PairNetBandwidthGpu(PairNetBandwidth):
    slug = Slugs.PAIR_NET_BANDWIDTH_GPU
    mpi = ""
    on_gpus = True


class PairNetLatencyGpu(PairNetwork):
    """perftest measures the latency of GPU memory by send and read only, not by write."""

    slug = Slugs.PAIR_NET_LATENCY_GPU
    tools = (("ib_send_lat", "--version"),)
    recipe = "ib_send_lat -F -s 8 -n 10000"
    on_gpus = True
