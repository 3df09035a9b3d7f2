"""Random faults for as long as one likes: `python -m tests.cluster.chaos --minutes 30 --seed 1`.

A period draws some faults of those below, or none, lets them work for a while, ends them all, and checks what
`Scene.settle` checks. In one of three periods the faults are those of a failover: a broker dies and stays away, and
perhaps whoever drains its log is killed or stopped, or it comes back in the middle; its partitions must be served
while it is away. At the end everything is read, compared and judged. The faults and their order follow
from the seed; what they meet does not, since the processes have clocks of their own.
"""

import argparse
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.cluster.bucket_proxy import Faults
from tests.cluster.cluster import QUICK_BALANCE, S3_NODE, SESSION_MS, Cluster, Wals
from tests.cluster.node import Node
from tests.cluster.scene import Scene
from tests.environment.rotation import turn_of_today

_QUIET_ONE_IN = 4
_FAILOVER_ONE_IN = 3
_MAX_FAULTS = 3
_HOLD_S = (0.5, 12.0)


class Chaos:
    """Faults on one scene; each is one call with what its own random numbers choose."""

    def __init__(self, scene: Scene, rng: random.Random) -> None:
        self.seen: Counter[str] = Counter()
        self.settled_s: list[float] = []
        self.failed_over_s: list[float] = []
        self._scene = scene
        self._cluster = scene.cluster
        self._rng = rng
        faults = [self.kill_controller, self.kill_leader, self.kill_controllers, self.kill_broker]
        faults += [self.kill_brokers, self.pause_controller, self.pause_broker, self.terminate]
        faults += [self.bounce_leaders, self.bounce_broker, self.pause_bucket, self.kill_bucket]
        faults += [self.fail_bucket, self.close_bucket, self.second_process]
        if self._cluster.network.can_cut:
            faults += [self.cut_controller, self.cut_leader, self.cut_broker]
            faults += [self.cut_bucket, self.cut_one_way]
        if self._cluster.disks:
            faults += [self.fill_disk]
        self._faults: list[Callable[[], None]] = faults
        self._failovers = [self.lose_brokers, self.lose_drainer, self.pause_drainer]
        if self._cluster.network.can_cut:
            self._failovers += [self.return_in_drain]
        self._twins: dict[str, Node] = {}

    def period(self) -> None:
        """Draw faults, let them work, and end them."""
        if not self._rng.randrange(_FAILOVER_ONE_IN):
            self._fail_over(self._rng.choice(self._failovers))
            return
        drawn = []
        if self._rng.randrange(_QUIET_ONE_IN):
            drawn = self._rng.sample(self._faults, self._rng.randint(1, _MAX_FAULTS))
        self._say(f"{', '.join(fault.__name__ for fault in drawn) or 'quiet'} ...")
        for fault in drawn:
            fault()
            self.seen[fault.__name__] += 1
            time.sleep(self._rng.uniform(0, 1))
        time.sleep(self._rng.uniform(*_HOLD_S))
        self._settle()

    def _fail_over(self, fault: Callable[[], list[Node]]) -> None:
        """Brokers die, and others serve before they are back."""
        self._say(f"{fault.__name__} ...")
        begun = time.monotonic()
        lost = fault()
        self._scene.check_others_serve(*lost)
        self.failed_over_s.append(time.monotonic() - begun)
        self.seen[fault.__name__] += 1
        self._settle()

    def _settle(self) -> None:
        begun = time.monotonic()
        self._cluster.heal()
        healed_s = time.monotonic() - begun
        self._scene.settle()
        self.settled_s.append(time.monotonic() - begun)
        self.seen["periods"] += 1
        records = sum(self._scene.records.acknowledged)
        self._say(
            f"all serve after {healed_s:.1f} s, all flows after {self.settled_s[-1]:.1f} s; {records:,} records"
        )

    def kill_controller(self) -> None:
        """Kill one."""
        self._kill(self._rng.choice(self._cluster.controllers))

    def kill_leader(self) -> None:
        """Kill the one that leads, if it can be told."""
        leader = self._leader()
        if leader:
            self._kill(leader)

    def kill_controllers(self) -> None:
        """Kill most of them, or all."""
        every = len(self._cluster.controllers)
        count = self._rng.randint(every // 2 + 1, every)
        for node in self._rng.sample(self._cluster.controllers, count):
            self._kill(node)

    def kill_broker(self) -> None:
        """Kill one."""
        self._kill(self._rng.choice(self._cluster.brokers))

    def kill_brokers(self) -> None:
        """Kill all."""
        for node in self._cluster.brokers:
            self._kill(node)

    def bounce_leaders(self) -> None:
        """Kill whoever leads and start it again at once, several times."""
        for _ in range(self._rng.randint(2, 5)):
            leader = self._leader()
            if leader and leader.is_running:
                leader.kill()
                leader.begin()
            time.sleep(self._rng.uniform(0.1, 2))

    def bounce_broker(self) -> None:
        """Kill one again and again while it starts."""
        node = self._rng.choice(self._cluster.brokers)
        for _ in range(self._rng.randint(2, 4)):
            self._kill(node)
            node.begin()
            time.sleep(self._rng.uniform(0.1, 2))

    def pause_controller(self) -> None:
        """Stop one, until the period ends."""
        self._pause(self._rng.choice(self._cluster.controllers))

    def pause_broker(self) -> None:
        """Stop one, for about as long as its lease is."""
        node = self._rng.choice(self._cluster.brokers)
        self._pause(node)
        if node.is_paused and self._rng.random() < 0.5:
            time.sleep(SESSION_MS / 1000 * self._rng.uniform(0.8, 1.2))
            node.resume()

    def terminate(self) -> None:
        """End one in an orderly way, or at least ask it to."""
        node = self._rng.choice(self._cluster.nodes)
        if node.is_running and not node.is_paused:
            node.ask_to_stop()

    def cut_controller(self) -> None:
        """Cut one off from the other controllers."""
        node = self._rng.choice(self._cluster.controllers)
        self._cut_off(node, self._cluster.controllers)

    def cut_leader(self) -> None:
        """Cut the leader off from everybody."""
        leader = self._leader()
        if leader:
            self._cut_off(leader, self._cluster.nodes)

    def cut_broker(self) -> None:
        """Cut one off from the controllers."""
        self._cut_off(self._rng.choice(self._cluster.brokers), self._cluster.controllers)

    def cut_bucket(self) -> None:
        """Cut one broker off from the bucket."""
        broker = self._rng.choice(self._cluster.brokers)
        self._cluster.network.cut(broker.name, "s3")

    def cut_one_way(self) -> None:
        """Cut one direction between any two nodes."""
        source, target = self._rng.sample(self._cluster.nodes, 2)
        self._cluster.network.cut(source.name, target.name)

    def fill_disk(self) -> None:
        """Fill a controller's disk."""
        name = self._rng.choice(sorted(self._cluster.disks))
        self._cluster.disks[name].fill()

    def pause_bucket(self) -> None:
        """Let the bucket be silent for a while, or until the period ends."""
        self._cluster.s3.pause()
        if self._rng.random() < 0.5:
            time.sleep(self._rng.uniform(0.5, 8))
            self._cluster.s3.resume()

    def kill_bucket(self) -> None:
        """Kill the S3 server, and start it again or not before the period ends."""
        if self._cluster.s3.is_running:
            self._cluster.s3.kill()
            if self._rng.random() < 0.7:
                time.sleep(self._rng.uniform(0, 4))
                self._cluster.s3.start()

    def fail_bucket(self) -> None:
        """Let a share of the requests to the bucket fail, be denied, be cut off in the middle, or be late."""
        shares = (self._rng.choice([0, 0.05, 0.2]) for _ in range(5))
        self._cluster.fail_bucket(Faults(*shares))

    def close_bucket(self) -> None:
        """Deny every request to the bucket, as when a policy is changed."""
        self._cluster.fail_bucket(Faults(denied=1))

    def second_process(self) -> None:
        """Start a second process with the id of a broker, with directories of its own."""
        broker = self._rng.choice(self._cluster.brokers)
        if broker.name not in self._twins:
            self._twins[broker.name] = self._cluster.add_twin(broker)
        if not self._twins[broker.name].is_running:
            self._twins[broker.name].begin()

    def lose_brokers(self) -> list[Node]:
        """Kill as many as leave one, or fewer, at once or one after the other."""
        count = self._rng.randint(1, len(self._cluster.brokers) - 1)
        lost = self._rng.sample(self._cluster.brokers, count)
        for node in lost:
            self._kill(node)
            time.sleep(self._rng.choice([0, 0, self._rng.uniform(0, 2 * SESSION_MS / 1000)]))
        self._count_double(len(lost))
        return lost

    def lose_drainer(self) -> list[Node]:
        """Kill one, and whoever drains its log in the middle of that."""
        owner, drainer = self._begin_drain()
        self._kill(drainer)
        self._cluster.s3.resume()
        self._count_double(2)
        return [owner, drainer]

    def pause_drainer(self) -> list[Node]:
        """Kill one, and stop whoever drains its log; that one goes on when others serve."""
        owner, drainer = self._begin_drain()
        drainer.pause()
        self._cluster.s3.resume()
        self._count_double(2)
        return [owner, drainer]

    def return_in_drain(self) -> list[Node]:
        """Kill one, and start it again while its log is being drained."""
        owner = self._scene.busiest()
        for broker in self._cluster.brokers:
            self._cluster.network.cut(broker.name, S3_NODE)
        self._kill(owner)
        self._scene.logs.wait_for_drainer(owner)
        self._cluster.network.mend(owner.name, S3_NODE)
        owner.begin()
        time.sleep(self._rng.uniform(0, 3))
        self._cluster.network.heal()
        return []

    def _begin_drain(self) -> tuple[Node, Node]:
        """Kill the broker that leads the most, and wait for its drainer, which waits for the bucket."""
        owner = self._scene.busiest()
        self._cluster.s3.pause()
        self._kill(owner)
        return owner, self._scene.logs.wait_for_drainer(owner)

    def _count_double(self, lost: int) -> None:
        self._scene.double_faults += lost > 1

    def _kill(self, node: Node) -> None:
        if node.is_running:
            node.kill()

    def _pause(self, node: Node) -> None:
        if node.is_running and not node.is_paused:
            node.pause()

    def _cut_off(self, node: Node, from_nodes: list[Node]) -> None:
        others = [other for other in from_nodes if other is not node]
        way = self._rng.random()
        self._cluster.isolate(node, others, outward=way > 0.2, inward=not 0.2 < way < 0.4)

    def _leader(self) -> Node | None:
        quorum = self._cluster.quorum()
        found = (it for it in self._cluster.controllers if quorum and it.node_id == quorum.leader)
        return next(found, None)

    def _say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def main() -> int:
    """Run; return 1 after a violation, whose logs and histories are kept."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.chaos")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=None, help="by default another one each day")
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--wals", choices=[it.value for it in Wals], default=Wals.HALF.value)
    options = parser.parse_args()
    seed = turn_of_today(1)[0] if options.seed is None else options.seed
    directory = Path(tempfile.mkdtemp(prefix="headrace-chaos-"))
    print(f"--seed {seed} in {directory}")
    wals = Wals(options.wals)
    with Cluster(
        directory, brokers=options.brokers, settings=QUICK_BALANCE, wals=wals, bucket_fails=True
    ) as cluster:
        scene = Scene(cluster, seed)
        chaos = Chaos(scene, random.Random(seed))
        try:
            scene.start()
            deadline = time.monotonic() + 60 * options.minutes
            while time.monotonic() < deadline:
                chaos.period()
            records = scene.finish()
        except BaseException:
            scene.admin.topics.save(directory / "topics.history")
            scene.admin.settings.save(directory / "settings.history")
            print(f"kept: {directory}; seen: {dict(chaos.seen)} {dict(scene.seen.counts)}")
            raise
        finally:
            scene.end()
    report(seed, records, scene, chaos)
    shutil.rmtree(directory)
    return 0


def report(seed: int, records: int, scene: Scene, chaos: Chaos) -> None:
    """Print one line of JSON."""
    nodes = scene.cluster.nodes
    line = {
        "seed": seed,
        "records": records,
        "topics": dict(scene.admin.topics.counts()),
        "settings": dict(scene.admin.settings.counts()),
        "faults": dict(chaos.seen),
        "starts": sum(node.lives for node in nodes),
        "kills": sum(node.kills for node in nodes),
        "stopped_and_continued": sum(node.pauses for node in nodes),
        "double_faults": scene.double_faults,
        "max_failed_over_s": round(max(chaos.failed_over_s, default=0), 1),
        "max_settled_s": round(max(chaos.settled_s, default=0), 1),
        "bucket_faults": dict(scene.cluster.bucket_faults),
        "longest_gap_s": round(max(scene.records.longest_gap_ns) / 1e9, 1),
        "clients_saw": dict(scene.seen.counts),
    }
    print(json.dumps(line))


if __name__ == "__main__":
    sys.exit(main())
