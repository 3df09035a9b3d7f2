"""The result of one operation on a shard: records and answers.

The shard replays each record when it decides on it, so the next operation sees its effect; but no
answer is sent before the records of this and all earlier decisions are durable. When they cannot be
made durable, the shard is discarded and loaded from the log again, so memory never keeps state that the
log does not have.
"""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import msgspec

from headrace.broker.coordinator.group.requests import Instant, JoinResult, SyncResult
from headrace.broker.coordinator.records import CoordinatorRecord

T = TypeVar("T")


class JoinAnswer(NamedTuple):
    """The answer to the JoinGroup that came with this token."""

    token: int
    result: JoinResult


class SyncAnswer(NamedTuple):
    """The answer to the SyncGroup that came with this token."""

    token: int
    result: SyncResult


class GroupEvent(NamedTuple):
    """An event for the broker's log."""

    group_id: str
    text: str


class GroupDecision(msgspec.Struct, Generic[T], frozen=True):
    """Records to append as one batch, and answers to send once they are durable."""

    response: T
    records: list[CoordinatorRecord]
    joins: list[JoinAnswer]
    syncs: list[SyncAnswer]
    events: list[GroupEvent]


class Turn:
    """One operation on a shard: its time, and its records and answers so far."""

    __slots__ = ("_events", "_joins", "_records", "_replay", "_syncs", "now")

    def __init__(self, now: Instant, replay: Callable[[CoordinatorRecord], None]) -> None:
        self.now = now
        self._replay = replay
        self._records: list[CoordinatorRecord] = []
        self._joins: list[JoinAnswer] = []
        self._syncs: list[SyncAnswer] = []
        self._events: list[GroupEvent] = []

    def persist(self, record: CoordinatorRecord) -> None:
        """Change durable state: the record is replayed here and appended by the driver."""
        self._records.append(record)
        self._replay(record)

    def answer_join(self, token: int, result: JoinResult) -> None:
        """Answer a JoinGroup, once this decision is durable."""
        self._joins.append(JoinAnswer(token, result))

    def answer_sync(self, token: int, result: SyncResult) -> None:
        """Answer a SyncGroup, once this decision is durable."""
        self._syncs.append(SyncAnswer(token, result))

    def note(self, group_id: str, text: str) -> None:
        """Add an event for the broker's log."""
        self._events.append(GroupEvent(group_id, text))

    def decide(self, response: T) -> GroupDecision[T]:
        """Close the turn."""
        return GroupDecision(response, self._records, self._joins, self._syncs, self._events)
