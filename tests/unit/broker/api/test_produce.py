"""Produce: answers by version, acks, admission, and what is not told."""

import asyncio
import gzip
import itertools
import random
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import UUID

import pytest
import zstandard

from headrace.broker.api.produce import ProduceHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.network.client import Client
from headrace.broker.partition import append_rules, arrivals
from headrace.broker.partition.append_rules import RECORD_OVERHEAD_BYTES, AppendOrigin
from headrace.broker.partition.arrivals import MAX_UNKNOWN_MS
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS, OFFSETS_TOPIC
from headrace.broker.partition.refused_batches import PASSING
from headrace.broker.partition.write_side import WriteSide
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import LogConfig, NetworkConfig
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import RequestHeader, parse_request_header
from headrace.protocol.messages import ProduceRequest, encode_request
from headrace.protocol.produce import SLICE_PARTITIONS
from headrace.protocol.records.batch import HEADER_BYTES, encode_header, parse_header
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.errors import BackPressureError, EngineFailedError
from headrace.turns import Turns
from tests.simulation import virtual_time
from tests.unit.broker.cluster_scene import (
    NODE_ID,
    NOW_MS,
    FakeClient,
    FakeRegistry,
    broker_records,
    run,
    topic_id,
    topic_records,
)
from tests.unit.broker.reply_fake import FakeReply

VERSIONS = range(3, 14)
ALL, LEADER, NONE = -1, 1, 0
CLIENT = Client("PLAINTEXT", client_host="10.0.0.9", local_host="10.0.0.1", local_port=9092)
_Topic = ProduceRequest.TopicProduceData

Row = tuple[int, int, int]  # partition, error code, base offset


def batch(
    count: int = 1,
    *,
    key: bytes | None = b"k",
    sequence: int = -1,
    at: int = NOW_MS,
    compression: Compression = Compression.NONE,
) -> bytes:
    producer_id, epoch = (-1, -1) if sequence < 0 else (9, 0)
    options = BatchOptions(
        compression=compression,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=sequence,
    )
    return bytes(encode_batch([Record(it, at, key, b"v") for it in range(count)], options))


class FakeStorageEngine:
    """Room for as many bytes as the test says; parked requests go on when the test says so."""

    def __init__(self) -> None:
        self.room = True
        self.asked_bytes: list[int] = []
        self.refusal: Exception | None = None

    def admits(self, body_bytes: int) -> bool:
        self.asked_bytes.append(body_bytes)
        return self.room

    async def admission(self, body_bytes: int) -> None:
        self.asked_bytes.append(body_bytes)
        if self.refusal is not None:
            raise self.refusal


class Broker:
    """Serves "t" 0 and 1, the compacted topic "c", and the offsets topic."""

    def __init__(self, config: LogConfig = LogConfig()) -> None:  # noqa: B008  # frozen
        self.registry = FakeRegistry(FakeClient(*topic_records("elsewhere", 9, leader=2)))
        self.logs = [
            self.registry.serve("t", 1, 0),
            self.registry.serve("t", 1, 1),
            self.registry.serve("c", 2, overrides={"cleanup.policy": "compact"}),
            self.registry.serve(OFFSETS_TOPIC, 3),
        ]
        self.engine = FakeStorageEngine()
        self.now_ms = NOW_MS
        self.throttle_ms = 0
        self.metrics = RequestMetrics(lambda: 0.0)
        self.handler = ProduceHandler(
            partitions=self.registry,  # type: ignore[arg-type]
            cluster=ClusterView(lambda: self.registry.client.image, NODE_ID, NetworkConfig()),
            engine=self.engine,  # type: ignore[arg-type]
            wall_clock_ms=lambda: self.now_ms,
            metrics=self.metrics,
            config=config,
            turns=Turns(
                lambda: 0.0, share_s=0.0
            ),  # every piece of work waits for a turn of its own
        )

    def start(
        self,
        version: int,
        topics: Sequence[tuple[str, UUID | None, Sequence[tuple[int, bytes | None]]]],
        *,
        acks: int = ALL,
        client_id: str = "test",
    ) -> tuple[FakeReply, Coroutine[Any, Any, None] | None]:
        wanted = ProduceRequest(
            transactional_id=None,
            acks=acks,
            timeout_ms=1_000,
            topic_data=[
                _Topic(
                    name=name,
                    topic_id=found,
                    partition_data=[
                        _Topic.PartitionProduceData(index=index, records=records)
                        for index, records in partitions
                    ],
                )
                for name, found, partitions in topics
            ],
        )
        header = RequestHeader(int(ApiKey.PRODUCE), version, 7, client_id)
        frame = memoryview(bytearray(encode_request(wanted, header)))
        _, body_offset = parse_request_header(frame)
        reply = FakeReply()
        reply.size_bytes = len(frame)
        reply.throttle_ms = self.throttle_ms
        return reply, self.handler.start(CLIENT, header, frame[body_offset:], reply)  # type: ignore[arg-type]

    def produce(self, version: int, *records: bytes | None, **options: Any) -> FakeReply:
        """One record set for each partition of "t" from 0 on, with room for it."""
        reply, rest = self.start(version, [("t", topic_id(1), list(enumerate(records)))], **options)
        assert rest is None
        return reply

    def one(self, version: int, topic: str, found: UUID | None, data: bytes, **options: Any) -> Any:
        """The answer for partition 0 of a topic."""
        reply, rest = self.start(version, [(topic, found, [(0, data)])], **options)
        assert rest is None
        self.confirm()
        return reply.response(ApiKey.PRODUCE, version).responses[0].partition_responses[0]

    def confirm(self) -> None:
        for log in self.logs:
            log.data.confirm()


