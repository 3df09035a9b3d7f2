"""The manifest of an export: which offsets are in which files. Pure.

Below the export's directory:

    | key                                            | what                                                  |
    |------------------------------------------------|-------------------------------------------------------|
    | `topic=<name>/date=<date>/<run>-<task>-<n>.parquet` | records of a topic whose time is of this day in UTC |
    | `_headrace/manifest/<version>.json`            | the manifest; the greatest version counts             |
    | `_headrace/staging/<run>/...`                  | files that are not published yet                      |

`<run>` and `<version>` have twenty digits; `<run>` is the version with which a run took the export over. A version is
created only if it is not there, so of two runs one fails. A manifest is JSON: see the classes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Final

import msgspec

from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.plan import WantedRange

FORMAT: Final = 1
FOLDER: Final = "_headrace"
MANIFESTS: Final = f"{FOLDER}/manifest"
STAGING: Final = f"{FOLDER}/staging"
KEPT: Final = 2  # newest manifests; older ones are deleted
# As Hive writes it; of times that no calendar has, before year 1 or after 9999.
NO_DATE: Final = "__HIVE_DEFAULT_PARTITION__"

# (partition, start offset, end offset)
PartitionRange = tuple[int, int, int]
# [start offset, end offset)
Offsets = tuple[int, int]

_EPOCH_ORDINAL: Final = date(1970, 1, 1).toordinal()
_MANIFEST: Final = re.compile(rf"{MANIFESTS}/(\d{{20}})\.json")
_DATA: Final = re.compile(
    r"topic=[A-Za-z0-9._-]+/date=(?:\d{4}-\d\d-\d\d|"
    + NO_DATE
    + r")/(\d{20})-\d{6,}-\d{4,}\.parquet"
)


class ExportedFile(msgspec.Struct, frozen=True):
    """A file. Of its ranges it has all records of its date; there is no other file that has any of them."""

    path: str  # below the export's directory
    date: str
    rows: int
    bytes: int
    ranges: tuple[PartitionRange, ...]


class ExportedTopic(msgspec.Struct, frozen=True):
    """A topic."""

    topic_id: str  # of the cluster: a topic that is created again has another
    offsets: dict[str, list[Offsets]]  # by partition: what has been exported
    files: list[ExportedFile]


class Manifest(msgspec.Struct, frozen=True):
    """All of an export."""

    format: int
    version: int
    writer: str  # random, of the run that has written it
    cluster: str
    topics: dict[str, ExportedTopic]

    @property
    def paths(self) -> dict[str, ExportedFile]:
        """Files by path."""
        return {it.path: it for topic in self.topics.values() for it in topic.files}


class UnreadableManifestError(ValueError):
    """A manifest is damaged, or of a later version of Headrace."""


def encode_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest."""
    return msgspec.json.encode(manifest) + b"\n"


def decode_manifest(data: bytes) -> Manifest:
    """Return a manifest.

    Raises:
        UnreadableManifestError: it is damaged, or of another format.
    """
    try:
        found = msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError as error:
        raise UnreadableManifestError(f"the manifest cannot be read: {error}") from error
    if found.format != FORMAT:
        raise UnreadableManifestError(
            f"the manifest has format {found.format}; this version reads {FORMAT}"
        )
    return found


def manifest_key(version: int) -> str:
    """The key of a version."""
    return f"{MANIFESTS}/{version:020d}.json"


def manifest_version(key: str) -> int | None:
    """The version of a key; None: it is no manifest's."""
    match = _MANIFEST.fullmatch(key)
    return None if match is None else int(match[1])


def data_key(topic: str, day: str, run: int, task: int, number: int) -> str:
    """The key of a file."""
    return f"topic={topic}/date={day}/{run:020d}-{task:06d}-{number:04d}.parquet"


def data_run(key: str) -> int | None:
    """The run that has written a file; None: it is none of an export's files."""
    match = _DATA.fullmatch(key)
    return None if match is None else int(match[1])


