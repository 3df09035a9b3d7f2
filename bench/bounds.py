"""A request of each API at its bounds: as many elements as a message may have, distinct and repeated, and many tags.

All are valid on the wire, so they also go to Apache Kafka. What changes topics only validates, or names what does not
exist.
"""

import selectors
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import is_flexible
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import (
    CreateTopicsRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    SyncGroupRequest,
)
from headrace.protocol.primitives import encode_compact_string, encode_uvarint
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

ELEMENTS: Final = 65_000
TAGS: Final = 5_000_000
WIDE: Final = "wide"  # a topic of `WIDE_PARTITIONS`
WIDE_PARTITIONS: Final = 50
MANY: Final = 1_000  # topics of one partition
GROUP: Final = "large"
MEMBER_BYTES: Final = 300_000  # of metadata, and of assignment
TIMEOUT_S: Final = 300


@dataclass(frozen=True)
class Case:
    """Bytes that one client sends on each of its connections, and how many answers each has; 0: it is closed."""

    name: str
    frames: Callable[[], bytes]
    answers: int = 1
    connections: int = 1


def request(key: ApiKey, version: int, body: bytes, tags: int = 0) -> bytes:
    """The frame of a request with this body."""
    header = struct.pack(">hhih", key, version, 1, -1)
    if is_flexible(key, version):
        header += encode_uvarint(tags) + b"\0\0" * tags
    return struct.pack(">i", len(header) + len(body)) + header + body


def array(elements: list[bytes]) -> bytes:
    """Encode a compact array of elements that are encoded already."""
    return encode_uvarint(len(elements) + 1) + b"".join(elements)


def names(kind: str) -> list[bytes]:
    """As many names as a message may have: of one thing, or of things that do not exist."""
    if kind == "repeated":
        return [encode_compact_string(WIDE)] * ELEMENTS
    return [encode_compact_string(f"n{number}") for number in range(ELEMENTS)]


def _metadata(names: list[bytes]) -> bytes:
    topics = array([bytes(16) + name + b"\0" for name in names])
    return request(ApiKey.METADATA, 12, topics + b"\0\0\0")


def _groups(key: ApiKey, version: int, names: list[bytes], end: bytes) -> bytes:
    return request(key, version, array(names) + end)


def _offset_fetch(groups: list[bytes]) -> bytes:
    return request(ApiKey.OFFSET_FETCH, 8, array(groups) + b"\0\0")


def _partitions(layout: str, *fields: int) -> bytes:
    """Partitions of the wide topic, as many as a message may have, numbered from 0; then the end of the topic."""
    form = struct.Struct(layout)
    return array([form.pack(index, *fields) + b"\0" for index in range(ELEMENTS - 1)]) + b"\0"


def _list_offsets() -> bytes:
    topic = encode_compact_string(WIDE) + _partitions(">iiq", -1, 1)
    return request(ApiKey.LIST_OFFSETS, 7, struct.pack(">ib", -1, 0) + array([topic]) + b"\0")


def _leader_epochs() -> bytes:
    topic = encode_compact_string(WIDE) + _partitions(">iii", -1, 0)
    body = struct.pack(">i", -1) + array([topic]) + b"\0"
    return request(ApiKey.OFFSET_FOR_LEADER_EPOCH, 4, body)


def _delete_records() -> bytes:
    topic = encode_compact_string(WIDE) + _partitions(">iq", 0)
    return request(ApiKey.DELETE_RECORDS, 2, array([topic]) + struct.pack(">i", 1_000) + b"\0")


def _offset_commit() -> bytes:
    partition = struct.Struct(">iqi")
    partitions = array(
        [partition.pack(index % WIDE_PARTITIONS, 1, -1) + b"\x01\0" for index in range(10_000)]
    )
    topic = encode_compact_string(WIDE) + partitions + b"\0"
    group = encode_compact_string("committing") + struct.pack(">i", -1) + b"\x01\0"
    return request(ApiKey.OFFSET_COMMIT, 8, group + array([topic]) + b"\0")


def _describe_configs() -> bytes:
    resources = [b"\x02" + name + b"\0\0" for name in names("repeated")]
    resources += [b"\x02" + encode_compact_string(f"t{n}") + b"\0\0" for n in range(200)]
    return request(ApiKey.DESCRIBE_CONFIGS, 4, array(resources) + b"\x01\x01\0")


