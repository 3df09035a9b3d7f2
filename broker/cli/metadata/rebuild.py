"""`headrace metadata rebuild`: a controller's directory, made from a snapshot in the bucket."""

import os
import random
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

import click

from headrace.broker.cli.bucket_argument import opened, run_async
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.metadata_source import MAX_SNAPSHOT_BYTES
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, talk
from headrace.broker.cli.progress import progress, tally
from headrace.readable import format_time, size_text

if TYPE_CHECKING:
    from uuid import UUID

    from headrace.metadata.image import MetadataImage
    from headrace.metadata.offline.rebuilding import Rebuilt
    from headrace.metadata.records.entry import SnapshotId
    from headrace.storage.audit.audited_bucket import AuditedBucket
    from headrace.storage.audit.inventory import ListedObject
    from headrace.storage.audit.object_check import ObjectReport
    from headrace.storage.ports import StreamRange


class _Listed(NamedTuple):
    snapshots: dict["SnapshotId", "ListedObject"]
    objects: dict[int, int]  # id -> bytes


class _Contents(NamedTuple):
    held: dict[int, "Sequence[StreamRange]"]  # id -> what it holds, in order
    damaged: list[str]  # keys of others


class _Chosen(NamedTuple):
    image: "MetadataImage"
    listed: "ListedObject"
    damaged: list[str]  # keys of newer ones


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--bucket", "url", required=True, metavar="URL", help="As in s3.data.buckets.")
@click.option("--cluster-id", required=True, metavar="ID", help="`headrace bucket ls` shows it.")
@click.option("--node-id", required=True, type=click.IntRange(0, 2**31 - 1), help="Of the node.")
@click.option(
    "--controller",
    required=True,
    metavar="HOST:PORT",
    help="Address at which other nodes reach this controller.",
)
@click.option(
    "--unreferenced-to",
    "keys_file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the keys of objects that no metadata refers to into this file, one a line.",
)
@output_option
def rebuild(
    directory: Path,
    url: str,
    cluster_id: str,
    node_id: int,
    controller: str,
    keys_file: Path | None,
    output: str,
) -> None:
    """Rebuild DIRECTORY, a controller's metadata directory, from the newest snapshot in the bucket.

    For a cluster that has lost the directories of all controllers. If a majority of them is left,
    restart those instead. If one is left, its directory is newer than any snapshot. No controller
    and no broker of the cluster may run. DIRECTORY must not exist, or be empty.

    Changes after the snapshot are lost; the command reports what it can find out about them.
    Nothing in the bucket is changed or removed; the new metadata is put there as its newest
    snapshot.
    """
    from headrace.config.uris import redacted

    host, port = _address(controller)
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise CommandFailedError(
            f"{directory} is not empty",
            hint="If it holds a metadata log, that is newer than any snapshot: start a node on it.",
        )
    outcome, chosen, damaged = run_async(
        _rebuild(directory, url, cluster_id, node_id, host, port), url=url
    )
    if keys_file is not None:
        _write_keys(keys_file, cluster_id, outcome.unreferenced)
    report = _report(directory, outcome, chosen, damaged) | {"bucket": redacted(url)}
    emit_object(report, output=output)
    if output == "table":
        _advise(outcome, chosen)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise click.BadParameter(f"{text!r} is not HOST:PORT.", param_hint="--controller")
    return host.strip("[]"), int(port)


