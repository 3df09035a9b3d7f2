"""Fetch requests in sessions, and a log that a session listens to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from headrace.broker.fetch.session import FetchContext, FetchSession, SessionPartition
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.request import FetchPartition, FetchRequest, FetchTopic, ForgottenTopic
from headrace.steps import completed


class FakeLog:
    """Calls its readers when the test moves it."""

    def __init__(self) -> None:
        self.readers: set[Callable[[], None]] = set()

    def add_reader(self, reader: Callable[[], None]) -> None:
        self.readers.add(reader)

    def remove_reader(self, reader: Callable[[], None]) -> None:
        self.readers.discard(reader)

    def move(self) -> None:
        readers, self.readers = self.readers, set()
        for reader in readers:
            reader()


@dataclass
class Read:
    """What was read of a partition; by default its limits left nothing for it."""

    name: str
    high_watermark: int = 10
    log_start_offset: int = 0
    size_bytes: int = 0
    error: int = 0
    log: FakeLog | None = None
    target: SessionPartition = None  # type: ignore[assignment]  # set when it is answered
    stable: int | None = None  # None: as the high watermark
    is_committed: bool = False

    @property
    def last_stable_offset(self) -> int:
        return self.high_watermark if self.stable is None else self.stable

    @property
    def readable_end(self) -> int:
        return self.last_stable_offset if self.is_committed else self.high_watermark


def asks(index: int, offset: int = 0, max_bytes: int = 1_000) -> FetchPartition:
    """One partition of a request."""
    return FetchPartition(index, -1, offset, -1, -1, max_bytes)


def request(
    session_id: int,
    epoch: int,
    wanted: dict[str | UUID, list[FetchPartition]] | None = None,
    forgotten: dict[str | UUID, list[int]] | None = None,
) -> FetchRequest:
    """A request that names partitions by topic, and those to forget."""

    def identity(topic: str | UUID) -> tuple[str, UUID | None]:
        return (topic, None) if isinstance(topic, str) else ("", topic)

    topics = [FetchTopic(*identity(topic), asked) for topic, asked in (wanted or {}).items()]
    gone = [ForgottenTopic(*identity(topic), at) for topic, at in (forgotten or {}).items()]
    return FetchRequest(-1, 500, 1, 1 << 20, 0, session_id, epoch, topics, gone, "", None)


def session_of(wanted: dict[str | UUID, list[FetchPartition]], *, by_id: bool) -> FetchSession:
    """A session of these partitions, all of which are to be read."""
    session = FetchSession(by_id=by_id)
    completed(session.update(request(0, 0, wanted)))
    return session


class Answer(NamedTuple):
    """What a context has made of reads."""

    error: ErrorCode
    session_id: int
    reads: Sequence[Any]


def finished(context: FetchContext, reads: Sequence[Any], now_ms: int, at_once: int = 2) -> Answer:
    """The answer that a handler sends, some reads at a time."""
    error, session_id = context.begin_answer(now_ms)
    answered: list[Any] = []
    if error == ErrorCode.NONE:
        for start in range(0, len(reads), at_once):
            answered += context.news(reads[start : start + at_once])
    return Answer(error, session_id, answered)
