"""Logs which partitions stay with this broker because their moves were taken back, or replaced by others.

Moves end so at any time, also before this broker has done anything about them (`headrace.broker.partition.moving`).
"""

import logging
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import has_ended
from headrace.metadata.images.moves import MoveImage, ended_moves

logger = logging.getLogger("headrace.partition")

MAX_TOLD: Final = (
    100  # of one change of the metadata: all moves to a broker that ends are taken back at once
)


class _Kept(NamedTuple):
    topic: str
    partition: int
    target: int
    reason: str


class TakenBackMoves:
    """Those of the partitions that one broker leads."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id

    def image_changed(self, old: MetadataImage, new: MetadataImage) -> None:
        """Log moves that have ended from one image to a later one, though the partition has not moved."""
        kept = self._kept(old, new)
        for it in islice(kept, MAX_TOLD):
            logger.info("the move of a partition was taken back; it stays here", extra=it._asdict())
        more = sum(1 for _ in kept)
        if more:
            logger.info("moves of more partitions were taken back", extra={"partitions": more})

    def _kept(self, old: MetadataImage, new: MetadataImage) -> Iterator[_Kept]:
        for _, move in ended_moves(old.moves, new.moves):
            before, after = old.topic_by_id(move.topic_id), new.topic_by_id(move.topic_id)
            if before is None or after is None:
                continue
            led, leads = before.partitions[move.partition], after.partitions[move.partition]
            # In another epoch it has left and come back, or this broker has started again.
            if led.leader == self._node_id and leads.leader_epoch == led.leader_epoch:
                yield _Kept(after.name, move.partition, move.target, _reason(move, new))


def _reason(move: MoveImage, image: MetadataImage) -> str:
    newer = image.moves.get((move.topic_id, move.partition))
    if newer is not None:
        return f"replaced by a move to broker {newer.target}"
    if has_ended(image.brokers, move.target):
        return f"broker {move.target} has ended"
    return "by a request, or by the leading controller, whose log says why"
