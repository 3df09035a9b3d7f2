"""Where descriptions of streams come from: metadata, a bucket's indexes, or the one checked by the other."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from headrace.broker.cli.bucket_argument import only_cluster, opened
from headrace.broker.cli.metadata_source import (
    DirectoryMetadata,
    ReadMetadata,
    metadata_source,
)
from headrace.broker.cli.output import talk
from headrace.broker.cli.progress import tally
from headrace.metadata.image import MetadataImage, ObjectImage
from headrace.metadata.images.objects import ObjectType
from headrace.metadata.images.streams import StreamImage
from headrace.storage.audit.check_many import check_many
from headrace.storage.audit.comparison import contradiction
from headrace.storage.audit.coverage import Coverage, Piece, lay_out
from headrace.storage.audit.inventory import KeyKind, meaning_of
from headrace.storage.objects.keys import object_key
from headrace.storage.ports import StreamRange

if TYPE_CHECKING:
    from headrace.storage.audit.audited_bucket import AuditedBucket
    from headrace.storage.audit.object_check import ObjectReport

_KINDS = {ObjectType.STREAM_SET: "stream set", ObjectType.STREAM: "stream"}


class Selection(NamedTuple):
    """Which streams are asked for."""

    stream_id: int | None
    topic: str | None
    partition: int | None

    @property
    def is_everything(self) -> bool:
        """Whether no stream is left out."""
        return self.stream_id is None and self.topic is None


class DescribedObject(NamedTuple):
    """An object that holds a part of a stream."""

    kind: str
    size_bytes: int


@dataclass(slots=True)
class DescribedStream:
    """A stream, and the objects that it lies in."""

    stream_id: int
    coverage: Coverage
    objects: dict[int, DescribedObject]
    start_offset: int | None
    end_offset: int | None
    known: dict[str, object] | None = None  # what only the metadata say
    writers: list[dict[str, int]] = field(default_factory=list)
    contradictions: dict[int, str] = field(default_factory=dict)  # by object

    @property
    def is_wrong(self) -> bool:
        """Whether offsets are missing, in the metadata or in the objects."""
        twice = self.coverage.overlaps if self.known is not None else ()
        return bool(self.coverage.gaps or twice or self.contradictions)


async def from_metadata(
    metadata: str, cluster: str | None, url: str | None, wanted: Selection
) -> list[DescribedStream]:
    """Describe streams as the metadata know them; with a URL, check their objects' indexes.

    Args:
        metadata: as `metadata_source` has it.
        cluster: whose snapshot, if the metadata are in the bucket.
        url: of the bucket.
        wanted: which streams.

    Raises:
        CommandFailedError: the metadata cannot be read.
        ObjectStoreError: the bucket does not answer.
    """
    if url is None:
        return _described_by(await DirectoryMetadata(metadata).read(), wanted)
    async with opened(url) as place:
        source = metadata_source(metadata, place, cluster)
        read = await source.read()
        streams = _described_by(read, wanted)
        await _check(place, read.cluster_id, streams)
        before = {object_id for it in streams for object_id in it.contradictions}
        if before:
            # An object may have been compacted away since the metadata were read.
            read = await source.read()
            streams = _described_by(read, wanted)
            await _check(place, read.cluster_id, streams)
            for found in streams:
                for object_id in found.contradictions.keys() - before:
                    del found.contradictions[object_id]
    return streams


def _described_by(metadata: ReadMetadata, wanted: Selection) -> list[DescribedStream]:
    image = metadata.image
    return [
        _described(image, found)
        for _, found in sorted(image.streams.items())
        if _is_wanted(image, found, wanted)
    ]


def _is_wanted(image: MetadataImage, found: StreamImage, wanted: Selection) -> bool:
    if wanted.stream_id not in (None, found.stream_id):
        return False
    if wanted.topic is None:
        return True
    topic = image.topic(wanted.topic)
    return (
        topic is not None
        and topic.topic_id == found.topic_id
        and wanted.partition in (None, found.partition)
    )


def _described(image: MetadataImage, found: StreamImage) -> DescribedStream:
    topic = image.topic_by_id(found.topic_id)
    by_id = image.objects.by_id
    is_meta = topic is not None and any(
        it.meta_stream_id == found.stream_id for it in topic.partitions
    )
    return DescribedStream(
        stream_id=found.stream_id,
        coverage=lay_out(
            (Piece(it.start_offset, it.end_offset, it.object_id) for it in found.objects),
            start_offset=found.start_offset,
            end_offset=found.end_offset,
        ),
        objects={it.object_id: _object(by_id[it.object_id]) for it in found.objects},
        start_offset=found.start_offset,
        end_offset=found.end_offset,
        known={
            "topic": topic.name if topic is not None else str(found.topic_id),
            "partition": found.partition,
            "kind": "meta" if is_meta else "data",
            "state": found.state.name.lower(),
            "epoch": found.epoch,
            "node": found.node_id,
        },
        writers=[
            {"epoch": it.epoch, "node": it.node_id, "start_offset": it.start_offset}
            for it in found.ranges
        ],
    )


def _object(found: ObjectImage) -> DescribedObject:
    return DescribedObject(_KINDS.get(found.kind, "unknown"), found.size_bytes)


async def _check(place: "AuditedBucket", cluster_id: str, streams: list[DescribedStream]) -> None:
    """Read each object's index once and compare it with what the streams expect of it."""
    users: dict[int, list[tuple[DescribedStream, Piece]]] = {}
    sizes: dict[int, int] = {}
    for found in streams:
        for piece in found.coverage.pieces:
            users.setdefault(piece.object_id, []).append((found, piece))
            sizes[piece.object_id] = found.objects[piece.object_id].size_bytes
    by_key = {object_key(cluster_id, object_id): object_id for object_id in users}
    candidates = ((key, sizes[object_id]) for key, object_id in by_key.items())
    with tally("indexes") as count:
        async for key, report in check_many(place.reader, candidates, blocks=False):
            count(1)
            object_id = by_key[key]
            for found, piece in users[object_id]:
                text = _complaint(report, found.stream_id, piece)
                if text is not None:
                    found.contradictions[object_id] = text


