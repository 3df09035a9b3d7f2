"""Fetch: versions, the long poll, sessions, isolation."""

import asyncio
import random
from collections.abc import Coroutine, Sequence
from typing import Any
from uuid import UUID

import pytest

from headrace.broker.api import fetch as fetch_api
from headrace.broker.api.fetch import FetchHandler
from headrace.broker.cluster.cluster_view import ClusterView
from headrace.broker.fetch.reader import MAX_COLD_WAIT_MS, FetchReader
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.config.node import LogConfig, NetworkConfig
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode, ProtocolError
from headrace.protocol.headers import parse_request_header
from headrace.protocol.messages import FetchRequest, encode_request
from headrace.protocol.records.record import Record
from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError
from headrace.turns import Turns
from tests.simulation import virtual_time
from tests.unit.broker.cluster_scene import NODE_ID, NOW_MS, FakeRegistry, context_of, topic_id
from tests.unit.broker.reply_fake import FakeReply

VERSIONS = range(4, 19)
PLENTY = 1 << 20
_Topic = FetchRequest.FetchTopic


def asked(offset: int = 0, *, index: int = 0, epoch: int = -1, max_bytes: int = PLENTY) -> Any:
    return _Topic.FetchPartition(
        partition=index,
        fetch_offset=offset,
        current_leader_epoch=epoch,
        partition_max_bytes=max_bytes,
    )


def request(
    topics: Sequence[tuple[str | UUID, Sequence[Any]]] = (("t", (asked(),)),),
    *,
    wait_ms: int = 0,
    min_bytes: int = 1,
    max_bytes: int = PLENTY,
    isolation: int = 0,
    session: tuple[int, int] = (0, -1),
    forgotten: Sequence[tuple[str, Sequence[int]]] = (),
) -> FetchRequest:
    return FetchRequest(
        max_wait_ms=wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=isolation,
        session_id=session[0],
        session_epoch=session[1],
        topics=[
            _Topic(
                topic=topic if isinstance(topic, str) else "",
                topic_id=topic if isinstance(topic, UUID) else None,
                partitions=list(partitions),
            )
            for topic, partitions in topics
        ],
        forgotten_topics_data=[
            FetchRequest.ForgottenTopic(topic=topic, partitions=list(partitions))
            for topic, partitions in forgotten
        ],
        rack_id="",
    )


class Broker:
    """Serves "t", whose id is `topic_id(1)`."""

    def __init__(self, *, slots: int = 10, max_fetch_bytes: int = PLENTY) -> None:
        self.registry = FakeRegistry()
        self.throttle_ms = 0
        self.log = self.registry.serve("t", 1, leader_epoch=3)
        self.metrics = RequestMetrics(lambda: 0.0)
        turns = Turns(lambda: 0.0, share_s=0.0)  # every piece of work waits for a turn of its own
        self.handler = FetchHandler(
            reader=FetchReader(self.registry, self.metrics, turns),  # type: ignore[arg-type]
            cluster=ClusterView(lambda: self.registry.client.image, NODE_ID, NetworkConfig()),
            sessions=FetchSessions(slots, random.Random(1)),
            config=LogConfig(max_fetch_bytes=max_fetch_bytes),
            metrics=self.metrics,
            turns=turns,
        )

    def start(
        self, version: int, wanted: FetchRequest
    ) -> tuple[FakeReply, Coroutine[Any, Any, None] | None]:
        context = context_of(ApiKey.FETCH, version)
        frame = memoryview(encode_request(wanted, context.header))
        _, body_offset = parse_request_header(frame)
        reply = FakeReply()
        reply.throttle_ms = self.throttle_ms
        return reply, self.handler.start(context, frame[body_offset:], reply)  # type: ignore[arg-type]

    def now(self, version: int, wanted: FetchRequest) -> Any:
        """The answer of a fetch that need not wait."""
        reply, rest = self.start(version, wanted)
        assert rest is None, "it waits"
        return reply.response(ApiKey.FETCH, version)

    async def later(self, version: int, wanted: FetchRequest) -> Any:
        """The answer of a fetch that waits."""
        reply, rest = self.start(version, wanted)
        assert rest is not None, "it does not wait"
        assert reply.outcome is None
        await rest
        return reply.response(ApiKey.FETCH, version)

    def publish(self, value_bytes: int = 100) -> int:
        size = self.log.append(Record(0, NOW_MS, None, bytes(value_bytes)))
        self.log.data.confirm()
        return size