def date_text(day: int) -> str:
    """Write a day since 1970 as a date; NO_DATE for one that no calendar has."""
    try:
        return date.fromordinal(_EPOCH_ORDINAL + day).isoformat()
    except (ValueError, OverflowError):
        return NO_DATE


def joined(ranges: Iterable[Offsets]) -> list[Offsets]:
    """Join ranges that overlap or follow each other."""
    found: list[Offsets] = []
    for start, end in sorted(ranges):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        elif start < end:
            found.append((start, end))
    return found


def missing(manifest: Manifest, wanted: Sequence[WantedRange]) -> list[WantedRange]:
    """Return what of the wanted offsets is not in the export yet."""
    found = []
    for it in wanted:
        topic = manifest.topics.get(it.name.topic)
        done = [] if topic is None else topic.offsets.get(str(it.name.partition), [])
        start = it.start_offset
        for done_start, done_end in joined(done):
            if start < min(done_start, it.end_offset):
                found.append(WantedRange(it.name, start, min(done_start, it.end_offset)))
            start = max(start, done_end)
        if start < it.end_offset:
            found.append(WantedRange(it.name, start, it.end_offset))
    return found


def extended(
    manifest: Manifest,
    *,
    version: int,
    writer: str,
    topic_ids: Mapping[str, str],
    exported: Iterable[WantedRange],
    added: Iterable[tuple[str, ExportedFile]],
    removed: Iterable[str] = (),
) -> Manifest:
    """Return the next version.

    Args:
        manifest: the version before it.
        version: its number.
        writer: the run that writes it.
        topic_ids: of the topics in `exported`.
        exported: offsets that are in the export now.
        added: (topic, file) of new files.
        removed: paths of files that are replaced.
    """
    topics = dict(manifest.topics)
    gone = set(removed)
    new_files: dict[str, list[ExportedFile]] = {}
    for topic, file in added:
        new_files.setdefault(topic, []).append(file)
    new_offsets: dict[str, dict[str, list[Offsets]]] = {}
    for it in exported:
        offsets = new_offsets.setdefault(it.name.topic, {})
        offsets.setdefault(str(it.name.partition), []).append((it.start_offset, it.end_offset))
    for name in sorted({*topics, *new_files, *new_offsets}):
        before = topics.get(name) or ExportedTopic(topic_ids[name], {}, [])
        offsets = {key: list(found) for key, found in before.offsets.items()}
        for key, found in new_offsets.get(name, {}).items():
            offsets[key] = joined([*offsets.get(key, []), *found])
        files = [it for it in before.files if it.path not in gone] + new_files.get(name, [])
        ordered = dict(sorted(offsets.items(), key=lambda it: int(it[0])))
        topics[name] = ExportedTopic(
            before.topic_id, ordered, sorted(files, key=lambda it: it.path)
        )
    return Manifest(FORMAT, version, writer, manifest.cluster, topics)


def wanted_of(topic: str, file: ExportedFile) -> list[WantedRange]:
    """The offsets that a file is about."""
    return [WantedRange(TopicPartition(topic, it[0]), it[1], it[2]) for it in file.ranges]


class Position(msgspec.Struct, frozen=True, order=True):
    """A position in the ranges of a task: everything before it has been read."""

    ordinal: int = 0  # of a range
    offset: int = -1  # in it; -1: its start


def ranges_between(
    ranges: Sequence[PartitionRange], start: Position, end: Position
) -> tuple[PartitionRange, ...]:
    """Return the offsets between two positions, joined where they follow each other."""
    found: list[PartitionRange] = []
    for ordinal in range(start.ordinal, min(end.ordinal + 1, len(ranges))):
        partition, low, high = ranges[ordinal]
        if ordinal == start.ordinal:
            low = max(low, start.offset)
        if ordinal == end.ordinal:
            high = low if end.offset < 0 else min(high, end.offset)
        if low >= high:
            continue
        if found and found[-1][0] == partition and found[-1][2] == low:
            found[-1] = (partition, found[-1][1], high)
        else:
            found.append((partition, low, high))
    return tuple(found)
