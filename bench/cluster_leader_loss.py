"""Time from the loss of the leading controller to the answer of the next metadata write that began after it.

When it is killed, its connections end and all nodes notice at once. When it is stopped, it is silent, as a machine
without power: the nodes notice by a time-out.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from tests.cluster.clock import now_ns
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.probe import Probe

LOSSES = 40
LOSSES_QUICK = 5
P50_MARK_MS = 1_000
P99_MARK_MS = 3_000
REST_S = 1.0  # between a recovery and the next loss
DEFAULT_TIMING = {"broker.session.timeout.ms": "9000", "broker.heartbeat.interval.ms": "2000"}


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Return (met, text) of each mark."""
    losses = LOSSES_QUICK if quick else LOSSES
    with Cluster(directory, small_disks=False, settings=DEFAULT_TIMING) as cluster:
        killed_ms = times_ms(cluster, Node.kill, losses, "killed")
        silent_ms = times_ms(cluster, Node.pause, losses // 4 + 1, "silent")
    p50 = statistics.median(killed_ms)
    return [
        (p50 < P50_MARK_MS, f"killed: p50 {p50:.0f} ms of {P50_MARK_MS} ms"),
        *(
            (it < P99_MARK_MS, f"{what}: p99 {it:.0f} ms of {P99_MARK_MS} ms")
            for what, it in (("killed", p99(killed_ms)), ("silent", p99(silent_ms)))
        ),
    ]


def times_ms(cluster: Cluster, lose: Callable[[Node], None], losses: int, what: str) -> list[float]:
    """Lose the leader repeatedly; return the times, sorted."""
    probe = Probe(cluster)
    probe.ns_until_written(now_ns())
    times: list[float] = []
    for _ in range(losses):
        leader = cluster.leader()
        since_ns = now_ns()
        lose(leader)
        times.append(probe.ns_until_written(since_ns) / 1e6)
        cluster.heal()
        time.sleep(REST_S)
    times.sort()
    print(f"{losses} leaders {what}: {', '.join(f'{it:.0f}' for it in times)} ms", flush=True)
    return times


def p99(times: list[float]) -> float:
    """Of sorted times."""
    return times[int(0.99 * len(times))]
