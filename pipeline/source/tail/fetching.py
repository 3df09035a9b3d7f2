"""Reads the tail of a partition as Arrow record batches: from a leader, by Fetch, up to an end that was planned.

What was uploaded since the plan is no matter: brokers serve it from the bucket.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from headrace.pipeline.columns.decoder import decode
from headrace.pipeline.columns.selection import WantedRows
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.errors import DataLossError, SourceError
from headrace.pipeline.source.tail.brokers import (
    EARLIEST_TIMESTAMP,
    PATIENCE_S,
    BrokerAccess,
    Brokers,
    Clock,
    TopicGoneError,
)
from headrace.pipeline.source.transactions import visible_batches
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.client import FetchedPartition
from headrace.protocol.records.batch import (
    LENGTH_OVERHEAD_BYTES,
    BatchHeader,
    check_crc,
    parse_header,
)
from headrace.protocol.records.errors import RecordsError


@dataclass(frozen=True, slots=True)
class TailPart:
    """Offsets `[start_offset, end_offset)` of a partition, which the bucket may not have."""

    name: TopicPartition
    topic_id: UUID
    start_offset: int
    end_offset: int


class TailReader:
    """Fetches one part after the other."""

    def __init__(
        self, access: BrokerAccess, *, fails_on_loss: bool, clock: Clock | None = None
    ) -> None:
        self._access = access
        self._fails_on_loss = fails_on_loss
        self._clock = clock or Clock()
        self._brokers = Brokers(access, self._clock)

    def rows(self, part: TailPart, columns: tuple[str, ...]) -> Iterator[Any]:
        """Yield `pyarrow.RecordBatch`es with the rows of a part.

        Raises:
            DataLossError: offsets are gone, and failOnDataLoss is true.
            SourceError: the brokers do not give the records, or damaged ones.
        """
        for start, fetched in self.fetched(part, is_read_committed=self._access.is_read_committed):
            wanted = WantedRows(
                topic=part.name.topic,
                partition=part.name.partition,
                start_offset=start,
                end_offset=part.end_offset,
                columns=columns,
            )
            batches = visible_batches(fetched.records, fetched.aborted)
            try:
                yield from decode((batch for _, batch in batches), wanted)
            except RecordsError as error:
                raise SourceError(f"{error}; a broker has sent it") from error

    def fetched(
        self, part: TailPart, *, is_read_committed: bool
    ) -> Iterator[tuple[int, FetchedPartition]]:
        """Yield the offset to go on at, and an answer of whole batches with the records from there on.

        Raises:
            DataLossError, SourceError: as of `rows`.
        """
        position = part.start_offset
        deadline_s = self._clock.monotonic_s() + PATIENCE_S
        while position < part.end_offset:
            try:
                found = self._brokers.fetch(
                    part.name, part.topic_id, position, is_read_committed=is_read_committed
                )
            except TopicGoneError:
                self._lost(part, position, part.end_offset, "the topic was deleted")
                return
            if found.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                position = self._after_loss(part, position)
                continue
            whole, last = _whole_batches(found.records, part.name)
            if last is not None and last.next_offset > position:
                yield position, replace(found, records=whole)
                position = last.next_offset
                deadline_s = self._clock.monotonic_s() + PATIENCE_S
            elif is_read_committed and found.last_stable_offset >= part.end_offset:
                return  # compaction has left nothing below the end
            elif self._clock.monotonic_s() > deadline_s:
                self._lost(part, position, part.end_offset, "the leader's log ends before them")
                return

    def close(self) -> None:
        """Close all connections."""
        self._brokers.close()

    def _after_loss(self, part: TailPart, position: int) -> int:
        """The offset to go on at, when the log does not have one."""
        found = self._brokers.offsets(
            {part.name: EARLIEST_TIMESTAMP},
            {part.name.topic: part.topic_id},
            is_read_committed=False,
        )
        start = min(found.get(part.name, part.end_offset), part.end_offset)
        if start <= position:  # the log ends before it
            self._lost(part, position, part.end_offset, "the leader's log ends before them")
            return part.end_offset
        self._lost(part, position, start, "retention, or DeleteRecords")
        return start

    def _lost(self, part: TailPart, start: int, end: int, reason: str) -> None:
        if self._fails_on_loss:
            raise DataLossError(
                f"offsets {start} to {end - 1} of {part.name.topic}-{part.name.partition} are not with the brokers any "
                f"more: {reason}. The option failOnDataLoss=false goes on without them"
            )


def _whole_batches(
    records: memoryview, name: TopicPartition
) -> tuple[memoryview, BatchHeader | None]:
    """Cut off a batch that is not complete; return what is left, and the header of the last batch.

    Raises:
        SourceError: not even the first one is complete, or one is damaged.
    """
    position, last = 0, None
    while len(records) - position > LENGTH_OVERHEAD_BYTES:
        size = (
            int.from_bytes(records[position + 8 : position + LENGTH_OVERHEAD_BYTES])
            + LENGTH_OVERHEAD_BYTES
        )
        if size > len(records) - position:
            break
        try:
            last = parse_header(records[position : position + size])
        except RecordsError as error:
            raise SourceError(f"{name.topic}-{name.partition}: {error}") from error
        if not check_crc(records[position : position + size]):
            raise SourceError(
                f"{name.topic}-{name.partition}, batch at offset {last.base_offset}: its checksum does not match; a "
                f"broker has sent it"
            )
        position += size
    if len(records) and last is None:
        raise SourceError(f"{name.topic}-{name.partition}: a broker has sent no whole batch")
    return records[:position], last
