"""Decisions about moves of partitions between brokers that live. Pure.

A move begins with an entry that names its target. Then the leader brings what it has of the partition to the bucket,
and asks to finish the move: one entry closes both streams at its epoch and makes the target the leader. So a partition
leaves a broker that lives by that broker's own request alone, and nothing that it has acknowledged is left behind.

A move is taken back by a client, when its target ends, or when the leading controller has not seen it get on
(`MoveDeadlines`). Then the leader goes on as before. If the leader dies, its log is drained, and the partition goes to
the target of its move, if that is active.

Source: ReplicationControlManager.java, `alterPartitionReassignments`; KIP-455. Deviations: the replication factor is
one, so of several brokers the first active one becomes the leader, and KIP-860's check does not apply.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.controller.decision import Decision, Inputs
from headrace.metadata.controller.placement import assigned_leader
from headrace.metadata.controller.streams import require_writer
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage, PartitionImage, TopicImage
from headrace.metadata.images.brokers import has_ended
from headrace.metadata.images.draining import closed_brokers
from headrace.metadata.images.moves import MOVES_AT_ONCE, MoveImage, Moves, ended_moves
from headrace.metadata.records.record import MetadataRecord
from headrace.metadata.records.streams import StreamState, StreamStateRecord
from headrace.metadata.records.topics import (
    PartitionChangeRecord,
    PartitionMoveEndedRecord,
    PartitionMoveRecord,
)
from headrace.metadata.rpc.requests import AlterReassignments, FinishMove, Reassignment
from headrace.metadata.rpc.responses import (
    Done,
    MoveFinished,
    ReassignmentAltered,
    ReassignmentsAltered,
)
from headrace.protocol.errors import ErrorCode

MAX_REASSIGNMENTS: Final = 10_000  # of one request: its entry must stay bounded
MOVE_MS: Final = 10_000  # without a move of its source getting on: then it is taken back
# More for what has to be in the bucket before: as slowly as an upload may be, see `RetryPolicy.attempt_bytes_per_s`.
SLOWEST_BYTES_PER_S: Final = 1 << 20
MAX_MOVE_MS: Final = 120_000  # since its source carries it out, whatever gets on


def alter_reassignments(
    request: AlterReassignments, image: MetadataImage, inputs: Inputs
) -> Decision:
    """Begin those moves that can begin, and take back those that are to be."""
    del inputs
    if len(request.reassignments) > MAX_REASSIGNMENTS:
        raise RefusedError(
            ErrorCode.POLICY_VIOLATION,
            f"one request reassigns at most {MAX_REASSIGNMENTS} partitions",
        )
    named = Counter((it.topic, it.partition) for it in request.reassignments)
    records: list[MetadataRecord] = []
    results = []
    for asked in request.reassignments:
        try:
            records += _altered(asked, named, image)
        except RefusedError as error:
            results.append(ReassignmentAltered(int(error.code), error.message))
        else:
            results.append(ReassignmentAltered(int(ErrorCode.NONE), None))
    return Decision(tuple(records), ReassignmentsAltered(tuple(results)))


def finish_move(request: FinishMove, image: MetadataImage, inputs: Inputs) -> Decision:
    """Close both streams of a partition, and make the target of its move the leader; or take the move back.

    Either way the move ends, by its epoch: the sender stays frozen until then, and a request that
    arrives late, when the sender serves again, changes nothing. Nor does a repeated one: while the
    sender's epoch lasts, its partition gets another leader epoch only by its own request.
    """
    require_broker(image, request.node_id, request.node_epoch)
    topic = image.topic_by_id(request.topic_id)
    if topic is None or not 0 <= request.partition < len(topic.partitions):
        raise RefusedError(ErrorCode.UNKNOWN_TOPIC_ID, "the topic has been deleted")
    partition = topic.partitions[request.partition]
    if partition.leader_epoch > request.leader_epoch:
        return Decision((), MoveFinished(None))
    where = f"partition {topic.name}-{partition.partition}"
    move = image.moves.get((topic.topic_id, partition.partition))
    if move is None or move.epoch != request.move_epoch:
        raise RefusedError(
            ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
            f"the move of {where} has been taken back or replaced",
        )
    try:
        records = _moved(request, topic, partition, move, image, inputs.unable)
        return Decision(tuple(records), MoveFinished(None))
    except RefusedError as error:
        return Decision((_ended(move),), MoveFinished(error.message))


def take_back(moves: Sequence[MoveImage], image: MetadataImage) -> Decision:
    """Take back those of the moves that are still under way."""
    return Decision(
        tuple(
            PartitionMoveEndedRecord(it.topic_id, it.partition, it.epoch)
            for it in moves
            if image.moves.get((it.topic_id, it.partition)) == it
        ),
        Done(),
    )


def lost_moves(image: MetadataImage) -> list[MoveImage]:
    """Return the moves whose targets have ended, or are not registered any more."""
    return [it for _, it in sorted(image.moves.items()) if has_ended(image.brokers, it.target)]


class MoveDeadlines:
    """Which moves do not get on: the leader's soft state, on its boot clock.

    The moves of a source get on when one of them comes to its end, or when there is less that has to be in the bucket
    before them, as the source's heartbeats say. Without either they are overdue after `MOVE_MS`, and the time in which
    that much may be uploaded. A source carries out a few moves at a time, so those that wait are not overdue while it
    finishes others. A new leader gives each move its whole time.
    """

    def __init__(self, moves: Moves, now_ms: int) -> None:
        # By topic id, partition, and epoch of the move.
        self._begun_ms = {_id_of(it): now_ms for it in moves.values()}
        self._ended_ms: dict[int, int] = {}  # by source: when one of its moves has come to its end
        # When a move was first seen among those that its source carries out, by the same.
        self._carried_out_ms: dict[tuple[UUID, int, int], int] = {}
        # By source: what has to be in the bucket before its moves, in bytes, and when that became less.
        self._before: dict[int, tuple[int, int]] = {}

    def note(self, node_id: int, bytes_before: int, now_ms: int) -> None:
        """A broker has reported how much has to be uploaded before its moves advance."""
        known_bytes, less_ms = self._before.get(node_id, (0, now_ms))
        if not bytes_before and not known_bytes:
            return
        self._before[node_id] = (bytes_before, now_ms if bytes_before < known_bytes else less_ms)

    def follow(self, old: MetadataImage, new: MetadataImage, now_ms: int) -> None:
        """Note what has begun and ended from one image to a later one."""
        if old.moves is new.moves:
            return
        for _, move in ended_moves(old.moves, new.moves):
            self._begun_ms.pop(_id_of(move), None)
            self._carried_out_ms.pop(_id_of(move), None)
            if _leader(new, move) == move.target:
                self._ended_ms[_leader(old, move)] = now_ms
        for move in new.moves.values():
            self._begun_ms.setdefault(_id_of(move), now_ms)
        if not new.moves:
            self._ended_ms.clear()
            self._before.clear()

    def overdue(self, image: MetadataImage, now_ms: int) -> list[MoveImage]:
        """Return the moves that do not advance, or have taken too long although others of their source advanced."""
        under_way: Counter[int] = Counter()
        found = []
        for move in sorted(image.moves.values(), key=lambda it: (it.epoch, _id_of(it))):
            source = _leader(image, move)
            under_way[source] += 1
            if under_way[source] <= MOVES_AT_ONCE:
                begun_ms = self._carried_out_ms.setdefault(_id_of(move), now_ms)
                if now_ms > begun_ms + MAX_MOVE_MS:
                    found.append(move)
                    continue
            if now_ms > self._due_ms(move, source, now_ms):
                found.append(move)
        return found

    def _due_ms(self, move: MoveImage, source: int, now_ms: int) -> int:
        """When a move is overdue, if nothing gets on until then."""
        begun_ms = self._begun_ms.get(_id_of(move), now_ms)
        ended_ms = max(begun_ms, self._ended_ms.get(source, begun_ms))
        before_bytes, less_ms = self._before.get(source, (0, ended_ms))
        uploaded_ms = before_bytes * 1_000 // SLOWEST_BYTES_PER_S
        return max(ended_ms, less_ms) + MOVE_MS + uploaded_ms


def _altered(
    asked: Reassignment, named: Mapping[tuple[str, int], int], image: MetadataImage
) -> list[MetadataRecord]:
    """Records that begin or end the move of one partition; none if it is as asked."""
    if named[asked.topic, asked.partition] > 1:
        raise RefusedError(ErrorCode.INVALID_REQUEST, "the partition is named more than once")
    topic = image.topic(asked.topic)
    if topic is None or not 0 <= asked.partition < len(topic.partitions):
        raise RefusedError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            f"there is no partition {asked.topic}-{asked.partition}",
        )
    move = image.moves.get((topic.topic_id, asked.partition))
    if asked.brokers is None:
        if move is None:
            raise RefusedError(
                ErrorCode.NO_REASSIGNMENT_IN_PROGRESS,
                f"partition {asked.topic}-{asked.partition} is not being reassigned",
            )
        return [_ended(move)]
    return _begun(topic, topic.partitions[asked.partition], move, asked.brokers, image)


def _begun(
    topic: TopicImage,
    partition: PartitionImage,
    move: MoveImage | None,
    brokers: Sequence[int],
    image: MetadataImage,
) -> list[MetadataRecord]:
    target = assigned_leader(brokers, image)
    if target == partition.leader:
        return [] if move is None else [_ended(move)]
    if move is not None and move.target == target:
        return []
    epoch = image.index + 1
    return [PartitionMoveRecord(topic.topic_id, partition.partition, epoch, target)]


def _ended(move: MoveImage) -> PartitionMoveEndedRecord:
    return PartitionMoveEndedRecord(move.topic_id, move.partition, move.epoch)


def _moved(
    request: FinishMove,
    topic: TopicImage,
    partition: PartitionImage,
    move: MoveImage,
    image: MetadataImage,
    unable: frozenset[int],
) -> Iterator[MetadataRecord]:
    """Records that close the streams of a partition, and name its new leader."""
    target = image.brokers.get(move.target)
    if target is None or target.fenced:
        raise RefusedError(ErrorCode.BROKER_NOT_AVAILABLE, f"broker {move.target} is not active")
    if move.target in closed_brokers(image.brokers, image.logs, image.configs):
        raise RefusedError(
            ErrorCode.BROKER_NOT_AVAILABLE, f"broker {move.target} is drained or about to end"
        )
    if move.target in unable:
        raise RefusedError(
            ErrorCode.BROKER_NOT_AVAILABLE,
            f"broker {move.target} cannot open partitions: it cannot append, or does not reach its bucket",
        )
    if (partition.leader, partition.leader_epoch) != (request.node_id, request.leader_epoch):
        raise RefusedError(
            ErrorCode.FENCED_LEADER_EPOCH,
            f"broker {partition.leader} leads it at epoch {partition.leader_epoch}",
        )
    _require_committed(request, partition, image)
    for it in request.streams:
        yield StreamStateRecord(it.stream_id, it.stream_epoch, StreamState.CLOSED, request.node_id)
    yield PartitionChangeRecord(
        topic.topic_id, partition.partition, move.target, partition.leader_epoch + 1
    )


def _require_committed(
    request: FinishMove, partition: PartitionImage, image: MetadataImage
) -> None:
    """Check that both streams are the sender's, and that all of them is in the bucket."""
    ids = sorted(it.stream_id for it in request.streams)
    if ids != sorted((partition.data_stream_id, partition.meta_stream_id)):
        raise RefusedError(
            ErrorCode.INVALID_REQUEST, "a move is finished with both streams of its partition"
        )
    for it in request.streams:
        stream = image.streams[it.stream_id]
        require_writer(stream, request.node_id, it.stream_epoch)
        if not stream.opened:
            raise RefusedError(ErrorCode.INVALID_REQUEST, f"stream {it.stream_id} is closed")
        if it.end_offset != stream.end_offset:
            raise RefusedError(
                ErrorCode.OFFSET_OUT_OF_RANGE,
                f"stream {it.stream_id} cannot be closed at offset {it.end_offset}: "
                f"it is committed up to {stream.end_offset}",
            )


def _id_of(move: MoveImage) -> tuple[UUID, int, int]:
    return move.topic_id, move.partition, move.epoch


def _leader(image: MetadataImage, move: MoveImage) -> int:
    """Who leads a partition; -1 once its topic is deleted."""
    topic = image.topic_by_id(move.topic_id)
    return -1 if topic is None else topic.partitions[move.partition].leader