def _create_topics(prefix: str) -> bytes:
    partitions = struct.pack(">ih", 1, 1) + b"\x01\x01\0"
    topics = [encode_compact_string(f"{prefix}{n}") + partitions for n in range(ELEMENTS)]
    return request(
        ApiKey.CREATE_TOPICS, 7, array(topics) + struct.pack(">i?", 30_000, True) + b"\0"
    )


def _delete_topics() -> bytes:
    topics = [name + bytes(16) + b"\0" for name in names("unknown")]
    return request(ApiKey.DELETE_TOPICS, 6, array(topics) + struct.pack(">i", 1_000) + b"\0")


def _alter_configs() -> bytes:
    config = encode_compact_string("retention.ms") + b"\0" + encode_compact_string("1000") + b"\0"
    resource = b"\x02" + encode_compact_string(WIDE) + array([config] * (ELEMENTS - 1)) + b"\0"
    return request(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, array([resource]) + b"\x01\0")


def _topic_partitions(names: list[bytes]) -> bytes:
    topics = array([name + b"\0" for name in names])
    body = topics + struct.pack(">i", 2_000) + b"\xff\0"
    return request(ApiKey.DESCRIBE_TOPIC_PARTITIONS, 0, body)


def _quorum() -> bytes:
    partitions = array([bytes(4) + b"\0"] * (ELEMENTS - 1))
    topic = encode_compact_string("__cluster_metadata") + partitions + b"\0"
    return request(ApiKey.DESCRIBE_QUORUM, 2, array([topic]) + b"\0")


def fetch(
    topic: str,
    partitions: int = 1,
    *,
    wait_ms: int = 0,
    session: tuple[int, int] = (0, -1),
    forgotten: int = 0,
) -> bytes:
    """A Fetch of, and one that forgets, the first partitions of a topic; without a session unless it is told."""
    name = struct.pack(f">ih{len(topic)}s", 1, len(topic), topic.encode())
    named = [struct.pack(">iiqqi", n, -1, 0, -1, 1 << 20) for n in range(partitions)]
    gone = struct.pack(f">{forgotten}i", *range(forgotten))
    limits = struct.pack(">iiiibii", -1, wait_ms, 1, 50 << 20, 0, *session)
    topics = name + struct.pack(">i", partitions) + b"".join(named)
    body = limits + topics + name + struct.pack(">i", forgotten) + gone + b"\0\0"
    return request(ApiKey.FETCH, 11, body)


def _produce(topic: str) -> bytes:
    records = bytes(encode_batch([Record(0, 0, None, b"x")], BatchOptions()))
    name = topic.encode()
    to = struct.pack(f">ih{len(name)}siii", 1, len(name), name, 1, 0, len(records)) + records
    return request(ApiKey.PRODUCE, 8, struct.pack(">hhi", -1, -1, 30_000) + to)


def _heartbeat() -> bytes:
    group = b"\0\7unknown"
    body = group + struct.pack(">i", 1) + b"\0\6member" + b"\xff\xff"
    return request(ApiKey.HEARTBEAT, 3, body)


