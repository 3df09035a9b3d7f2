"""Judges each entry that gives a partition another leader while the one before lives. Pure.

Such a partition has a move to the new leader; the entry ends it and closes both streams, which were the old leader's,
and everything that the old leader has acknowledged is in the bucket by then. So nothing but its own request can have
made the entry. And whoever a partition leaves, it gets no leader that has ended
or is about to, unless there is no other.
"""

from collections.abc import Callable, Iterator

from headrace.metadata.image import MetadataImage, PartitionImage
from headrace.metadata.images.brokers import has_ended
from headrace.metadata.images.draining import closed_brokers
from tests.simulation.cluster.entries import Step
from tests.simulation.cluster.records import Place


class MovedPartitions:
    """All of one run."""

    def __init__(
        self,
        end: Callable[[Place, int], int],
        has_lost: Callable[[Place], bool],
        moved: Callable[[], None],
    ) -> None:
        """Begin.

        Args:
            end: how far a broker has acknowledged a partition.
            has_lost: whether a partition may have lost records, as an operator has accepted.
            moved: called for each partition that has moved from a broker that lives.
        """
        self._end = end
        self._has_lost = has_lost
        self._moved = moved

    def wrong(self, step: Step) -> Iterator[str]:
        """Judge an entry."""
        old, new = step.old, step.new
        if old.topics is new.topics:
            return
        for topic_id, topic in new.topics.items():
            before = old.topics.get(topic_id)
            if before is None or before is topic:
                continue
            for last, now in zip(before.partitions, topic.partitions, strict=False):
                key = (topic_id, now.partition)
                if last.leader != now.leader and new.moves.get(key) is not None:
                    yield f"{topic.name}-{now.partition} is led by {now.leader}, and moves: {new.moves[key]}"
                if last.leader != now.leader and now.leader in _unfit(old):
                    where = f"{topic.name}-{now.partition}"
                    yield f"{where} gets the leader {now.leader}, which has ended or is about to"
                if last.leader != now.leader and not has_ended(old.brokers, last.leader):
                    self._moved()
                    move = old.moves.get(key)
                    if move is None or move.target != now.leader:
                        where = f"{topic.name}-{now.partition}"
                        yield f"{where} leaves {last.leader}, which lives, for {now.leader}: {move}"
                    yield from self._left((topic.name, now.partition), last, old, new)

    def _left(
        self, place: Place, last: PartitionImage, old: MetadataImage, new: MetadataImage
    ) -> Iterator[str]:
        for stream_id in (last.data_stream_id, last.meta_stream_id):
            before, after = old.streams[stream_id], new.streams[stream_id]
            if after.opened:
                yield f"{place} leaves {last.leader}, and its stream {stream_id} is open"
            if not before.opened or before.node_id != last.leader:
                yield f"{place} leaves {last.leader}, which had not opened its stream {stream_id}"
        told, end = self._end(place, last.leader), new.streams[last.data_stream_id].end_offset
        if end < told and not self._has_lost(place):
            yield f"{place} leaves {last.leader} up to {end}, which has acknowledged it up to {told}"


def _unfit(image: MetadataImage) -> set[int]:
    """Brokers that must not become leaders, unless there are no others."""
    active = {it.node_id for it in image.brokers.values() if not it.fenced}
    closed = closed_brokers(image.brokers, image.logs, image.configs)
    return {*image.brokers} - active | (closed if active - closed else set())
