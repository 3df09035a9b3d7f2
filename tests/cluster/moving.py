"""Partitions move, brokers restart, join and leave while the bucket fails: `python -m tests.cluster.moving`.

Producers and groups of librdkafka, Java and kafka-python run against three brokers, whose requests to the bucket fail,
are cut off in the middle, or are late. First partitions of all of them, those of their groups too, move to other
brokers; then all brokers are restarted by SIGTERM, one after the other, again and again; then two brokers join, get
their share by the balance, are drained and stopped. Nothing may be refused for good, and every record is there once.
Exit code 1 otherwise; logs are kept then.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from tests.cluster.bucket_proxy import Faults
from tests.cluster.cluster import QUICK_BALANCE, Cluster, Wals
from tests.cluster.java_load import TOPIC as JAVA_TOPIC
from tests.cluster.node import Node
from tests.cluster.python_load import TOPIC as PYTHON_TOPIC
from tests.cluster.scene import Scene
from tests.cluster.wire_calls import begin_moves, is_moving
from tests.environment.rotation import turn_of_today

MOVES = 200
ROLLS = 10
JOINING = 2
MAX_AT_ONCE = 6
MAX_APART = 4  # partitions, between brokers that are even
CHECK_EACH = 25  # moves
BUCKET_FAULTS = Faults(failed=0.05, unheard=0.02, cut=0.02, slow=0.1, slow_ms=200)
MOVED_WITHIN_S = 120
DRAINED_WITHIN_S = 180


class Moving:
    """What happens to one scene, and how long it took."""

    def __init__(self, scene: Scene, rng: random.Random) -> None:
        self.seen: Counter[str] = Counter()
        self.even_s = 0.0
        self._scene = scene
        self._cluster = scene.cluster
        self._rng = rng
        self._topics = [scene.records.topic, PYTHON_TOPIC, JAVA_TOPIC, OFFSETS_TOPIC]

    def move(self, moves: int) -> None:
        """Move so many partitions, a few at a time."""
        checked = 0
        while self.seen["moved"] < moves:
            self._move_some(min(MAX_AT_ONCE, moves - self.seen["moved"]))
            if self.seen["moved"] >= min(checked + CHECK_EACH, moves):
                checked = self.seen["moved"]
                self._check()

    def roll(self) -> None:
        """Restart each broker."""
        for broker in list(self._cluster.brokers):
            broker.stop(timeout_s=DRAINED_WITHIN_S)
            broker.begin()
            broker.wait_ready(timeout_s=MOVED_WITHIN_S)
            self.seen["restarts"] += 1
        self._check()

    def grow(self) -> list[Node]:
        """Add brokers, and wait until all have as many partitions, more or less."""
        joined = self._cluster.join(JOINING)
        began_s = time.monotonic()
        self._cluster.wait_until(self._is_even, "brokers have as many partitions, more or less")
        self.even_s = time.monotonic() - began_s
        self._say(f"even {self.even_s:.1f} s after two brokers have joined: {self._led()}")
        self._check()
        return joined

    def shrink(self, leaving: list[Node]) -> None:
        """Drain brokers, and stop them."""
        for broker in leaving:
            self._cluster.drain(broker)
            assert not self._led()[broker.node_id]
            broker.stop(timeout_s=DRAINED_WITHIN_S)
            self.seen["drained"] += 1
        self._scene.check_others_serve(*leaving)

    def _move_some(self, most: int) -> None:
        ids = [it.node_id for it in self._cluster.brokers]
        led = {
            (topic, partition): leader
            for topic in self._topics
            for partition, leader in enumerate(self._cluster.leaders(topic))
        }
        chosen = self._rng.sample(sorted(led), self._rng.randint(1, most))
        targets = {it: self._rng.choice([to for to in ids if to != led[it]]) for it in chosen}
        with self._cluster.connect(self._rng.choice(self._cluster.brokers)) as asked:
            errors = begin_moves(asked, targets)
            assert not any(errors), dict(zip(targets, errors, strict=True))
            self._cluster.wait_until(
                lambda: not is_moving(asked),
                f"moves have ended: {targets}",
                timeout_s=MOVED_WITHIN_S,
            )
        now = {topic: self._cluster.leaders(topic) for topic, _ in targets}
        for (topic, partition), target in targets.items():
            moved = now[topic][partition] == target
            self.seen["moved" if moved else "taken back"] += 1

    def _is_even(self) -> bool:
        led = self._led()
        return max(led.values()) - min(led.values()) <= MAX_APART

    def _led(self) -> Counter[int]:
        led = Counter({it.node_id: 0 for it in self._cluster.brokers})
        for topic in self._topics:
            led.update(self._cluster.leaders(topic))
        return led

    def _check(self) -> None:
        """Records of all clients go on, and nothing acknowledged is missing."""
        begun_s = time.monotonic()
        self._scene.wait_for_progress()
        self._scene.records.check_ends()
        self._scene.seen.check()
        self._say(f"{dict(self.seen)}; all flows after {time.monotonic() - begun_s:.1f} s")

    @staticmethod
    def _say(what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def main() -> int:
    """Run; return 1 after a violation, whose logs and histories are kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.moving", description=__doc__)
    parser.add_argument("--moves", type=int, default=MOVES)
    parser.add_argument("--rolls", type=int, default=ROLLS, help="restarts of every broker")
    parser.add_argument("--seed", type=int, default=None, help="by default another one each day")
    options = parser.parse_args()
    seed = turn_of_today(1)[0] if options.seed is None else options.seed
    directory = Path(tempfile.mkdtemp(prefix="headrace-moving-"))
    print(f"--seed {seed} in {directory}")
    with Cluster(directory, settings=QUICK_BALANCE, wals=Wals.HALF, bucket_fails=True) as cluster:
        scene = Scene(cluster, seed)
        moving = Moving(scene, random.Random(seed))
        try:
            scene.start()
            cluster.fail_bucket(BUCKET_FAULTS)
            moving.move(options.moves)
            for _ in range(options.rolls):
                moving.roll()
            moving.shrink(moving.grow())
            records = scene.finish()
        except BaseException:
            print(f"kept: {directory}; seen: {dict(moving.seen)} {dict(scene.seen.counts)}")
            raise
        finally:
            scene.end()
    told = {
        "seed": seed,
        "records": records,
        **moving.seen,
        "even_s": round(moving.even_s, 1),
        "longest_gap_s": round(max(scene.records.longest_gap_ns) / 1e9, 2),
        "bucket_faults": dict(cluster.bucket_faults),
        "clients_saw": dict(scene.seen.counts),
    }
    print(json.dumps(told))
    shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