def only(response: Any) -> Any:
    (topic,) = response.responses
    (partition,) = topic.partitions
    return partition


@pytest.mark.parametrize("version", VERSIONS)
def test_records_are_answered_as_they_are_stored(version: int) -> None:
    broker = Broker()
    broker.log.fill(2)
    name: str | UUID = "t" if version < 13 else topic_id(1)
    told = broker.now(version, request([(name, (asked(),))]))
    (topic,) = told.responses
    if version < 13:
        assert topic.topic == "t"
    else:
        assert topic.topic_id == topic_id(1)
    partition = only(told)
    assert (told.throttle_time_ms, partition.partition_index, partition.error_code) == (0, 0, 0)
    assert (partition.high_watermark, partition.last_stable_offset) == (2, 2)
    assert bytes(partition.records) == b"".join(it.payload for it in broker.log.data.batches)
    if version >= 5:
        assert partition.log_start_offset == 0
    if version >= 11:
        assert partition.preferred_read_replica == -1


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("isolation", "aborted"), [(0, None), (1, [])])
def test_aborted_transactions_are_null_for_those_who_read_everything_and_a_list_for_others(
    version: int, isolation: int, aborted: Any
) -> None:
    """2.7: read_uncommitted gets null, read_committed a list, here always empty."""
    broker = Broker()
    broker.log.fill(1)
    name: str | UUID = "t" if version < 13 else topic_id(1)
    partition = only(broker.now(version, request([(name, (asked(),))], isolation=isolation)))
    assert partition.aborted_transactions == aborted
    assert partition.last_stable_offset == 1
    assert partition.records