CASES: Final = (
    Case("5 million empty tags in a header", lambda: request(ApiKey.API_VERSIONS, 3, b"\x02x\x02y\0", TAGS), 0),
    Case("Metadata: one topic, repeated", lambda: _metadata(names("repeated"))),
    Case("Metadata: unknown topics", lambda: _metadata(names("unknown"))),
    Case("Metadata: all topics", lambda: request(ApiKey.METADATA, 12, b"\0\0\0\0")),
    Case("DescribeGroups: one large group, 4,000 times", lambda: _groups(ApiKey.DESCRIBE_GROUPS, 5, [encode_compact_string(GROUP)] * 4_000, b"\0\0")),
    Case("DescribeGroups: unknown groups", lambda: _groups(ApiKey.DESCRIBE_GROUPS, 5, names("unknown"), b"\0\0")),
    Case("OffsetFetch: one group, repeated", lambda: _offset_fetch([encode_compact_string(GROUP) + b"\0\0"] * ELEMENTS)),
    Case("OffsetFetch: many partitions", lambda: _offset_fetch([
        encode_compact_string(GROUP)
        + array([encode_compact_string(WIDE) + array([struct.pack(">i", n) for n in range(ELEMENTS - 2)]) + b"\0"])
        + b"\0"
    ])),
    Case("OffsetCommit: 10,000 partitions", _offset_commit),
    Case("FindCoordinator: groups", lambda: request(ApiKey.FIND_COORDINATOR, 4, b"\0" + array(names("unknown")) + b"\0")),
    Case("DeleteGroups: unknown groups", lambda: _groups(ApiKey.DELETE_GROUPS, 2, names("unknown"), b"\0")),
    Case("ListOffsets by time", _list_offsets),
    Case("OffsetForLeaderEpoch", _leader_epochs),
    Case("DeleteRecords", _delete_records),
    Case("DescribeConfigs: one topic repeated, 200 more", _describe_configs),
    Case("DescribeTopicPartitions: unknown topics", lambda: _topic_partitions(names("unknown"))),
    Case("DescribeLogDirs: all", lambda: request(ApiKey.DESCRIBE_LOG_DIRS, 4, b"\0\0")),
    Case("CreateTopics: bad names", lambda: _create_topics("/")),
    Case("CreateTopics: validated only", lambda: _create_topics("v")),
    Case("DeleteTopics: unknown topics", _delete_topics),
    Case("IncrementalAlterConfigs: one key, repeated", _alter_configs),
    Case("DescribeQuorum: one partition, repeated", _quorum),
    Case("10,000 Metadata requests at once", lambda: request(ApiKey.METADATA, 12, array([bytes(16) + b"\x05wide\0"]) + b"\0\0\0") * 10_000, 10_000),
    Case("Fetch: unknown partitions", lambda: fetch(WIDE, ELEMENTS)),
    Case("100 connections, 100 Fetch requests each", lambda: fetch(WIDE) * 100, 100, 100),
    Case("100 connections, 100 Fetch requests each, unknown topic", lambda: fetch("unknown") * 100, 100, 100),
    Case("100 connections, 100 Produce requests each", lambda: _produce(WIDE) * 100, 100, 100),
    Case("100 connections, 100 Produce requests each, unknown topic", lambda: _produce("unknown") * 100, 100, 100),
    Case("1,000 connections: ApiVersions", lambda: request(ApiKey.API_VERSIONS, 3, b"\x02x\x02y\0"), 1, 1_000),
    Case("1,000 connections: Metadata", lambda: request(ApiKey.METADATA, 12, array([bytes(16) + b"\x05wide\0"]) + b"\0\0\0"), 1, 1_000),
    Case("1,000 connections: Heartbeat", _heartbeat, 1, 1_000),
    Case("1,000 connections: Produce", lambda: _produce(WIDE), 1, 1_000),
    Case("1,000 connections: Fetch that waits", lambda: fetch("t0", wait_ms=300), 1, 1_000),
)  # fmt: skip


class _Peer:
    """One connection of an exchange: what is still to be sent, and how many answers came."""

    def __init__(self, bootstrap: str, frames: bytes) -> None:
        host, port = bootstrap.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), TIMEOUT_S)
        self.socket.setblocking(False)  # noqa: FBT003  # the standard library's signature
        self.unsent = memoryview(frames)
        self.answers = 0
        self._left = 0  # of the answer that is coming
        self._size = b""  # as far as it has come

    def send(self) -> None:
        """Send what the socket takes; the broker may close the connection before it has all."""
        try:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
        except ConnectionError:
            self.unsent = self.unsent[:0]

    def receive(self) -> bool:
        """Count answers; False once the connection is closed."""
        try:
            data = self.socket.recv(1 << 20)
        except ConnectionError:
            return False
        position = 0
        while position < len(data):
            if not self._left:
                taken = min(4 - len(self._size), len(data) - position)
                self._size += data[position : position + taken]
                position += taken
                if len(self._size) == 4:
                    self._left, self._size = int.from_bytes(self._size), b""
            taken = min(self._left, len(data) - position)
            position += taken
            self._left -= taken
            self.answers += taken > 0 and not self._left
        return bool(data)


def exchange(bootstrap: str, case: Case) -> int:
    """Send a case on all of its connections; return how many answers came until all had theirs, or were closed."""
    frames = case.frames()
    peers = [_Peer(bootstrap, frames) for _ in range(case.connections)]
    with selectors.DefaultSelector() as selector:
        for peer in peers:
            selector.register(peer.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, peer)
        while selector.get_map():
            events = selector.select(TIMEOUT_S)
            if not events:
                raise TimeoutError("no answer")
            for key, event in events:
                _go_on(selector, key.data, event, max(1, case.answers))
    return sum(peer.answers for peer in peers)