async def _rebuild(
    directory: Path, url: str, cluster_id: str, node_id: int, host: str, port: int
) -> tuple["Rebuilt", _Chosen, list[str]]:
    from headrace.metadata.offline.rebuilding import rebuild as rebuilt_from
    from headrace.metadata.offline.rebuilt_directory import write_rebuilt
    from headrace.metadata.records.members import Member

    async with opened(url) as place:
        with tally("listing") as count:
            listed = await _list(place, cluster_id, count)
        chosen = await _newest(place, listed, cluster_id)
        contents = await _read(place, chosen.image, listed.objects)
    outcome: list[Rebuilt] = []

    def make(directory_id: "UUID") -> "MetadataImage":
        member = Member(node_id, directory_id, host, port, voter=True)
        now_ms = time.time_ns() // 1_000_000
        outcome.append(
            rebuilt_from(chosen.image, listed.objects, contents.held, member=member, now_ms=now_ms)
        )
        return outcome[0].image

    try:
        await write_rebuilt(
            directory,
            make,
            lambda image: _publish(url, image),
            node_id=node_id,
            cluster_id=cluster_id,
            rng=random.SystemRandom(),
        )
    except OSError as error:
        raise CommandFailedError(
            f"{directory} cannot be written: {error}",
            hint="If it is the root of a file system, name a directory in it.",
        ) from error
    return outcome[0], chosen, contents.damaged


async def _list(place: "AuditedBucket", cluster_id: str, count: Callable[[int], None]) -> _Listed:
    from headrace.metadata.published import parse_published_key
    from headrace.storage.audit.inventory import KeyKind, meaning_of

    listed = _Listed({}, {})
    async for page in place.lister.pages():
        count(len(page))
        for one in page:
            meaning = meaning_of(one.key)
            if meaning.cluster_id != cluster_id:
                continue
            published = parse_published_key(one.key)
            if published is not None:
                listed.snapshots[published[1]] = one
            elif meaning.kind == KeyKind.OBJECT:
                listed.objects[meaning.object_id] = one.size_bytes
    return listed


async def _newest(place: "AuditedBucket", listed: _Listed, cluster_id: str) -> _Chosen:
    """Read the newest snapshot that is whole."""
    from headrace.metadata.errors import MetadataError, MetadataVersionError
    from headrace.metadata.log.snapshot_format import decode_snapshot
    from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError

    damaged: list[str] = []
    for snapshot_id, one in sorted(listed.snapshots.items(), reverse=True):
        try:
            end = min(one.size_bytes, MAX_SNAPSHOT_BYTES)
            data = await place.reader.get_range(one.key, 0, end) if end else b""
            image = decode_snapshot(bytes(data))
            told = (image.cluster_id, image.index, image.term)
            assert told == (cluster_id, snapshot_id.index, snapshot_id.term), f"it is {told}"
        except MetadataVersionError as error:  # whole, and newer than what this release reads
            raise CommandFailedError(f"{one.key} cannot be read: {error}") from error
        except (MetadataError, CorruptObjectError, ObjectNotFoundError, AssertionError) as error:
            talk(f"{one.key} cannot be read, trying an older one: {error}")
            damaged.append(one.key)
            continue
        return _Chosen(image, one, damaged)
    raise CommandFailedError(
        f"the bucket has no whole snapshot of the metadata of cluster {cluster_id}",
        hint="`headrace bucket ls --long` lists what is in it; snapshots are below metadata/.",
    )


async def _read(
    place: "AuditedBucket", image: "MetadataImage", objects: Mapping[int, int]
) -> _Contents:
    """Read what the snapshot does not know: the indexes, and all of the objects that may continue a stream.

    Only the records themselves have the epoch at which they were written.
    """
    from headrace.metadata.offline.rebuilding import continues, unknown_objects
    from headrace.storage.audit.check_many import check_many
    from headrace.storage.audit.object_check import Watch
    from headrace.storage.objects.keys import object_key

    ids = {object_key(image.cluster_id, it): it for it in unknown_objects(image, objects)}
    contents = _Contents({}, [])
    whole: list[tuple[str, int]] = []
    with tally("indexes") as count:
        candidates = ((key, objects[object_id]) for key, object_id in ids.items())
        async for key, report in check_many(place.reader, candidates, blocks=False):
            count(1)
            if _is_whole(report, key, contents.damaged) and continues(image, report.runs):
                whole.append((key, report.size_bytes))
    with progress("records", total=sum(size for _, size in whole)) as advance:
        watch = Watch(on_bytes=advance)
        async for key, report in check_many(place.reader, whole, blocks=True, watch=watch):
            if _is_whole(report, key, contents.damaged):
                contents.held[ids[key]] = report.ranges
    return contents


