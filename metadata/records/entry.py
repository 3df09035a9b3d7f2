"""One entry of the metadata log: in the log's files, in memory, and in messages."""

from typing import Final

import msgspec


class SnapshotId(msgspec.Struct, frozen=True, order=True, gc=False):
    """Identifies a snapshot: it includes all entries up to `index`."""

    index: int
    term: int


NO_SNAPSHOT: Final = SnapshotId(0, 0)


class LogEntry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A batch of records that is applied atomically."""

    index: int  # from 1, without gaps
    term: int  # of the leader that made it
    payload: bytes  # `records.codec`
