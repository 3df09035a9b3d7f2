"""Fetch sessions that read only what has changed answer what they would answer if they read everything each time.

The model keeps the client's partitions in a list, and reads all of them at each request. In between, records are
appended and confirmed, log starts move, partitions move away and come back at other epochs, topics are deleted and
created again, data leaves memory, and the lease is lost.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from headrace.broker.fetch.enough import Enough
from headrace.broker.fetch.reader import FetchReader, PartitionRead, ReadResult, counted, withheld
from headrace.broker.fetch.session import FetchContext, FetchSession, IncrementalContext
from headrace.broker.fetch.session_cache import FetchSessions
from headrace.broker.fetch.waiting import WaitingFetch
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.fetch.request import FetchPartition
from headrace.protocol.records.record import Record
from headrace.steps import completed
from headrace.turns import Turns
from tests.unit.broker.cluster_scene import NOW_MS, FakeRegistry, ServedPartition, topic_id
from tests.unit.broker.fetch.session_scene import finished, request

TOPICS = ("t", "u", "v")
INDEXES = (0, 1)
AT = st.tuples(st.sampled_from(TOPICS), st.sampled_from(INDEXES))
PLENTY = 1 << 20
LIMITS = st.sampled_from([0, 150, 400, PLENTY, PLENTY, PLENTY])
ASKED = st.builds(
    FetchPartition,
    st.just(0),
    st.sampled_from([-1, -1, -1, -1, 0, 1]),
    st.sampled_from([0, 0, 0, 1, 2, 6]),
    st.just(-1),
    st.just(-1),
    LIMITS,
)

EVENTS = st.sampled_from(
    [
        *("append", "append", "append", "append much", "append unconfirmed", "trim"),
        *("leave memory", "move away", "create again"),
    ]
)

Identity = str | UUID
Key = tuple[Identity, int]


class FixedIds:
    """Session ids in turn."""

    def __init__(self) -> None:
        self.last = 0

    def randint(self, _low: int, _high: int) -> int:
        self.last += 1
        return self.last


@dataclass
class Naive:
    """One partition of the model: what was asked last, and what was told last."""

    asked: FetchPartition
    told: tuple[int, int] = (-1, -1)


class SessionMachine(RuleBasedStateMachine):
    """One client with a session, and the model beside it."""

    @initialize(by_id=st.booleans())
    def begin(self, by_id: bool) -> None:
        self.by_id = by_id
        self.registry = FakeRegistry()
        self.retired: list[ServedPartition] = []
        self.numbers = {topic: number for number, topic in enumerate(TOPICS, 1)}
        for topic in TOPICS:
            for index in INDEXES:
                self.registry.serve(topic, self.numbers[topic], index)
        metrics = RequestMetrics(lambda: 0.0)
        self.reader = FetchReader(self.registry, metrics, Turns(lambda: 0.0, 1.0))  # type: ignore[arg-type]
        self.sessions = FetchSessions(3, FixedIds())  # type: ignore[arg-type]
        self.session_id = self.epoch = 0
        self.model: dict[Key, Naive] = {}
        self.context: FetchContext | None = None

    def identity(self, topic: str) -> Identity:
        return topic_id(self.numbers[topic]) if self.by_id else topic

    # The logs

    @rule(happened=st.lists(st.tuples(AT, EVENTS), min_size=1, max_size=5))
    def happen(self, happened: list[tuple[tuple[str, int], str]]) -> None:
        for at, what in happened:
            self.one(at, what)

    def one(self, at: tuple[str, int], what: str) -> None:
        served = self.registry.served.get(at)
        if what == "create again":
            self.create_again(at[0])
        elif served is None:
            self.come_back(at)
        elif what == "append":
            served.fill(1, 100)
        elif what == "append much":
            served.fill(3, 300)
        elif what == "append unconfirmed":
            served.append(Record(0, NOW_MS, None, b"later"))
        elif what == "trim":
            served.data.start_offset = min(served.data.start_offset + 2, served.data.confirm_offset)
            served.partition.reads.wake_readers()
        elif what == "leave memory":
            served.data.cold_below = served.data.confirm_offset
        elif what == "move away":
            self.retire(at)

    def come_back(self, at: tuple[str, int]) -> None:
        """With the log as it was, at the next epoch."""
        gone = next((it for it in reversed(self.retired) if self.place(it) == at), None)
        assert gone is not None
        epoch = gone.partition.leader_epoch + 1
        served = self.registry.serve(at[0], self.numbers[at[0]], at[1], leader_epoch=epoch)
        served.data.__dict__.update({**gone.data.__dict__, "open_appends": []})
        served.data.next_offset = served.data.confirm_offset
        end = served.data.confirm_offset
        served.data.batches = [it for it in served.data.batches if it.end_offset <= end]

    def create_again(self, topic: str) -> None:
        self.numbers[topic] += 10
        for index in INDEXES:
            self.retire((topic, index))
            self.registry.serve(topic, self.numbers[topic], index)

    def place(self, served: ServedPartition) -> tuple[str, int] | None:
        partition = served.partition
        is_now = partition.topic_id == topic_id(self.numbers[partition.topic])
        return (partition.topic, partition.index) if is_now else None

    def retire(self, at: tuple[str, int]) -> None:
        served = self.registry.served.pop(at, None)
        if served is not None:
            served.partition.retire()
            self.retired.append(served)

    # The client

    @rule(
        named=st.dictionaries(AT, ASKED, max_size=6),
        forgotten=st.lists(AT, max_size=1),
        follows=st.booleans(),
        max_bytes=LIMITS,
        is_full=st.sampled_from([False, False, False, True]),
        has_lease=st.sampled_from([True, True, True, False]),
    )
    def fetch(
        self,
        named: dict[tuple[str, int], FetchPartition],
        forgotten: list[tuple[str, int]],
        follows: bool,
        max_bytes: int,
        is_full: bool,
        has_lease: bool,
    ) -> None:
        """`follows`: the client has read everything, as far as it names nothing else."""
        self.registry.client.has_lease = has_lease
        is_full = is_full or self.session_id == 0
        wanted = {
            (self.identity(topic), index): asked._replace(partition_index=index)
            for (topic, index), asked in named.items()
        }
        if follows and not is_full:
            for key, offset in self.reached().items():
                asked = self.model[key].asked
                read_all = asked._replace(fetch_offset=offset, current_leader_epoch=-1)
                wanted.setdefault(key, read_all)
        gone = [] if is_full else [(self.identity(topic), index) for topic, index in forgotten]
        self.ask(wanted, gone, is_full=is_full)
        self.read(max_bytes)
        self.registry.client.has_lease = True

    def reached(self) -> dict[Key, int]:
        """The end of each partition's log, as a client that has read all of it asks."""
        found = {}
        for served in self.registry.served.values():
            partition = served.partition
            key = (self.identity(partition.topic), partition.index)
            if key in self.model:
                found[key] = partition.reads.high_watermark
        return found

    def ask(self, named: dict[Key, FetchPartition], gone: list[Key], *, is_full: bool) -> None:
        topics: dict[Identity, list[FetchPartition]] = {}
        for (identity, _), asked in named.items():
            topics.setdefault(identity, []).append(asked)
        forgotten: dict[Identity, list[int]] = {}
        for identity, index in gone:
            forgotten.setdefault(identity, []).append(index)
        if is_full:
            self.model, self.epoch = {}, 0
        for identity, partitions in topics.items():
            for asked in partitions:
                key = (identity, asked.partition_index)
                if key in self.model:
                    self.model[key].asked = asked
                else:
                    self.model[key] = Naive(asked)
        for key in gone:
            self.model.pop(key, None)
        wanted = request(self.session_id, self.epoch, topics, forgotten)
        self.context = completed(self.sessions.begin(13 if self.by_id else 12, wanted, 0))

    def read(self, max_bytes: int) -> None:
        context = self.context
        assert context is not None
        read = self.reader.read_cached(
            context.session.look(), max_bytes, by_id=self.by_id, isolation=0
        )
        everything = self.everything()
        whole = self.reader.read_cached(everything.look(), max_bytes, by_id=self.by_id, isolation=0)
        if not whole.has_lease:
            whole.reads = completed(withheld(everything.all()))
        expected = self.news(whole, is_all=not isinstance(context, IncrementalContext))
        if read.has_cold or not self.registry.client.has_lease:
            assert read.has_error == whole.has_error or not read.has_lease
        else:
            assert (read.size_bytes, read.has_error) == (whole.size_bytes, whole.has_error)
            assert read.available_bytes == whole.available_bytes
        if not read.has_lease:
            read.reads = completed(withheld(context.session.all()))
        answer = finished(context, read.reads, 0)
        context.end()
        assert answer.error == 0
        assert [told(it) for it in answer.reads] == expected
        self.session_id = answer.session_id
        self.epoch = self.epoch + 1 if self.session_id else 0

    def everything(self) -> FetchSession:
        """All partitions of the model, in their order, in a session of their own."""
        session = FetchSession(by_id=self.by_id)
        for (identity, _), one in self.model.items():
            completed(session.update(request(0, 0, {identity: [one.asked]})))
        return session

    def news(self, whole: ReadResult, *, is_all: bool) -> list[Any]:
        """What the model answers, and takes as answered."""
        answered = []
        for key, read in zip(list(self.model), whole.reads, strict=True):
            one = self.model[key]
            now = (read.high_watermark, read.log_start_offset)
            if is_all or read.size_bytes > 0 or read.error != 0 or one.told != now:
                answered.append(told(read))
            one.told = (-1 if read.error != 0 else now[0], now[1])
            if read.size_bytes > 0 and not is_all:
                self.model[key] = self.model.pop(key)
        return answered

    # A Fetch that waits

    def count(self, target: Any, before: Any) -> Any:
        return self.reader.count(target, before, by_id=self.by_id, isolation=0)

    @precondition(lambda self: self.session_id != 0)
    @rule(happened=st.lists(st.tuples(AT, EVENTS), min_size=1, max_size=6))
    def wait(self, happened: list[tuple[tuple[str, int], str]]) -> None:
        """Whatever happens while a Fetch waits, it counts what a count of everything gives."""
        read_all = {
            key: self.model[key].asked._replace(
                fetch_offset=offset, current_leader_epoch=-1, partition_max_bytes=700
            )
            for key, offset in self.reached().items()
        }
        unserved = [key for key in self.model if key not in read_all]
        self.ask(read_all, unserved, is_full=False)
        context = self.context
        assert context is not None
        read = self.reader.read_cached(
            context.session.look(), PLENTY, by_id=self.by_id, isolation=0
        )
        for it in read.reads:
            if it.partition is not None:
                it.target.listen(it.log)  # as before a read that waits for the bucket
        assert not read.has_error
        assert not read.has_cold
        waiting = WaitingFetch(
            context.session,
            Enough(min_bytes=500, max_bytes=PLENTY, may_wait=True),
            self.count,
        )
        waiting.begin()
        waiting.add(counted(read.reads))
        for at, what in happened:
            self.one(at, what)
            while waiting.count(1):
                pass
            everything = self.everything()
            counts = [self.count(target, None) for target in everything.look()]
            whole = self.reader.read_cached(
                everything.look(), PLENTY, by_id=self.by_id, isolation=0
            )
            everything.close()
            completed(everything.leave())
            assert waiting.must_read or not whole.has_error
            if (
                not waiting.must_read and None not in counts
            ):  # what has left memory was counted before
                assert waiting.available_bytes == sum(it.size_bytes for it in counts)
        self.read(PLENTY)

    @rule()
    def close(self) -> None:
        """A Fetch without a session ends the one that it names."""
        if self.session_id:
            wanted = request(self.session_id, -1)
            completed(self.sessions.begin(13 if self.by_id else 12, wanted, 0)).end()
            self.session_id, self.model = 0, {}

    @invariant()
    def only_the_session_listens(self) -> None:
        listening = [
            it.partition for it in self.registry.served.values() if it.partition.reads.readers
        ]
        keys = {(self.identity(it.topic), it.index) for it in listening}
        assert keys <= set(self.model)
        assert all(len(it.reads.readers) <= 1 for it in listening)
        assert not any(it.partition.reads.readers for it in self.retired)


def told(read: PartitionRead) -> tuple[object, ...]:
    """One partition of an answer."""
    target = read.target
    offsets = [batch.base_offset for batch in read.batches]
    identity = (target.topic or target.topic_id, target.index)
    return (*identity, read.error, read.high_watermark, read.log_start_offset, offsets)


TestFetchSessions = SessionMachine.TestCase
TestFetchSessions.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
