"""One directory of a simulated controller: what of its log is durable."""

from uuid import UUID

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import FRESH, DurableState, HardState, Persist
from headrace.metadata.raft.messages import Disk
from headrace.metadata.records.codec import decode_members
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId


class HoleError(Exception):
    """Entries were written that do not follow those before them."""


class SimulatedLog:
    """Hard state, one snapshot, and every entry behind it."""

    __slots__ = (
        "condemned",
        "directory_id",
        "disks",
        "entries",
        "hard_state",
        "is_copy",
        "snapshot",
        "snapshot_configuration",
        "start",
    )

    def __init__(self, directory_id: UUID) -> None:
        self.directory_id = directory_id
        self.hard_state: HardState = FRESH
        self.snapshot: SnapshotId = NO_SNAPSHOT
        self.snapshot_configuration: Configuration | None = None
        self.entries: list[LogEntry] = []
        self.start = 0
        self.disks: tuple[Disk, ...] = ()  # what is remembered of the others
        self.is_copy = False  # it took the place of the one that it is a copy of
        self.condemned = False  # and has learnt it

    def copy(self) -> "SimulatedLog":
        """Return what a backup of it holds."""
        made = SimulatedLog(self.directory_id)
        made.hard_state, made.start, made.disks = self.hard_state, self.start, self.disks
        made.snapshot, made.snapshot_configuration = self.snapshot, self.snapshot_configuration
        made.entries = list(self.entries)
        return made

    @property
    def last_index(self) -> int:
        return self.entries[-1].index if self.entries else self.snapshot.index

    def entry(self, index: int) -> LogEntry | None:
        position = index - self.snapshot.index - 1
        return self.entries[position] if 0 <= position < len(self.entries) else None

    def term_at(self, index: int) -> int | None:
        if index == self.snapshot.index:
            return self.snapshot.term
        entry = self.entry(index)
        return None if entry is None else entry.term

    def holds(self, index: int, term: int) -> bool:
        """Whether this entry is here, or in the snapshot (which has committed ones only)."""
        return index < self.snapshot.index or self.term_at(index) == term

    def perform(self, persist: Persist, steps: int | None = None) -> None:
        """Make the first steps of a write durable: 1 the hard state, 2 the cut too, then one entry each. None: all.

        Raises:
            HoleError: the entries do not follow the log.
        """
        steps = 2 + len(persist.entries) if steps is None else steps
        if steps >= 1 and persist.hard_state is not None:
            self.hard_state = persist.hard_state
        if steps >= 2 and persist.truncate_from is not None:
            if persist.truncate_from <= self.snapshot.index:
                raise HoleError(f"cut at {persist.truncate_from}, within the snapshot")
            del self.entries[persist.truncate_from - self.snapshot.index - 1 :]
        if steps > 2 and persist.entries:
            if persist.entries[0].index != self.last_index + 1:
                raise HoleError(f"entry {persist.entries[0].index} behind {self.last_index}")
            self.entries += persist.entries[: steps - 2]

    def compact(self, snapshot: SnapshotId, configuration: Configuration | None) -> None:
        """Have a snapshot of what this log holds; forget what it includes."""
        del self.entries[: snapshot.index - self.snapshot.index]
        self.snapshot, self.snapshot_configuration = snapshot, configuration

    def install(self, snapshot: SnapshotId, configuration: Configuration | None) -> None:
        """Have somebody else's snapshot in place of everything."""
        self.entries = []
        self.snapshot, self.snapshot_configuration = snapshot, configuration

    def recovered(self) -> DurableState:
        """What a restart finds."""
        return DurableState(
            self.hard_state,
            self.snapshot,
            self.snapshot_configuration,
            tuple(self.entries),
            self.start,
            self.disks,
        )

    def configurations(self) -> list[tuple[int, Configuration]]:
        """Every one that this log names, and where; the newest last."""
        named = []
        if self.snapshot_configuration is not None:
            named.append((self.snapshot.index, self.snapshot_configuration))
        for entry in self.entries:
            members = decode_members(entry.payload)
            if members is not None:
                named.append((entry.index, Configuration.of(members)))
        return named
