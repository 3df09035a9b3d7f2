"""The tail of a partition by Fetch: each row once, whatever leaders do; what is lost is told; every wait ends."""

from collections.abc import Iterator
from contextlib import closing
from uuid import UUID

import pytest

from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.errors import DataLossError, OptionError, SourceError
from headrace.pipeline.source.tail import brokers, connection
from headrace.pipeline.source.tail.brokers import PATIENCE_S, BrokerAccess, Clock
from headrace.pipeline.source.tail.fetching import TailPart, TailReader
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.response import AbortedTransaction
from headrace.protocol.frames import SIZE
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.control import Marker
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.environment.ports import free_port
from tests.unit.pipeline.source.tail.scripted_broker import (
    CLUSTER,
    TOPIC,
    TOPIC_ID,
    FakeTime,
    ScriptedBroker,
)
from tests.unit.pipeline.source.transactional_log import Step, log_of

NAME = TopicPartition(TOPIC, 0)
BATCH = 5


def batches(count: int) -> list[bytes]:
    found = []
    for base in range(0, count, BATCH):
        records = [Record(it, 1_000, None, str(it).encode()) for it in range(base, base + BATCH)]
        found.append(bytes(encode_batch(records, BatchOptions(compression=Compression.ZSTD))))
    return found


def part(start: int = 0, end: int = 20, topic_id: UUID = TOPIC_ID) -> TailPart:
    return TailPart(NAME, topic_id, start, end)


def rows(
    *addresses: str,
    wanted: TailPart | None = None,
    fails: bool = True,
    is_read_committed: bool = False,
) -> list[int]:
    """Offsets of the rows, whose values are as they should be; time passes as fast as it can."""
    passing = FakeTime()
    access = BrokerAccess(addresses, CLUSTER, is_read_committed)
    clock = Clock(passing.monotonic_s, passing.sleep)
    found = []
    with closing(TailReader(access, fails_on_loss=fails, clock=clock)) as reader:
        for batch in reader.rows(wanted or part(), ("offset", "value")):
            for row in batch.to_pylist():
                assert row["value"] == str(row["offset"]).encode()
                found.append(row["offset"])
    return found


@pytest.fixture
def broker() -> Iterator[ScriptedBroker]:
    with ScriptedBroker(batches(20)) as server:
        yield server


@pytest.fixture
def other() -> Iterator[ScriptedBroker]:
    with ScriptedBroker(batches(20), node_id=2) as server:
        yield server


def fetches(broker: ScriptedBroker) -> list[int]:
    return [it for key, it in broker.asked if key is ApiKey.FETCH]


def closes(_: ScriptedBroker) -> bytes:
    return b""


def test_a_range_within_batches(broker: ScriptedBroker) -> None:
    assert rows(broker.address, wanted=part(3, 17)) == list(range(3, 17))


def test_the_first_address_that_answers_is_asked(broker: ScriptedBroker) -> None:
    assert rows(f"127.0.0.1:{free_port()}", broker.address) == list(range(20))


