"""Rebuilds the metadata of a cluster that has lost every controller, from a snapshot. Pure.

The snapshot is the newest that was saved; what was committed after it is unknown. So no id that was
assigned after it may be assigned again, and no epoch that was valid then may stay valid:

| what | becomes |
|---|---|
| members of the quorum | the one new controller |
| index, term | higher than any entry of the lost log can have had: epochs of brokers are indexes |
| brokers | their epochs have ended: each must register again |
| leader epochs | higher than any broker can have had |
| logs | in use by their owners: whether one was emptied or drained, it may have been written to later |
| streams | open on the node that leads, at the new leader epoch: it recovers its WAL at that epoch |
| ranges of streams | as they were: what is recovered and adopted next was written at older epochs |
| ids of streams, producers, objects | continue above any that can have been assigned, and above all in the bucket |
| objects that the snapshot does not have, or has as prepared, and that continue all their streams | committed |
| the other objects of this kind | prepared without expiry: nothing removes them, an operator must decide about them |

An object is uploaded from what a WAL has confirmed, whether it was committed then or not: if it
begins at the end of a stream, it holds what follows there, unless the WAL's owner had been stopped
and another one leads since. A stream is opened at an epoch only when everything before is committed.
So if a record of some epoch, or a range of the snapshot, lies at an offset, no record of an older
epoch counts there or behind it: of objects that hold the same offsets, the one of the highest epoch
is used. An object that has one such record is outdated as a whole: its blocks cannot be cut, and what
it holds before is in an object that was committed.

Within an epoch one node writes, so objects that begin alike hold the same records. The newest is
used, since a compaction or a second attempt has written at least as much.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import log_record
from headrace.metadata.images.objects import ObjectState
from headrace.metadata.images.streams import StreamImage
from headrace.metadata.records.brokers import FenceBrokerRecord, FenceReason
from headrace.metadata.records.cluster import LeaderChangeRecord, NextIdsRecord, ProducerIdsRecord
from headrace.metadata.records.members import Member, MembersRecord
from headrace.metadata.records.objects import (
    ObjectsPreparedRecord,
    RecordedRange,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import StreamState, StreamStateRecord
from headrace.metadata.records.topics import PartitionChangeRecord
from headrace.metadata.replay import replay

INDEX_STEP: Final = 1 << 32
TERM_STEP: Final = 10_000  # an int32 for Kafka's clients, as the next
LEADER_EPOCH_STEP: Final = 10_000
ID_STEP: Final = 1 << 32
NEVER_MS: Final = 253_370_764_800_000  # the year 9999
NOBODY: Final = -1
MAX_OFFSET: Final = (1 << 63) - 1

# (stream id, start offset, end offset)
Run = tuple[int, int, int]
# (stream id, epoch, start offset, end offset): a part of a run that was written at one epoch.
EpochRun = tuple[int, int, int, int]


class Rebuilt(NamedTuple):
    """The rebuilt metadata, and the differences between the snapshot and the bucket."""

    image: MetadataImage
    # Object id -> bytes in the bucket:
    adopted: Mapping[int, int]  # written after the snapshot; they continue its streams
    unreferenced: Mapping[int, int]  # written after the snapshot; nothing refers to them
    outdated: Mapping[int, int]  # of these: they hold records of an epoch that had ended
    missing: Mapping[int, int]  # (bytes as committed) committed in the snapshot, not in the bucket
    other_size: Mapping[int, int]  # committed in the snapshot with another size


def unknown_objects(image: MetadataImage, found: Iterable[int]) -> list[int]:
    """Objects that the snapshot does not have, or has as prepared; their contents must be read."""
    by_id, next_id = image.objects.by_id, image.objects.next_object_id
    return sorted(
        object_id
        for object_id in found
        if object_id >= next_id
        or (object_id in by_id and by_id[object_id].state == ObjectState.PREPARED)
    )


def continues(image: MetadataImage, runs: Iterable[Run]) -> bool:
    """Whether an object holds records that the snapshot's streams do not have: their epochs must be read."""
    streams = image.streams
    return any(stream in streams and end > streams[stream].end_offset for stream, _, end in runs)


