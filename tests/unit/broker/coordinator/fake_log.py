"""A coordinator log in memory whose appends and reads can be held up and can fail."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from headrace.broker.coordinator.group.records import CoordinatorRecord, decode_record
from headrace.broker.coordinator.group.requests import (
    CommitRequest,
    JoinProtocol,
    JoinRequest,
    OffsetEntry,
)
from headrace.broker.coordinator.runtime.partitioning import partition_for_key
from headrace.broker.coordinator.runtime.ports import CoordinatorLog, CoordinatorLogs
from headrace.broker.coordinator.runtime.shard import NO_OFFSET, NO_PRODUCER_EPOCH, Instant, Shard
from headrace.broker.partition.damage import DamagedRange
from headrace.metadata.image import MetadataImage
from headrace.protocol.records.batch import NO_PRODUCER_ID, split_batches
from headrace.protocol.records.record import decode_records
from headrace.storage.errors import RetriableStorageError

WALL_MS = 1_700_000_000_000


class FakeLog:
    """Batches in memory. `hold` stops appends (or reads) before they take effect."""

    def __init__(self) -> None:
        self.batches: list[bytes] = []
        self.appends = 0
        self.requests = 0
        self.reads = 0
        self.fail_append: str | None = None  # "lost": nothing is written; "unknown": it is
        self.fail_reads = 0
        self.start_offset = 0  # offsets of this log count batches
        self.damaged: set[int] = set()
        self.has_room = True
        self.deletions: list[int] = []
        self.fail_deletions = 0
        self.uploads = True
        self._may_append = asyncio.Event()
        self._may_append.set()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._may_delete = asyncio.Event()
        self._may_delete.set()

    def hold_appends(self) -> None:
        self._may_append.clear()

    def release_appends(self) -> None:
        self._may_append.set()

    def hold_reads(self) -> None:
        self._may_read.clear()

    def release_reads(self) -> None:
        self._may_read.set()

    async def append(self, batch: bytearray) -> int:
        self.appends += 1
        await self._may_append.wait()
        outcome, self.fail_append = self.fail_append, None
        if outcome != "lost":
            self.batches.append(bytes(batch))
        if outcome is not None:
            raise RetriableStorageError("append failed")
        return len(self.batches) - 1

    async def read(self) -> AsyncIterator[memoryview | DamagedRange]:
        self.reads += 1
        await self._may_read.wait()
        if self.fail_reads:
            self.fail_reads -= 1
            raise RetriableStorageError("read failed")
        for offset in range(self.start_offset, self.end_offset):
            if offset in self.damaged:
                yield DamagedRange(offset, offset + 1, "CorruptObjectError: test")
            else:
                yield memoryview(self.batches[offset])

    @property
    def end_offset(self) -> int:
        return len(self.batches)

    def count_request(self) -> None:
        self.requests += 1

    def hold_deletions(self) -> None:
        self._may_delete.clear()

    def release_deletions(self) -> None:
        self._may_delete.set()

    def is_uploaded(self, offset: int) -> bool:
        assert offset <= self.end_offset
        return self.uploads

    async def delete_before(self, offset: int) -> None:
        assert self.start_offset <= offset <= self.end_offset
        self.deletions.append(offset)
        await self._may_delete.wait()
        if self.fail_deletions:
            self.fail_deletions -= 1
            raise RetriableStorageError("deletion failed")
        self.start_offset = offset

    def records(self) -> list[CoordinatorRecord]:
        """Everything that can be read from the log."""
        return [
            decoded
            for offset in range(self.start_offset, self.end_offset)
            if offset not in self.damaged
            for _, view in split_batches(memoryview(self.batches[offset]))
            for record in decode_records(view, 1 << 30)
            if (decoded := decode_record(record.key, record.value)) is not None
        ]


class FakeLogs:
    """A topic with some partitions, of which some are led here."""

    def __init__(self, partition_count: int = 1, led: set[int] | None = None) -> None:
        self.partition_count = partition_count
        self.led = set(range(partition_count)) if led is None else led
        self.logs = [FakeLog() for _ in range(partition_count)]
        self.certain = True
        self.image = MetadataImage()
        self.on_arrival: Callable[[int], None] = lambda _partition: None

    async def arrived(self, partition: int) -> None:
        """It comes at once, if the test has it come."""
        await asyncio.sleep(0)
        self.on_arrival(partition)

    def partition_for(self, group_id: str) -> int:
        return partition_for_key(group_id, self.partition_count)

    def log(self, partition: int) -> CoordinatorLog | None:
        return self.logs[partition] if partition in self.led else None

    def is_lease_valid(self) -> bool:
        return self.certain


def as_port(logs: FakeLogs) -> CoordinatorLogs:
    """The fake satisfies the port."""
    return logs


def replay(shard: Shard[Any], record: object) -> None:
    """Replay a record that is in no transaction."""
    shard.replay(NO_OFFSET, NO_PRODUCER_ID, NO_PRODUCER_EPOCH, record)


def loop_clock() -> Instant:
    """Both clocks, by the time of the running loop."""
    elapsed_ms = round(asyncio.get_running_loop().time() * 1_000)
    return Instant(elapsed_ms, WALL_MS + elapsed_ms)


def commit_request(
    value: int = 1, group_id: str = "g", partition: int = 0, metadata: str = ""
) -> CommitRequest:
    """An anonymous commit."""
    return CommitRequest(
        group_id=group_id, entries=[OffsetEntry("t", partition, value, -1, metadata)]
    )


def join_request(
    new_member_id: str = "", member_id: str = "", group_id: str = "g", *, two_step: bool = False
) -> JoinRequest:
    """A member joins."""
    return JoinRequest(
        group_id=group_id,
        member_id=member_id,
        new_member_id=new_member_id,
        client_id="client",
        client_host="/host",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=(JoinProtocol("range", b""),),
        two_step=two_step,
    )