def _is_whole(
    report: "ObjectReport | None", key: str, damaged: list[str]
) -> TypeGuard["ObjectReport"]:
    if report is None:
        return False
    if not report.is_whole:
        damage = report.damage[0]
        talk(f"{key} is damaged at byte {damage.position} and not used: {damage.what}")
        damaged.append(key)
    return report.is_whole


async def _publish(url: str, image: "MetadataImage") -> None:
    from headrace.metadata.log.snapshot_format import encode_snapshot
    from headrace.metadata.published import published_key
    from headrace.metadata.records.entry import SnapshotId
    from headrace.storage.object_store.factory import open_object_store

    store = open_object_store(url, rng=random.SystemRandom(), environment=os.environ)
    try:
        key = published_key(image.cluster_id, SnapshotId(image.index, image.term))
        await store.put(key, list(encode_snapshot(image)))
    finally:
        await store.close()


def _write_keys(path: Path, cluster_id: str, objects: Mapping[int, int]) -> None:
    from headrace.storage.objects.keys import object_key

    path.write_text("".join(f"{object_key(cluster_id, it)}\n" for it in objects))


def _report(
    directory: Path, outcome: "Rebuilt", chosen: _Chosen, damaged: list[str]
) -> dict[str, object]:
    from headrace.storage.objects.keys import object_key

    image, listed = chosen.image, chosen.listed
    return {
        "directory": str(directory),
        "cluster_id": image.cluster_id,
        "snapshot": listed.key,
        "snapshot_time": format_time(listed.modified_ms) if listed.modified_ms else None,
        "snapshot_index": image.index,
        "damaged_snapshots": chosen.damaged,
        "index": outcome.image.index,
        "term": outcome.image.term,
        "topics": len(image.topics),
        "partitions": sum(len(it.partitions) for it in image.topics.values()),
        "brokers": sorted(image.brokers),
        "missing_objects": len(outcome.missing),
        "missing_bytes": sum(outcome.missing.values()),
        "objects_of_other_size": len(outcome.other_size),
        "adopted_objects": len(outcome.adopted),
        "adopted_bytes": sum(outcome.adopted.values()),
        "unreferenced_objects": len(outcome.unreferenced),
        "unreferenced_bytes": sum(outcome.unreferenced.values()),
        "outdated_objects": [object_key(image.cluster_id, it) for it in outcome.outdated],
        "damaged_objects": sorted(damaged),
    }


def _advise(outcome: "Rebuilt", chosen: _Chosen) -> None:
    modified_ms = chosen.listed.modified_ms
    when = format_time(modified_ms) if modified_ms else f"entry {chosen.image.index}"
    talk("")
    talk(f"Changes after {when} are not known:")
    talk("- topics, partitions and settings that were created, changed or deleted later;")
    talk("- records that were uploaded later, except those in objects that continue their streams;")
    talk("- observers and other controllers: this one is the only one until others are added.")
    if outcome.adopted:
        talk(
            f"{len(outcome.adopted)} objects were written later and continue the streams of the "
            "snapshot: their records are there."
        )
    if outcome.unreferenced:
        size = size_text(sum(outcome.unreferenced.values()))
        talk(
            f"{len(outcome.unreferenced)} other objects ({size}) were written later, and nothing "
            "refers to them any more. They are never removed: --unreferenced-to lists them."
        )
    if outcome.outdated:
        talk(
            f"{len(outcome.outdated)} of these hold records of an epoch that had ended before them: "
            "other records count there. `outdated objects` names them."
        )
    if outcome.missing or outcome.other_size:
        talk(
            f"{len(outcome.missing) + len(outcome.other_size)} objects of the snapshot are "
            "missing or have changed: reading them fails. `headrace bucket fsck` names them."
        )
    talk(
        "Before you start a broker, copy its WAL: records of an unknown topic, and records that "
        "do not continue their stream, are dropped at the start."
    )