def _complaint(report: "ObjectReport | None", stream_id: int, piece: Piece) -> str | None:
    if report is None:
        return "missing"
    if not report.is_whole:
        return f"damaged at byte {report.damage[0].position}: {report.damage[0].what}"
    expected = StreamRange(stream_id, 0, piece.start_offset, piece.end_offset)
    return contradiction([expected], report.runs)


async def from_bucket(url: str, cluster: str | None, wanted: Selection) -> list[DescribedStream]:
    """Put streams together from the indexes of all objects of a cluster.

    Raises:
        CommandFailedError: it is not clear which cluster is meant, or it is not there.
        ObjectStoreError: the bucket does not answer.
    """
    async with opened(url) as place:
        candidates: dict[str, list[tuple[str, int]]] = {}
        async for page in place.lister.pages():
            for one in page:
                meaning = meaning_of(one.key)
                if meaning.kind == KeyKind.OBJECT:
                    of_cluster = candidates.setdefault(meaning.cluster_id, [])
                    if cluster in (None, meaning.cluster_id):
                        of_cluster.append((one.key, one.size_bytes))
        chosen = candidates[only_cluster(sorted(candidates), cluster)]
        pieces: dict[int, list[Piece]] = {}
        objects: dict[int, DescribedObject] = {}
        unreadable: dict[int, str] = {}
        with tally("indexes") as count:
            async for key, report in check_many(place.reader, chosen, blocks=False):
                count(1)
                if report is None:
                    continue  # compacted away meanwhile
                object_id = meaning_of(key).object_id
                if not report.is_whole:
                    unreadable[object_id] = report.damage[0].what
                kind = "stream" if report.streams == 1 else "stream set"
                objects[object_id] = DescribedObject(kind, report.size_bytes)
                _collect(pieces, object_id, report, wanted)
    for object_id, what in sorted(unreadable.items()):
        talk(f"object {object_id} is damaged, and its streams may show gaps: {what}")
    return list(_assembled(pieces, objects))


def _collect(
    pieces: dict[int, list[Piece]], object_id: int, report: "ObjectReport", wanted: Selection
) -> None:
    for stream_id, start, end in report.runs:
        if wanted.stream_id in (None, stream_id):
            pieces.setdefault(stream_id, []).append(Piece(start, end, object_id))


def _assembled(
    pieces: dict[int, list[Piece]], objects: dict[int, DescribedObject]
) -> Iterable[DescribedStream]:
    for stream_id, found in sorted(pieces.items()):
        laid = lay_out(found)
        yield DescribedStream(
            stream_id=stream_id,
            coverage=laid,
            objects={it.object_id: objects[it.object_id] for it in found},
            start_offset=laid.pieces[0].start_offset,
            end_offset=max(it.end_offset for it in laid.pieces),
        )
