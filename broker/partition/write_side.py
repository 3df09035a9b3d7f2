"""What writes the log of a partition: appends, and the deletion of its beginning.

Stream offsets are Kafka offsets. The data stream holds the produced batches byte for byte, except base offset and
leader epoch.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from headrace.broker.partition import append_rules
from headrace.broker.partition.append_rules import (
    AppendOrigin,
    Rejection,
    Validated,
    ValidationLimits,
)
from headrace.broker.partition.checkpoint_log import CheckpointLog
from headrace.broker.partition.producer_state import NO_PRODUCER_ID, Check, SequenceCheck
from headrace.broker.partition.read_side import ReadSide
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.storage_errors import code_of
from headrace.broker.partition.traffic import Traffic
from headrace.broker.partition.transactions import MAX_TRANSACTIONS
from headrace.config.topic import EffectiveTopicConfig
from headrace.invariants import require
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import NO_SEQUENCE, TRANSACTIONAL_FLAG, BatchHeader, patch
from headrace.protocol.records.control import EndOfTransaction
from headrace.steps import completed
from headrace.storage.errors import BackPressureError, OffsetOutOfRangeError, StorageError
from headrace.storage.stream import Stream

CLOSING = "not appended: the partition is being closed"
FROZEN = "not appended: the partition is moving to another broker"
_OUTSIDE_TRANSACTION = Rejection(
    ErrorCode.INVALID_TXN_STATE, "the producer has an ongoing transaction in this partition"
)
# Retriable: the producer tries again until its delivery time-out.
_TOO_MANY_TRANSACTIONS = Rejection(
    ErrorCode.NOT_ENOUGH_REPLICAS,
    f"not appended: {MAX_TRANSACTIONS} transactions of the partition are ongoing or aborted",
)


class Accepted(NamedTuple):
    """A batch that was appended, or is a duplicate: answered once `on_done` is called."""

    base_offset: int
    log_append_time_ms: int  # -1 unless the topic stamps batches itself


class WriteSide:
    """The log of one partition, as writers see it."""

    def __init__(
        self,
        *,
        data: Stream,
        state: PartitionState,
        checkpoints: CheckpointLog,
        reads: ReadSide,
        leader_epoch: int,
        config: EffectiveTopicConfig,
    ) -> None:
        self._data = data
        self._state = state
        self._checkpoints = checkpoints
        self._reads = reads
        self._leader_epoch = leader_epoch
        self.config = config
        self.traffic: Traffic | None = None
        self._unconfirmed_repeats: list[tuple[int, Callable[[Exception | None], None]]] = []
        self.refusal: str | None = None  # why appends are refused; set as it freezes and closes

    def append(
        self,
        records: memoryview,
        origin: AppendOrigin,
        *,
        now_ms: int,
        on_done: Callable[[Exception | None], None],
    ) -> Accepted | Rejection:
        """Append one small batch that this broker has made itself; as `append_validated`."""
        if origin is AppendOrigin.COORDINATOR:
            found = append_rules.made_here(records, self.config, now_ms=now_ms)
        else:
            limits = ValidationLimits()
            steps = append_rules.validate(
                records, self.config, limits, origin=origin, now_ms=now_ms
            )
            found = steps if isinstance(steps, (Validated, Rejection)) else completed(steps)
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
        if self.refusal is not None:
            return Rejection(ErrorCode.NOT_LEADER_OR_FOLLOWER, self.refusal)
        header, records, append_time_ms, marker = batch
        if header.producer_id != NO_PRODUCER_ID:
            decided = self._check_producer(header, marker, on_done)
            if decided is not None:
                return decided
        base_offset = self._data.next_offset
        patch(records, base_offset, self._leader_epoch)
        try:
            on_ack = partial(self._acknowledged, on_done)
            appended_at = self._data.append(records, header.last_offset_delta + 1, on_ack)
        except StorageError as error:
            # A checkpoint may have taken the room, or records may have grown when they were recompressed.
            return Rejection(code_of(error), f"not appended: {error}")
        try:
            require(appended_at == base_offset, "offset was patched before it was assigned")
            segment_ms = self.config.segment_span_ms
            self._state.apply(header, marker, base_offset, self._leader_epoch, now_ms, segment_ms)
            if marker is not None and self._state.transactions is not None:
                self._state.transactions.acknowledged(self._data.confirm_offset)
            self._checkpoints.appended(len(records))
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
            else:
                if self._unconfirmed_repeats:
                    self._complete_repeats()
                if self._reads.readers:
                    self._reads.wake_readers()
        finally:
            on_done(error)

    def _check_producer(
        self,
        header: BatchHeader,
        marker: EndOfTransaction | None,
        on_done: Callable[[Exception | None], None],
    ) -> Accepted | Rejection | None:
        """Answer a batch of a producer that is not to be appended; None if it is."""
        if marker is not None:
            return self._check_marker(header, marker)
        producers, sequence = self._state.producers, header.base_sequence
        producer_id, epoch = header.producer_id, header.producer_epoch
        if sequence == NO_SEQUENCE:
            if producers.is_stale(producer_id, epoch):
                return _stale(header)
        else:
            found = producers.check(producer_id, epoch, sequence, header.last_offset_delta + 1)
            if found.outcome is not SequenceCheck.APPEND:
                return self._not_next(found, header, on_done)
        if header.attributes & TRANSACTIONAL_FLAG or self._state.transactions is not None:
            return self._check_transaction(header)
        return None

    def _check_marker(self, header: BatchHeader, marker: EndOfTransaction) -> Rejection | None:
        """Refuse the marker of a producer, or of a coordinator, that has a successor."""
        producers, producer_id = self._state.producers, header.producer_id
        if producers.is_stale(producer_id, header.producer_epoch):
            return _stale(header)
        newest = producers.coordinator_epoch(producer_id)
        if marker.coordinator_epoch < newest:
            return Rejection(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"coordinator epoch {marker.coordinator_epoch} is older than {newest}",
            )
        return None

    def _check_transaction(self, header: BatchHeader) -> Rejection | None:
        transactions = self._state.transactions
        if transactions is None:
            return None  # the first one
        is_ongoing = header.producer_id in transactions.ongoing
        if not header.is_transactional:
            return _OUTSIDE_TRANSACTION if is_ongoing else None
        return _TOO_MANY_TRANSACTIONS if transactions.is_full and not is_ongoing else None

    def _not_next(
        self,
        found: Check,
        header: BatchHeader,
        on_done: Callable[[Exception | None], None],
    ) -> Accepted | Rejection:
        """Answer a batch whose sequence is not the next one."""
        if found.duplicate is not None:
            self._when_confirmed(found.duplicate.last_offset, on_done)
            append_time_ms = found.duplicate.timestamp_ms if self.config.stamps_append_time else -1
            return Accepted(found.duplicate.base_offset, append_time_ms)
        if found.outcome is SequenceCheck.STALE_EPOCH:
            return _stale(header)
        return Rejection(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"sequence {header.base_sequence} does not follow the producer's last sequence",
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

    def _complete_repeats(self) -> None:
        """Answer waiting duplicates whose originals are acknowledged."""
        confirmed = self._data.confirm_offset
        due = [done for last, done in self._unconfirmed_repeats if last < confirmed]
        self._unconfirmed_repeats = [
            waiting for waiting in self._unconfirmed_repeats if waiting[0] >= confirmed
        ]
        for on_done in due:
            on_done(None)

    async def delete_before(self, offset: int) -> int:
        """Delete every record below `offset`, and return the log start offset.

        State that is derived from those records, above all producers, is written to a checkpoint first: it cannot be
        replayed any more. An `offset` within a batch keeps the batch, and consumers skip its beginning.

        Raises:
            OffsetOutOfRangeError: beyond the high watermark.
            StorageError: failed, or the outcome is unknown; do it again.
        """
        if offset > self._reads.high_watermark:
            raise OffsetOutOfRangeError(
                f"offset {offset} is above the high watermark {self._reads.high_watermark}"
            )
        if offset > self._reads.log_start_offset:
            if self.refusal is FROZEN:  # its streams must not grow any more
                raise BackPressureError("not deleted: the partition is moving to another broker")
            if not await self._checkpoints.cover(offset):
                raise BackPressureError(
                    "no room in WAL or LogCache for the checkpoint that must precede the deletion"
                )
            await self._data.trim(offset)
            self._state.trim(self._data.start_offset, self._data.next_offset)
            self._reads.wake_readers()
            await self._checkpoints.trim_superseded()
        return self._reads.log_start_offset

    @property
    def deleting_before(self) -> int:
        """Target of the last `delete_before`; above the log start while that deletion is not known to be done."""
        return self._data.trimming_to

    @property
    def committed_offset(self) -> int:
        """First offset that is not in the bucket."""
        return self._data.committed_offset


def _stale(header: BatchHeader) -> Rejection:
    return Rejection(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"producer epoch {header.producer_epoch} is older than the current one",
    )