def rebuild(
    image: MetadataImage,
    found: Mapping[int, int],
    held: Mapping[int, Sequence[EpochRun]],
    *,
    member: Member,
    now_ms: int,
) -> Rebuilt:
    """Rebuild the metadata.

    Args:
        image: of the snapshot.
        found: every object of this cluster in the bucket: object id -> bytes.
        held: the contents of those of `unknown_objects` that `continues` is true of, by stream and
            offset; without damaged ones.
        member: the one new controller.
        now_ms: wall clock.
    """
    known = image.objects.by_id
    prepared = [it.object_id for it in known.values() if it.state == ObjectState.PREPARED]
    committed = [it for it in known.values() if it.state == ObjectState.COMMITTED]
    unknown = unknown_objects(image, found)
    outdated = _outdated(image, held)
    runs = {it: _joined(held[it]) for it in held if it not in outdated}
    adopted = _adoptable(image, runs)
    commits = [_commit(image, it, found[it], runs[it], now_ms) for it in adopted]
    later = [it for it in unknown if it >= image.objects.next_object_id]
    made = replay(
        _never_expiring(image, prepared),
        _records(image, later, commits, member=member, now_ms=now_ms),
        index=image.index + INDEX_STEP,
        term=image.term + TERM_STEP,
    )
    return Rebuilt(
        made,
        {object_id: found[object_id] for object_id in adopted},
        {object_id: found[object_id] for object_id in unknown if object_id not in adopted},
        {object_id: found[object_id] for object_id in sorted(outdated)},
        {it.object_id: it.size_bytes for it in committed if it.object_id not in found},
        {
            it.object_id: found[it.object_id]
            for it in committed
            if found.get(it.object_id, it.size_bytes) != it.size_bytes
        },
    )


def _never_expiring(image: MetadataImage, prepared: Iterable[int]) -> MetadataImage:
    """Let no prepared object expire: it may have been committed after the snapshot."""
    by_id, deadlines = image.objects.by_id.mutate(), image.objects.prepared.mutate()
    for object_id in prepared:
        by_id[object_id] = msgspec.structs.replace(by_id[object_id], expires_ms=NEVER_MS)
        deadlines[object_id] = NEVER_MS
    objects = msgspec.structs.replace(
        image.objects, by_id=by_id.finish(), prepared=deadlines.finish()
    )
    return msgspec.structs.replace(image, objects=objects)


def _outdated(image: MetadataImage, held: Mapping[int, Sequence[EpochRun]]) -> set[int]:
    """Objects with a record behind the first one of a later epoch: it was never committed."""
    begins: dict[int, dict[int, int]] = {}  # stream -> epoch -> lowest offset known of it

    def note(stream_id: int, epoch: int, offset: int) -> None:
        of_stream = begins.setdefault(stream_id, {})
        of_stream[epoch] = min(offset, of_stream.get(epoch, offset))

    for stream in image.streams.values():
        for piece in stream.ranges:
            note(stream.stream_id, piece.epoch, piece.start_offset)
    for runs in held.values():
        for stream_id, epoch, start, _ in runs:
            note(stream_id, epoch, start)
    ends = {
        (stream_id, epoch): end
        for stream_id, of_stream in begins.items()
        for epoch, end in _ends(of_stream)
    }
    return {
        object_id
        for object_id, runs in held.items()
        if any(end > ends[stream_id, epoch] for stream_id, epoch, _, end in runs)
    }


def _ends(begins: Mapping[int, int]) -> Iterable[tuple[int, int]]:
    """Yield (epoch, offset from which on records of a later epoch count)."""
    end = MAX_OFFSET
    for epoch in sorted(begins, reverse=True):
        yield epoch, end
        end = min(end, begins[epoch])


