"""Readers with fetch sessions that wait, and what a session has to tell.

A reader has a session with each broker that leads some of its partitions, as consumers have. It waits for records, now
and then for many bytes, and now and then reads again what it has read, of which the bucket has the most. What a broker
has acknowledged before a request is sent is in its answer, whatever the session has told before.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from headrace.protocol.errors import ErrorCode
from tests.simulation.cluster import wire
from tests.simulation.cluster.clients import PAUSE_AFTER_ERROR_S, Client, Leader
from tests.simulation.cluster.records import Place, RecordHistory, Seen, record_of
from tests.simulation.cluster.refusals import Refused
from tests.simulation.cluster.wire import LOST, Wanted

ANSWER_S: Final = 4.0  # beyond the wait
MAX_BEHIND_S: Final = 30.0  # when all is calm
LITTLE: Final = 0.3  # probability that a reader takes little at a time
AGAIN: Final = (
    0.02  # probability, with each answer that tells of a partition, that it is read again
)
MAX_AGAIN: Final = 100  # records
PAUSE_S: Final = 0.02  # between fetches
COLD_S: Final = 0.95  # an answer goes without what the bucket has not given, but not sooner
EARLY_S: Final = 0.05  # a timer may fire so much too early
_WAITS_MS: Final = (300, 1_000, 4_000)
_LITTLE: Final = Wanted(max_bytes=8_000, partition_bytes=2_000)
_MUCH: Final = Wanted(max_bytes=16 << 20, partition_bytes=1 << 20)
_UNKNOWN: Final = -1
# The session is gone: the broker has ended, or has had no room.
_BEGIN_ANEW: Final = frozenset(
    {ErrorCode.FETCH_SESSION_ID_NOT_FOUND, ErrorCode.INVALID_FETCH_SESSION_EPOCH}
)


@dataclass(frozen=True, slots=True)
class Patience:
    """What a reader puts up with."""

    late_s: float | None  # after an acknowledgement; None: any time
    refusals: bool  # whatever others are refused for: who asks for much at once does not wait for what moves


@dataclass(slots=True)
class _Session:
    """With one broker."""

    connection: wire.Connection | None = None
    id: int = 0
    epoch: int = 0
    known: dict[Place, int] = field(default_factory=dict)  # with the offset that was asked for
    leaders: dict[Place, Leader] = field(default_factory=dict)  # of these, as they were known
    starts: dict[Place, int] = field(default_factory=dict)  # of the logs, as they were told


class SessionReader(Client):
    """Follows some partitions."""

    def __init__(
        self,
        *arguments: Any,
        places: list[Place],
        history: RecordHistory,
        deleted: Callable[[Place], int],
        may_start_later: Callable[[Place], bool],
        has_lost: Callable[[Place], bool],
        record_bytes: int,
        patience: Patience,
    ) -> None:
        """Begin.

        Args:
            arguments: see `Client`.
            places: that it follows.
            history: of all producers.
            deleted: up to where a partition was deleted, as a client was told.
            may_start_later: whether a client has asked to delete records of a partition.
            has_lost: whether a partition may have lost records, as an operator has accepted.
            record_bytes: size of a value.
            patience: what is no finding.
        """
        super().__init__(*arguments)
        self._history = history
        self._deleted = deleted
        self._may_start_later = may_start_later
        self._has_lost = has_lost
        self._record_bytes = record_bytes
        self._patience = patience
        self._takes_little = self.rng.random() < LITTLE
        self._positions = dict.fromkeys(places, 0)
        self._until_s = 0.0
        self._learning = asyncio.Lock()
        self.answers = 0

    async def run(self, until_s: float, producers: list["asyncio.Task[None]"]) -> None:
        """Read until producers have ended, and then until nothing is left to read; anew until a moment only."""
        self._until_s = until_s
        async with asyncio.TaskGroup() as sessions:
            for node_id in self._brokers:
                sessions.create_task(self._follow(node_id, producers))
        for place, end in self._left().items():
            position = self._positions[place]
            self.seen.faults.append(
                f"a reader is not told of {place} from {position} to {end} though it asks again and again"
            )

    def _left(self) -> dict[Place, int]:
        """What was acknowledged and not read, with its end."""
        ends = self._history.ends
        return {
            place: ends[place]
            for place, position in self._positions.items()
            if position < ends.get(place, 0) and not self._has_lost(place)
        }

    def _may_skip(self, place: Place) -> bool:
        """Whether records of a partition may be gone."""
        return self._may_start_later(place) or self._has_lost(place)

    async def _follow(self, node_id: int, producers: list["asyncio.Task[None]"]) -> None:
        loop = asyncio.get_running_loop()
        session = _Session()
        end_s = float("inf")
        while loop.time() < end_s:
            if all(it.done() for it in producers):
                end_s = min(end_s, loop.time() + MAX_BEHIND_S)
                if not self._left():
                    break
            try:
                await self._learn()
                mine = [
                    it
                    for it in self._positions
                    if it in self._leaders and self._leaders[it].node_id == node_id
                ]
                if mine:
                    session = await self._fetch(node_id, session, mine)
                    await asyncio.sleep(self.rng.uniform(0, PAUSE_S))
                else:
                    await asyncio.sleep(PAUSE_AFTER_ERROR_S)
            except LOST:
                if session.connection is not None:
                    session.connection.close()
                session = _Session()
                for place in [it for it, led in self._leaders.items() if led.node_id == node_id]:
                    self.forget(place)
                await asyncio.sleep(PAUSE_AFTER_ERROR_S)

    async def _learn(self) -> None:
        """Find the leaders of those partitions that have none; another task may be doing so, too."""
        async with self._learning:
            for place in self._positions:
                if place not in self._leaders:
                    await self.leader(place)

    async def _fetch(self, node_id: int, session: _Session, mine: list[Place]) -> _Session:
        loop, rng = asyncio.get_running_loop(), self.rng
        limits = _LITTLE if self._takes_little else _MUCH
        enough_bytes = rng.choice((1, 1, 1, 1_500, 6_000)) if limits is _MUCH else 1
        wanted = limits._replace(wait_ms=rng.choice(_WAITS_MS), min_bytes=enough_bytes)
        asked = {it: self._positions[it] for it in mine}
        named = {it: at for it, at in asked.items() if session.known.get(it) != at}
        forgotten = [it for it in session.known if it not in asked]
        session.known = asked
        session.leaders = {it: self._leaders[it] for it in mine}
        # The answer must tell of these.
        told = self._history.told_ends
        due = {it for it, at in asked.items() if told.get((it, node_id), 0) > at}
        due |= {it for it in asked if self._deleted(it) > session.starts.get(it, 0)}
        due = {it for it in due if not self._has_lost(it)}
        if session.connection is None:
            session.connection = await wire.Connection.open(node_id)
        begun_s = loop.time()
        answer = await wire.fetch_session(
            session.connection,
            (session.id, session.epoch),
            named,
            forgotten,
            wanted,
            within_s=wanted.wait_ms / 1000 + ANSWER_S,
        )
        now_s = loop.time()
        self.answers += 1
        if answer.code:
            self.seen.note("session", answer.code, _BEGIN_ANEW)
            return _Session(session.connection)
        session.id, session.epoch = answer.session_id, session.epoch + 1 if answer.session_id else 0
        silent = due - answer.told.keys()
        if limits is _MUCH and silent and now_s - begun_s < COLD_S:
            self.seen.faults += [
                f"at {now_s:.2f} s broker {node_id} tells a session nothing of {it} at {asked[it]}, though there are "
                f"records up to {told.get((it, node_id), 0)}"
                for it in silent
            ]
        if limits is _MUCH:
            self._judge_size(answer, wanted, begun_s, now_s)
            if not due:
                self._judge_wait(node_id, asked, wanted, begun_s, now_s)
        self._take(node_id, session, asked, answer)
        return session if session.id else _Session(session.connection)

    def _judge_size(
        self, answer: wire.SessionAnswer, wanted: Wanted, begun_s: float, now_s: float
    ) -> None:
        """Whether an answer that came early has as much as was asked for, or all there is of something."""
        found = answer.told.values()
        size_bytes = sum(it.size_bytes for it in found)
        is_whole = all(it.code == 0 and it.end >= it.high_watermark for it in found)
        took_s = now_s - begun_s
        if is_whole and size_bytes < wanted.min_bytes and took_s < wanted.wait_ms / 1000 - EARLY_S:
            self.seen.faults.append(
                f"at {now_s:.2f} s a fetch for {wanted.min_bytes} bytes was answered with {size_bytes} after "
                f"{took_s:.2f} s"
            )

    def _judge_wait(
        self,
        node_id: int,
        asked: dict[Place, int],
        wanted: Wanted,
        begun_s: float,
        now_s: float,
    ) -> None:
        """Whether an answer came when there was enough; where there was nothing, so nothing is read from the bucket."""
        late_s, took_s = self._patience.late_s, now_s - begun_s
        if late_s is None or took_s < late_s:
            return
        by_s = now_s - late_s
        told = {it: self._history.told_end(it, node_id, by_s) for it in asked}
        there = {it: (at, told[it]) for it, at in asked.items() if told[it] > at}
        records = sum(end - at for at, end in there.values())
        if records * self._record_bytes >= wanted.min_bytes:
            self.seen.faults.append(
                f"at {now_s:.2f} s a fetch for {wanted.min_bytes} bytes was answered after {took_s:.2f} s, though it "
                f"has had records before {by_s:.2f} s: {there}"
            )

    def _refused(self, place: Place, leader: Leader, code: int, took_s: float) -> None:
        """Note an error, and look for the leader anew unless another session has done so."""
        if self._leaders.get(place) == leader:
            self.forget(place)
        if self._patience.refusals and ErrorCode(code).is_retriable:
            self.seen.counts["session read: refused"] += 1
        else:
            refused = Refused(self, place, leader.epoch, took_s)
            self.seen.refused("session read", code, refused)

    def _take(
        self, node_id: int, session: _Session, asked: dict[Place, int], answer: wire.SessionAnswer
    ) -> None:
        assert session.connection is not None
        now_s, took_s = asyncio.get_running_loop().time(), session.connection.took_s
        for place, found in answer.told.items():
            if place not in asked:
                self.seen.faults.append(
                    f"a session was told of {place}, which it has not asked for"
                )
                continue
            if found.code == ErrorCode.OFFSET_OUT_OF_RANGE and self._may_skip(place):
                self._positions[place] = max(0, found.start, self._deleted(place))
                continue
            if found.code:
                session.known[place] = _UNKNOWN  # it is named again, or forgotten
                self._refused(place, session.leaders[place], found.code, took_s)
                continue
            session.starts[place] = found.start
            position = asked[place]
            records = [it for it in found.records if it[0] >= position]  # a batch begins before it
            if records and records[0][0] != position and not self._may_skip(place):
                first = records[0][0]
                self.seen.faults.append(f"a reader of {place} at {position} was given {first} next")
            for offset, value in records:
                self._history.see(place, offset, Seen(record_of(value), node_id, now_s))
                position = offset + 1
            self._positions[place] = position
            if records and now_s < self._until_s and self.rng.random() < AGAIN:
                first = max(0, found.start, position - MAX_AGAIN)
                self._positions[place] = self.rng.randint(first, position)
