"""`headrace metadata info` and `dump`: what a metadata directory or a snapshot holds."""

import json
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import click
import msgspec

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import form_option, output_option
from headrace.broker.cli.output import emit_object
from headrace.broker.cli.record_format import as_text
from headrace.readable import format_time

if TYPE_CHECKING:
    from headrace.metadata.image import MetadataImage
    from headrace.metadata.offline.described_logs import DescribedLog
    from headrace.metadata.records.record import MetadataRecord

path_argument = click.argument("path", type=click.Path(exists=True, path_type=Path))


@click.command()
@path_argument
@output_option
def info(path: Path, output: str) -> None:
    """Show term, vote, members, the position of the log, and how many of everything there are."""
    from headrace.broker.cli.metadata_directory import load_metadata

    if path.is_file():
        report = _contents(load_snapshot(path))
    else:
        found = load_metadata(str(path))
        hard_state = found.hard_state
        report = {
            "cluster_id": found.cluster_id,
            "node_id": found.node_id,
            "directory_id": str(found.directory_id),
            "in_use": found.in_use,
            "term": hard_state.term,
            "voted_for": (hard_state.voted_for if hard_state.voted_for >= 0 else None),
            "snapshot_index": found.snapshot_id.index or None,
            "snapshot_term": found.snapshot_id.term or None,
            "entries": len(found.entries),
            "unfinished_bytes": found.unfinished_bytes,
        } | _contents(found.image)
    emit_object(report, output=output)


@click.command()
@path_argument
@form_option(
    type=click.Choice(["json", "jsonl"]),
    default="jsonl",
    help="Both are one JSON object per line.",
)
def dump(path: Path, output: str) -> None:
    """Print the records of the snapshot, then those of each entry after it, one JSON object each."""
    del output  # there is one form
    from headrace.broker.cli.metadata_directory import load_metadata
    from headrace.metadata.log.snapshot_format import decode_snapshot
    from headrace.metadata.records.codec import decode_records
    from headrace.metadata.snapshot import image_to_records

    if path.is_file():
        image = load_snapshot(path)
        _print(image_to_records(image), index=image.index, term=image.term, snapshot=True)
        return
    found = load_metadata(str(path))
    if found.snapshot is not None:
        image = decode_snapshot(found.snapshot)
        _print(image_to_records(image), index=image.index, term=image.term, snapshot=True)
    for entry in found.entries:
        records = iter(decode_records(entry.payload))
        _print(records, index=entry.index, term=entry.term, snapshot=False)


def load_snapshot(path: Path) -> "MetadataImage":
    """Read a snapshot's file.

    Raises:
        CommandFailedError: it is none, or damaged.
    """
    from headrace.metadata.errors import MetadataError
    from headrace.metadata.log.snapshot_format import decode_snapshot

    try:
        return decode_snapshot(path.read_bytes())
    except (MetadataError, AssertionError, OSError) as error:
        raise CommandFailedError(
            f"{path} cannot be read as a snapshot of metadata: {error}",
            hint="Snapshots are the files *.checkpoint of a metadata directory, or of a bucket.",
        ) from error


def _log(log: "DescribedLog") -> str:
    since = "" if log.owner_ended_ms is None else f" since {format_time(log.owner_ended_ms)}"
    waiting = f", {log.offline_partitions} partitions wait" if log.offline_partitions else ""
    return (
        f"{log.log_id} of broker {log.owner} ({log.owner_state}{since}): {log.state}, generation "
        f"{log.generation} at {', '.join(log.places) or 'an unknown place'}{waiting}"
    )


def _contents(image: "MetadataImage") -> dict[str, object]:
    from headrace.metadata.offline.described_logs import describe_logs

    states = Counter(it.state.name.lower() for it in image.objects.by_id.values())
    return {
        "cluster_id": image.cluster_id,
        "last_index": image.index,
        "last_term": image.term,
        "members": [
            f"{it.node_id}@{it.host}:{it.port}{'' if it.voter else ' (observer)'}"
            for it in image.members
        ],
        "brokers": len(image.brokers),
        "brokers_active": sum(not it.fenced for it in image.brokers.values()),
        "logs": list(map(_log, describe_logs(image))),
        "topics": len(image.topics),
        "partitions": sum(len(it.partitions) for it in image.topics.values()),
        "streams": len(image.streams),
        "objects_committed": states["committed"],
        "objects_prepared": states["prepared"],
        "objects_destroyed": states["mark_destroyed"],
        "next_object_id": image.objects.next_object_id,
        "features": dict(image.features),
    }


def _print(records: "Iterator[MetadataRecord]", *, index: int, term: int, snapshot: bool) -> None:
    head = {"index": index, "term": term, "snapshot": snapshot}
    for record in records:
        line = head | {"type": type(record).__name__} | _fields(record)
        click.echo(json.dumps(line, ensure_ascii=False))


def _fields(struct: msgspec.Struct) -> dict[str, object]:
    return {
        field.name: _plain(getattr(struct, field.name)) for field in msgspec.structs.fields(struct)
    }


def _plain(value: object) -> object:
    match value:
        case Enum():
            return value.name
        case UUID():
            return str(value)
        case bytes():
            return as_text(value)
        case tuple() | list():
            return [_plain(it) for it in value]
        case None | bool() | int() | str():
            return value
        case msgspec.Struct():
            return _fields(value)
        case _:
            raise TypeError(f"a record holds {value!r}")