def test_small_answers(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that is larger than a Fetch may be comes alone."""
    monkeypatch.setattr(brokers, "FETCH_BYTES", 10)
    assert rows(broker.address) == list(range(20))
    assert fetches(broker) == [0, 5, 10, 15]


def test_a_batch_that_is_cut_off_is_fetched_again(broker: ScriptedBroker) -> None:
    broker.cut_bytes = 10
    assert rows(broker.address) == list(range(20))
    assert fetches(broker) == [0, 15]


@pytest.mark.parametrize(
    "fault",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR,
        closes,
        lambda _: SIZE.pack(9) + b"\0\0\0\x63abcde",
    ],
)
def test_a_leader_that_moves(broker: ScriptedBroker, other: ScriptedBroker, fault: object) -> None:
    """In the middle: the new one is asked for the rest."""
    broker.batches, broker.high_watermark = broker.batches[:2], 10

    def moves(_: ScriptedBroker) -> bytes:
        broker.leader = other
        return b""

    broker.faults = [fault, fault, moves]
    assert rows(broker.address) == list(range(20))
    assert fetches(other)


def test_a_leader_that_dies_is_followed_by_another(
    broker: ScriptedBroker, other: ScriptedBroker
) -> None:
    with ScriptedBroker(batches(20), node_id=3) as dies:
        broker.leader = dies

        def goes(_: ScriptedBroker) -> bytes:
            broker.leader = other
            dies.socket.close()
            return b""

        dies.faults = [goes]
        assert rows(broker.address) == list(range(20))
    assert fetches(other) == [0]


def test_no_broker_answers() -> None:
    """The message says what to look at; it comes after a bounded time."""
    passing = FakeTime()
    access = BrokerAccess((f"127.0.0.1:{free_port()}",), CLUSTER, False)
    reader = TailReader(access, fails_on_loss=True, clock=Clock(passing.monotonic_s, passing.sleep))
    with pytest.raises(SourceError, match=r"no broker answers .* 120 s: .*refused.*advertise"):
        list(reader.rows(part(), ("offset",)))
    assert PATIENCE_S - 10 < passing.now_s - 100 < PATIENCE_S + 10


def test_a_broker_of_another_cluster(broker: ScriptedBroker) -> None:
    broker.cluster_id = "other"
    with pytest.raises(OptionError, match="a broker of cluster other; the bucket is of unit"):
        rows(broker.address)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_topic_that_is_gone(broker: ScriptedBroker, is_deleted: bool) -> None:
    if is_deleted:
        broker.topic_error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        broker.topic_id = UUID(int=2)  # it was created again
    with pytest.raises(
        DataLossError, match=r"offsets 0 to 19 of orders-0 .*: the topic was deleted"
    ):
        rows(broker.address)
    assert rows(broker.address, fails=False) == []


def test_records_that_are_deleted_before_they_are_read(broker: ScriptedBroker) -> None:
    broker.log_start = 7
    with pytest.raises(DataLossError, match=r"offsets 0 to 6 .*retention, or DeleteRecords"):
        rows(broker.address)
    assert rows(broker.address, fails=False) == list(range(7, 20))
    broker.log_start = broker.high_watermark = 40
    assert rows(broker.address, fails=False) == []


def test_a_log_that_ends_before_what_was_planned(broker: ScriptedBroker) -> None:
    wanted = part(0, 30)
    with pytest.raises(DataLossError, match=r"offsets 20 to 29 .* the leader's log ends before"):
        rows(broker.address, wanted=wanted)
    assert rows(broker.address, wanted=wanted, fails=False) == list(range(20))
    with pytest.raises(DataLossError, match=r"offsets 25 to 29 .* the leader's log ends before"):
        rows(broker.address, wanted=part(25, 30))


def test_aborted_transactions(broker: ScriptedBroker) -> None:
    none = Compression.NONE
    steps = [(1, None), (2, None), (1, Marker.ABORT), (2, Marker.COMMIT), (1, None), (-1, None)]
    log = log_of([Step(producer, it, 2, 0, 0, none) for producer, it in steps])
    broker.batches, broker.high_watermark = log.batches, log.end_offset
    broker.aborted = [AbortedTransaction(1, 0)]
    wanted = part(1, 10)
    assert rows(broker.address, wanted=wanted, is_read_committed=True) == [2, 3, 6, 7, 8, 9]
    broker.aborted = []
    assert rows(broker.address, wanted=wanted) == [1, 2, 3, 6, 7, 8, 9]


def test_damage_is_told(broker: ScriptedBroker) -> None:
    damaged = bytearray(broker.batches[1])
    damaged[-1] ^= 1
    broker.batches[1] = bytes(damaged)
    with pytest.raises(SourceError, match="orders-0, batch at offset 5: its checksum"):
        rows(broker.address)


def test_an_answer_has_a_bound(broker: ScriptedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "MAX_ANSWER_BYTES", 300)
    with pytest.raises(SourceError, match="at most 300 are allowed"):
        rows(broker.address)


def test_a_refusal_is_not_tried_again(broker: ScriptedBroker) -> None:
    broker.faults = [ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    with pytest.raises(SourceError, match=r"orders-0 at 127.*: TOPIC_AUTHORIZATION_FAILED"):
        rows(broker.address)
    assert len(fetches(broker)) == 1
