"""What perftest and our MPI worker leave of a pair, to perftest's own print formats."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import permutations

NODES = ("n1", "n2")
LINE = "-" * 87
HEAD = """\
{line}
                    {test} Test
 Dual-port       : OFF\t\tDevice         : {device}
 Number of qps   : 1\t\tTransport type : IB
 Connection type : RC\t\tUsing SRQ      : OFF
 Mtu             : 4096[B]
 Link type       : IB
 Data ex. method : Ethernet
{line}
"""


def bandwidth(gbps: float, device: str = "mlx5_0") -> str:
    rate = gbps * 1e9 / 8 / (8 << 20) / 1e6
    head = HEAD.format(line=LINE, test="RDMA_Write BW", device=device)
    columns = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    row = (
        f" 8388608    5000             {gbps + 0.1:.2f}             {gbps:.2f}\t\t     {rate:.6f}\n"
    )
    return f"{head}{columns}{row}{LINE}\n"


def latency(mean: float, p99: float, device: str = "mlx5_0", *, test: str = "RDMA_Write") -> str:
    head = HEAD.format(line=LINE, test=f"{test} Latency", device=device)
    columns = (
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
        "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
    )
    figures = (mean - 0.2, p99 + 4, mean - 0.05, mean, 0.05, p99, p99 + 1)
    row = " 8       10000          " + "   ".join(f"{each:8.2f}" for each in figures)
    return f"{head}{columns}{row}\n{LINE}\n"


def links(*names: str, lost: Mapping[str, str] | None = None, transport: str = "rdma") -> str:
    return json.dumps({"links": names, "lost": dict(lost or {}), "transport": transport})


def ports(
    *names: str, rate: object = 400.0, slower: Mapping[str, float] | None = None
) -> dict[str, str]:
    """Return what both nodes say of their ports; `slower` are rates of n2's ports by name."""
    same = {name: {"state": "ACTIVE", "rate": rate} for name in names}
    other = {name: {"state": "ACTIVE", "rate": each} for name, each in (slower or {}).items()}
    return {"rdma/n1.json": json.dumps(same), "rdma/n2.json": json.dumps({**same, **other})}


def name_of(source: str, target: str, link: str) -> str:
    return f"perftest/{source}--{target}--{link.replace(':', '.')}.txt"


def over_links(
    names: Sequence[str], reports: Mapping[str, str], nodes: Sequence[str] = NODES
) -> dict[str, str]:
    """Return the reports of both directions of each link, by a report for each device."""
    return {
        name_of(source, target, link): reports[link.partition(":")[0]]
        for link in names
        for source, target in permutations(nodes)
    }


def ping_pong(
    done: str, size_bytes: int, times_s: Mapping[str, Sequence[float]], **changes: object
) -> str:
    """Return the worker's report. `times_s` are by source."""
    report = {
        "operation": done,
        "nodes": NODES,
        "library": "MPICH Version: 4.0.2",
        "bytes": size_bytes,
        "directions": [
            {"source": source, "target": target, "times_s": times_s[source], "wrong": [0, 0]}
            for source, target in permutations(NODES)
        ],
        **changes,
    }
    return json.dumps(report)
