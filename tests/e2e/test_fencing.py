"""A broker that has lost its place: it acknowledges nothing, and comes back by registering anew, in its process.

One node is controller and broker, the other only a broker: what happens to it is what happens to any
broker of a cluster.
"""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.protocol.producer import ProduceResponse

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import PRODUCE_VERSION, WireConnection, batch, produce_request
from tests.environment.ports import free_port
from tests.integration.s3_fault_server import SILENT, FaultServer

TOPIC = "fencing"
BROKER_ID = 2
SESSION_MS = 1_500
END_WITHIN_S = 5.0
PATIENCE_S = 30.0
INFLIGHT = 250  # produce requests that are pipelined when the broker is stopped
MIB = 1 << 20
UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER = 3, 6


class TwoNodes:
    """A node of both roles, and a broker that leads the topic."""

    def __init__(self, directory: Path, bucket: str, environment: dict[str, str]) -> None:
        self._directory = directory
        self._environment = environment
        self._controller_port = free_port()
        self._common = {
            "s3.data.buckets": bucket,
            "broker.session.timeout.ms": str(SESSION_MS),
            "broker.heartbeat.interval.ms": "300",
            "s3.wal.upload.interval.ms": "200",
            "s3.wal.cache.size": str(16 * MIB),
            "s3.wal.upload.threshold": str(4 * MIB),
            "s3.block.cache.size": str(16 * MIB),
        }
        self.first = HeadraceProcess(
            directory / "first",
            overrides=self._common,
            environment=environment,
            controller_port=self._controller_port,
        )
        self.broker = self.new_broker("broker")

    def new_broker(self, name: str) -> HeadraceProcess:
        """Another process with the broker's node id and its WAL."""
        own = {
            "node.id": str(BROKER_ID),
            "process.roles": "broker",
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{self._controller_port}",
            "s3.wal.path": f"0@file://{self._directory / 'wal'}?capacity={16 * MIB}",
        }
        return HeadraceProcess(
            self._directory / name,
            overrides=self._common | own,
            environment=self._environment,
        )

    def create_topic(self) -> None:
        """Make the broker the leader of the topic's one partition."""
        admin = AdminClient({"bootstrap.servers": self.first.bootstrap})
        topic = NewTopic(TOPIC, num_partitions=1, replica_assignment=[[BROKER_ID]])

        def created() -> bool:
            try:
                admin.create_topics([topic])[TOPIC].result(10)
            except KafkaException as error:
                print(error)
                return False
            return True

        until("the topic", created)

    def fenced_by_controller(self) -> bool:
        """Whether the controller has ended the broker's session."""
        events = self.first.log_events()
        return any(
            event["msg"] == "broker session expired, fencing the broker"
            and event["broker"] == BROKER_ID
            for event in events
        )


@contextmanager
def two_nodes(
    directory: Path, bucket: str = "", environment: dict[str, str] | None = None
) -> Iterator[TwoNodes]:
    nodes = TwoNodes(directory, bucket or f"0@file://{directory / 'bucket'}", environment or {})
    try:
        nodes.first.start()
        nodes.broker.start()
        nodes.create_topic()
        yield nodes
    finally:
        for node in (nodes.broker, nodes.first):
            if node.process.is_running:
                node.kill()