def _go_on(selector: selectors.BaseSelector, peer: _Peer, event: int, wanted: int) -> None:
    if event & selectors.EVENT_READ and (not peer.receive() or peer.answers >= wanted):
        selector.unregister(peer.socket)
        peer.socket.close()
        return
    if event & selectors.EVENT_WRITE:
        peer.send()
        if not peer.unsent:
            selector.modify(peer.socket, selectors.EVENT_READ, peer)


class Client:
    """One connection, without a library's limits."""

    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_S)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, frames: bytes) -> None:
        """Send bytes; the broker may close the connection before it has all of them."""
        try:
            self._socket.sendall(frames)
        except ConnectionError:
            return

    def answer_bytes(self) -> int:
        """Read one answer; return its size, 0 when the connection was closed instead."""
        try:
            (left,) = struct.unpack(">i", self._read(4))
            size = left
            while left:
                left -= len(self._read(min(left, 1 << 20)))
        except ConnectionError:
            return 0
        return int(size)

    def answer(self) -> memoryview:
        """Read one answer."""
        (size,) = struct.unpack(">i", self._read(4))
        return memoryview(self._read(size))

    def ask(self, key: ApiKey, version: int, message: Any) -> Any:
        """Send a message; return its answer."""
        payload = messages.encode_request(message, RequestHeader(int(key), version, 1, "bounds"))
        self.send(struct.pack(">i", len(payload)) + payload)
        return messages.decode_response(int(key), version, self.answer())[1]

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionError
            data += part
        return bytes(data)


def prepare(bootstrap: str, many: int = MANY) -> None:
    """Make the topics and the group that the cases name."""
    topic = CreateTopicsRequest.CreatableTopic
    topics = [
        topic(
            name=WIDE,
            num_partitions=WIDE_PARTITIONS,
            replication_factor=1,
            assignments=[],
            configs=[],
        )
    ]
    topics += [
        topic(name=f"t{number}", num_partitions=1, replication_factor=1, assignments=[], configs=[])
        for number in range(many)
    ]  # fmt: skip
    with Client(bootstrap) as client:
        for start in range(0, len(topics), 500):
            made = CreateTopicsRequest(
                topics=topics[start : start + 500], timeout_ms=60_000, validate_only=False
            )
            answer = client.ask(ApiKey.CREATE_TOPICS, 7, made)
            assert not any(it.error_code for it in answer.topics), answer
        client.send(request(ApiKey.FIND_COORDINATOR, 4, b"\0" + array([b"\x06large"]) + b"\0"))
        client.answer_bytes()
        _commit(client, *_join(client))


def _join(client: Client) -> tuple[str, int]:
    """Make the group's one member; return its id and the generation."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=bytes(MEMBER_BYTES))
    member_id, error = "", -1
    for _ in range(300):  # the coordinator may be loading, or not be made yet
        joined = client.ask(
            ApiKey.JOIN_GROUP,
            5,
            JoinGroupRequest(
                group_id=GROUP,
                session_timeout_ms=300_000,
                rebalance_timeout_ms=300_000,
                member_id=member_id,
                group_instance_id=None,
                protocol_type="consumer",
                protocols=[protocol],
            ),
        )
        member_id, error = joined.member_id, joined.error_code
        if error == 0:
            break
        time.sleep(0.1)
    assert error == 0, error
    assignment = SyncGroupRequest.SyncGroupRequestAssignment(
        member_id=member_id, assignment=bytes(MEMBER_BYTES)
    )
    synced = client.ask(
        ApiKey.SYNC_GROUP,
        3,
        SyncGroupRequest(
            group_id=GROUP,
            generation_id=joined.generation_id,
            member_id=member_id,
            group_instance_id=None,
            assignments=[assignment],
        ),
    )
    assert synced.error_code == 0, synced.error_code
    return member_id, joined.generation_id


def _commit(client: Client, member_id: str, generation: int) -> None:
    topic = OffsetCommitRequest.OffsetCommitRequestTopic
    partition = topic.OffsetCommitRequestPartition
    committed = client.ask(
        ApiKey.OFFSET_COMMIT,
        7,
        OffsetCommitRequest(
            group_id=GROUP,
            generation_id_or_member_epoch=generation,
            member_id=member_id,
            group_instance_id=None,
            topics=[
                topic(
                    name=WIDE,
                    partitions=[
                        partition(
                            partition_index=index,
                            committed_offset=0,
                            committed_leader_epoch=-1,
                            committed_metadata="",
                        )
                        for index in range(WIDE_PARTITIONS)
                    ],
                )
            ],
        ),
    )
    assert committed.topics[0].partitions[0].error_code == 0