def rows(reply: FakeReply, version: int) -> list[Row]:
    told = reply.response(ApiKey.PRODUCE, version)
    (topic,) = told.responses
    if version < 13:
        assert topic.name == "t"
    else:
        assert topic.topic_id == topic_id(1)
    return [(it.index, it.error_code, it.base_offset) for it in topic.partition_responses]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("acks", [ALL, LEADER])
def test_batches_are_answered_with_their_offsets_once_all_are_acknowledged(
    version: int, acks: int
) -> None:
    """2.2: acks=1 is treated as acks=all; 2.5: nothing is answered before the high watermark has passed."""
    broker = Broker()
    broker.produce(version, batch(3))
    broker.confirm()
    reply = broker.produce(version, batch(2), batch(1), acks=acks)
    assert reply.outcome is None
    broker.logs[0].data.confirm()
    assert reply.outcome is None, "the other partition's batch is not acknowledged yet"
    broker.logs[1].data.confirm()
    assert rows(reply, version) == [(0, 0, 3), (1, 0, 0)]


@pytest.mark.parametrize("version", VERSIONS)
def test_times_and_log_start_are_told_as_the_version_has_them(version: int) -> None:
    """2.5: log_append_time_ms is -1 unless the topic stamps; log_start_offset from v5 on."""
    broker = Broker()
    broker.logs[0].data.start_offset = 5
    partition = broker.one(version, "t", topic_id(1), batch())
    assert partition.log_append_time_ms == -1
    if version >= 5:
        assert partition.log_start_offset == 5
    broker.registry.serve("stamps", 4, overrides={"message.timestamp.type": "LogAppendTime"})
    broker.logs.append(broker.registry.served["stamps", 0])
    assert broker.one(version, "stamps", topic_id(4), batch()).log_append_time_ms == NOW_MS


@pytest.mark.parametrize("version", VERSIONS)
def test_each_partition_has_a_result_of_its_own(version: int) -> None:
    """2.2: a whole produce request is not atomic."""
    broker = Broker()
    damaged = bytearray(batch())
    damaged[-1] ^= 1
    reply = broker.produce(version, bytes(damaged), batch())
    assert reply.outcome is None
    broker.confirm()
    assert rows(reply, version) == [(0, ErrorCode.CORRUPT_MESSAGE, -1), (1, 0, 0)]
    assert broker.metrics.produce_refused == {ErrorCode.CORRUPT_MESSAGE: 1}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_request_of_which_nothing_is_appended_is_answered_at_once(version: int) -> None:
    reply = Broker().produce(version, None, b"")
    assert [row[1] for row in rows(reply, version)] == [ErrorCode.INVALID_RECORD] * 2


