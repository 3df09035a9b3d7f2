"""Moves of partitions that are under way, in the metadata image, and the effect of their records. Pure.

A move says that a partition is to be led by another broker. Until its leader has closed it nothing else changes. The
move ends with the next leader epoch of its partition, with its topic, or when it is taken back.
"""

from collections.abc import Iterator
from typing import Final
from uuid import UUID

import msgspec

from headrace.invariants import require
from headrace.metadata.records.topics import PartitionMoveEndedRecord, PartitionMoveRecord
from headrace.persistent_map import PersistentMap

MOVES_AT_ONCE: Final = 16  # that a source carries out, the oldest first; others wait


class MoveImage(msgspec.Struct, frozen=True, gc=False):
    """One move. Its source is the leader of the partition."""

    topic_id: UUID
    partition: int
    epoch: int  # index of the entry that began it: no two moves have the same of a partition
    target: int  # node id


PartitionKey = tuple[UUID, int]  # topic id and index
Moves = PersistentMap[PartitionKey, MoveImage]


def ended_moves(old: Moves, new: Moves) -> Iterator[tuple[PartitionKey, MoveImage]]:
    """Yield the moves that are over, or replaced, from one image to a later one."""
    if old is new:
        return
    for key, move in old.items():
        if new.get(key) != move:  # not by identity: a snapshot makes all of them anew
            yield key, move


class MovesDelta:
    """Replays the records about moves on top of an image."""

    def __init__(self, moves: Moves) -> None:
        self._moves = moves

    def begin(self, record: PartitionMoveRecord) -> None:
        """Begin a move, which replaces one that is under way."""
        key = (record.topic_id, record.partition)
        old = self._moves.get(key)
        require(old is None or old.epoch < record.move_epoch, "epochs of moves only grow")
        move = MoveImage(record.topic_id, record.partition, record.move_epoch, record.target)
        self._moves = self._moves.set(key, move)

    def end(self, record: PartitionMoveEndedRecord) -> None:
        """Take a move back."""
        key = (record.topic_id, record.partition)
        move = self._moves.get(key)
        require(
            move is not None and move.epoch == record.move_epoch, "a move that ends is under way"
        )
        self._moves = self._moves.delete(key)

    def leave(self, topic_id: UUID, partition: int) -> None:
        """End the move of a partition whose leader epoch has changed, if there is one."""
        key = (topic_id, partition)
        if self._moves and key in self._moves:
            self._moves = self._moves.delete(key)

    def leave_topic(self, topic_id: UUID) -> None:
        """End all moves of a topic that is removed."""
        for key in [it for it in self._moves if it[0] == topic_id]:
            self._moves = self._moves.delete(key)

    def finish(self) -> Moves:
        """Return the new map; the old one when nothing has changed."""
        return self._moves
