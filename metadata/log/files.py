"""Segments and snapshots of the metadata log in one directory. Blocking: for the log's own thread.

Files are named by what they hold, in twenty digits: `<base index>.log`,
`<index>-<term>.checkpoint`. There is always a last segment, which entries are appended to. A
snapshot begins with a new segment, so that every older one is of no use once the snapshot is
durable.

| found at opening                                     | done                                         |
|------------------------------------------------------|----------------------------------------------|
| temporary files                                      | deleted: whatever they were was not finished |
| several snapshots                                    | the newest counts, others are deleted        |
| segments that the snapshot makes useless             | deleted, whatever is in them                 |
| an invalid tail of the last segment, not proven      | cut off, durably, before anything is written |
| any other invalid frame, a gap between the files     | refused: acknowledged entries are missing    |
| an invalid snapshot                                  | refused: the entries before it are gone      |
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from metadata.errors import MetadataLogCorruptError, MetadataLogFailedError
from metadata.log.durable_files import (
    TEMPORARY_SUFFIX,
    Sync,
    create_whole,
    sync_directory,
    write_all,
)
from metadata.log.entry_format import (
    SEGMENT_HEADER_BYTES,
    decode_segment_header,
    encode_group,
    encode_segment_header,
    scan_segment,
)
from metadata.log.recovered import Recovered
from metadata.records.entry import LogEntry, SnapshotId

SEGMENT_SUFFIX: Final = ".log"
SNAPSHOT_SUFFIX: Final = ".checkpoint"
DIGITS: Final = 20

_SEGMENT_NAME: Final = re.compile(r"\d{20}\.log")
_SNAPSHOT_NAME: Final = re.compile(r"\d{20}-\d{20}\.checkpoint")


class _Segment(NamedTuple):
    base_index: int
    path: Path


class LogFiles:
    """The files, and the descriptor of the last segment. After a failure nothing is written any more."""

    def __init__(self, directory: Path, sync: Sync) -> None:
        self._directory = directory
        self._sync = sync
        self._descriptor = -1
        self._position = 0  # in the last segment
        self._life_id = 0
        self._failed = False
        self._segments: list[_Segment] = []
        self._sizes: dict[int, int] = {}  # of all segments but the last, by base index
        self._snapshot: Path | None = None
        self.last_index = 0  # last durable entry

    @property
    def log_bytes(self) -> int:
        """Bytes in all segments."""
        return self._position + sum(self._sizes.values())

    def has_log(self) -> bool:
        """Whether there is anything of a log."""
        return any(
            _SEGMENT_NAME.fullmatch(path.name) or _SNAPSHOT_NAME.fullmatch(path.name)
            for path in self._directory.iterdir()
        )

    def open(self, life_id: int) -> Recovered:
        """Read everything and get ready to append.

        Args:
            life_id: random, for a segment if one must be created.

        Raises:
            MetadataLogCorruptError: acknowledged entries cannot be read; nothing has been changed.
        """
        useless, snapshot = self._newest_snapshot()
        start = 0 if self._snapshot is None else int(self._snapshot.name[:DIGITS])
        older, segments = self._find_segments(start)
        entries, last = self._read_segments(segments, start)
        cut_off_bytes = 0
        for path in (*useless, *older):
            path.unlink()
        if last is None:
            self._create_segment(start + 1, life_id)
        else:
            cut_off_bytes = self._reopen_last(segments[-1], last)
        self._segments = segments or self._segments
        return Recovered(snapshot, entries, cut_off_bytes)

    def read(self) -> Recovered:
        """Read everything and change nothing: for a look from outside, beside the log's owner.

        Raises:
            MetadataLogCorruptError: acknowledged entries cannot be read.
            FileNotFoundError: the owner has just deleted a file that it no longer needs.
        """
        _, snapshot = self._newest_snapshot()
        start = 0 if self._snapshot is None else int(self._snapshot.name[:DIGITS])
        _, segments = self._find_segments(start)
        entries, last = self._read_segments(segments, start)
        unfinished_bytes = 0
        if last is not None:
            unfinished_bytes = max(0, segments[-1].path.stat().st_size - last[1])
        return Recovered(snapshot, entries, unfinished_bytes)

    def append(self, entries: Sequence[LogEntry]) -> None:
        """Append entries; they are durable when this returns.

        Raises:
            MetadataLogFailedError: now, or before, a write or sync has failed.
        """
        self._require_working()
        assert entries[0].index == self.last_index + 1, "entries are dense"
        group = encode_group(entries, synced_index=self.last_index, life_id=self._life_id)
        try:
            write_all(self._descriptor, group, self._position)
            self._sync(self._descriptor)
        except OSError as error:
            # A sync that failed may have dropped the pages: trying again would prove nothing.
            self._failed = True
            raise MetadataLogFailedError(f"the metadata log cannot be written: {error}") from error
        self._position += len(group)
        self.last_index = entries[-1].index

    def roll(self, life_id: int) -> None:
        """Go on in a new segment, unless the last is empty."""
        self._require_working()
        last = self._segments[-1]
        if last.base_index == self.last_index + 1:
            return
        descriptor, position = self._descriptor, self._position
        try:
            self._create_segment(self.last_index + 1, life_id)
        except OSError:
            # Should it exist after a restart, then entries must not go on in the one before it.
            self._failed = self._segment_path(self.last_index + 1).exists()
            raise
        self._sizes[last.base_index] = position
        os.close(descriptor)

    def snapshot_temporary(self, snapshot_id: SnapshotId) -> Path:
        """Where a snapshot is written before it is whole."""
        return self._snapshot_path(snapshot_id).with_suffix(SNAPSHOT_SUFFIX + TEMPORARY_SUFFIX)

    def adopt_snapshot(self, snapshot_id: SnapshotId) -> None:
        """Give a whole and durable snapshot its name, and delete what it makes useless."""
        path = self._snapshot_path(snapshot_id)
        self.snapshot_temporary(snapshot_id).replace(path)
        sync_directory(self._directory, self._sync)
        old, self._snapshot = self._snapshot, path
        if old is not None and old != path:
            old.unlink()
        while len(self._segments) > 1 and self._segments[1].base_index <= snapshot_id.index + 1:
            useless = self._segments.pop(0)
            self._sizes.pop(useless.base_index, None)
            useless.path.unlink()

    def read_snapshot(self, position: int, size_max: int) -> tuple[int, int, bytes] | None:
        """(index, file size, bytes from `position`) of the newest snapshot; None when there is none."""
        if self._snapshot is None:
            return None
        with self._snapshot.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(min(position, size))
            return int(self._snapshot.name[:DIGITS]), size, file.read(size_max)

    def close(self) -> None:
        """Close the last segment."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _newest_snapshot(self) -> tuple[list[Path], bytes | None]:
        """Files of no use beside the newest snapshot, and its bytes."""
        useless = list(self._directory.glob("*" + TEMPORARY_SUFFIX))
        paths = sorted(
            path for path in self._directory.iterdir() if _SNAPSHOT_NAME.fullmatch(path.name)
        )
        if not paths:
            return useless, None
        self._snapshot = paths[-1]
        return [*useless, *paths[:-1]], self._snapshot.read_bytes()

    def _find_segments(self, start: int) -> tuple[list[Path], list[_Segment]]:
        """Split the segments into those of no use beside a snapshot at `start`, and the others."""
        found = [
            _Segment(int(path.stem), path)
            for path in sorted(self._directory.iterdir())
            if _SEGMENT_NAME.fullmatch(path.name)
        ]
        first = 0
        for ordinal, segment in enumerate(found):
            if segment.base_index <= start + 1:
                first = ordinal
        return [segment.path for segment in found[:first]], found[first:]

    def _read_segments(
        self, segments: Sequence[_Segment], start: int
    ) -> tuple[list[LogEntry], tuple[bytes, int] | None]:
        """Entries above `start`, and (header, valid bytes) of the last segment."""
        if not segments:
            if start:
                raise MetadataLogCorruptError(
                    f"{self._directory} has a snapshot at {start}, and no segment to go on with"
                )
            return [], None
        entries: list[LogEntry] = []
        next_index = segments[0].base_index
        if next_index > start + 1:
            raise MetadataLogCorruptError(
                f"{self._directory} has no entries from {start + 1} to {next_index - 1}"
            )
        header, valid_bytes = b"", 0
        for segment in segments:
            data = segment.path.read_bytes()
            try:
                scanned = scan_segment(data)
            except MetadataLogCorruptError as error:
                raise MetadataLogCorruptError(f"{segment.path}: {error}") from error
            if not segment.base_index == next_index == decode_segment_header(data)[0]:
                raise MetadataLogCorruptError(
                    f"{segment.path} does not continue the log at entry {next_index}"
                )
            if segment is not segments[-1] and scanned.valid_bytes != len(data):
                raise MetadataLogCorruptError(
                    f"{segment.path} is damaged at byte {scanned.valid_bytes}, yet another "
                    "segment follows it"
                )
            next_index += len(scanned.entries)
            entries += (entry for entry in scanned.entries if entry.index > start)
            self._sizes[segment.base_index] = scanned.valid_bytes
            header, valid_bytes = data[:SEGMENT_HEADER_BYTES], scanned.valid_bytes
        self.last_index = next_index - 1
        if self.last_index < start:
            raise MetadataLogCorruptError(
                f"{self._directory} has a snapshot at {start}, but its log ends at "
                f"{self.last_index}"
            )
        return entries, (header, valid_bytes)

    def _reopen_last(self, segment: _Segment, last: tuple[bytes, int]) -> int:
        header, valid_bytes = last
        _, self._life_id = decode_segment_header(header)
        self._sizes.pop(segment.base_index)
        self._descriptor = os.open(segment.path, os.O_RDWR)
        self._position = valid_bytes
        size = os.fstat(self._descriptor).st_size
        if size > valid_bytes:
            os.ftruncate(self._descriptor, valid_bytes)
            self._sync(self._descriptor)
        return size - valid_bytes

    def _create_segment(self, base_index: int, life_id: int) -> None:
        segment = _Segment(base_index, self._segment_path(base_index))
        create_whole(segment.path, encode_segment_header(base_index, life_id), self._sync)
        self._descriptor = os.open(segment.path, os.O_RDWR)
        self._position = SEGMENT_HEADER_BYTES
        self._life_id = life_id
        self._segments.append(segment)

    def _segment_path(self, base_index: int) -> Path:
        return self._directory / f"{base_index:0{DIGITS}d}{SEGMENT_SUFFIX}"

    def _snapshot_path(self, snapshot_id: SnapshotId) -> Path:
        name = f"{snapshot_id.index:0{DIGITS}d}-{snapshot_id.term:0{DIGITS}d}{SNAPSHOT_SUFFIX}"
        return self._directory / name

    def _require_working(self) -> None:
        if self._failed or self._descriptor < 0:
            raise MetadataLogFailedError("the metadata log has failed or is closed")