def _joined(runs: Iterable[EpochRun]) -> list[Run]:
    joined: list[Run] = []
    for stream_id, _, start, end in runs:
        if joined and joined[-1][0] == stream_id and joined[-1][2] == start:
            joined[-1] = (stream_id, joined[-1][1], end)
        else:
            joined.append((stream_id, start, end))
    return joined


def _adoptable(image: MetadataImage, held: Mapping[int, Sequence[Run]]) -> dict[int, None]:
    """Objects all of whose runs continue their streams, in an order in which they do."""
    ends = {stream_id: stream.end_offset for stream_id, stream in image.streams.items()}
    waiting: dict[tuple[int, int], list[int]] = {}  # (stream, offset) -> objects that begin there
    for object_id in sorted(held, reverse=True):
        for stream_id, start, _ in held[object_id]:
            waiting.setdefault((stream_id, start), []).append(object_id)
    adopted: dict[int, None] = {}
    moved = sorted(ends)
    while moved:
        stream_id = moved.pop()
        for object_id in waiting.get((stream_id, ends[stream_id]), ()):
            runs = held[object_id]
            if all(ends.get(stream) == start for stream, start, _ in runs):
                adopted[object_id] = None
                ends |= {stream: end for stream, _, end in runs}
                moved += [stream for stream, _, _ in runs]
                break
    return adopted


def _commit(
    image: MetadataImage, object_id: int, size_bytes: int, runs: Sequence[Run], now_ms: int
) -> StreamSetObjectRecord | StreamObjectRecord:
    ranges = tuple(
        RecordedRange(stream_id, max(0, image.streams[stream_id].epoch), start, end)
        for stream_id, start, end in runs
    )
    node_id = _writer(image, image.streams[ranges[0].stream_id])
    if len(ranges) == 1:
        return StreamObjectRecord(object_id, node_id, size_bytes, now_ms, ranges[0])
    return StreamSetObjectRecord(object_id, node_id, object_id, size_bytes, now_ms, ranges)


def _writer(image: MetadataImage, stream: StreamImage) -> int:
    if stream.opened:
        return stream.node_id
    return image.topics[stream.topic_id].partitions[stream.partition].leader


def _records(
    image: MetadataImage,
    later: Iterable[int],
    commits: Iterable[MetadataRecord],
    *,
    member: Member,
    now_ms: int,
) -> Iterable[MetadataRecord]:
    yield LeaderChangeRecord(image.term + TERM_STEP, NOBODY, now_ms)
    yield MembersRecord((member,))
    for _, broker in sorted(image.brokers.items()):
        if not broker.epoch_ended:
            yield FenceBrokerRecord(broker.node_id, broker.epoch, FenceReason.SESSION_EXPIRED)
    yield from map(log_record, sorted(image.logs.values(), key=lambda it: it.log_id))
    yield from _epochs(image)
    end = image.objects.next_object_id
    for _, run in groupby(enumerate(later), key=lambda it: it[1] - it[0]):
        ids = [object_id for _, object_id in run]
        yield ObjectsPreparedRecord(ids[0], len(ids), NOBODY, now_ms, NEVER_MS)
        end = ids[-1] + 1
    yield from commits
    yield NextIdsRecord(image.next_stream_id + ID_STEP, end + ID_STEP)
    yield ProducerIdsRecord(NOBODY, NOBODY, image.next_producer_id + ID_STEP)


def _epochs(image: MetadataImage) -> Iterable[MetadataRecord]:
    """Raise leader epochs, and those of streams with them: a stream's epoch is its leader's.

    A stream that the snapshot has as closed may have been opened and written later.
    """
    for topic in sorted(image.topics.values(), key=lambda it: it.name):
        for partition in topic.partitions:
            epoch = partition.leader_epoch + LEADER_EPOCH_STEP
            yield PartitionChangeRecord(
                topic.topic_id, partition.partition, partition.leader, epoch
            )
            for stream_id in (partition.data_stream_id, partition.meta_stream_id):
                node_id = _writer(image, image.streams[stream_id])
                yield StreamStateRecord(stream_id, epoch, StreamState.OPENED, node_id)
