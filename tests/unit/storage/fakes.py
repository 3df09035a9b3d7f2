"""What the stream engine's tests stand on: virtual time, a WAL, a control plane, a bucket.

The fakes keep the promises of their ports, can be told to break the ones that real ones may break
(lost replies, refusals, crashes), and write down what happened in which order. The control plane is none of them:
see `tests.simulation.control_plane`.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headrace.config.node import StorageConfig
from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.requests import (
    CloseStreamBatch,
    CommitStreamSetObject,
    OpenStreamBatch,
)
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError, RetriableStorageError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.objects.data_block import iterate_batches, verify_block
from headrace.storage.objects.footer import FOOTER_BYTES, decode_footer
from headrace.storage.objects.index_block import ObjectIndex
from headrace.storage.objects.keys import object_key
from headrace.storage.record_batch import StreamRecordBatch
from headrace.storage.stream import Stream
from headrace.wal.errors import WalFailedError, WalOverCapacityError
from headrace.wal.port import Appended, Buffer, RecoveredRecord
from tests.simulation.control_plane import ControlPlane, raise_next
from tests.unit.metadata.pure_controller import CLUSTER_ID

WAL_RECORD_HEADER_BYTES = 24
PAGE_BYTES = 4096


async def settle() -> None:
    """Let everything happen that needs no time."""
    for _ in range(200):
        await asyncio.sleep(0)


@dataclass
class Journal:
    """Events of one scenario, in order."""

    events: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, *event: Any) -> None:
        self.events.append(event)

    def of(self, *kinds: str) -> list[tuple[Any, ...]]:
        return [event for event in self.events if event[0] in kinds]


class FakeWal:
    """A ring in memory. Records lie in shared buffers; each `confirm` begins a new one."""

    def __init__(
        self,
        on_confirmed: Callable[[int], None],
        on_failed: Callable[[Exception], None],
        *,
        journal: Journal | None = None,
        capacity_bytes: int = 1 << 30,
        buffer_bytes: int = 256 * 1024,
        surviving: Sequence[RecoveredRecord] = (),
        auto_confirm: bool = True,
    ) -> None:
        self.on_confirmed = on_confirmed
        self.on_failed = on_failed
        self.journal = journal or Journal()
        self.capacity_bytes = capacity_bytes
        self.auto_confirm = auto_confirm
        self.surviving = list(surviving)
        self.records: list[RecoveredRecord] = []
        self.next_offset = max((record.end_offset for record in surviving), default=0)
        self.confirmed_offset = 0
        self.trim_offset = -1
        self.trim_is_durable = True
        self.is_reset = False
        self.is_shut_down = False
        self.failed: Exception | None = None
        self.fail_recovery_after: int | None = None
        self.lost_bytes = 0  # of what was acknowledged
        self.is_parked = False
        self.resize_fault: Exception | None = None  # of `prepare_resize` and `resize`
        self.switch_gate: asyncio.Event | None = None
        self._buffer_bytes = buffer_bytes
        self._buffer = memoryview(b"")
        self._used = 0
        self._confirmation: asyncio.Handle | None = None
        self._freed = -1

    @property
    def used_bytes(self) -> int:
        return max(0, self.next_offset - self._freed - 1)

    async def start(self) -> None:
        await asyncio.sleep(0)

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        for number, record in enumerate(self.surviving):
            if number == self.fail_recovery_after:
                raise Crash
            await asyncio.sleep(0)
            yield record

    async def reset(self) -> None:
        await asyncio.sleep(0)
        self.journal.add("reset")
        self.surviving = []
        self.is_reset = True
        self._freed = self.next_offset - 1

    def room_for(self, body_bytes: int) -> bool:
        if self.is_parked:
            return False
        size = WAL_RECORD_HEADER_BYTES + body_bytes
        return self.used_bytes + size <= self.capacity_bytes

    def append(self, header: Buffer, payload: Buffer) -> Appended:
        if self.failed is not None or self.is_shut_down:
            raise WalFailedError("failed")
        body_bytes = len(header) + len(payload)
        if not self.room_for(body_bytes):
            raise WalOverCapacityError("full")
        if self._used + body_bytes > len(self._buffer):
            self._buffer = memoryview(bytearray(max(self._buffer_bytes, body_bytes)))
            self._used = 0
        begin = self._used
        self._used += body_bytes
        body = self._buffer[begin : self._used]
        body[: len(header)] = header
        body[len(header) :] = payload
        offset = self.next_offset
        self.next_offset += WAL_RECORD_HEADER_BYTES + body_bytes
        self.records.append(RecoveredRecord(offset, self.next_offset, body))
        if self.auto_confirm and self._confirmation is None:
            self._confirmation = asyncio.get_running_loop().call_soon(self.confirm)
        return Appended(offset, self.next_offset, body[len(header) :], len(self._buffer))

    def confirm(self, end_offset: int | None = None) -> None:
        """Make everything (or what lies below `end_offset`) durable and say so."""
        self._confirmation = None
        if self.failed is not None:
            return
        self.confirmed_offset = self.next_offset if end_offset is None else end_offset
        self._buffer = memoryview(b"")
        self._used = 0
        self.on_confirmed(self.confirmed_offset)

    def confirm_records(self, count: int) -> None:
        """Confirm the next `count` records."""
        ends = [r.end_offset for r in self.records if r.end_offset > self.confirmed_offset]
        self.confirm(ends[count - 1])

    def fail(self, error: Exception) -> None:
        self.failed = error
        self.on_failed(error)

    def trim(self, offset: int) -> None:
        assert offset > self.trim_offset, "trim offsets grow"
        assert offset < self.confirmed_offset, "trimmed what is not durable"
        self.journal.add("trim", offset)
        self.trim_offset = offset
        if self.trim_is_durable:
            self.free_trimmed()

    def free_trimmed(self) -> None:
        """The trim becomes durable."""
        self._freed = self.trim_offset

    @property
    def device_bytes(self) -> int:
        return self.capacity_bytes

    async def prepare_resize(self, capacity_bytes: int) -> None:
        await asyncio.sleep(0)
        if self.resize_fault is not None:
            raise self.resize_fault
        self.journal.add("prepare resize", capacity_bytes)

    def begin_resize(self) -> None:
        self.journal.add("park")
        self.is_parked = True

    async def resize(self, capacity_bytes: int) -> None:
        await asyncio.sleep(0)
        if self.resize_fault is not None:
            raise self.resize_fault
        assert self.is_parked, "appends go on"
        assert self.used_bytes == 0, "switched while it holds something"
        if self.switch_gate is not None:
            await self.switch_gate.wait()
        self.journal.add("switch", capacity_bytes)
        self.capacity_bytes = capacity_bytes
        self.next_offset = self.confirmed_offset = self.next_offset + capacity_bytes
        self._freed = self.next_offset - 1
        self.is_parked = False

    async def finish_resize(self) -> None:
        await asyncio.sleep(0)

    def cancel_resize(self) -> None:
        if self.is_parked:
            self.journal.add("unpark")
        self.is_parked = False

    async def shutdown(self) -> None:
        self.journal.add("wal shutdown")
        self.is_shut_down = True

    def after_crash(self, *, lost: Callable[[RecoveredRecord], bool] | None = None) -> Any:
        """What recovery will find: what is not trimmed, without unconfirmed records if `lost`."""
        return [
            record
            for record in (*self.surviving, *self.records)
            if record.offset > self.trim_offset
            and not (lost and record.end_offset > self.confirmed_offset and lost(record))
        ]


class Crash(BaseException):
    """The process dies here."""


class WatchedControlPlane(ControlPlane):
    """Writes down what takes effect."""

    def __init__(self, journal: Journal | None = None) -> None:
        super().__init__()
        self.journal = journal or Journal()
        self.commits: list[CommitStreamSetObject] = []
        self.client.observers.append(self._write_down)

    def _write_down(self, request: object, before: MetadataImage) -> None:
        match request:
            case OpenStreamBatch():
                for it in request.streams:
                    if self._has_changed(it.stream_id, before):
                        self.journal.add("open", it.stream_id, it.stream_epoch)
            case CloseStreamBatch():
                for it in request.streams:
                    if self._has_changed(it.stream_id, before):
                        self.journal.add("close", it.stream_id, it.end_offset)
            case CommitStreamSetObject():
                self.commits.append(request)
                ranges = [*request.ranges, *(it.range for it in request.stream_objects)]
                offsets = [(it.stream_id, it.start_offset, it.end_offset) for it in ranges]
                self.journal.add("commit", tuple(offsets))

    def _has_changed(self, stream_id: int, before: MetadataImage) -> bool:
        return self.image.streams.get(stream_id) is not before.streams.get(stream_id)


class FakeStore(MemoryObjectStore):
    """A bucket whose puts can fail before or after they take effect, or wait to be let through."""

    def __init__(self, journal: Journal | None = None) -> None:
        super().__init__()
        self.journal = journal or Journal()
        self.put_faults: list[Exception | None] = []
        self.put_reply_faults: list[Exception | None] = []
        self.is_down = False
        self.held: dict[str, asyncio.Event] | None = None  # by key, once `hold` was called
        self.puts_inflight = 0
        self.max_puts_inflight = 0

    def hold(self) -> None:
        """Let puts wait for `release`."""
        self.held = {}

    def release(self, key: str) -> None:
        assert self.held is not None
        self.held[key].set()

    def release_all(self) -> None:
        held, self.held = self.held or {}, None
        for event in held.values():
            event.set()

    async def put(self, key: str, parts: Sequence[bytes | memoryview]) -> None:
        self.puts_inflight += 1
        self.max_puts_inflight = max(self.puts_inflight, self.max_puts_inflight)
        try:
            await asyncio.sleep(0)
            if self.held is not None:
                event = self.held[key] = asyncio.Event()
                await event.wait()
            if self.is_down:
                raise ObjectStoreError("503")
            raise_next(self.put_faults)
            await super().put(key, parts)
            self.journal.add("put", key)
            raise_next(self.put_reply_faults)
        finally:
            self.puts_inflight -= 1


def read_object(content: bytes) -> list[StreamRecordBatch]:
    """Decode every batch of an object."""
    view = memoryview(content)
    footer = decode_footer(view[-FOOTER_BYTES:], len(view))
    index_view = view[footer.index_position : footer.index_position + footer.index_length]
    batches: list[StreamRecordBatch] = []
    for entry in ObjectIndex(index_view, footer.index_position):
        block = view[entry.position : entry.position + entry.size]
        batches += iterate_batches(verify_block(block)[1])
    return batches


class FakeBlocks:
    """Reads committed data by decoding whole objects."""

    def __init__(self, store: FakeStore, control: WatchedControlPlane) -> None:
        self._store = store
        self._control = control
        self.reads: list[tuple[int, int, int, int]] = []
        self.faults: list[Exception | None] = []
        self.before_read: Callable[[], None] | None = None

    async def read(
        self, stream_id: int, start: int, end: int, max_bytes: int
    ) -> list[StreamRecordBatch]:
        self.reads.append((stream_id, start, end, max_bytes))
        await asyncio.sleep(0)
        if self.before_read is not None:
            self.before_read()
        raise_next(self.faults)
        found: list[StreamRecordBatch] = []
        size = 0
        for each in self._control.get_objects(stream_id, start, end, 1000):
            content = self._store.objects.get(object_key(CLUSTER_ID, each.object_id))
            if content is None:
                raise ObjectNotFoundError(str(each.object_id))
            for batch in read_object(content):
                if batch.stream_id != stream_id or batch.end_offset <= start:
                    continue
                if batch.base_offset >= end or (found and size + len(batch.payload) > max_bytes):
                    return found
                size += len(batch.payload)
                found.append(batch)
        if not found:
            raise ObjectNotFoundError(f"nothing of stream {stream_id} at {start}")
        return found


class FakeLease:
    def __init__(self) -> None:
        self.is_held = True
        self.asked = 0

    def is_lease_valid(self) -> bool:
        self.asked += 1
        return self.is_held


class Acks:
    """Collects what appends were told."""

    def __init__(self) -> None:
        self.results: list[tuple[Any, Exception | None]] = []

    def callback(self, label: Any) -> Callable[[Exception | None], None]:
        return lambda error: self.results.append((label, error))

    @property
    def acked(self) -> list[Any]:
        return [label for label, error in self.results if error is None]

    @property
    def failed(self) -> dict[Any, Exception]:
        return {label: error for label, error in self.results if error is not None}


SMALL = StorageConfig(
    log_cache_bytes=3 << 20,
    upload_threshold_bytes=1 << 20,
    stream_split_bytes=256 * 1024,
    object_block_bytes=64 * 1024,
)


class Node:
    """An engine on fakes; `restart` gives the next life on the same WAL, bucket and controller."""

    def __init__(
        self,
        config: StorageConfig = SMALL,
        *,
        auto_confirm: bool = True,
        wal_capacity_bytes: int = 1 << 30,
        surviving: Sequence[RecoveredRecord] = (),
        control: WatchedControlPlane | None = None,
        store: FakeStore | None = None,
        shutdown_timeout_ms: int = 30_000,
        seed: int = 1,
        **changes: Any,
    ) -> None:
        self.journal = control.journal if control else Journal()
        self.config = replace(config, **changes)
        self.control = control or WatchedControlPlane(self.journal)
        self.store = store or FakeStore(self.journal)
        self.lease = FakeLease()
        self.blocks = FakeBlocks(self.store, self.control)
        self.acks = Acks()

        def make_wal(
            on_confirmed: Callable[[int], None], on_failed: Callable[[Exception], None]
        ) -> FakeWal:
            self.wal = FakeWal(
                on_confirmed,
                on_failed,
                journal=self.journal,
                capacity_bytes=wal_capacity_bytes,
                surviving=surviving,
                auto_confirm=auto_confirm,
            )
            return self.wal

        self.engine = StorageEngine(
            self.config,
            wal_factory=make_wal,
            store=self.store,
            streams=self.control,
            objects=self.control,
            lease=self.lease,
            blocks=self.blocks,
            rng=random.Random(seed),
            cluster_id=CLUSTER_ID,
            shutdown_timeout_ms=shutdown_timeout_ms,
        )

    async def start(self) -> "Node":
        self.report = await self.engine.start()
        return self

    async def open(self, stream_id: int, epoch: int = 1) -> Stream:
        return await self.engine.open_stream(stream_id, epoch)

    def append(self, stream: Stream, size: int = 100, count: int = 1) -> bytes:
        """Append a payload that tells where it belongs; its ack is labelled (stream, base)."""
        base = stream.next_offset
        payload = payload_of(stream.stream_id, base, size)
        label = (stream.stream_id, base)
        assert stream.append(payload, count, self.acks.callback(label)) == base
        return payload

    async def append_all(self, stream: Stream, sizes: Iterable[int]) -> None:
        for size in sizes:
            self.append(stream, size)
        await settle()

    def next_life(self, **options: Any) -> "Node":
        """A new process on what the old one left."""
        options.setdefault("surviving", self.wal.after_crash())
        return Node(self.config, control=self.control, store=self.store, **options)

    def objects_of(self, stream_id: int) -> list[StreamRecordBatch]:
        """What is committed of a stream, in offset order, read back from the bucket."""
        found: list[StreamRecordBatch] = []
        start = self.control.image.streams[stream_id].start_offset
        for each in self.control.get_objects(stream_id, start, 2**62, 10_000):
            content = self.store.objects[object_key(CLUSTER_ID, each.object_id)]
            found += [batch for batch in read_object(content) if batch.stream_id == stream_id]
        return found


def payload_of(stream_id: int, base: int, size: int) -> bytes:
    """Bytes that no other record has."""
    mark = f"{stream_id}:{base};".encode()
    return (mark * (size // len(mark) + 1))[:size]


def require_dense(batches: Sequence[StreamRecordBatch], start: int, end: int) -> None:
    """Check that batches cover `[start, end)` without gap or repetition, with the right bytes."""
    expected = start
    for batch in batches:
        assert batch.base_offset == expected, f"{batch.base_offset} where {expected} was to be"
        assert bytes(batch.payload) == payload_of(
            batch.stream_id, batch.base_offset, len(batch.payload)
        )
        expected = batch.end_offset
    assert expected == end


def batch_of(stream_id: int, base: int, size: int = 10, *, count: int = 1, epoch: int = 1) -> Any:
    """A batch outside of any WAL buffer."""
    payload = memoryview(payload_of(stream_id, base, size))
    return StreamRecordBatch(stream_id, epoch, base, count, payload)


class PassingError(RetriableStorageError):
    """A failure that is expected to pass."""
