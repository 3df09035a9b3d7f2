"""Controllers, brokers and an S3 server as processes, each a node of its own, and what a test does to them."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Self

import boto3

from tests.cluster.bucket_proxy import BucketProxy, Faults
from tests.cluster.network import Network, open_network
from tests.cluster.node import ADMIN_PORT, Node
from tests.cluster.small_disk import SmallDisk
from tests.cluster.wire_calls import Quorum, describe_quorum, describe_topic, fenced_brokers
from tests.e2e.wire import WireConnection
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer
from tests.environment.paths import ROOT, MissingComponentError
from tests.environment.rotation import turn_of_today

MIB = 1 << 20
BUCKET = "headrace"
REGION = "us-east-1"
BROKER_PORT = 9092
CONTROLLER_PORT = 9093
FIRST_CONTROLLER_ID = 101
S3_NODE = "s3"
# So long a broker may be silent before it is fenced. Six processes and their clients share the processors.
SESSION_MS = 6_000
# Settings by which partitions move to even out brokers much sooner than by default.
QUICK_BALANCE = {
    "headrace.balance.enable": "true",
    "headrace.balance.window.ms": "10000",
    "headrace.balance.interval.ms": "1000",
}
_DRAINED_WITHIN_S = 180
_METADATA_DISK_BYTES = 128 * MIB
_WAL_DISK_BYTES = 1024 * MIB
WAL_DISK = "wals"  # of all brokers that have their log in a file
_POLL_S = 0.05
_RECOVERY_WITHIN_S = 120


class Wals(Enum):
    """Where the brokers' write-ahead logs lie, and so who can drain that of a broker that has died."""

    OWN = "own"  # a file that no other broker can open: nobody
    FILES = "files"  # files on a volume that all brokers share
    BUCKET = "bucket"
    HALF = (
        "half"  # a file or the bucket, in turn; which of them the first broker has changes each day
    )


