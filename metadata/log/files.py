"""The files of the metadata log, and the last segment while it is open. Blocking: for the log's own thread.

There is always a last segment, to which entries are appended. Taking a snapshot starts a new
segment, so that every older one is obsolete once the snapshot is durable. Which files of a directory
count, also after a crash in the middle of any operation below, is decided in
`headrace.metadata.log.contents`; each operation here takes effect with one rename.
"""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headrace.invariants import require
from headrace.metadata.errors import MetadataLogFailedError
from headrace.metadata.log.contents import (
    INSTALL_SUFFIX,
    SNAPSHOT_SUFFIX,
    Segment,
    list_directory,
    read_contents,
    segment_name,
    snapshot_name,
)
from headrace.metadata.log.directory import Directory, File
from headrace.metadata.log.durable_files import TEMPORARY_SUFFIX, create_whole, write_all
from headrace.metadata.log.entry_format import (
    NOT_PROVEN,
    SEGMENT_HEADER_BYTES,
    ProvenEnd,
    SegmentHeader,
    encode_group,
    encode_segment_header,
)
from headrace.metadata.log.recovered import Recovered
from headrace.metadata.log.served_snapshots import ServedSnapshots
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId

if TYPE_CHECKING:
    from collections.abc import Iterator


class LogFiles:
    """Reads at the start, then only writes. After a failure it writes nothing more."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._file: File | None = None  # the last segment
        self._position = 0  # in it
        self._segment_id = 0
        self._generation = 0
        self.failed = False  # for good: nothing more is written
        self._segments: list[Segment] = []
        self._sizes: dict[int, int] = {}  # of all segments but the last, by base index
        self._snapshot: str | None = None
        self._served = ServedSnapshots(directory)
        self.snapshot_id = NO_SNAPSHOT
        self.last_index = 0  # last durable entry

    @property
    def log_bytes(self) -> int:
        """Bytes in all segments."""
        return self._position + sum(self._sizes.values())

    @property
    def end(self) -> ProvenEnd:
        """The durable end of the log."""
        return ProvenEnd(self._segment_id, self.last_index, self._position)

    def open(self, segment_id: int, proven_end: ProvenEnd = NOT_PROVEN) -> Recovered:
        """Read everything, complete what a crash interrupted, and prepare to append.

        The end of the log may have been read from the page cache without being on the disk, after
        a kill or a failed sync: it is written once more, so that all of it is durable.

        Args:
            segment_id: random, for the segment if one must be created.
            proven_end: what `quorum-state` proves of the last segment.

        Raises:
            MetadataLogCorruptError: acknowledged entries cannot be read; nothing has been changed.
        """
        listing = list_directory(self._directory)
        contents = read_contents(self._directory, listing, proven_end)
        self._snapshot, self.snapshot_id = listing.snapshot, listing.snapshot_id
        self.last_index = contents.last_index
        for name in listing.useless:
            self._directory.unlink(name)
        self._directory.sync()
        if contents.last_segment is None:
            self._begin_segment(SegmentHeader(self.last_index + 1, segment_id, 0))
            if listing.installing:
                self._name_installed()
            return Recovered(contents.snapshot, [], 0)
        self._segments = listing.segments
        self._sizes = contents.sizes
        self._file = self._directory.open(self._segments[-1].name)
        _, self._segment_id, self._generation = contents.last_segment.header
        self._position = contents.last_segment.valid_bytes
        write_all(self._file, contents.unproven, self._position - len(contents.unproven))
        self._file.sync()
        if contents.torn_bytes:
            self._begin_segment(
                SegmentHeader(self.last_index + 1, segment_id, self._generation + 1)
            )
        return Recovered(contents.snapshot, contents.entries, contents.torn_bytes)

    def append(self, entries: Sequence[LogEntry]) -> None:
        """Append entries; they are durable when this returns.

        Raises:
            MetadataLogFailedError: a write or sync failed, now or earlier.
        """
        file = self._require_working()
        require(entries[0].index == self.last_index + 1, "entries are dense")
        group = encode_group(entries, synced_index=self.last_index, segment_id=self._segment_id)
        with self.failing_for_good():
            write_all(file, group, self._position)
            file.sync()
        self._position += len(group)
        self.last_index = entries[-1].index

    def truncate(self, from_index: int, segment_id: int) -> None:
        """Remove an entry and all after it: a crash leaves all of them or none.

        Args:
            from_index: above that of the snapshot.
            segment_id: random, for the segment that replaces them.

        Raises:
            MetadataLogFailedError: a write or sync failed, now or earlier.
        """
        require(from_index > self.snapshot_id.index, "what a snapshot includes is committed")
        if from_index > self.last_index:
            return
        with self.failing_for_good():
            useless = [it for it in self._segments if it.base_index > from_index]
            self._begin_segment(SegmentHeader(from_index, segment_id, self._generation + 1))
            for segment in useless:
                self._directory.unlink(segment.name)
        self.last_index = from_index - 1

    def roll(self, segment_id: int) -> None:
        """Start a new segment, unless the last one is empty."""
        self._require_working()
        if self._segments[-1].base_index == self.last_index + 1:
            return
        try:
            self._begin_segment(SegmentHeader(self.last_index + 1, segment_id, self._generation))
        except OSError:
            # It may exist after a restart; then no entry may be appended to the previous segment.
            self.failed = self._directory.has(segment_name(self.last_index + 1))
            raise

    def snapshot_temporary(self, snapshot_id: SnapshotId, suffix: str = SNAPSHOT_SUFFIX) -> str:
        """The name of a snapshot's file while it is being written."""
        return snapshot_name(snapshot_id, suffix + TEMPORARY_SUFFIX)

    def adopt_snapshot(self, snapshot_id: SnapshotId) -> None:
        """Rename a complete and durable snapshot to its final name, and delete obsolete files.

        A snapshot that is older than the current one is deleted.
        """
        temporary = self.snapshot_temporary(snapshot_id)
        if snapshot_id <= self.snapshot_id:
            self._directory.unlink(temporary)
            return
        name = snapshot_name(snapshot_id)
        self._directory.replace(temporary, name)
        self._directory.sync()
        self._served.replaced(self.snapshot_id.index)
        old, self._snapshot, self.snapshot_id = self._snapshot, name, snapshot_id
        if old is not None:
            self._directory.unlink(old)
        while len(self._segments) > 1 and self._segments[1].base_index <= snapshot_id.index + 1:
            useless = self._segments.pop(0)
            self._sizes.pop(useless.base_index, None)
            self._directory.unlink(useless.name)

    def install_snapshot(self, snapshot_id: SnapshotId, segment_id: int) -> None:
        """Replace the whole log by a complete and durable snapshot, written as `.install`.

        A crash leaves the old log, or the snapshot and nothing else.

        Raises:
            OSError: it was not renamed; the log is unchanged.
            MetadataLogFailedError: a write or sync failed, now or earlier.
        """
        self._require_working()
        require(snapshot_id > self.snapshot_id, "a snapshot replaces an older one")
        name = snapshot_name(snapshot_id, INSTALL_SUFFIX)
        self._directory.replace(self.snapshot_temporary(snapshot_id, INSTALL_SUFFIX), name)
        with self.failing_for_good():
            self._directory.sync()
            for segment in self._segments:
                self._directory.unlink(segment.name)
            if self._snapshot is not None:
                self._directory.unlink(self._snapshot)
            self._segments, self._sizes = [], {}
            self._served.replaced(self.snapshot_id.index)
            self._snapshot, self.snapshot_id = name, snapshot_id
            self.last_index = snapshot_id.index
            self._begin_segment(SegmentHeader(snapshot_id.index + 1, segment_id, 0))
            self._name_installed()

    def read_snapshot(self, index: int, position: int, max_size: int) -> tuple[int, bytes] | None:
        """(file size, bytes from `position`) of a snapshot; None when it is not here.

        The newest is here, and the one before it if a reader had begun with it.
        """
        name = self._snapshot if index == self.snapshot_id.index else None
        return self._served.read(index, name, position, max_size)

    def close(self) -> None:
        """Close all files."""
        self._served.close()
        self._close_segment()

    def _close_segment(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextmanager
    def failing_for_good(self) -> "Iterator[None]":
        """Stop all writing for good if the body fails; refuse if that happened before.

        Raises:
            MetadataLogFailedError: in both cases.
        """
        self._require_working()
        try:
            yield
        except OSError as error:
            # A failed sync may have dropped the dirty pages: a second one would prove nothing.
            self.failed = True
            raise MetadataLogFailedError(
                f"the metadata log in {self._directory.path} cannot be written: {error}. No acknowledged "
                "change is lost. Repair the disk or free space on it, and restart the node"
            ) from error

    def _begin_segment(self, header: SegmentHeader) -> None:
        """Create a segment, replacing one of that name, and append to it from now on."""
        name = segment_name(header.base_index)
        create_whole(self._directory, name, encode_segment_header(header))
        file = self._directory.open(name)
        if self._segments:
            self._sizes[self._segments[-1].base_index] = self._position
        self._close_segment()
        self._segments = [it for it in self._segments if it.base_index < header.base_index]
        self._sizes = {it.base_index: self._sizes[it.base_index] for it in self._segments}
        self._segments.append(Segment(header.base_index, name))
        self._file, self._position = file, SEGMENT_HEADER_BYTES
        _, self._segment_id, self._generation = header

    def _name_installed(self) -> None:
        """Rename the installed snapshot to a normal one: all other files are deleted, durably."""
        assert self._snapshot is not None
        name = snapshot_name(self.snapshot_id)
        self._directory.replace(self._snapshot, name)
        self._snapshot = name
        self._directory.sync()

    def _require_working(self) -> File:
        if self.failed or self._file is None:
            raise MetadataLogFailedError(
                "the metadata log is closed, or failed earlier: restart the node"
            )
        return self._file
