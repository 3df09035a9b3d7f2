"""What must hold for each entry of the metadata log. Pure.

Some of these mistakes do no harm by themselves, as others would have to be made as well: they are looked for where
they happen.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from headrace.metadata.controller.decision import ConfigRules, Inputs
from headrace.metadata.controller.object_commits import NO_OBJECT_ID, commit_stream_set_object
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.logs import Drain, LogState, log_of
from headrace.metadata.levels import NEWEST, OLDEST, level_of
from headrace.metadata.records.codec import KINDS, MEMBERS_FORMAT
from headrace.metadata.records.objects import (
    ObjectsRemovedRecord,
    RecordedRange,
    StreamObjectRecord,
    StreamSetObjectRecord,
)
from headrace.metadata.rpc.requests import CommitStreamSetObject, CommittedStreamObject
from tests.simulation.cluster.entries import Step
from tests.simulation.cluster.records import Place

_INPUTS = Inputs(0, random.Random(0), ConfigRules(validate_topic=lambda *_: None))
_KINDS = {kind.__struct_config__.tag: kind for kind in KINDS}


def replaced_alive(step: Step) -> Iterator[str]:
    """A broker's process gives way to another one when its epoch has ended, or a lock shows that it has."""
    old, new = step.old.brokers, step.new.brokers
    if old is new:
        return
    for node_id, now in new.items():
        last = old.get(node_id)
        if last is None or last.epoch == now.epoch or last.epoch_ended:
            continue
        if not set(last.locks) & set(now.locks):
            yield f"broker {node_id} is registered at {now.epoch}: its epoch {last.epoch} had not ended"


def above_level(step: Step) -> Iterator[str]:
    """An entry has nothing that nodes which read the level of the cluster and no later one would not know.

    From the bytes, as what the product has for it could be the mistake.
    """
    level = level_of(step.old.features)
    if level == NEWEST or step.payload[0] == MEMBERS_FORMAT:
        return
    for tag, *values in msgspec.msgpack.decode(step.payload[1:]):
        kind = _KINDS[tag]
        first = kind.LATER_FIELDS
        names = msgspec.structs.fields(kind)
        known = sum(first.get(it.name, OLDEST) <= level for it in names)
        if level < kind.LEVEL:
            yield f"{kind.__name__} is written at level {level}"
        elif len(values) > known:
            yield f"{kind.__name__} has {len(values)} fields, {known} at level {level}"


class DrainedLogs:
    """A log is drained once all is in the bucket that its owner has acknowledged."""

    def __init__(self, end: Callable[[Place, int], int], has_lost: Callable[[Place], bool]) -> None:
        """Begin.

        Args:
            end: how far a broker has acknowledged a partition.
            has_lost: whether a partition may have lost records, as an operator has accepted.
        """
        self._end = end
        self._has_lost = has_lost

    def wrong(self, step: Step) -> Iterator[str]:
        """Judge an entry."""
        old, new = step.old, step.new
        if old.logs is new.logs:
            return
        for log_id, log in new.logs.items():
            last = old.logs.get(log_id)
            if log.state == LogState.DRAINED and (last is None or last.state != log.state):
                yield from self._left(log.owner, old, new)

    def _left(self, owner: int, old: MetadataImage, new: MetadataImage) -> Iterator[str]:
        for topic in old.topics.values():
            for it in topic.partitions:
                place = (topic.name, it.partition)
                stream = new.streams.get(it.data_stream_id)
                if it.leader != owner or stream is None or self._has_lost(place):
                    continue
                told = self._end(place, owner)
                if stream.end_offset < told:
                    yield f"log of {owner} is drained: {place} up to {stream.end_offset} of {told}"


class Repetitions:
    """While a drain goes on, a repetition of each of its uploads succeeds: its answer may have been lost.

    Also once the objects were compacted and deleted. Between a drain's commit and its answer there is hardly ever so
    much time, so the controller's rule is asked in each state that a run comes to.
    """

    def __init__(self, forgotten: Callable[[], object]) -> None:
        """Begin; `forgotten` is called when an upload's objects are gone before its drain is."""
        self._forgotten = forgotten
        self._uploads: list[CommitStreamSetObject] = []

    def wrong(self, step: Step) -> Iterator[str]:
        """Judge an entry."""
        upload = _upload_of_drain(step)
        if upload is not None:
            self._uploads.append(upload)
            yield from self._repeated([upload], step.new)
        removed = {
            object_id
            for it in step.records
            if isinstance(it, ObjectsRemovedRecord)
            for object_id in it.object_ids
        }
        if removed:
            yield from self._repeated(
                [it for it in self._uploads if removed & set(_objects_of(it))], step.new
            )

    def _repeated(
        self, uploads: Sequence[CommitStreamSetObject], image: MetadataImage
    ) -> Iterator[str]:
        for upload in uploads:
            if _is_over(upload, image):
                self._uploads.remove(upload)
                continue
            try:
                decision = commit_stream_set_object(upload, image, _INPUTS)
            except RefusedError as error:
                yield f"the upload of {_objects_of(upload)} is refused when it is repeated: {error}"
            else:
                if decision.records:
                    yield f"the upload of {_objects_of(upload)} takes effect twice"
                if not any(it in image.objects.by_id for it in _objects_of(upload)):
                    self._forgotten()


def _is_over(upload: CommitStreamSetObject, image: MetadataImage) -> bool:
    """Whether its sender may not act for the log any more, and so repeats nothing."""
    log, sender = image.logs.get(upload.log_id), image.brokers.get(upload.node_id)
    drain = Drain(upload.log_epoch, upload.node_id, upload.node_epoch)
    return (
        log is None
        or log.state != LogState.DRAINING
        or log.drain != drain
        or sender is None
        or sender.epoch != upload.node_epoch
        or sender.epoch_ended
    )


def _upload_of_drain(step: Step) -> CommitStreamSetObject | None:
    """The request that an entry was made of, if it is an upload in the name of another broker's log."""
    kinds = (StreamSetObjectRecord, StreamObjectRecord)
    if not step.records or not isinstance(step.records[0], kinds):
        return None  # a compaction begins with what it replaces
    sets = [it for it in step.records if isinstance(it, StreamSetObjectRecord)]
    singles = [it for it in step.records if isinstance(it, StreamObjectRecord)]
    sender = step.records[0].node_id
    writers = _writers((*(it.range for it in singles), *_ranges(sets)), step.old)
    log = log_of(step.old.logs, writers.pop()) if len(writers) == 1 else None
    if log is None or log.owner == sender or log.drain is None:
        return None
    return CommitStreamSetObject(
        sender,
        log.drain.node_epoch,
        sets[0].object_id if sets else NO_OBJECT_ID,
        sets[0].size_bytes if sets else 0,
        sets[0].ranges if sets else (),
        tuple(CommittedStreamObject(it.object_id, it.size_bytes, it.range) for it in singles),
        (),
        log_id=log.log_id,
        log_epoch=log.drain.epoch,
    )


def _ranges(sets: Iterable[StreamSetObjectRecord]) -> list[RecordedRange]:
    return [piece for it in sets for piece in it.ranges]


def _writers(pieces: Iterable[RecordedRange], image: MetadataImage) -> set[int]:
    found = (image.streams.get(it.stream_id) for it in pieces)
    return {it.node_id for it in found if it is not None}


def _objects_of(upload: CommitStreamSetObject) -> list[int]:
    own = [] if upload.object_id == NO_OBJECT_ID else [upload.object_id]
    return own + [it.object_id for it in upload.stream_objects]
