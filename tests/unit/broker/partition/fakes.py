"""Streams and an engine in memory, whose confirmations the test decides about."""

import asyncio
from collections.abc import Callable, Iterable

from headrace.broker.partition.partition import Partition
from headrace.broker.partition.state import PartitionState
from headrace.config.topic import EffectiveTopicConfig
from headrace.storage.errors import StorageError
from headrace.storage.record_batch import StreamRecordBatch

OnAck = Callable[[Exception | None], None]


class FakeStream:
    """Appends stay unconfirmed until `confirm` or `fail`."""

    def __init__(self, stream_id: int = 1, epoch: int = 0) -> None:
        self.stream_id = stream_id
        self.epoch = epoch
        self.start_offset = self.trimming_to = 0
        self.next_offset = 0
        self.confirm_offset = 0
        self.batches: list[StreamRecordBatch] = []
        self.open_appends: list[tuple[int, OnAck]] = []
        self.uploaded_offset: int | None = None  # None: as far as it is confirmed
        self.trim_fault: StorageError | None = None
        self.closed = False
        self.abandoned = False

    def append(self, payload: memoryview | bytes, count: int, on_ack: OnAck) -> int:
        base_offset = self.next_offset
        self.next_offset += count
        copy = memoryview(bytes(payload))
        self.batches.append(StreamRecordBatch(self.stream_id, self.epoch, base_offset, count, copy))
        self.open_appends.append((self.next_offset, on_ack))
        return base_offset

    def confirm(self) -> None:
        for end_offset, on_ack in self.open_appends:
            self.confirm_offset = end_offset
            on_ack(None)
        self.open_appends = []

    def fail(self, error: Exception) -> None:
        for _, on_ack in self.open_appends:
            on_ack(error)
        self.open_appends = []

    async def confirmed(self) -> None:
        while self.confirm_offset < self.next_offset:
            await asyncio.sleep(0.001)

    def lose_unconfirmed(self) -> None:
        """What a crash does to appends that were never acknowledged."""
        self.next_offset = self.confirm_offset
        self.batches = [b for b in self.batches if b.base_offset < self.confirm_offset]
        self.open_appends = []

    def fetch_cached(self, start: int, max_bytes: int) -> list[StreamRecordBatch] | None:
        found: list[StreamRecordBatch] = []
        for batch in self.batches:
            if batch.end_offset <= start or batch.base_offset >= self.confirm_offset:
                continue
            max_bytes -= len(batch.payload)
            if found and max_bytes < 0:
                break
            found.append(batch)
        return found

    def forget_cached(self, end_offset: int) -> None:
        """Nothing is in memory only."""

    async def fetch(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        return self.fetch_cached(start, max_bytes) or []

    @property
    def committed_offset(self) -> int:
        return self.confirm_offset if self.uploaded_offset is None else self.uploaded_offset

    async def trim(self, new_start_offset: int) -> None:
        self.trimming_to = max(self.trimming_to, new_start_offset)
        if self.trim_fault is not None:
            raise self.trim_fault
        self.start_offset = max(self.start_offset, new_start_offset)

    async def close(self) -> None:
        self.closed = True

    def abandon(self) -> None:
        self.abandoned = True


class DamagedStream(FakeStream):
    """Another stream's batches, of which some ranges of offsets cannot be read, each for a reason."""

    def __init__(
        self, source: FakeStream, damage: dict[tuple[int, int], StorageError] | None = None
    ) -> None:
        super().__init__(source.stream_id, source.epoch)
        self.batches = source.batches
        self.start_offset = self.trimming_to = source.start_offset
        self.next_offset = self.confirm_offset = source.confirm_offset
        self.damage = damage or {}
        self.reads: list[int] = []

    async def fetch(self, start: int, max_bytes: int) -> list[StreamRecordBatch]:
        del max_bytes
        self.reads.append(start)
        for (first, end), error in self.damage.items():
            if first <= start < end:
                raise error
        limit = min([it for it, _ in self.damage if it > start], default=self.confirm_offset)
        return [it for it in self.batches if it.end_offset > start and it.base_offset < limit]

    async def unreadable_span(self, offset: int, error: StorageError) -> tuple[int, int]:
        (span,) = (it for it, why in self.damage.items() if it[0] <= offset < it[1])
        assert self.damage[span] is error
        return span


class FakeEngine:
    def __init__(self) -> None:
        self.has_room = True

    def admits(self, body_bytes: int) -> bool:
        del body_bytes
        return self.has_room


class OpenPartition:
    """A partition over fakes."""

    def __init__(
        self,
        *,
        overrides: dict[str, str] | None = None,
        leader_epoch: int = 0,
        checkpoint_interval_bytes: int = 1 << 30,
        data: FakeStream | None = None,
        meta: FakeStream | None = None,
        state: PartitionState | None = None,
    ) -> None:
        self.data = data or FakeStream(1)
        self.meta = meta or FakeStream(2)
        self.engine = FakeEngine()
        self.partition = Partition(
            topic="t",
            topic_id=None,  # type: ignore[arg-type]
            index=0,
            leader_epoch=leader_epoch,
            engine=self.engine,  # type: ignore[arg-type]
            data=self.data,  # type: ignore[arg-type]
            meta=self.meta,  # type: ignore[arg-type]
            state=state or PartitionState(producer_id_expiration_ms=86_400_000),
            config=EffectiveTopicConfig.resolve(overrides or {}),
            checkpoint_interval_bytes=checkpoint_interval_bytes,
            wake=call_at_once,
        )


def call_at_once(readers: Iterable[Callable[[], None]]) -> None:
    """Takes the place of `Wakeups.wake`, where there is no loop."""
    for reader in readers:
        reader()