class Cluster:
    """Brokers b1, b2, ... with the ids 1, 2, ..., and controllers c1, c2, ... with the ids 101, 102, ..."""

    def __init__(
        self,
        directory: Path,
        *,
        controllers: int = 3,
        brokers: int = 3,
        settings: Mapping[str, str] | None = None,
        small_disks: bool = True,
        wal_bytes: int = 64 * MIB,
        wals: Wals = Wals.OWN,
        bucket_fails: bool = False,
    ) -> None:
        """Prepare it; `bucket_fails`: nodes ask the bucket through a proxy that can fail in its place."""
        self.directory = directory
        self.wals = wals
        self._wal_bytes = wal_bytes
        self.network: Network = open_network()
        self._settings = dict(settings or {})
        self._credentials = {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        }
        self._add_bucket(self.network.join(S3_NODE), with_proxy=bucket_fails)
        names = [f"c{number + 1}" for number in range(controllers)]
        addresses = [self.network.join(name) for name in names]
        ids = [FIRST_CONTROLLER_ID + number for number in range(controllers)]
        self._voters = ",".join(
            f"{node_id}@{address}:{CONTROLLER_PORT}"
            for node_id, address in zip(ids, addresses, strict=True)
        )
        self.controllers = [
            self._controller(name, node_id, address)
            for name, node_id, address in zip(names, ids, addresses, strict=True)
        ]
        self._broker_ids = count(1)
        self.brokers: list[Node] = []
        self._twins: list[Node] = []
        for _ in range(brokers):
            self.add_broker()
        self.disks = self._mount_disks() if small_disks else {}

    def _add_bucket(self, host: str, *, with_proxy: bool) -> None:
        def as_node(command: Sequence[object]) -> list[str]:
            return self.network.command(S3_NODE, command)

        directory = self.directory / S3_NODE
        self.s3 = MinioServer(directory, host=host, as_node=as_node)
        self.bucket_faults: Counter[str] = Counter()  # so far
        self._proxy: BucketProxy | None = None
        if with_proxy:
            self._proxy = BucketProxy(host, self.s3.port, directory / "proxy.log", as_node)

    @property
    def nodes(self) -> list[Node]:
        """All controllers and brokers."""
        return [*self.controllers, *self.brokers]

    @property
    def bootstrap(self) -> str:
        """The addresses of all brokers, for clients."""
        return ",".join(map(self.address, self.brokers))

    @staticmethod
    def address(broker: Node) -> str:
        """Where a broker serves clients."""
        return f"{broker.address}:{BROKER_PORT}"

    def start(self) -> None:
        """Start the bucket and all nodes, and wait until they are ready."""
        self.s3.start()
        if self._proxy:
            self._proxy.start()
        self.bucket().create_bucket(Bucket=BUCKET)
        for node in self.nodes:
            node.begin()
        for node in self.nodes:
            node.wait_ready()

    def add_broker(self) -> Node:
        """Add a broker, which is not started."""
        node_id = next(self._broker_ids)
        broker = self._broker(node_id, f"b{node_id}")
        self.brokers.append(broker)
        return broker

    def join(self, count: int) -> list[Node]:
        """Add brokers, and wait until they serve."""
        joined = [self.add_broker() for _ in range(count)]
        for broker in joined:
            broker.begin()
        for broker in joined:
            broker.wait_ready()
        return joined

    def drain(self, broker: Node) -> None:
        """Move all partitions of a broker to the others, by the command."""
        command = ["cluster", "drain", broker.node_id, "-b", self.bootstrap]
        program = [sys.executable, "-m", "headrace.broker", *map(str, command)]
        subprocess.run(program, cwd=ROOT, check=True, timeout=_DRAINED_WITHIN_S)

    def add_twin(self, broker: Node) -> Node:
        """Make a second process with the id of a broker, with directories and a WAL of its own; it is not started."""
        twin = self._broker(broker.node_id, f"{broker.name}-twin")
        self._twins.append(twin)
        return twin

    def close(self) -> None:
        """End all processes, whatever state they are in, and remove network and disks."""
        for node in [*self.nodes, *self._twins]:
            node.end()
        if self._proxy:
            self._proxy.end()
        self.s3.__exit__(None, None, None)
        for disk in self.disks.values():
            disk.close()
        self.network.close()

    def __enter__(self) -> Self:
        """Start everything; what began is ended when something does not start."""
        try:
            self.start()
        except BaseException:
            print(self.log_tails())
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything."""
        self.close()

    def bucket(self) -> "boto3.client":
        """Return a client of the S3 server."""
        return boto3.client(
            "s3",
            endpoint_url=self.s3.endpoint,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
        )

    def connect(self, broker: Node, *, timeout_s: float = 5) -> WireConnection:
        """Open a connection to a broker."""
        return WireConnection(self.address(broker), timeout_s=timeout_s)

    def quorum(self) -> Quorum | None:
        """Return what brokers know of the quorum: of several answers, that of the newest term."""
        answers = []
        for broker in self.brokers:
            if broker.is_running and not broker.is_paused:
                try:
                    with self.connect(broker, timeout_s=2) as connection:
                        _, quorum = describe_quorum(connection)
                except (OSError, ValueError):
                    continue
                if quorum is not None and quorum.leader >= 0:
                    answers.append(quorum)
        return max(answers, key=lambda it: it.term, default=None)

    def leader(self) -> Node:
        """Wait until the quorum has a leader that runs, and return it."""
        found: list[Node] = []

        def look() -> bool:
            quorum = self.quorum()
            by_id = {node.node_id: node for node in self.controllers}
            leader = by_id.get(quorum.leader) if quorum else None
            if leader is not None and leader.is_running and not leader.is_paused:
                found.append(leader)
            return bool(found)

        self.wait_until(look, "a leader of the quorum")
        return found[0]

    def fenced(self, asked: Node) -> dict[int, bool]:
        """Return which brokers are fenced by what one broker knows; empty when it does not answer."""
        try:
            with self.connect(asked, timeout_s=2) as connection:
                return fenced_brokers(connection)
        except (OSError, ValueError):
            return {}

    def leaders(self, topic: str, *, unasked: Node | None = None) -> tuple[int, ...]:
        """Return who leads each partition of a topic, by what a broker knows; one is not asked."""
        for broker in self.brokers:
            if broker.is_running and not broker.is_paused and broker is not unasked:
                try:
                    with self.connect(broker, timeout_s=2) as connection:
                        return describe_topic(connection, topic).leaders
                except (OSError, ValueError):
                    continue
        raise AssertionError(f"no broker tells who leads {topic}\n{self.log_tails()}")

    def wait_until(
        self, condition: Callable[[], bool], what: str, *, timeout_s: float = _RECOVERY_WITHIN_S
    ) -> None:
        """Wait for a condition, and fail with what the nodes logged last when it does not come true."""
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                msg = f"not within {timeout_s} s: {what}\n{self.log_tails()}"
                raise AssertionError(msg)
            time.sleep(_POLL_S)

    def isolate(
        self, node: Node, others: Sequence[Node], *, outward: bool = True, inward: bool = True
    ) -> None:
        """Cut the links between a node and others: what it sends (outward), what it is sent (inward)."""
        for other in others:
            if outward:
                self.network.cut(node.name, other.name)
            if inward:
                self.network.cut(other.name, node.name)

    def fail_bucket(self, faults: Faults) -> None:
        """From now on let so many requests to the bucket go wrong, and count those that did until now."""
        if self._proxy:
            self.bucket_faults += self._proxy.tell(faults)

    def heal(self) -> None:
        """End all faults, start what is not running, and wait until everything serves again."""
        self.network.heal()
        self._heal_bucket()
        for disk in self.disks.values():
            disk.empty()
        for node in self.nodes:
            if node.is_paused:
                node.resume()
        for node in self.controllers:
            if not node.is_running:
                node.begin()
        for twin in self._twins:
            if (
                twin.is_running
            ):  # what it has acknowledged, if it took the other's place, goes to the bucket
                twin.process.terminate(timeout_s=_RECOVERY_WITHIN_S)
        self.wait_until(self._all_serve, "every node is ready and no broker is fenced")

    def _heal_bucket(self) -> None:
        self.fail_bucket(Faults())
        if self.s3.is_running:
            self.s3.resume()
        else:
            self.s3.start()

    def log_tails(self) -> str:
        """Return the end of each node's log."""
        return "\n".join(node.log_tail() for node in [*self.nodes, *self._twins])

    def _all_serve(self) -> bool:
        for node in self.nodes:
            if not node.is_running:
                node.begin()  # killed by a test, or ended by itself after it was fenced
        if not all(node.is_ready() for node in self.nodes):
            return False
        ids = {broker.node_id: False for broker in self.brokers}
        return all(self.fenced(broker) == ids for broker in self.brokers)

    def _controller(self, name: str, node_id: int, address: str) -> Node:
        directory = self.directory / name
        own = {
            "process.roles": "controller",
            "listeners": f"CONTROLLER://{address}:{CONTROLLER_PORT}",
            "metadata.log.dir": str(directory / "metadata"),
        }
        return self._node(name, node_id, address, own)

    def _broker(self, node_id: int, name: str) -> Node:
        address = self.network.join(name)
        own = {
            "process.roles": "broker",
            "listeners": f"PLAINTEXT://{address}:{BROKER_PORT}",
            "log.dirs": str(self.directory / name),
            **self._wal(node_id, name),
            "s3.wal.cache.size": str(64 * MIB),
            "s3.wal.upload.threshold": str(8 * MIB),
            "s3.wal.upload.interval.ms": "1000",
            "s3.block.cache.size": str(32 * MIB),
            "auto.create.topics.enable": "false",
            "group.initial.rebalance.delay.ms": "0",
            "offsets.topic.num.partitions": "6",
        }
        return self._node(name, node_id, address, own)

    def _wal(self, node_id: int, name: str) -> dict[str, str]:
        if self.wals is Wals.OWN:
            own = self.directory / name / "wal"
            return {"s3.wal.path": f"0@file://{own}?capacity={self._wal_bytes}"}
        if self._medium(node_id) is Wals.BUCKET:
            batches = f"batchInterval=20&maxBytesInBatch={MIB}"
            path = f"0@{self._bucket_uri}&capacity={self._wal_bytes}&{batches}"
        else:
            self._shared_wals.mkdir(parents=True, exist_ok=True)
            path = f"0@file://{self._shared_wals / name}?capacity={self._wal_bytes}"
        return {"s3.wal.path": path, "headrace.wal.reach": str(self._shared_wals)}

    @property
    def _shared_wals(self) -> Path:
        return self.directory / "wals"

    def wal_medium(self, broker: Node) -> Wals:
        """Where the log of a broker lies."""
        return self._medium(broker.node_id)

    def _medium(self, node_id: int) -> Wals:
        if self.wals is Wals.HALF:
            is_file = (node_id + turn_of_today(2)[1]) % 2
            return Wals.FILES if is_file else Wals.BUCKET
        return self.wals

    @property
    def _bucket_uri(self) -> str:
        endpoint = (self._proxy or self.s3).endpoint
        return f"s3://{BUCKET}?region={REGION}&endpoint={endpoint}&pathStyle=true"

    def _node(self, name: str, node_id: int, address: str, own: Mapping[str, str]) -> Node:
        directory = self.directory / name
        settings = {
            "node.id": str(node_id),
            "controller.quorum.voters": self._voters,
            "controller.listener.names": "CONTROLLER",
            "broker.session.timeout.ms": str(SESSION_MS),
            "broker.heartbeat.interval.ms": "1000",
            "s3.data.buckets": f"0@{self._bucket_uri}",
            "headrace.admin.listener": f"{address}:{ADMIN_PORT}",
            # Tests say themselves who leads what; those of the balance switch it on.
            "headrace.balance.enable": "false",
            **own,
            **self._settings,
        }
        program = [sys.executable, "-m", "headrace.broker", "server", "--config"]
        return Node(
            name,
            node_id,
            address,
            directory=directory,
            settings=settings,
            command=self.network.command(name, [*program, directory / "server.properties"]),
            environment=self._credentials,
        )

    def _mount_disks(self) -> dict[str, SmallDisk]:
        """One for each controller's metadata, and one for all logs in files that brokers share."""
        disks = {
            node.name: SmallDisk(node.directory / "metadata", _METADATA_DISK_BYTES)
            for node in self.controllers
        }
        if self.wals in (Wals.FILES, Wals.HALF):
            disks[WAL_DISK] = SmallDisk(self._shared_wals, _WAL_DISK_BYTES, in_file=True)
        for disk in disks.values():
            try:
                disk.mount()
            except MissingComponentError:
                return {}
        return disks


def in_background(call: Callable[[], None], name: str) -> threading.Thread:
    """Run a call in a thread that does not keep the tests from ending."""
    thread = threading.Thread(target=call, name=name, daemon=True)
    thread.start()
    return thread