def test_a_request_without_partitions_is_answered() -> None:
    reply, rest = Broker().start(9, [])
    assert rest is None
    assert list(reply.response(ApiKey.PRODUCE, 9).responses) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_records_that_are_the_reason_are_named(version: int) -> None:
    """2.5, trap: v8+ names each record without a key in a compacted topic (librdkafka 0011, KIP-467)."""
    broker = Broker()
    partition = broker.one(version, "c", topic_id(2), batch(2, key=None))
    assert (partition.error_code, partition.base_offset) == (ErrorCode.INVALID_RECORD, -1)
    if version >= 8:
        assert [it.batch_index for it in partition.record_errors] == [0, 1]
        assert all(it.batch_index_error_message for it in partition.record_errors)
        assert partition.error_message
    assert broker.logs[2].data.batches == []


@pytest.mark.parametrize("version", VERSIONS)
def test_zstd_is_taken_from_version_7_on(version: int) -> None:
    """2.5: UNSUPPORTED_COMPRESSION_TYPE below."""
    told = Broker().one(version, "t", topic_id(1), batch(compression=Compression.ZSTD))
    assert told.error_code == (0 if version >= 7 else ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


@pytest.mark.parametrize("version", VERSIONS)
def test_topics_that_are_not_here_say_why_and_are_never_created(version: int) -> None:
    """2.5: produce never auto-creates."""
    broker = Broker()
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if version < 13 else ErrorCode.UNKNOWN_TOPIC_ID
    assert broker.one(version, "no", topic_id(99), batch()).error_code == unknown
    if version < 13:
        moved = broker.one(version, "elsewhere", None, batch()).error_code
        assert moved == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert broker.registry.client.calls == []


def test_internal_topics_are_the_brokers_but_for_the_admin_client() -> None:
    """2.5: INVALID_TOPIC_EXCEPTION unless client.id is `__admin_client`."""
    broker = Broker()
    assert OFFSETS_TOPIC in INTERNAL_TOPICS
    for version in (9, 13):
        refused = broker.one(version, OFFSETS_TOPIC, topic_id(3), batch())
        assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    taken = broker.one(9, OFFSETS_TOPIC, None, batch(), client_id="__admin_client")
    assert taken.error_code == 0


@pytest.mark.parametrize("version", [3, 7, 8, 9, 13])
@pytest.mark.parametrize("acks", [ALL, 5])
def test_an_answer_tells_its_client_to_wait_as_long_as_its_reply_says(
    version: int, acks: int
) -> None:
    """Of one batch, of several, of one that is refused, and of a request that is refused."""
    broker = Broker()
    broker.throttle_ms = 250
    for records in ([batch()], [batch(), batch()], [batch(), b"garbage"]):
        reply = broker.produce(version, *records, acks=acks)
        broker.confirm()
        answer = reply.response(ApiKey.PRODUCE, version)
        assert answer.throttle_time_ms == 250
        offset = answer.responses[0].partition_responses[0].base_offset
        assert (offset >= 0) == (acks == ALL)


@pytest.mark.parametrize("acks", [-2, 2, 32_767])
def test_other_acks_are_refused_and_nothing_is_appended(acks: int) -> None:
    """2.2: INVALID_REQUIRED_ACKS."""
    broker = Broker()
    reply = broker.produce(9, batch(), batch(), acks=acks)
    assert rows(reply, 9) == [
        (0, ErrorCode.INVALID_REQUIRED_ACKS, -1),
        (1, ErrorCode.INVALID_REQUIRED_ACKS, -1),
    ]
    assert broker.logs[0].data.batches == []


def test_acks_0_is_not_answered_and_does_not_wait() -> None:
    broker = Broker()
    reply = broker.produce(9, batch(), acks=NONE)
    assert reply.outcome == "nothing"
    broker.confirm()
    assert reply.outcome == "nothing", "the acknowledgement is not told either"
    assert len(broker.logs[0].data.batches) == 1


def test_acks_0_with_an_error_closes_the_connection() -> None:
    """2.2: so that the client refreshes its metadata; the good batches stay appended."""
    broker = Broker()
    reply = broker.produce(9, batch(), b"", acks=NONE)
    assert reply.outcome == "closed"
    assert len(broker.logs[0].data.batches) == 1


def test_an_unknown_outcome_closes_the_connection_without_an_answer() -> None:
    """No error code says so."""
    broker = Broker()
    reply = broker.produce(9, batch(), batch())
    broker.logs[0].data.fail(EngineFailedError("device"))
    assert reply.outcome == "closed"
    broker.logs[1].data.confirm()
    assert reply.outcome == "closed", "what is acknowledged after it changes nothing"


def test_a_wal_that_fills_up_in_the_middle_of_a_request_costs_the_batches_it_refuses_only() -> None:
    broker = Broker()

    def full(*_: object) -> int:
        raise BackPressureError("the WAL is full")

    broker.logs[1].data.append = full  # type: ignore[method-assign]
    reply = broker.produce(9, batch(), batch())
    assert reply.outcome is None, "the first is being written"
    broker.confirm()
    first, second = (
        reply.response(ApiKey.PRODUCE, 9).responses[0].partition_responses  # in their order
    )
    assert (first.error_code, first.base_offset) == (0, 0)
    assert (second.error_code, second.base_offset) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)


