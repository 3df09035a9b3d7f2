"""The files of the metadata log, and the descriptor of the last segment. Blocking: for the log's own thread.

There is always a last segment, which entries are appended to. A snapshot begins with a new segment,
so that every older one is of no use once the snapshot is durable. What counts of a directory, also
of one that a crash left behind in the middle of anything below, is decided in
`headrace.metadata.log.contents`; each change here comes into force by the one rename that makes it so.
"""

import os
from collections.abc import Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.metadata.errors import MetadataLogFailedError
from headrace.metadata.log.contents import (
    INSTALL_SUFFIX,
    SNAPSHOT_SUFFIX,
    Segment,
    list_directory,
    read_contents,
    segment_path,
    snapshot_path,
)
from headrace.metadata.log.durable_files import (
    TEMPORARY_SUFFIX,
    Sync,
    create_whole,
    sync_directory,
    write_all,
)
from headrace.metadata.log.entry_format import (
    SEGMENT_HEADER_BYTES,
    SegmentHeader,
    encode_group,
    encode_segment_header,
)
from headrace.metadata.log.recovered import Recovered
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId

if TYPE_CHECKING:
    from collections.abc import Iterator


class LogFiles:
    """Reads at the start, then only writes. After a failure nothing is written any more."""

    def __init__(self, directory: Path, sync: Sync) -> None:
        self._directory = directory
        self._sync = sync
        self._descriptor = -1
        self._position = 0  # in the last segment
        self._segment_id = 0
        self._generation = 0
        self._failed = False
        self._segments: list[Segment] = []
        self._sizes: dict[int, int] = {}  # of all segments but the last, by base index
        self._snapshot: Path | None = None
        self.snapshot_id = NO_SNAPSHOT
        self.last_index = 0  # last durable entry

    @property
    def log_bytes(self) -> int:
        """Bytes in all segments."""
        return self._position + sum(self._sizes.values())

    def open(self, segment_id: int) -> Recovered:
        """Read everything, and get ready to append: finish what a crash has interrupted.

        What is at the end may have been read from memory that never reached the disk, after a
        kill or a sync that failed: it is written once more, so that all of it is durable.

        Args:
            segment_id: random, for a segment if one must be created.

        Raises:
            MetadataLogCorruptError: acknowledged entries cannot be read; nothing has been changed.
        """
        listing = list_directory(self._directory)
        contents = read_contents(self._directory, listing)
        self._snapshot, self.snapshot_id = listing.snapshot, listing.snapshot_id
        self.last_index = contents.last_index
        for path in listing.useless:
            path.unlink()
        sync_directory(self._directory, self._sync)
        if contents.last_segment is None:
            self._begin_segment(SegmentHeader(self.last_index + 1, segment_id, 0))
            if listing.installing:
                self._name_installed()
            return Recovered(contents.snapshot, [], 0)
        self._segments = listing.segments
        self._sizes = {it.base_index: it.path.stat().st_size for it in self._segments[:-1]}
        self._descriptor = os.open(self._segments[-1].path, os.O_RDWR)
        _, self._segment_id, self._generation = contents.last_segment.header
        self._position = contents.last_segment.valid_bytes
        write_all(self._descriptor, contents.unproven, self._position - len(contents.unproven))
        self._sync(self._descriptor)
        if contents.torn_bytes:
            self._begin_segment(
                SegmentHeader(self.last_index + 1, segment_id, self._generation + 1)
            )
        return Recovered(contents.snapshot, contents.entries, contents.torn_bytes)

    def append(self, entries: Sequence[LogEntry]) -> None:
        """Append entries; they are durable when this returns.

        Raises:
            MetadataLogFailedError: now, or before, a write or sync has failed.
        """
        self._require_working()
        assert entries[0].index == self.last_index + 1, "entries are dense"
        group = encode_group(entries, synced_index=self.last_index, segment_id=self._segment_id)
        with self.failing_for_good():
            write_all(self._descriptor, group, self._position)
            self._sync(self._descriptor)
        self._position += len(group)
        self.last_index = entries[-1].index

    def truncate(self, from_index: int, segment_id: int) -> None:
        """Remove an entry and all behind it: a crash leaves all of them or none.

        Args:
            from_index: above that of the snapshot.
            segment_id: random, for the segment that takes their place.

        Raises:
            MetadataLogFailedError: now, or before, a write or sync has failed.
        """
        assert from_index > self.snapshot_id.index, "what a snapshot includes is committed"
        if from_index > self.last_index:
            return
        with self.failing_for_good():
            useless = [it for it in self._segments if it.base_index > from_index]
            self._begin_segment(SegmentHeader(from_index, segment_id, self._generation + 1))
            for segment in useless:
                segment.path.unlink()
        self.last_index = from_index - 1

    def roll(self, segment_id: int) -> None:
        """Go on in a new segment, unless the last is empty."""
        self._require_working()
        if self._segments[-1].base_index == self.last_index + 1:
            return
        try:
            self._begin_segment(SegmentHeader(self.last_index + 1, segment_id, self._generation))
        except OSError:
            # Should it exist after a restart, then entries must not go on in the one before it.
            self._failed = segment_path(self._directory, self.last_index + 1).exists()
            raise

    def snapshot_temporary(self, snapshot_id: SnapshotId, suffix: str = SNAPSHOT_SUFFIX) -> Path:
        """Where a snapshot is written before it is whole."""
        return snapshot_path(self._directory, snapshot_id, suffix + TEMPORARY_SUFFIX)

    def adopt_snapshot(self, snapshot_id: SnapshotId) -> None:
        """Give a whole and durable snapshot its name, and delete what it makes useless.

        One that was overtaken by another is deleted.
        """
        temporary = self.snapshot_temporary(snapshot_id)
        if snapshot_id <= self.snapshot_id:
            temporary.unlink()
            return
        path = snapshot_path(self._directory, snapshot_id)
        temporary.replace(path)
        sync_directory(self._directory, self._sync)
        old, self._snapshot, self.snapshot_id = self._snapshot, path, snapshot_id
        if old is not None:
            old.unlink()
        while len(self._segments) > 1 and self._segments[1].base_index <= snapshot_id.index + 1:
            useless = self._segments.pop(0)
            self._sizes.pop(useless.base_index, None)
            useless.path.unlink()

    def install_snapshot(self, snapshot_id: SnapshotId, segment_id: int) -> None:
        """Put a whole and durable snapshot, written as `.install`, in place of the whole log.

        A crash leaves the old log, or the snapshot and nothing else.

        Raises:
            OSError: it has not got its name; the log goes on as it was.
            MetadataLogFailedError: now, or before, a write or sync has failed.
        """
        self._require_working()
        assert snapshot_id > self.snapshot_id, "snapshots only go forward"
        path = snapshot_path(self._directory, snapshot_id, INSTALL_SUFFIX)
        self.snapshot_temporary(snapshot_id, INSTALL_SUFFIX).replace(path)
        with self.failing_for_good():
            sync_directory(self._directory, self._sync)
            for segment in self._segments:
                segment.path.unlink()
            if self._snapshot is not None:
                self._snapshot.unlink()
            self._segments, self._sizes = [], {}
            self._snapshot, self.snapshot_id = path, snapshot_id
            self.last_index = snapshot_id.index
            self._begin_segment(SegmentHeader(snapshot_id.index + 1, segment_id, 0))
            self._name_installed()

    def read_snapshot(self, position: int, max_size: int) -> tuple[int, int, bytes] | None:
        """(index, file size, bytes from `position`) of the newest snapshot; None when there is none."""
        if self._snapshot is None:
            return None
        with self._snapshot.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(min(position, size))
            return self.snapshot_id.index, size, file.read(max_size)

    def close(self) -> None:
        """Close the last segment."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @contextmanager
    def failing_for_good(self) -> "Iterator[None]":
        """Let an error of what is done within end all writing, and refuse when one has.

        Raises:
            MetadataLogFailedError: as said.
        """
        self._require_working()
        try:
            yield
        except OSError as error:
            # A sync that failed may have dropped the pages: trying again would prove nothing.
            self._failed = True
            raise MetadataLogFailedError(
                f"the metadata log in {self._directory} cannot be written: {error}. Nothing is "
                "lost that was acknowledged: make the disk work, or room on it, and start again"
            ) from error

    def _begin_segment(self, header: SegmentHeader) -> None:
        """Create a segment, in place of the one of that name, and go on in it."""
        path = segment_path(self._directory, header.base_index)
        create_whole(path, encode_segment_header(header), self._sync)
        descriptor = os.open(path, os.O_RDWR)
        if self._segments:
            self._sizes[self._segments[-1].base_index] = self._position
        self.close()
        self._segments = [it for it in self._segments if it.base_index < header.base_index]
        self._sizes = {it.base_index: self._sizes[it.base_index] for it in self._segments}
        self._segments.append(Segment(header.base_index, path))
        self._descriptor, self._position = descriptor, SEGMENT_HEADER_BYTES
        _, self._segment_id, self._generation = header

    def _name_installed(self) -> None:
        """Everything else is gone, durably: from here on it is a snapshot like any other."""
        assert self._snapshot is not None
        path = snapshot_path(self._directory, self.snapshot_id)
        self._snapshot = self._snapshot.replace(path)
        sync_directory(self._directory, self._sync)

    def _require_working(self) -> None:
        if self._failed or self._descriptor < 0:
            raise MetadataLogFailedError("the metadata log has failed or is closed")
