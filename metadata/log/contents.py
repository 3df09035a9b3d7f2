"""Reads the directory of a metadata log, without changing anything. Blocking.

File names have numbers of twenty digits: `<base index>.log`, `<index>-<term>.checkpoint`, and
`<index>-<term>.install` for a snapshot that replaces the whole log: once a file has this name,
nothing else in the directory counts.

| found                                                   | meaning                                  |
|---------------------------------------------------------|------------------------------------------|
| temporary files                                         | obsolete: they were never finished       |
| several snapshots                                       | the newest counts, others are obsolete   |
| segments that the snapshot includes                     | obsolete, whatever they contain          |
| a segment after one of a higher generation              | obsolete: the log was truncated before it |
| frames at or above the base index of the next segment   | ignored, whatever they contain           |
| an invalid tail of the last segment, not proven         | was never acknowledged                   |
| one that later frames or `quorum-state` prove           | damage: acknowledged entries are missing |
| any other invalid frame, a gap between the files        | damage: acknowledged entries are missing |
| an invalid snapshot                                     | damage: the entries before it are lost   |
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from headrace.metadata.errors import MetadataLogCorruptError
from headrace.metadata.log.directory import Directory
from headrace.metadata.log.durable_files import read_file
from headrace.metadata.log.entry_format import (
    NOT_PROVEN,
    SEGMENT_HEADER_BYTES,
    ProvenEnd,
    ScannedSegment,
    decode_segment_header,
    scan_segment,
)
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId

SEGMENT_SUFFIX: Final = ".log"
SNAPSHOT_SUFFIX: Final = ".checkpoint"
INSTALL_SUFFIX: Final = ".install"
DIGITS: Final = 20

_SEGMENT_NAME: Final = re.compile(r"\d{20}\.log")
_SNAPSHOT_NAME: Final = re.compile(r"(\d{20})-(\d{20})\.checkpoint")
_INSTALL_NAME: Final = re.compile(r"(\d{20})-(\d{20})\.install")
_TEMPORARY_NAME: Final = re.compile(
    r"\d{20}(-\d{20})?\.[a-z]+\.tmp|quorum-state\.tmp|meta\.properties\.tmp|old-copy\.tmp"
)


class Segment(NamedTuple):
    """One file of entries."""

    base_index: int
    name: str


class Listing(NamedTuple):
    """The files by use."""

    snapshot_id: SnapshotId
    snapshot: str | None
    installing: bool  # the snapshot replaces everything else, which is yet to be deleted
    segments: list[Segment]
    useless: list[str]


class Contents(NamedTuple):
    """The contents of the files."""

    snapshot: bytes | None
    entries: list[LogEntry]  # after the snapshot
    last_index: int
    last_segment: ScannedSegment | None
    sizes: dict[int, int]  # of the segments before it, by base index
    unproven: bytes  # the last frames: nothing proves that they were durable
    torn_bytes: int  # after them, of a write that was not finished


def segment_name(base_index: int) -> str:
    """The name of a segment's file."""
    return f"{base_index:0{DIGITS}d}{SEGMENT_SUFFIX}"


def snapshot_name(snapshot_id: SnapshotId, suffix: str = SNAPSHOT_SUFFIX) -> str:
    """The name of a snapshot's file."""
    return f"{snapshot_id.index:0{DIGITS}d}-{snapshot_id.term:0{DIGITS}d}{suffix}"


def has_log(directory: Directory) -> bool:
    """Whether the directory has any file of a log."""
    patterns = (_SEGMENT_NAME, _SNAPSHOT_NAME, _INSTALL_NAME)
    return any(pattern.fullmatch(name) for name in directory.names() for pattern in patterns)


def list_directory(directory: Directory) -> Listing:
    """List the files by use.

    Raises:
        MetadataLogCorruptError: a segment that may count has no valid header.
    """
    names = sorted(directory.names())
    useless = [name for name in names if _TEMPORARY_NAME.fullmatch(name)]
    snapshots = _named(names, _SNAPSHOT_NAME)
    installs = _named(names, _INSTALL_NAME)
    segments = [Segment(int(it[:DIGITS]), it) for it in names if _SEGMENT_NAME.fullmatch(it)]
    if installs:
        newest_id, newest = installs[-1]
        useless += [name for _, name in (*snapshots, *installs[:-1])]
        useless += [segment.name for segment in segments]
        return Listing(newest_id, newest, installing=True, segments=[], useless=useless)
    useless += [name for _, name in snapshots[:-1]]
    snapshot_id, snapshot = snapshots[-1] if snapshots else (NO_SNAPSHOT, None)
    first = 0
    for ordinal, segment in enumerate(segments):
        if segment.base_index <= snapshot_id.index + 1:
            first = ordinal
    useless += [segment.name for segment in segments[:first]]
    counting, cut_off = _without_cut_off(directory, segments[first:])
    return Listing(
        snapshot_id, snapshot, installing=False, segments=counting, useless=[*useless, *cut_off]
    )