def test_a_repeated_batch_is_answered_with_the_original_offset() -> None:
    """2.6: NONE with the original base offset, not an error."""

    async def ask() -> None:
        broker = Broker()
        broker.produce(9, batch(3))
        broker.produce(9, batch(2, sequence=0))
        broker.confirm()
        reply = broker.produce(9, batch(2, sequence=0))
        assert reply.outcome is None
        await asyncio.sleep(0)
        assert rows(reply, 9) == [(0, 0, 3)]
        gap = broker.produce(9, batch(2, sequence=7))
        assert rows(gap, 9) == [(0, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)]

    run(ask())


def test_room_is_asked_for_everything_that_the_request_will_take() -> None:
    broker = Broker()
    broker.produce(9, batch(), batch())
    (asked,) = broker.engine.asked_bytes
    assert asked >= 2 * (len(batch()) + RECORD_OVERHEAD_BYTES)


@pytest.mark.parametrize("acks", [ALL, NONE])
def test_without_room_nothing_changes_until_there_is_some(acks: int) -> None:
    broker = Broker()
    broker.engine.room = False
    reply, rest = broker.start(9, [("t", None, [(0, batch())])], acks=acks)
    assert rest is not None
    assert (reply.outcome, broker.logs[0].data.batches) == (None, [])
    run(rest)
    assert len(broker.logs[0].data.batches) == 1
    broker.confirm()
    assert reply.outcome == ("sent" if acks == ALL else "nothing")
    assert broker.engine.asked_bytes[0] == broker.engine.asked_bytes[1]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_parked_request_that_finds_no_room_in_time_is_definitely_not_appended(
    version: int,
) -> None:
    """NOT_ENOUGH_REPLICAS (2.2): before the append, and retriable."""
    broker = Broker()
    broker.engine.room = False
    broker.engine.refusal = BackPressureError("no room")
    wanted = [("t", topic_id(1), [(0, batch()), (1, batch())])]
    reply, rest = broker.start(version, wanted)
    assert rest is not None
    run(rest)
    assert rows(reply, version) == [
        (0, ErrorCode.NOT_ENOUGH_REPLICAS, -1),
        (1, ErrorCode.NOT_ENOUGH_REPLICAS, -1),
    ]
    assert broker.logs[0].data.batches == []
    assert broker.metrics.produce_refused == {ErrorCode.NOT_ENOUGH_REPLICAS: 2}


@pytest.mark.parametrize(
    ("acks", "failure"),
    [
        (NONE, BackPressureError("no room")),
        (ALL, EngineFailedError("device")),
        (NONE, EngineFailedError("device")),
    ],
)
def test_a_parked_request_that_cannot_be_refused_politely_costs_the_connection(
    acks: int, failure: Exception
) -> None:
    broker = Broker()
    broker.engine.room = False
    broker.engine.refusal = failure
    reply, rest = broker.start(9, [("t", None, [(0, batch())])], acks=acks)
    assert rest is not None
    run(rest)
    assert reply.outcome == "closed"
    assert broker.logs[0].data.batches == []


def test_a_body_that_ends_early_is_no_request() -> None:
    header = RequestHeader(int(ApiKey.PRODUCE), 9, 7, "test")
    with pytest.raises(ProtocolError):
        Broker().handler.start(CLIENT, header, memoryview(b"\0\0"), FakeReply())  # type: ignore[arg-type]