def until(what: str, condition: Callable[[], bool], timeout_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
        time.sleep(0.02)


def value(number: int) -> bytes:
    return b"%d;" % number * 2_000


class Produced:
    """What was sent to the partition over one connection, in order, and what was acknowledged of it."""

    def __init__(self, bootstrap: str) -> None:
        self.connection = WireConnection(bootstrap, timeout_s=END_WITHIN_S)
        self.sent = 0
        self.acked: dict[int, int] = {}  # number -> offset
        self.answered = 0

    def send(self, count: int) -> None:
        for _ in range(count):
            request = produce_request(TOPIC, batch([value(self.sent)]))
            self.connection.send(request, PRODUCE_VERSION)
            self.sent += 1

    def receive(self) -> int:
        """Take the next answer, which is in the order of the requests; return its error."""
        response = self.connection.receive(ProduceResponse, PRODUCE_VERSION)
        partition = response.responses[0].partition_responses[0]
        if partition.error_code == 0:
            self.acked[self.answered] = partition.base_offset
        self.answered += 1
        return int(partition.error_code)

    def produce(self, count: int) -> None:
        """Send and see acknowledged, once the broker leads the partition."""
        wanted = len(self.acked) + count
        while len(self.acked) < wanted:
            self.send(1)
            error = self.receive()
            assert error in (0, UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER), error
            if error:
                time.sleep(0.05)


def check_all_there(broker: HeadraceProcess, produced: Produced) -> None:
    """Each acknowledged value lies at its offset, and nothing is there that was never sent."""
    found: list[bytes] = []
    with WireConnection(broker.bootstrap) as connection:

        def readable() -> bool:
            return connection.fetch(TOPIC, 0).error_code == 0

        until("the partition can be read", readable)
        while True:
            records = connection.fetch(TOPIC, len(found), partition_max_bytes=8 * MIB).records
            if not records:
                break
            found += [record.value for record in values_of(records)]
    for number, offset in produced.acked.items():
        assert found[offset] == value(number), f"{number} was acknowledged at {offset}"
    sent = {value(number) for number in range(produced.sent)}
    assert set(found) <= sent
    assert len(set(found)) == len(found)


def values_of(records: bytes) -> list[object]:
    from kafka.record.memory_records import MemoryRecords

    batches = MemoryRecords(records)
    found = []
    while batches.has_next():
        found += list(batches.next_batch())
    return found


def stop_past_the_session(nodes: TwoNodes, produced: Produced) -> None:
    """Stop the broker's process with writes under way."""
    produced.send(INFLIGHT)
    produced.receive()
    os.killpg(nodes.broker.process.process_id, signal.SIGSTOP)
    until("the controller has fenced the broker", nodes.fenced_by_controller)


def require_new_role(nodes: TwoNodes, restarts: int) -> None:
    """The broker says that it was fenced, and serves again in the same process."""
    broker = nodes.broker

    def serves_again() -> bool:
        messages = [str(event["msg"]) for event in broker.log_events()]
        return messages.count("the broker that was fenced serves again") == restarts

    until("it serves again", serves_again)
    assert broker.process.is_running
    broker.process.wait_for_url(broker.admin_url("/readyz"), timeout_s=PATIENCE_S)
    assert broker.metrics()["headrace_broker_role_restarts_total"] == restarts


def test_a_process_that_slept_past_its_session_acknowledges_nothing_and_comes_back(
    tmp_path: Path,
) -> None:
    with two_nodes(tmp_path) as nodes:
        produced = Produced(nodes.broker.bootstrap)
        produced.produce(50)
        stop_past_the_session(nodes, produced)
        sent_before = produced.sent
        produced.send(50)  # read when it goes on

        os.killpg(nodes.broker.process.process_id, signal.SIGCONT)
        try:
            while True:
                produced.receive()
        except (ConnectionError, TimeoutError):
            pass
        # What was durable and about to be answered when it was stopped may be answered still, just as
        # if the answer had been long on its way: whoever takes the place over finds it in the WAL.
        assert max(produced.acked) < sent_before
        require_new_role(nodes, restarts=1)
        check_all_there(nodes.broker, produced)
        again = Produced(nodes.broker.bootstrap)
        again.produce(5)
        os.kill(nodes.broker.process.process_id, signal.SIGTERM)
        assert nodes.broker.process.wait_for_end(timeout_s=PATIENCE_S) == 0


def test_it_comes_back_though_the_bucket_did_not_answer(tmp_path: Path) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    with (
        FaultServer() as server,
        two_nodes(tmp_path, f"0@s3://bucket?endpoint={server.endpoint}", keys) as nodes,
    ):
        produced = Produced(nodes.broker.bootstrap)
        with server.bucket.always(SILENT):
            produced.produce(200)
            until("an upload is under way", lambda: uploads_inflight(nodes.broker) > 0)
            stop_past_the_session(nodes, produced)
            os.killpg(nodes.broker.process.process_id, signal.SIGCONT)

            def role_is_over() -> bool:
                messages = [str(event["msg"]) for event in nodes.broker.log_events()]
                return any("role of the fenced broker is over" in it for it in messages)

            # An upload that hangs is no reason to end the process.
            until("its role is over", role_is_over, timeout_s=END_WITHIN_S)
            # Its next start asks a bucket that is still silent: that request gets no answer any more.
            until("the bucket is looked for", lambda: looks(server) == 3)
        require_new_role(nodes, restarts=1)
        check_all_there(nodes.broker, produced)


def uploads_inflight(broker: HeadraceProcess) -> float:
    return broker.metrics()["headrace_uploads_in_flight"]


def looks(server: FaultServer) -> int:
    """How often a start has asked whether the bucket is there."""
    return sum(it.method == "HEAD" and it.key == "" for it in server.bucket.requests)


def lease_remaining_s(broker: HeadraceProcess) -> float:
    return broker.metrics()["headrace_lease_remaining_seconds"]


def test_a_second_process_with_its_node_id_waits_for_its_end(tmp_path: Path) -> None:
    with two_nodes(tmp_path) as nodes:
        produced = Produced(nodes.broker.bootstrap)
        produced.produce(50)
        second = nodes.new_broker("second")
        try:
            second.begin()

            def waits() -> bool:
                return any(
                    "waiting for the WAL" in str(it["msg"])
                    and str(nodes.broker.process.process_id) in str(it["reason"])
                    for it in second.log_events()
                )

            until("it says which process has its WAL", waits)
            produced.produce(5)  # the first one goes on
            nodes.broker.kill()
            second.process.wait_for_url(second.admin_url("/readyz"), timeout_s=60)
            # That it has the WAL's lock now proves that the first is gone: no session is waited for.
            messages = [str(event["msg"]) for event in second.log_events()]
            assert not any("another process has this node id" in it for it in messages)
            check_all_there(second, produced)
            Produced(second.bootstrap).produce(5)
        finally:
            if second.process.is_running:
                second.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_broker_that_waits_for_a_controller_can_be_stopped(
    tmp_path: Path, number: signal.Signals
) -> None:
    nodes = TwoNodes(tmp_path, f"0@file://{tmp_path / 'bucket'}", {})
    nodes.broker.begin()
    try:

        def waits() -> bool:
            return any(it["msg"] == "waiting for a controller" for it in nodes.broker.log_events())

        until("it says that it waits", waits)
        os.kill(nodes.broker.process.process_id, number)
        assert nodes.broker.process.wait_for_end(timeout_s=END_WITHIN_S) == 0
    finally:
        if nodes.broker.process.is_running:
            nodes.broker.kill()


def test_a_node_alone_that_slept_goes_on(tmp_path: Path) -> None:
    """A laptop that was suspended: nobody else could have had its place."""
    overrides = {"broker.session.timeout.ms": "1000", "broker.heartbeat.interval.ms": "200"}
    with HeadraceProcess(tmp_path, overrides=overrides) as node:
        admin = AdminClient({"bootstrap.servers": node.bootstrap})
        admin.create_topics([NewTopic(TOPIC, num_partitions=1)])[TOPIC].result(10)
        produced = Produced(node.bootstrap)
        produced.produce(50)
        produced.send(INFLIGHT)
        produced.receive()
        os.killpg(node.process.process_id, signal.SIGSTOP)
        time.sleep(2)  # past its session
        os.killpg(node.process.process_id, signal.SIGCONT)
        while produced.answered < produced.sent:
            assert produced.receive() in (0, NOT_LEADER_OR_FOLLOWER)
        until("the lease is valid again", lambda: lease_remaining_s(node) > 0)
        produced.produce(5)
        check_all_there(node, produced)
