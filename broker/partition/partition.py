"""A partition that this broker leads: the rules of its log on top of two streams.

Stream offsets are Kafka offsets. The data stream holds the produced batches byte for byte, except base offset and
leader epoch; the meta stream holds checkpoints of the state derived from them. The high watermark is the data
stream's confirm offset: everything below it is durable and was acknowledged under a valid lease. The replication
factor is one, so it depends on nothing else, and without transactions the last stable offset is the same.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from uuid import UUID

from headrace.broker.partition import append_rules
from headrace.broker.partition.append_rules import Rejection, Validated, ValidationLimits
from headrace.broker.partition.checkpoint_log import CheckpointLog
from headrace.broker.partition.damage import DamagedRange, KnownDamage
from headrace.broker.partition.opening import damaged_range
from headrace.broker.partition.producer_state import NO_PRODUCER_ID, SequenceCheck
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.storage_errors import code_of
from headrace.broker.partition.traffic import Traffic
from headrace.broker.partition.wakeups import Reader
from headrace.config.topic import EffectiveTopicConfig
from headrace.invariants import require
from headrace.loop_steps import completed
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import BatchHeader, patch
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import (
    DAMAGE,
    BackPressureError,
    OffsetOutOfRangeError,
    StorageError,
)
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.stream import Stream

NO_LEADER_EPOCH = -1
_CLOSING = "not appended: the partition is being closed"
_FROZEN = "not appended: the partition is moving to another broker"


class Accepted(NamedTuple):
    """A batch that was appended, or is a duplicate: answered once `on_done` is called."""

    base_offset: int
    log_append_time_ms: int  # -1 unless the topic stamps batches itself


class Partition:
    """One partition, open for writing and reading on this node."""

    def __init__(  # noqa: PLR0913  # what a partition is made of, by name
        self,
        *,
        topic: str,
        topic_id: UUID,
        index: int,
        leader_epoch: int,
        engine: StorageEngine,
        data: Stream,
        meta: Stream,
        state: PartitionState,
        config: EffectiveTopicConfig,
        checkpoint_interval_bytes: int,
        wake: Callable[[dict[Reader, None]], None],
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.leader_epoch = leader_epoch
        self.config = config
        self._data = data
        self._meta = meta
        self._state = state
        self.checkpoints = CheckpointLog(
            meta, data, state, engine=engine, max_interval_bytes=checkpoint_interval_bytes
        )
        self._wake = wake
        self._readers: dict[Reader, None] = {}
        self._unconfirmed_repeats: list[tuple[int, Callable[[Exception | None], None]]] = []
        self._refusal: str | None = None  # why appends are refused
        self.damage = KnownDamage()
        self.traffic: Traffic | None = None  # counted once a load meter looks at it

    @property
    def log_start_offset(self) -> int:
        """First offset that can be read."""
        return self._data.start_offset

    @property
    def high_watermark(self) -> int:
        """First offset that is not acknowledged."""
        return self._data.confirm_offset

    @property
    def last_stable_offset(self) -> int:
        """First offset that a read_committed consumer may not see."""
        return self._data.confirm_offset

    @property
    def log_end_offset(self) -> int:
        """Offset that the next batch gets."""
        return self._data.next_offset

    @property
    def streams(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(stream id, epoch) of the data stream and of the meta stream."""
        data, meta = self._data, self._meta
        return (data.stream_id, data.epoch), (meta.stream_id, meta.epoch)

    @property
    def state(self) -> PartitionState:
        """The state that is derived from the log."""
        return self._state

    def check_leader_epoch(self, requested: int) -> ErrorCode:
        """Compare a client's leader epoch with the current one (KIP-320); -1 skips the check."""
        if requested in (NO_LEADER_EPOCH, self.leader_epoch):
            return ErrorCode.NONE
        if requested < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH

    def epoch_of(self, offset: int) -> int:
        """Leader epoch under which `offset` was, or would next be, written."""
        if offset >= self._data.next_offset:
            return self.leader_epoch
        return self._state.epochs.epoch_of(offset)

    def end_offset_of_epoch(self, epoch: int) -> tuple[int, int]:
        """(largest epoch <= `epoch` with data, its end offset); the current epoch counts even if it is empty.

        (-1, -1) for an epoch above the current one, or a negative one.
        """
        if not 0 <= epoch <= self.leader_epoch:
            return -1, -1
        if epoch == self.leader_epoch:
            return epoch, self.high_watermark
        return self._state.epochs.end_offset(epoch, self.high_watermark)

    @property
    def size_bytes(self) -> int:
        """Bytes that the partition's data occupies, uploaded or not."""
        return self._state.size_bytes

    def append(
        self,
        records: memoryview,
        *,
        version: int,
        now_ms: int,
        on_done: Callable[[Exception | None], None],
    ) -> Accepted | Rejection:
        """Validate and append one batch that is known to be small; as `append_validated`."""
        limits = ValidationLimits()
        found = append_rules.validate(records, self.config, limits, version=version, now_ms=now_ms)
        if not isinstance(found, (Validated, Rejection)):
            found = completed(found)
        if isinstance(found, Rejection):
            return found
        return self.append_validated(found, now_ms=now_ms, on_done=on_done)

    def append_validated(
        self, batch: Validated, *, now_ms: int, on_done: Callable[[Exception | None], None]
    ) -> Accepted | Rejection:
        """Append one batch; takes effect before it returns.

        Base offset and leader epoch are patched in place before the bytes are copied into the WAL. The caller has
        checked admission (`StorageEngine.admits`); if storage still refuses, only this batch is rejected, so that the
        other batches of the request keep their answers.

        `on_done` is called once, later, and only if the batch was accepted: with None when it is acknowledged,
        with an error when its outcome is unknown.
        """
        if self._refusal is not None:
            return Rejection(ErrorCode.NOT_LEADER_OR_FOLLOWER, self._refusal)
        header, records, append_time_ms = batch
        if header.producer_id != NO_PRODUCER_ID:
            repeated = self._check_sequence(header, on_done)
            if repeated is not None:
                return repeated
        base_offset = self._data.next_offset
        patch(records, base_offset, self.leader_epoch)
        try:
            on_ack = partial(self._acknowledged, on_done)
            appended_at = self._data.append(records, header.last_offset_delta + 1, on_ack)
        except StorageError as error:
            # A checkpoint may have taken the room, or records may have grown when they were recompressed.
            return Rejection(code_of(error), f"not appended: {error}")
        try:
            require(appended_at == base_offset, "offset was patched before it was assigned")
            segment_ms = self.config.segment_ms
            self._state.apply(
                header, base_offset, self.leader_epoch, len(records), now_ms, segment_ms
            )
            self.checkpoints.appended(len(records))
            if self.traffic is not None:
                self.traffic.appended(len(records))
        except Exception as error:
            self._data.append_in_doubt(error)
            raise
        return tuple.__new__(Accepted, (base_offset, append_time_ms))

    def _acknowledged(
        self, on_done: Callable[[Exception | None], None], error: Exception | None
    ) -> None:
        """One append is durable and acknowledged, or its outcome is unknown."""
        try:
            if error is not None:
                self._fail_repeats(error)
            elif self._readers or self._unconfirmed_repeats:
                self.wake_readers()
        finally:
            on_done(error)

    def _check_sequence(
        self, header: BatchHeader, on_done: Callable[[Exception | None], None]
    ) -> Accepted | Rejection | None:
        outcome, duplicate = self._state.producers.check(
            header.producer_id,
            header.producer_epoch,
            header.base_sequence,
            header.last_offset_delta + 1,
        )
        match outcome:
            case SequenceCheck.APPEND:
                return None
            case SequenceCheck.DUPLICATE:
                assert duplicate is not None
                self._when_confirmed(duplicate.last_offset, on_done)
                stamped = self.config.stamps_append_time
                return Accepted(duplicate.base_offset, duplicate.timestamp_ms if stamped else -1)
            case SequenceCheck.OUT_OF_ORDER:
                return Rejection(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"sequence {header.base_sequence} does not follow the producer's last sequence",
                )
            case SequenceCheck.STALE_EPOCH:
                return Rejection(
                    ErrorCode.INVALID_PRODUCER_EPOCH,
                    f"producer epoch {header.producer_epoch} is older than the current one",
                )

    def _when_confirmed(
        self, last_offset: int, on_done: Callable[[Exception | None], None]
    ) -> None:
        """Call `on_done` when `last_offset` is acknowledged: a duplicate waits for its original."""
        if last_offset < self._data.confirm_offset:
            # Not before `append` has returned: the caller has not counted this batch yet.
            asyncio.get_running_loop().call_soon(on_done, None)
        else:
            self._unconfirmed_repeats.append((last_offset, on_done))

    def _fail_repeats(self, error: Exception) -> None:
        """Fail waiting duplicates: the outcome of their originals is unknown. Appends fail all at once or never."""
        repeats, self._unconfirmed_repeats = self._unconfirmed_repeats, []
        for _, on_done in repeats:
            on_done(error)

    def wake_readers(self) -> None:
        """Have the readers called that listen: the high watermark or the log start offset may have moved."""
        if self._unconfirmed_repeats:
            confirmed = self._data.confirm_offset
            due = [done for last, done in self._unconfirmed_repeats if last < confirmed]
            self._unconfirmed_repeats = [
                waiting for waiting in self._unconfirmed_repeats if waiting[0] >= confirmed
            ]
            for on_done in due:
                on_done(None)
        if self._readers:
            readers, self._readers = self._readers, {}
            self._wake(readers)

    def add_reader(self, reader: Reader) -> None:
        """Call `reader` once when the high watermark or the log start offset moves, or the partition closes."""
        self._readers[reader] = None

    def remove_reader(self, reader: Reader) -> None:
        """Undo `add_reader`; no effect once the partition has moved: the reader was called, or is about to be."""
        self._readers.pop(reader, None)

    def read_cached(self, offset: int, max_bytes: int) -> list[StreamRecordBatch] | None:
        """Batches from memory without waiting; None when they must come from the bucket."""
        return self._data.fetch_cached(offset, max_bytes)

    async def read(self, offset: int, max_bytes: int) -> list[StreamRecordBatch]:
        """Batches from the one that holds `offset`, at least one unless `offset` is the high watermark.

        Raises:
            OffsetOutOfRangeError: below the log start or above the high watermark.
            StorageError: the bucket does not answer.
        """
        try:
            batches = await self._data.fetch(offset, max_bytes)
        except DAMAGE as error:
            reason = f"{type(error).__name__}: {error}"
            self.damage.add(DamagedRange(offset, offset + 1, reason))
            raise
        if self.damage and batches:
            self.damage.was_read(offset, batches[-1].end_offset)
        return batches

    async def damaged_range(self, offset: int, error: StorageError) -> DamagedRange:
        """As `opening.damaged_range`, after `read` met damage at `offset`."""
        return await damaged_range(self._data, offset, error)

    @property
    def unreadable(self) -> list[DamagedRange]:
        """What is known to be damaged among the records that are not deleted."""
        return self.damage.remaining(self.log_start_offset) if self.damage else []

    async def delete_before(self, offset: int) -> int:
        """Delete every record below `offset`, and return the log start offset.

        State that is derived from those records, above all producers, is written to a checkpoint first: it cannot be
        replayed any more. An `offset` within a batch keeps the batch, and consumers skip its beginning.

        Raises:
            OffsetOutOfRangeError: beyond the high watermark.
            StorageError: failed, or the outcome is unknown; do it again.
        """
        if offset > self.high_watermark:
            raise OffsetOutOfRangeError(
                f"offset {offset} is above the high watermark {self.high_watermark}"
            )
        if offset > self.log_start_offset:
            if self.is_frozen:  # its streams must not grow any more
                raise BackPressureError("not deleted: the partition is moving to another broker")
            if not await self.checkpoints.cover(offset):
                raise BackPressureError(
                    "no room in WAL or LogCache for the checkpoint that must precede the deletion"
                )
            await self._data.trim(offset)
            self._state.trim(self._data.start_offset, self._data.next_offset)
            self.wake_readers()
            await self.checkpoints.trim_superseded()
        return self.log_start_offset

    @property
    def deleting_before(self) -> int:
        """Target of the last `delete_before`; above the log start while that deletion is not known to be done."""
        return self._data.trimming_to

    @property
    def committed_offset(self) -> int:
        """First offset that is not in the bucket."""
        return self._data.committed_offset

    async def close(self) -> None:
        """Write a checkpoint if the log has grown, upload the remainder and close both streams.

        Raises:
            FencedError: they have a newer owner.
            StorageError: they are not closed yet; do it again.
        """
        self.retire()
        await self.checkpoints.write_news()
        outcomes = await asyncio.gather(
            self._data.close(), self._meta.close(), return_exceptions=True
        )
        for failure in filter(None, outcomes):
            raise failure

    @property
    def is_frozen(self) -> bool:
        """Whether it takes no appends for a moment, as it moves."""
        return self._refusal is _FROZEN

    def set_frozen(self, *, frozen: bool) -> None:
        """Take no appends, or take them again; reads go on. No effect once it is being closed."""
        if self._refusal in (None, _FROZEN):
            self._refusal = _FROZEN if frozen else None

    def retire(self) -> None:
        """Refuse appends and fail waiting readers: the partition is reopened, moves, or was deleted."""
        self._refusal = _CLOSING
        self.wake_readers()

    def discard(self) -> None:
        """Stop serving a deleted topic; the controller deletes its streams."""
        self._data.abandon()
        self._meta.abandon()
        self.retire()