@pytest.mark.parametrize("version", VERSIONS)
def test_without_a_certain_lease_nothing_is_appended(version: int) -> None:
    broker = Broker()
    broker.registry.client.has_lease = False
    reply = broker.produce(version, batch(), batch())
    assert rows(reply, version) == [
        (index, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1) for index in (0, 1)
    ]
    alone = broker.produce(version, batch())
    assert rows(alone, version) == [(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]
    assert [log.data.batches for log in broker.logs] == [[]] * 4
    assert broker.produce(version, batch(), acks=NONE).outcome == "closed"


def test_the_lease_is_asked_when_a_parked_request_goes_on() -> None:
    broker = Broker()
    broker.engine.room = False
    reply, rest = broker.start(9, [("t", None, [(0, batch())])])
    broker.registry.client.has_lease = False
    assert rest is not None
    run(rest)
    assert rows(reply, 9) == [(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)]


@pytest.mark.parametrize(
    ("topic", "number", "options"),
    [("t", 1, {}), ("t", 1, {"compression": Compression.GZIP}), ("lz4", 5, {})],
)
def test_a_batch_that_takes_long_to_validate_lets_others_have_their_turn(
    topic: str, number: int, options: dict[str, Any]
) -> None:
    """What comes before it in the request is appended in the same step, and nothing earlier."""
    broker = Broker()
    broker.logs.append(broker.registry.serve("lz4", 5, overrides={"compression.type": "lz4"}))
    wanted = [
        ("t", topic_id(1), [(1, batch())]),
        (topic, topic_id(number), [(0, batch(30_000, **options))]),
    ]
    reply, rest = broker.start(9, wanted)
    assert rest is not None
    assert all(not log.data.batches for log in broker.logs)
    run(rest)
    assert sum(len(log.data.batches) for log in broker.logs) == 2
    broker.confirm()
    told = reply.response(ApiKey.PRODUCE, 9)
    assert [it.partition_responses[0].error_code for it in told.responses] == [0, 0]


def test_many_batches_that_are_quick_alone_are_not_validated_in_one_turn() -> None:
    broker = Broker()
    reply, rest = broker.start(9, [("t", None, [(0, batch(1_500))] * 4)])
    assert rest is not None
    run(rest)
    broker.confirm()
    assert [row[1:] for row in rows(reply, 9)] == [(0, 0), (0, 1_500), (0, 3_000), (0, 4_500)]


@pytest.mark.parametrize(("codec", "per_turn"), [(Compression.GZIP, 1), (Compression.ZSTD, 2)])
def test_batches_of_many_empty_streams_or_blocks_are_not_validated_in_one_turn(
    codec: Compression, per_turn: int
) -> None:
    """They cost nothing to send; without a record they are refused, with one they look like a small batch."""
    whole = batch(compression=codec)
    sent = gzip.compress(b"") * 4_000
    if codec is Compression.ZSTD:
        frame = whole[HEADER_BYTES:]
        begin = zstandard.frame_header_size(frame)
        sent = frame[:begin] + bytes(3) * 9_000 + frame[begin:]
    data = bytes(encode_header(parse_header(whole), sent))
    broker = Broker(LogConfig(validate_compressed="all"))
    turns: list[int] = []
    validated: list[None] = []
    validate = append_rules.validate

    def noted(*arguments: Any, **options: Any) -> Any:
        validated.append(None)
        return validate(*arguments, **options)

    async def others() -> None:
        while True:
            turns.append(len(validated))
            await asyncio.sleep(0)

    async def serve() -> FakeReply:
        reply, rest = broker.start(9, [("t", None, [(0, data)] * 5)])
        assert rest is not None
        waiting = asyncio.create_task(others())
        await rest
        waiting.cancel()
        return reply

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(append_rules, "validate", noted)
        reply = asyncio.run(serve())
    broker.confirm()
    refused = int(ErrorCode.INVALID_RECORD)
    assert [row[1] for row in rows(reply, 9)] == [refused if codec is Compression.GZIP else 0] * 5
    assert max(after - before for before, after in itertools.pairwise([0, *turns, 5])) <= per_turn


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize(("topic", "error"), [("t", 0), ("nowhere", 3)])
def test_a_request_of_many_partitions_takes_many_turns(
    version: int, topic: str, error: int
) -> None:
    """To validate, to append and to answer: no turn holds more than a part of each."""
    broker = Broker()
    appended: list[int] = []

    async def others() -> None:
        while True:
            appended.append(len(broker.logs[0].data.batches))
            await asyncio.sleep(0)

    async def serve() -> FakeReply:
        reply, rest = broker.start(version, [(topic, None, [(0, batch())] * 1_000)])
        assert rest is not None
        waiting = asyncio.create_task(others())
        await rest
        waiting.cancel()
        return reply

    reply = asyncio.run(serve())
    broker.confirm()
    (told,) = reply.response(ApiKey.PRODUCE, version).responses
    offsets = [*range(1_000)] if error == 0 else [-1] * 1_000
    assert [it.base_offset for it in told.partition_responses] == offsets
    assert {it.error_code for it in told.partition_responses} == {error}
    assert len(appended) > 25  # turns
    steps = [after - before for before, after in itertools.pairwise(appended)]
    assert max(steps) <= SLICE_PARTITIONS


def test_only_what_takes_long_is_done_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything else belongs to the event loop, whether the work in the thread succeeded or not."""
    large = [Record(0, NOW_MS, b"k", random.Random(1).randbytes(100_000))]
    snappy = encode_batch(large, BatchOptions(compression=Compression.SNAPPY))
    lying = parse_header(snappy)._replace(records_count=2, last_offset_delta=1)
    damaged = bytes(encode_header(lying, snappy[61:]))
    threads: list[int] = []

    def note(call: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, **options: Any) -> Any:
            threads.append(threading.get_ident())
            return call(*arguments, **options)

        return noted

    broker = Broker()
    broker.logs.append(broker.registry.serve("lz4", 4, overrides={"compression.type": "lz4"}))
    monkeypatch.setattr(WriteSide, "append_validated", note(WriteSide.append_validated))
    monkeypatch.setattr(FakeReply, "send", note(FakeReply.send))
    found: list[int] = []
    for topic, data in [
        ("t", bytes(snappy)),
        ("t", damaged),
        ("lz4", batch(compression=Compression.GZIP)),
    ]:
        reply, rest = broker.start(9, [(topic, None, [(0, data)])])
        assert rest is not None
        run(rest)
        broker.confirm()
        (told,) = reply.response(ApiKey.PRODUCE, 9).responses
        found.append(told.partition_responses[0].error_code)
    assert found == [0, ErrorCode.INVALID_RECORD, 0]
    assert threads == [threading.get_ident()] * 5


def test_compressed_records_are_believed_only_if_the_configuration_says_so() -> None:
    lying = bytearray(batch(2, compression=Compression.GZIP))
    header = parse_header(lying)._replace(records_count=9, last_offset_delta=8)
    data = bytes(encode_header(header, lying[61:]))
    assert Broker().one(9, "t", None, data).error_code == ErrorCode.INVALID_RECORD
    careless = Broker(LogConfig(validate_compressed="header"))
    assert careless.one(9, "t", None, data).error_code == 0
    assert careless.one(9, "c", None, data).error_code == ErrorCode.INVALID_RECORD


@contextmanager
def being_opened(broker: Broker) -> Iterator[None]:
    """Partition 0 is led here, and not open yet."""
    broker.registry.client.apply(*topic_records("t", 1, 2))
    log = broker.registry.served.pop(("t", 0))
    yield
    broker.registry.served["t", 0] = log


@contextmanager
def unheard_of(broker: Broker) -> Iterator[None]:
    """The topic is new, and this broker's metadata are a little behind."""
    log = broker.registry.served.pop(("t", 0))
    yield
    broker.registry.served["t", 0] = log


@contextmanager
def without_lease(broker: Broker) -> Iterator[None]:
    broker.registry.client.has_lease = False
    yield
    broker.registry.client.has_lease = True


@contextmanager
def without_room(broker: Broker) -> Iterator[None]:
    broker.engine.room, broker.engine.refusal = False, BackPressureError("no room")
    yield
    broker.engine.room, broker.engine.refusal = True, None


@pytest.mark.parametrize("version", [9, 13])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("why", [being_opened, unheard_of, without_lease, without_room])
def test_what_was_sent_behind_a_refused_batch_is_refused_alike_until_that_is_sent_again(
    version: int, known: bool, why: Callable[[Broker], AbstractContextManager[None]]
) -> None:
    """Appended it would be out of order; and called that, librdkafka stores batches of other partitions twice."""
    broker = Broker()

    def produce(sequence: int) -> int:
        reply, rest = broker.start(version, [("t", topic_id(1), [(0, batch(sequence=sequence))])])
        if rest is not None:
            run(rest)
        broker.confirm()
        return rows(reply, version)[0][1]

    first = 0
    if known:
        assert produce(0) == 0
        first = 1
    with why(broker):
        refused = produce(first)
    assert refused in PASSING
    assert [produce(first + 1), produce(first + 2)] == [refused] * 2
    assert len(broker.logs[0].data.batches) == first, "it has overtaken the first one"
    assert [produce(first + it) for it in range(3)] == [0] * 3
    assert produce(first + 9) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "a gap that is its own"


@pytest.mark.parametrize("by_ms", [-3_600_000, 3_600_000])
def test_also_when_the_time_of_day_is_set_meanwhile(by_ms: int) -> None:
    """Simulated seed 9553: the second batch was taken, and the first one was out of order for ever."""
    broker = Broker()
    with without_lease(broker):
        refused = broker.one(9, "t", None, batch(sequence=0)).error_code
    broker.now_ms += by_ms
    assert broker.one(9, "t", None, batch(sequence=1)).error_code == refused
    assert broker.one(9, "t", None, batch(sequence=0)).error_code == 0


@pytest.mark.parametrize("versions", [(13, 12), (12, 13)])
def test_a_producer_may_name_a_topic_in_two_ways(versions: tuple[int, int]) -> None:
    broker = Broker()
    first, second = versions
    with without_lease(broker):
        refused = broker.one(first, "t", topic_id(1), batch(sequence=0)).error_code
    assert refused == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert broker.one(second, "t", topic_id(1), batch(sequence=1)).error_code == refused
    assert broker.one(first, "t", topic_id(1), batch(sequence=0)).error_code == 0


def test_what_was_refused_under_a_name_that_no_topic_can_have_is_not_kept() -> None:
    broker = Broker()
    broker.one(9, "n" * 250, None, batch(sequence=0))
    assert not broker.handler._refused.by_producer
    broker.one(9, "n" * 249, None, batch(sequence=0))
    assert len(broker.handler._refused.by_producer) == 1


def test_what_was_sent_again_elsewhere_holds_nothing_up() -> None:
    """The partition has moved and come back, and its producer is known to be further."""
    broker = Broker()
    broker.one(9, "t", None, batch(sequence=0))
    with without_lease(broker):
        broker.one(9, "t", None, batch(sequence=1))
    partition = broker.logs[0].partition
    for sequence in (1, 2):
        again = memoryview(bytearray(batch(sequence=sequence)))
        partition.writes.append(
            again, origin=AppendOrigin.CLIENT, now_ms=NOW_MS, on_done=lambda _error: None
        )
    assert broker.one(9, "t", None, batch(sequence=3)).error_code == 0


class TestPartitionsOnTheirWay:
    """A partition that is frozen, or about to come: the request waits, and is served in its place afterwards."""

    def test_a_request_waits_until_the_partition_is_there(self) -> None:
        async def main() -> None:
            broker = Broker()
            key = (topic_id(1), 1)
            broker.registry.transit.hold(key)
            reply, rest = broker.start(9, [("t", None, [(0, batch()), (1, batch())])])
            assert rest is not None
            waiting = asyncio.ensure_future(rest)
            for _ in range(10):
                await asyncio.sleep(0)
            assert broker.logs[0].data.batches == []
            broker.registry.transit.release(key)
            await waiting
            assert [len(it.data.batches) for it in broker.logs[:2]] == [1, 1]
            broker.confirm()
            assert reply.outcome == "sent"

        run(main())

    def test_requests_for_others_do_not_wait(self) -> None:
        async def main() -> None:
            broker = Broker()
            broker.registry.transit.hold((topic_id(1), 1))
            _, rest = broker.start(9, [("t", None, [(0, batch())])])
            assert rest is None

        run(main())


@pytest.mark.parametrize("version", [8, 13])
@pytest.mark.parametrize("acks", [ALL, 2])
@pytest.mark.parametrize("partitions", [0, 1])
def test_a_request_of_many_topics_lets_others_have_their_turn(
    version: int, acks: int, partitions: int
) -> None:
    """Of few partitions each, or of none."""

    async def main() -> int:
        broker = Broker()
        named = [(f"n{it}", topic_id(1_000 + it), [(0, None)] * partitions) for it in range(2_000)]
        reply, rest = broker.start(version, named, acks=acks)
        assert rest is not None
        serving = asyncio.create_task(rest)
        turns = refused = 0
        while not serving.done():
            turns += 1
            await asyncio.sleep(0)
            before, refused = refused, sum(broker.metrics.produce_refused.values())
            assert refused - before <= SLICE_PARTITIONS
        await serving
        assert len(reply.response(ApiKey.PRODUCE, version).responses) == 2_000
        return turns

    assert asyncio.run(main()) >= (50 if acks == ALL else 25)


class TestNewPartitions:
    """The leader of a new topic may hear of it after the client: the first batches wait, and nothing is refused."""

    def cluster(self) -> Broker:
        broker = Broker()
        for node_id in (1, 2):
            broker.registry.client.apply(*broker_records(node_id, ("PLAINTEXT", "h", 9092)))
        return broker

    def come(self, broker: Broker) -> None:
        broker.logs.append(broker.registry.serve("new", 5))
        broker.registry.client.apply(*topic_records("new", 5))
        broker.registry.arrivals.news()

    @pytest.mark.parametrize("version", [9, 13])
    @pytest.mark.parametrize("sequence", [-1, 0])
    def test_a_batch_waits_until_it_can_be_appended(self, version: int, sequence: int) -> None:
        async def main() -> None:
            broker = self.cluster()
            name, found = ("new", None) if version < 13 else ("", topic_id(5))
            reply, rest = broker.start(version, [(name, found, [(0, batch(sequence=sequence))])])
            assert rest is not None
            waits = asyncio.create_task(rest)
            await asyncio.sleep(0.1)
            assert reply.outcome is None
            self.come(broker)
            await waits
            broker.confirm()
            (row,) = reply.response(ApiKey.PRODUCE, version).responses[0].partition_responses
            assert (row.error_code, row.base_offset) == (0, 0)
            assert broker.metrics.produce_refused == {}
            again = broker.produce(9, batch(sequence=-1))  # nothing of the wait is left
            assert again.outcome is None

        run(main())

    def test_the_others_of_its_request_wait_with_it(self) -> None:
        async def main() -> None:
            broker = self.cluster()
            topics = [
                ("t", None, [(0, batch()), (9, batch())]),
                ("elsewhere", None, [(0, batch())]),
                ("new", None, [(0, batch())]),
            ]
            reply, rest = broker.start(9, topics)
            assert rest is not None
            waits = asyncio.create_task(rest)
            await asyncio.sleep(0.1)
            self.come(broker)
            assert broker.logs[0].data.batches == []
            await waits
            broker.confirm()
            told = [
                [it.error_code for it in topic.partition_responses]
                for topic in reply.response(ApiKey.PRODUCE, 9).responses
            ]
            unknown = int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            assert told == [[0, unknown], [int(ErrorCode.NOT_LEADER_OR_FOLLOWER)], [0]]

        run(main())

    async def waited_s(self, broker: Broker, topics: Any) -> float:
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        reply, rest = broker.start(9, topics)
        if rest is not None:
            await rest
        broker.confirm()
        assert reply.outcome == "sent"
        return loop.time() - began_s

    def test_a_request_of_very_many_waits_for_none(self) -> None:
        """All that is waited for is looked at whenever there is news."""

        async def main() -> None:
            for more, waits_s in ((0, MAX_UNKNOWN_MS / 1000), (1, 0)):
                asked = [(index, batch()) for index in range(SLICE_PARTITIONS + more)]
                assert await self.waited_s(self.cluster(), [("new", None, asked)]) == pytest.approx(
                    waits_s
                )

        virtual_time.run(main())

    def test_what_waits_is_counted_with_all_that_its_request_holds(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(arrivals, "MAX_REQUESTS_BYTES", 10_000)
        new = ("new", None, [(0, batch())])

        async def main() -> None:
            assert await self.waited_s(self.cluster(), [new]) > 0
            large = ("t", None, [(0, batch(1_500))])
            many = ("t", None, [(0, batch())] * 10)
            for others in (large, many):
                assert await self.waited_s(self.cluster(), [others, new]) == 0

        virtual_time.run(main())

    def test_what_does_not_come_is_refused_as_always(self) -> None:
        async def main() -> None:
            broker = self.cluster()
            reply, rest = broker.start(9, [("new", None, [(0, batch())])])
            assert rest is not None
            await rest
            (row,) = reply.response(ApiKey.PRODUCE, 9).responses[0].partition_responses
            assert row.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

        run(main())
