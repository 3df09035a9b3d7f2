"""`make bench-cluster`: the cost of a quorum and several brokers on this machine, and which marks are met.

| part | what |
|---|---|
| leader-loss | SIGKILL of the leading controller, repeatedly, then SIGSTOP: time to the next metadata write at any broker |
| topics | 1,000 topics of 10 partitions: creation, size of the image, memory, idle processor time, a new broker |
| throughput | three brokers against one: the same load on a topic of one broker and on one of three, alternating |
| failover | SIGKILL of a broker whose WAL holds 256 MiB: time until others serve each of its 50 partitions; Apache Kafka too |
| failover-scale | the same with three of six brokers at once, and with 1,000 partitions |
| failover-groups | SIGKILL of the coordinator of groups with 1,000,000 committed offsets: time until they are served |
| moves | a partition with 20 of 100 MB/s moves 200 times, with the bucket near and 20 ms away: pauses of clients |
| moves-kafka | a partition of 1 GiB moves; Apache Kafka too |
| restarts | nine restarts of brokers, one after the other, under load: the longest pause of any partition |
| scale | three brokers to five and back under load: until all have their share, and what each takes then |

Three controllers and three brokers run as processes, each in a network namespace if that is allowed, with their
data on the disk of `--directory`. Marks are in the last table; the exit code is 1 when one is missed.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from bench import (
    cluster_failover,
    cluster_groups,
    cluster_leader_loss,
    cluster_moves,
    cluster_scale,
    cluster_throughput,
    cluster_topics,
)

PARTS = {
    "leader-loss": cluster_leader_loss.run,
    "topics": cluster_topics.run,
    "throughput": cluster_throughput.run,
    "failover": cluster_failover.run,
    "failover-scale": cluster_failover.run_scale,
    "failover-groups": cluster_groups.run,
    "moves": cluster_moves.run,
    "moves-kafka": cluster_moves.run_beside_kafka,
    "restarts": cluster_moves.run_restarts,
    "scale": cluster_scale.run,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cluster", description=__doc__)
    parser.add_argument("--only", choices=PARTS, nargs="*", default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="small volumes; not for quoting")
    parser.add_argument("--directory", type=Path, help="data directory of the nodes")
    arguments = parser.parse_args()
    marks: list[tuple[str, bool, str]] = []
    began = time.monotonic()
    for part in arguments.only:
        print(f"\n=== {part}", flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-cluster-", dir=arguments.directory) as made:
            found = PARTS[part](Path(made), quick=arguments.quick)
        marks += [(part, *mark) for mark in found]
    print(f"\n{'part':16}{'mark':9}what ({time.monotonic() - began:.0f} s in all)")
    for part, met, text in marks:
        print(f"{part:16}{'met' if met else 'NOT MET':9}{text}")
    return 0 if all(met for _, met, _ in marks) else 1


if __name__ == "__main__":
    sys.exit(main())
