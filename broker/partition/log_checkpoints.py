"""Checkpoints that end the partitions of a log that is drained: their new leaders need not read records back. Pure.

Of each partition the newest checkpoint in the log is kept, and the headers of the batches behind it, and what their
markers say: how a transaction ended is in the record, not in the header. Of one that never had a checkpoint and begins
in the log, those of all batches are kept. In the end they are applied, and one checkpoint of the partition's end is
added to its meta stream, as its owner would have done. It is committed with the last of what it covers, or after that.
Nothing is added where that is not known to be right, and the new leader replays as after any other end:

- the newest checkpoint is not in the log, or it or a batch is damaged, or there is no room for it in `MAX_HELD_BYTES`;
- batches between the checkpoint and the committed end are missing here, or the checkpoint is ahead of that end;
- the meta stream goes on behind it: a drain before this one has added a checkpoint.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from headrace.broker.partition import checkpoint
from headrace.broker.partition.state import PartitionState
from headrace.protocol import partition_checkpoint
from headrace.protocol.records.batch import HEADER_BYTES, is_control_batch, parse_header
from headrace.protocol.records.control import EndOfTransaction, decode_end
from headrace.protocol.records.errors import RecordsError
from headrace.steps import Steps
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import StreamRecordBatch

MAX_PARTITIONS: Final = 2_000
MAX_CHECKPOINT_BYTES: Final = 512 * 1024  # decoded in one turn of the loop: 10 ms
MAX_HELD_BYTES: Final = 32 * 1024 * 1024  # checkpoints, headers and markers
MARKER_BYTES: Final = 256  # in memory
HEADERS_AT_ONCE: Final = 64


class DrainedPartition(NamedTuple):
    """A partition that has its streams in the log; both by their metadata when the drain began."""

    data: StreamMetadata
    meta: StreamMetadata
    segment_ms: int  # as in `PartitionState.apply`
    latest_ms: int


class _Tail:
    """The newest checkpoint of a partition, or its beginning, and what came behind it."""

    __slots__ = ("end_offset", "headers", "markers", "partition", "payload")

    def __init__(self, partition: DrainedPartition, end_offset: int, payload: bytes) -> None:
        self.partition = partition
        self.end_offset = end_offset  # of the meta stream
        self.payload = payload  # empty: there is no checkpoint before
        self.headers = bytearray()
        self.markers: dict[int, EndOfTransaction | None] = {}  # by the offset of their batch

    @property
    def held_bytes(self) -> int:
        return len(self.payload) + len(self.headers) + MARKER_BYTES * len(self.markers)


class LogCheckpoints:
    """Implements `headrace.storage.drain.DrainCheckpoints` for the partitions of one log."""

    def __init__(
        self,
        partitions: Sequence[DrainedPartition],
        *,
        producer_id_expiration_ms: int,
        now_ms: int,
    ) -> None:
        self._by_meta = {it.meta.stream_id: it for it in partitions}
        # Of which nothing was found yet, by data stream: a beginning is looked for in the first batch only.
        self._by_data = {it.data.stream_id: it for it in partitions}
        self._tails: dict[int, _Tail] = {}  # by data stream
        self._held_bytes = 0
        self._producer_id_expiration_ms = producer_id_expiration_ms
        self._now_ms = now_ms

    def found(self, batch: StreamRecordBatch) -> None:
        """Keep what is needed of a record that is in the bucket, or will be."""
        partition = self._by_meta.get(batch.stream_id)
        if partition is not None:
            self._by_data.pop(partition.data.stream_id, None)
            self._forget(partition.data.stream_id)
            size_bytes = len(batch.payload)
            is_wanted = size_bytes <= MAX_CHECKPOINT_BYTES and len(self._tails) < MAX_PARTITIONS
            if is_wanted and self._has_room(size_bytes):
                tail = _Tail(partition, batch.end_offset, bytes(batch.payload))
                self._tails[partition.data.stream_id] = tail
                self._held_bytes += size_bytes
            return
        followed = self._tails.get(batch.stream_id) or self._begun(batch)
        if followed is None:
            return
        if len(batch.payload) < HEADER_BYTES:  # no batch
            self._forget(batch.stream_id)
            return
        before_bytes = followed.held_bytes
        if is_control_batch(batch.payload):
            try:
                followed.markers[batch.base_offset] = decode_end(batch.payload)
            except RecordsError:
                self._forget(batch.stream_id)
                return
        followed.headers += batch.payload[:HEADER_BYTES]
        self._held_bytes += followed.held_bytes - before_bytes
        if self._held_bytes > MAX_HELD_BYTES:
            self._forget(batch.stream_id)

    def _begun(self, batch: StreamRecordBatch) -> _Tail | None:
        """Begin with the first batch of a partition that has no checkpoint."""
        partition = self._by_data.pop(batch.stream_id, None)
        if partition is None or len(self._tails) >= MAX_PARTITIONS:
            return None
        data, meta = partition.data, partition.meta
        if batch.base_offset != data.start_offset or meta.end_offset > 0:
            return None
        tail = self._tails[batch.stream_id] = _Tail(partition, 0, b"")
        return tail

    def closing(
        self, ends: Mapping[int, int], epochs: Mapping[int, int]
    ) -> Iterator[StreamRecordBatch | None]:
        """Give the records that end the meta streams, as `headrace.storage.drain.DrainCheckpoints`."""
        for data_id, tail in self._tails.items():
            meta_id = tail.partition.meta.stream_id
            if not tail.headers or ends.get(meta_id, 0) != tail.end_offset:
                continue
            try:
                state = yield from self._state_at(tail, ends[data_id])
            except (partition_checkpoint.CorruptCheckpointError, RecordsError):
                continue
            if state is not None:
                start_offset = tail.partition.data.start_offset
                payload = checkpoint.take(state, ends[data_id], start_offset)
                yield StreamRecordBatch(
                    meta_id,
                    epochs.get(meta_id, tail.partition.meta.epoch),
                    tail.end_offset,
                    1,
                    memoryview(payload),
                )

    def _state_at(self, tail: _Tail, end_offset: int) -> Steps[PartitionState | None]:
        """Apply what came behind a checkpoint, in steps; None if that does not lead to `end_offset`."""
        (data, _, segment_ms, latest_ms), now_ms = tail.partition, self._now_ms
        state = PartitionState(producer_id_expiration_ms=self._producer_id_expiration_ms)
        offset = data.start_offset
        if tail.payload:
            found = partition_checkpoint.decode(tail.payload)
            yield
            if found.offset < offset:
                return None
            offset = found.offset
            checkpoint.restore(found, state, latest_ms)
        yield
        for number, position in enumerate(range(0, len(tail.headers), HEADER_BYTES), start=1):
            header = parse_header(tail.headers, position)
            batch_end = header.base_offset + header.last_offset_delta + 1
            if batch_end > offset:
                if header.base_offset != offset:
                    return None
                marker, epoch = tail.markers.get(offset), header.partition_leader_epoch
                state.apply(header, marker, offset, epoch, now_ms, segment_ms, latest_ms)
                offset = batch_end
            if number % HEADERS_AT_ONCE == 0:
                if state.transactions is not None:
                    state.transactions.acknowledged(offset)
                yield
        if offset != end_offset:
            return None
        state.producers.expire(now_ms)
        state.trim(data.start_offset, end_offset)
        return state

    def _has_room(self, size_bytes: int) -> bool:
        return self._held_bytes + size_bytes <= MAX_HELD_BYTES

    def _forget(self, data_stream_id: int) -> None:
        tail = self._tails.pop(data_stream_id, None)
        if tail is not None:
            self._held_bytes -= tail.held_bytes