def read_contents(
    directory: Directory, listing: Listing, proven_end: ProvenEnd = NOT_PROVEN
) -> Contents:
    """Read all files that count.

    Args:
        directory: of the log.
        listing: its files.
        proven_end: what `quorum-state` proves of the last segment.

    Raises:
        MetadataLogCorruptError: acknowledged entries cannot be read.
        FileNotFoundError: the owner of the directory deleted a file meanwhile.
    """
    start = listing.snapshot_id.index
    snapshot = None if listing.snapshot is None else read_file(directory, listing.snapshot)
    if not listing.segments:
        if start and not listing.installing:
            raise MetadataLogCorruptError(
                f"{directory.path} has a snapshot at entry {start}, but no log segment after it"
            )
        return Contents(snapshot, [], start, None, {}, b"", 0)
    if listing.segments[0].base_index > start + 1:
        raise MetadataLogCorruptError(
            f"{directory.path}: entries {start + 1} to {listing.segments[0].base_index - 1} are missing"
        )
    entries: list[LogEntry] = []
    sizes: dict[int, int] = {}
    for segment, following in pairwise(listing.segments):
        data, scanned = _scan(directory, segment, following.base_index)
        sizes[segment.base_index] = len(data)
        entries += (entry for entry in scanned.entries if entry.index > start)
    data, scanned = _scan(directory, listing.segments[-1], None, proven_end)
    entries += (entry for entry in scanned.entries if entry.index > start)
    last_index = scanned.header.base_index - 1 + len(scanned.entries)
    if last_index < start:
        raise MetadataLogCorruptError(
            f"{directory.path} has a snapshot at entry {start}, but its log ends at entry {last_index}"
        )
    _check_terms(listing.snapshot_id, entries, directory)
    unproven = data[scanned.proven_bytes : scanned.valid_bytes]
    torn_bytes = len(data) - scanned.valid_bytes
    return Contents(snapshot, entries, last_index, scanned, sizes, unproven, torn_bytes)


def _named(names: Sequence[str], pattern: re.Pattern[str]) -> list[tuple[SnapshotId, str]]:
    matches = ((name, pattern.fullmatch(name)) for name in names)
    return sorted(
        (SnapshotId(int(match[1]), int(match[2])), name) for name, match in matches if match
    )


def _without_cut_off(
    directory: Directory, segments: Sequence[Segment]
) -> tuple[list[Segment], list[str]]:
    counting: list[Segment] = []
    cut_off: list[str] = []
    highest = 0
    for segment in segments:
        data = read_file(directory, segment.name, SEGMENT_HEADER_BYTES)
        path = directory.path / segment.name
        try:
            header = decode_segment_header(data)
        except MetadataLogCorruptError as error:
            raise MetadataLogCorruptError(f"{path}: {error}") from error
        if header.base_index != segment.base_index:
            raise MetadataLogCorruptError(
                f"{path} begins with entry {header.base_index}, which does not match its name"
            )
        if header.generation < highest:
            cut_off.append(segment.name)
        else:
            counting.append(segment)
            highest = header.generation
    return counting, cut_off


def _scan(
    directory: Directory,
    segment: Segment,
    end_index: int | None,
    proven_end: ProvenEnd = NOT_PROVEN,
) -> tuple[bytes, ScannedSegment]:
    data = read_file(directory, segment.name)
    try:
        return data, scan_segment(data, end_index, proven_end=proven_end)
    except MetadataLogCorruptError as error:
        raise MetadataLogCorruptError(
            f"{directory.path / segment.name}: {error}. Nothing was changed. If other controllers have the metadata, "
            "replace this one's disk; otherwise rebuild them: docs/operations.md"
        ) from error


def _check_terms(
    snapshot_id: SnapshotId, entries: Sequence[LogEntry], directory: Directory
) -> None:
    term = snapshot_id.term
    for entry in entries:
        if entry.term < term:
            raise MetadataLogCorruptError(
                f"{directory.path}: entry {entry.index} has term {entry.term}, below the previous term {term}"
            )
        term = entry.term
