"""The log of the core: its entries, and how far they are durable, committed and handed over. Pure.

Always: snapshot <= handed over <= committed <= last, and durable <= last. Committed entries are only
removed by compaction, or by a snapshot that replaces the whole log.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from headrace.invariants import require
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import DurableState
from headrace.metadata.records.entry import LogEntry, SnapshotId
from headrace.metadata.records.members import Member

MembersOf = Callable[[bytes], tuple[Member, ...] | None]


class LogPosition(msgspec.Struct, frozen=True):
    """The position of a proposal. It is committed if the entry that commits at `index` is of `term`."""

    index: int
    term: int


class Unsaved(NamedTuple):
    """What is yet to be written: first truncate, then append."""

    truncate_from: int | None
    entries: tuple[LogEntry, ...]


class _Named(msgspec.Struct, frozen=True):
    """Members named by an entry; index 0: the configured ones."""

    index: int
    configuration: Configuration


class RaftLog:
    """Entries from 1 without gaps; the first of them may be compacted."""

    def __init__(self, state: DurableState, initial: Configuration, members_of: MembersOf) -> None:
        self._initial = initial
        self._members_of = members_of
        self._reset(state.snapshot, state.snapshot_configuration)
        self._append(state.entries)
        self.durable_index = self.last_index
        self._unsaved_from = self.last_index + 1

    def _reset(self, snapshot: SnapshotId, configuration: Configuration | None) -> None:
        self.snapshot = snapshot  # the newest that is durable
        self._before = snapshot  # the entry before the first in memory
        self._entries: list[LogEntry] = []
        self.commit_index = snapshot.index
        self.handed_index = snapshot.index  # entries up to here have been handed over for applying
        self.durable_index = snapshot.index
        self._credit_index = 0  # the current write makes entries durable up to here
        self._unsaved_from = snapshot.index + 1
        self._truncate_from: int | None = None
        self.uncommitted_bytes = 0
        self._named = [_Named(0, self._initial)]
        if configuration is not None and configuration.members:
            self._named = [_Named(snapshot.index, configuration)]

    @property
    def first_index(self) -> int:
        """The first entry in memory, or the next one."""
        return self._before.index + 1

    @property
    def last_index(self) -> int:
        """The last entry, 0 of an empty log."""
        return self._before.index + len(self._entries)

    @property
    def last_term(self) -> int:
        """The term of the last entry."""
        return self._entries[-1].term if self._entries else self._before.term

    @property
    def configuration(self) -> Configuration:
        """The members of the last entry that names them, committed or not (thesis 4.1)."""
        return self._named[-1].configuration

    @property
    def configuration_index(self) -> int:
        """The index of the entry that names them; 0: neither the log nor the snapshot does."""
        return self._named[-1].index

    @property
    def holds_members_only(self) -> bool:
        """Whether no entry in memory is about anything else, committed or not."""
        return all(self._members_of(it.payload) is not None for it in self._entries)

    @property
    def possible_configurations(self) -> list[Configuration]:
        """The newest configuration that is known to be committed, and later ones."""
        later = [it for it in self._named if it.index > self.commit_index]
        return [it.configuration for it in self._named[-len(later) - 1 :]]

    def term_at(self, index: int) -> int | None:
        """The term of an entry; None if it is compacted or not there yet."""
        if index == self._before.index:
            return self._before.term
        position = index - self.first_index
        return self._entries[position].term if 0 <= position < len(self._entries) else None

    def last_index_up_to_term(self, term: int, index: int) -> int:
        """The last entry of no later term, at or below `index`; the one before those in memory if there is none."""
        count = bisect_right(self._entries, term, key=lambda entry: entry.term)
        if count == 0 and self._before.term > term:
            return self._before.index - 1
        return min(index, self._before.index + count)

    def first_index_of_term(self, term: int) -> int:
        """The first entry in memory of this term or a later one."""
        return self.first_index + bisect_left(self._entries, term, key=lambda entry: entry.term)

    def slice(self, first_index: int, max_bytes: int) -> tuple[LogEntry, ...]:
        """Entries in memory from here on: up to `max_bytes`, but at least one if there is one."""
        start = end = first_index - self.first_index
        taken_bytes = 0
        while end < len(self._entries):
            taken_bytes += len(self._entries[end].payload)
            if taken_bytes > max_bytes and end > start:
                break
            end += 1
        return tuple(self._entries[start:end])

    def append(self, term: int, payloads: Sequence[bytes]) -> None:
        """Add a leader's own entries."""
        last = self.last_index
        self._append([LogEntry(last + i, term, it) for i, it in enumerate(payloads, start=1)])

    def replace_from(self, entries: Sequence[LogEntry]) -> None:
        """Replace the log from the first of these entries on.

        Raises:
            MetadataFormatError: an entry that names members cannot be read. Nothing has changed.
        """
        named = self._names(entries)
        self._truncate(entries[0].index)
        self._append(entries, named)

    def _names(self, entries: Sequence[LogEntry]) -> list[_Named]:
        found = ((entry.index, self._members_of(entry.payload)) for entry in entries)
        return [_Named(index, Configuration.of(it)) for index, it in found if it is not None]

    def _append(self, entries: Sequence[LogEntry], named: list[_Named] | None = None) -> None:
        if not entries:
            return
        require(entries[0].index == self.last_index + 1, "the log has no gaps")
        require(entries[0].term >= self.last_term, "terms never decrease along the log")
        self._named.extend(self._names(entries) if named is None else named)
        self._entries.extend(entries)
        self.uncommitted_bytes += sum(len(entry.payload) for entry in entries)

    def _truncate(self, index: int) -> None:
        if index > self.last_index:
            return
        require(index > self.commit_index, "what is committed stays")
        position = index - self.first_index
        self.uncommitted_bytes -= sum(len(entry.payload) for entry in self._entries[position:])
        del self._entries[position:]
        while self._named[-1].index >= index:
            self._named.pop()
        if index < self._unsaved_from:  # they are on the disk, or being written
            self._unsaved_from = self._truncate_from = index
        # The current write may still write them, but its completion does not cover the entries that
        # replace them: only a later write makes those durable.
        self._credit_index = min(self._credit_index, index - 1)
        self.durable_index = min(self.durable_index, index - 1)

    def take_unsaved(self) -> Unsaved:
        """What is to be written now; `saved` must be called before the next call."""
        unsaved = Unsaved(
            self._truncate_from, tuple(self._entries[self._unsaved_from - self.first_index :])
        )
        self._truncate_from = None
        self._unsaved_from = self.last_index + 1
        self._credit_index = self.last_index
        return unsaved

    def saved(self) -> None:
        """The write of the last `take_unsaved` is durable."""
        self.durable_index = max(self.durable_index, self._credit_index)

    def commit_to(self, index: int) -> None:
        """Raise the commit index to at least this index."""
        if index <= self.commit_index:
            return
        require(index <= self.last_index, "the commit index is in the log")
        first, last = (it - self.first_index for it in (self.commit_index + 1, index))
        self.uncommitted_bytes -= sum(len(it.payload) for it in self._entries[first : last + 1])
        self.commit_index = index

    def take_committed(self, max_bytes: int) -> tuple[LogEntry, ...]:
        """The next entries to apply: up to `max_bytes`, but at least one if there is one."""
        if self.handed_index == self.commit_index:
            return ()
        entries = self.slice(self.handed_index + 1, max_bytes)
        entries = entries[: self.commit_index - self.handed_index]
        self.handed_index += len(entries)
        return entries

    def compact(self, snapshot: SnapshotId, slack_bytes: int) -> None:
        """Drop entries that a durable snapshot includes, except the last `slack_bytes` before its end."""
        if snapshot.index <= self.snapshot.index:
            return
        require(snapshot.index <= self.handed_index, "a snapshot includes applied entries only")
        self.snapshot = snapshot
        cut = snapshot.index - self._before.index  # entries of the snapshot that are in memory
        while cut > 0 and slack_bytes >= len(self._entries[cut - 1].payload):
            cut -= 1
            slack_bytes -= len(self._entries[cut].payload)
        if cut > 0:
            last = self._entries[cut - 1]
            self._before = SnapshotId(last.index, last.term)
            del self._entries[:cut]
        while len(self._named) > 1 and self._named[1].index <= snapshot.index:
            del self._named[0]

    def install(self, snapshot: SnapshotId, configuration: Configuration) -> None:
        """Start over after a durable snapshot: all previous entries are dropped."""
        require(
            snapshot.index > self.commit_index,
            "a snapshot is installed if it is ahead of the commit index",
        )
        self._reset(snapshot, configuration)
