"""From the SIGKILL of the leading controller to the answer of the next metadata write that began after it."""

import statistics
import time
from pathlib import Path

from tests.cluster.clock import now_ns
from tests.cluster.cluster import Cluster
from tests.cluster.probe import Probe

KILLS = 40
KILLS_QUICK = 5
P50_MARK_MS = 1_000
P99_MARK_MS = 3_000
REST_S = 1.0  # between a recovery and the next kill


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Return (met, text) of each mark."""
    times_ms: list[float] = []
    with Cluster(directory, small_disks=False) as cluster:
        probe = Probe(cluster)
        probe.ns_until_written(now_ns())
        for _ in range(KILLS_QUICK if quick else KILLS):
            leader = cluster.leader()
            since_ns = now_ns()
            leader.kill()
            times_ms.append(probe.ns_until_written(since_ns) / 1e6)
            cluster.heal()
            time.sleep(REST_S)
    times_ms.sort()
    p50, p99 = statistics.median(times_ms), times_ms[int(0.99 * len(times_ms))]
    print(f"{len(times_ms)} kills: {', '.join(f'{it:.0f}' for it in times_ms)} ms")
    return [
        (p50 < P50_MARK_MS, f"p50 {p50:.0f} ms of {P50_MARK_MS} ms"),
        (p99 < P99_MARK_MS, f"p99 {p99:.0f} ms of {P99_MARK_MS} ms"),
    ]