@pytest.mark.parametrize("version", range(13, 19))
def test_topics_go_by_id_from_version_13_on(version: int) -> None:
    """2.7: an unknown id is UNKNOWN_TOPIC_ID of that partition; answers carry ids only."""
    told = Broker().now(version, request([(topic_id(9), (asked(),))]))
    assert told.responses[0].topic_id == topic_id(9)
    assert only(told).error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize(
    ("partition", "error"),
    [
        (asked(index=5), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (asked(epoch=2), ErrorCode.FENCED_LEADER_EPOCH),
        (asked(epoch=4), ErrorCode.UNKNOWN_LEADER_EPOCH),
        (asked(1), ErrorCode.OFFSET_OUT_OF_RANGE),
    ],
)
def test_an_error_is_answered_at_once_whatever_the_client_would_wait_for(
    partition: Any, error: ErrorCode
) -> None:
    """2.7: any partition error ends the long poll."""
    told = Broker().now(11, request([("t", (partition,))], wait_ms=60_000, min_bytes=1_000))
    assert (told.error_code, only(told).error_code) == (0, error)
    assert not only(told).records


def test_what_is_there_is_answered_at_once() -> None:
    broker = Broker()
    size = broker.log.fill(2)
    broker.now(11, request(wait_ms=60_000, min_bytes=2 * size))


def test_a_client_that_does_not_wait_is_answered_at_once_with_nothing() -> None:
    assert not only(Broker().now(11, request(wait_ms=0))).records


def test_a_fetch_of_no_partitions_is_answered_at_once() -> None:
    assert list(Broker().now(11, request([], wait_ms=60_000)).responses) == []


def test_min_bytes_is_capped_by_what_may_be_answered() -> None:
    """2.7: min_bytes is capped to max_bytes, which whole batches need not fill."""
    broker = Broker()
    size = broker.log.fill(4)
    limits = {"wait_ms": 60_000, "min_bytes": 3 * size - 5, "max_bytes": 3 * size - 5}
    assert len(only(broker.now(11, request(**limits))).records) == 2 * size
    broker.now(11, request(wait_ms=60_000, min_bytes=PLENTY, max_bytes=size))
    small = (asked(max_bytes=2 * size + 9),)
    broker.now(11, request([("t", small)], wait_ms=60_000, min_bytes=2 * size + 9))


def test_the_broker_has_a_limit_of_its_own() -> None:
    broker = Broker(max_fetch_bytes=1)
    size = broker.log.fill(3)
    told = broker.now(11, request(max_bytes=2**31 - 1, min_bytes=2**31 - 1, wait_ms=60_000))
    assert len(only(told).records) == size


def test_a_waiting_fetch_is_answered_when_records_are_confirmed_not_when_they_are_appended() -> (
    None
):
    async def run() -> None:
        broker = Broker()
        waiting = asyncio.create_task(broker.later(11, request(wait_ms=60_000)))
        await asyncio.sleep(0)
        broker.log.append(Record(0, NOW_MS, None, b"v"))
        await asyncio.sleep(1)
        assert not waiting.done()
        broker.log.data.confirm()
        told = await waiting
        assert asyncio.get_running_loop().time() < 2
        assert only(told).high_watermark == 1
        assert only(told).records

    virtual_time.run(run())


def test_a_waiting_fetch_goes_on_waiting_until_there_is_enough() -> None:
    async def run() -> None:
        broker = Broker()
        size = broker.publish()
        waiting = asyncio.create_task(broker.later(11, request(wait_ms=60_000, min_bytes=3 * size)))
        await asyncio.sleep(1)
        broker.publish()
        await asyncio.sleep(1)
        assert not waiting.done()
        broker.publish()
        assert len(only(await waiting).records) == 3 * size
        assert asyncio.get_running_loop().time() < 3

    virtual_time.run(run())


@pytest.mark.parametrize("published", [0, 1])
def test_when_time_is_up_whatever_is_there_is_answered_without_an_error(published: int) -> None:
    async def run() -> None:
        broker = Broker()
        size = sum(broker.publish() for _ in range(published))
        told = await broker.later(11, request(wait_ms=500, min_bytes=10_000))
        assert asyncio.get_running_loop().time() == pytest.approx(0.5)
        assert (told.error_code, only(told).error_code) == (0, 0)
        assert len(only(told).records or b"") == size

    virtual_time.run(run())


class EarlyTimers(virtual_time.VirtualTimeLoop):
    """Fires timers a little before their time: uvloop rounds to milliseconds, asyncio to the clock's resolution."""

    def call_at(self, when: float, *arguments: Any, **options: Any) -> asyncio.TimerHandle:
        return super().call_at(when - 0.000_4, *arguments, **options)


def test_a_wait_ends_with_its_timer_whatever_the_clock_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        broker = Broker()
        looks = []
        find = broker.registry.find

        def counted(*arguments: Any) -> Any:
            looks.append(arguments)
            assert len(looks) < 10, "it looks again and again until the clock moves"
            return find(*arguments)

        monkeypatch.setattr(broker.registry, "find", counted)
        told = await broker.later(11, request(wait_ms=500))
        assert only(told).error_code == 0
        assert asyncio.get_running_loop().time() < 0.5

    with asyncio.Runner(loop_factory=EarlyTimers) as runner:
        runner.run(run())


def test_a_partition_that_leaves_ends_the_wait() -> None:
    """2.7: also completes on leader change and topic deletion."""

    async def run() -> None:
        broker = Broker()
        waiting = asyncio.create_task(broker.later(11, request(wait_ms=60_000)))
        await asyncio.sleep(1)
        gone = broker.registry.served.pop(("t", 0))
        gone.partition.discard()
        told = await waiting
        assert only(told).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert asyncio.get_running_loop().time() < 2

    virtual_time.run(run())


def test_a_waiting_fetch_is_told_nothing_once_the_lease_is_not_certain() -> None:
    async def run() -> None:
        broker = Broker()
        waiting = asyncio.create_task(broker.later(11, request(wait_ms=60_000)))
        await asyncio.sleep(1)
        broker.registry.client.has_lease = False
        broker.publish()
        told = only(await waiting)
        assert told.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert (told.high_watermark, bool(told.records)) == (-1, False)

    virtual_time.run(run())


def test_a_fetch_that_has_ended_listens_no_more() -> None:
    async def run() -> None:
        broker = Broker()
        await broker.later(11, request(wait_ms=500))
        assert not broker.log.partition.reads.readers
        waiting = asyncio.create_task(broker.later(11, request(wait_ms=60_000)))
        await asyncio.sleep(1)
        assert len(broker.log.partition.reads.readers) == 1
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert not broker.log.partition.reads.readers, "a client that has left is forgotten"

    virtual_time.run(run())


def test_what_is_not_in_memory_is_read_from_the_bucket() -> None:
    async def run() -> None:
        broker = Broker()
        size = broker.log.fill(2)
        broker.log.data.cold_below = 2
        told = await broker.later(11, request(wait_ms=500, min_bytes=10_000))
        assert len(only(told).records) == 2 * size

    virtual_time.run(run())


def test_what_is_published_while_the_bucket_is_read_is_not_missed() -> None:
    async def run() -> None:
        broker = Broker()
        other = broker.registry.serve("u", 2)
        size = broker.publish()
        broker.log.data.cold_below = 1
        broker.log.data.bucket = asyncio.Event()
        both = [("u", (asked(),)), ("t", (asked(),))]
        waiting = asyncio.create_task(
            broker.later(11, request(both, wait_ms=60_000, min_bytes=2 * size))
        )
        # `u` has been found empty, `t` is being read, and will be before its read goes on without the fetch.
        await asyncio.sleep(MAX_COLD_WAIT_MS / 2000)
        other.fill(1)
        broker.log.data.bucket.set()
        told = await waiting
        assert [len(topic.partitions[0].records) for topic in told.responses] == [size, size]
        assert asyncio.get_running_loop().time() < 2

    virtual_time.run(run())


def test_a_bucket_that_hangs_holds_up_nothing_that_is_in_memory() -> None:
    async def run() -> None:
        broker = Broker()
        hot = broker.registry.serve("u", 2)
        size = broker.publish()
        hot.fill(1)
        broker.log.data.cold_below = 1
        broker.log.data.bucket = asyncio.Event()
        both = [("t", (asked(),)), ("u", (asked(),))]
        told = await broker.later(11, request(both, wait_ms=500))
        assert [len(topic.partitions[0].records) for topic in told.responses] == [0, size]
        assert [topic.partitions[0].error_code for topic in told.responses] == [0, 0]
        assert asyncio.get_running_loop().time() == pytest.approx(1, abs=0.01)

    virtual_time.run(run())


@pytest.mark.parametrize(("wait_ms", "answered_s"), [(0, 1), (500, 1), (2_500, 3), (60_000, 10)])
def test_a_slow_bucket_is_waited_for_as_long_as_the_client_wants(
    wait_ms: int, answered_s: int
) -> None:
    async def run() -> None:
        broker = Broker()
        size = broker.publish()
        broker.log.data.cold_below = 1
        broker.log.data.bucket = asyncio.Event()
        asyncio.get_running_loop().call_later(9.9, broker.log.data.bucket.set)
        told = await broker.later(11, request(wait_ms=wait_ms))
        assert len(only(told).records) == (size if answered_s == 10 else 0)
        assert asyncio.get_running_loop().time() == pytest.approx(answered_s, abs=0.2)

    virtual_time.run(run())


@pytest.mark.parametrize("error", [None, ObjectNotFoundError("lost")])
def test_a_read_that_takes_longer_than_its_fetch_goes_on_for_the_next(
    error: Exception | None,
) -> None:
    """One that began from scratch each time would never end, and its client would never be told."""

    async def run() -> None:
        broker = Broker()
        size = broker.publish()
        broker.log.data.cold_below = 1
        broker.log.data.bucket = asyncio.Event()
        broker.log.data.bucket_error = error
        asyncio.get_running_loop().call_later(2.5, broker.log.data.bucket.set)
        for _ in range(2):
            told = only(await broker.later(11, request(wait_ms=500)))
            assert (told.error_code, told.records) == (ErrorCode.NONE, b"")
        told = only(await broker.later(11, request(wait_ms=500)))
        assert asyncio.get_running_loop().time() == pytest.approx(2.5, abs=0.01)
        if error is None:
            assert len(told.records) == size
        else:
            assert told.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert broker.log.data.bucket_reads == 1

    virtual_time.run(run())


def test_a_bucket_that_fails_is_an_error_of_the_partition_and_ends_the_wait() -> None:
    async def run() -> None:
        broker = Broker()
        broker.publish()
        broker.log.data.cold_below = 1
        broker.log.data.bucket_error = ObjectStoreError("503")
        told = await broker.later(11, request(wait_ms=60_000, min_bytes=10_000))
        assert only(told).error_code == ErrorCode.KAFKA_STORAGE_ERROR
        assert asyncio.get_running_loop().time() < 1

    virtual_time.run(run())


def test_a_body_that_ends_early_is_no_request() -> None:
    broker = Broker()
    with pytest.raises(ProtocolError):
        broker.handler.start(
            context_of(ApiKey.FETCH, 11),
            memoryview(b"\0\0\0\1"),
            FakeReply(),  # type: ignore[arg-type]
        )


# Sessions (KIP-227)


@pytest.mark.parametrize("version", range(7, 13))
def test_in_a_session_only_news_is_answered(version: int) -> None:
    broker = Broker()
    size = broker.log.fill(1)
    full = broker.now(version, request(session=(0, 0)))
    assert full.session_id > 0
    session = full.session_id
    assert only(full).records
    moved_on = broker.now(version, request([("t", (asked(1),))], session=(session, 1)))
    assert (moved_on.session_id, list(moved_on.responses)) == (session, [])
    broker.publish()
    told = broker.now(version, request([], session=(session, 2)))
    assert len(only(told).records) == size


def test_a_client_without_a_session_gets_none() -> None:
    assert Broker().now(11, request(session=(0, -1))).session_id == 0


def test_without_room_a_session_is_declined() -> None:
    """2.8: session id 0 is a legal answer; the client goes on with full fetches."""
    broker = Broker(slots=0)
    broker.log.fill(1)
    told = broker.now(11, request(session=(0, 0)))
    assert (told.error_code, told.session_id) == (0, 0)
    assert only(told).records


@pytest.mark.parametrize("version", VERSIONS[3:])
def test_errors_of_sessions_stand_on_top(version: int) -> None:
    """2.8: 70 for an unknown id, 71 for a wrong epoch; clients then begin anew."""
    broker = Broker()
    name: str | UUID = "t" if version < 13 else topic_id(1)
    unknown = broker.now(version, request([], session=(99, 1), wait_ms=60_000))
    assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert (unknown.session_id, list(unknown.responses)) == (0, [])
    session = broker.now(version, request([(name, (asked(),))], session=(0, 0))).session_id
    wrong = broker.now(version, request([], session=(session, 2), wait_ms=60_000))
    assert wrong.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH


def test_a_session_does_not_mix_names_and_ids() -> None:
    broker = Broker()
    session = broker.now(12, request(session=(0, 0))).session_id
    told = broker.now(13, request([], session=(session, 1)))
    assert told.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_wait_whose_client_has_gone_on_with_its_session_is_told_so() -> None:
    """2.8: a wrong epoch, and no records that the client would then miss."""

    async def run() -> None:
        broker = Broker()
        session = broker.now(11, request(session=(0, 0))).session_id
        waiting = asyncio.create_task(
            broker.later(11, request([], session=(session, 1), wait_ms=60_000))
        )
        await asyncio.sleep(1)
        broker.now(11, request([], session=(session, 2)))
        broker.publish()
        told = await waiting
        assert told.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert list(told.responses) == []

    virtual_time.run(run())


def test_what_is_forgotten_is_not_read_any_more() -> None:
    broker = Broker()
    broker.registry.serve("u", 2)
    both = [("t", (asked(),)), ("u", (asked(),))]
    session = broker.now(11, request(both, session=(0, 0))).session_id
    broker.now(11, request([], session=(session, 1), forgotten=[("t", (0,))]))
    broker.publish()
    told = broker.now(11, request([], session=(session, 2)))
    assert list(told.responses) == []


def test_an_error_is_told_again_until_it_is_over() -> None:
    """2.8: an error resets what the client is known to know."""
    broker = Broker()
    gone = broker.registry.served.pop(("t", 0))
    session = broker.now(11, request(session=(0, 0))).session_id
    for epoch in (1, 2):
        told = broker.now(11, request([], session=(session, epoch)))
        assert only(told).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.registry.served["t", 0] = gone
    assert only(broker.now(11, request([], session=(session, 3)))).error_code == 0
    assert list(broker.now(11, request([], session=(session, 4))).responses) == []


def test_partitions_that_returned_records_let_the_others_go_first() -> None:
    """2.8, trap: kafka-python hangs without that fairness."""
    broker = Broker()
    broker.registry.serve("u", 2).fill(4)
    size = broker.log.fill(4)
    both = [("t", (asked(),)), ("u", (asked(),))]
    first = broker.now(11, request(both, session=(0, 0), max_bytes=size))
    session = first.session_id
    order = []
    for epoch in range(1, 5):
        told = broker.now(11, request([], session=(session, epoch), max_bytes=size))
        order += [it.topic for it in told.responses if it.partitions[0].records]
    assert sorted(order[:2]) == ["t", "u"]
    assert sorted(order[2:]) == ["t", "u"]


def test_a_fetch_does_not_wait_for_days() -> None:
    async def run() -> None:
        answer = await Broker().later(12, request(wait_ms=2**31 - 1))
        assert asyncio.get_running_loop().time() == fetch_api.MAX_WAIT_MS / 1000
        assert answer.error_code == 0

    virtual_time.run(run())


def test_a_fetch_whose_client_has_left_waits_no_longer() -> None:

    async def run() -> None:
        broker = Broker()
        reply, rest = broker.start(12, request(wait_ms=2**31 - 1))
        assert rest is not None
        waiting = asyncio.create_task(rest)
        await asyncio.sleep(1)
        reply.lose()
        await waiting
        assert asyncio.get_running_loop().time() < 2
        assert reply.outcome is None

    virtual_time.run(run())


def test_a_read_that_times_out_is_not_taken_for_the_end_of_the_wait() -> None:
    """It would be read again for ever."""

    async def run() -> None:
        broker = Broker()
        broker.publish()
        broker.log.data.cold_below = 1
        broker.log.data.bucket_error = TimeoutError("of a bug")  # type: ignore[assignment]
        _, rest = broker.start(12, request())
        assert rest is not None
        with pytest.raises(TimeoutError):
            await rest

    virtual_time.run(run())


@pytest.mark.parametrize("version", [4, 7, 12, 18])
def test_an_answer_tells_its_client_to_wait_as_long_as_its_reply_says(version: int) -> None:
    """With records, without any, and with an error of the session."""
    broker = Broker()
    broker.throttle_ms = 250
    wanted: Any = "t" if version < 13 else topic_id(1)
    empty = broker.now(version, request([(wanted, (asked(),))]))
    broker.log.fill(2)
    filled = broker.now(version, request([(wanted, (asked(),))]))
    assert (empty.throttle_time_ms, filled.throttle_time_ms) == (250, 250)
    if version >= 7:
        unknown = broker.now(version, request([], session=(99, 5)))
        assert unknown.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
        assert unknown.throttle_time_ms == 250


def test_an_answer_that_was_waited_for_tells_its_client_to_wait() -> None:
    async def main() -> None:
        broker = Broker()
        broker.throttle_ms = 250
        answer = await broker.later(11, request(wait_ms=100))
        assert answer.throttle_time_ms == 250

    virtual_time.run(main())
