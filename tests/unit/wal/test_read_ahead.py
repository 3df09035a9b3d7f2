"""Reading ahead: the right bytes whatever is asked for, a bounded number of reads, failures that count."""

import asyncio
import random

import pytest

from headrace.wal.device.buffers import BufferPool
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, Ring
from headrace.wal.ring import read_ahead
from headrace.wal.ring.read_ahead import READS_AHEAD, RingReadAhead

PAGES = 50
RING_BYTES = PAGES * PAGE_BYTES
STEP_PAGES = 8


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "STEP_BYTES", STEP_PAGES * PAGE_BYTES)
    monkeypatch.setattr(read_ahead, "_CARRY_BYTES", 2 * PAGE_BYTES)


class Disk:
    """What `RingReadAhead` uses of a device."""

    def __init__(self, *, seed: int = 0) -> None:
        self.image = random.Random(seed).randbytes(RING_POSITION + RING_BYTES)
        self.begun: list[int] = []
        self.inflight = 0
        self.max_inflight = 0
        self.bad_position = -1
        self.hangs = False

    async def read(self, position: int, into: memoryview) -> None:
        self.begun.append(position)
        self.inflight += 1
        self.max_inflight = max(self.max_inflight, self.inflight)
        try:
            await asyncio.sleep(0)
            if self.hangs:
                await asyncio.get_running_loop().create_future()
            if position <= self.bad_position < position + len(into):
                raise OSError(5, "Input/output error")
            into[:] = self.image[position : position + len(into)]
        finally:
            self.inflight -= 1

    def ring(self, offset: int, size: int) -> bytes:
        """What the ring holds from an offset on."""
        at = offset % RING_BYTES
        ring = self.image[RING_POSITION:]
        return (ring[at:] + ring)[:size]


def reads_of(disk: Disk, offset: int = 0, *, timeout_s: float = 5.0) -> RingReadAhead:
    return RingReadAhead(
        disk,  # type: ignore[arg-type]
        Ring(RING_BYTES),
        BufferPool(idle_bytes_per_class=1 << 20),
        offset=offset,
        timeout_s=timeout_s,
    )


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_asked_for_is_there_and_stays(seed: int) -> None:
    """Some of what is returned is used, some is asked for again with more: as blocks are."""

    async def main() -> None:
        rng = random.Random(seed)
        disk = Disk(seed=seed)
        offset = rng.randrange(3 * PAGES) * PAGE_BYTES
        end = offset + 2 * RING_BYTES
        reads = reads_of(disk, offset)
        held = memoryview(b"")
        kept = []
        while offset < end:
            left = RING_BYTES - offset % RING_BYTES
            size = min(rng.choice([1, 2, 5, STEP_PAGES, STEP_PAGES + 1, 30]) * PAGE_BYTES, left)
            if len(held) < size:
                held = await reads.extend(held, size)
            assert len(held) >= size
            assert len(held) <= left, "one piece never goes beyond the end of a lap"
            kept.append((offset, held[:size]))
            held = held[size:]
            offset += size
        await reads.close()
        for at, view in kept:  # nothing was written over them meanwhile
            assert view == disk.ring(at, len(view))
        assert disk.max_inflight == READS_AHEAD

    asyncio.run(main())


def test_no_more_is_read_ahead_than_is_said() -> None:
    async def main() -> None:
        disk = Disk()
        reads = reads_of(disk)
        await reads.extend(memoryview(b""), PAGE_BYTES)
        for _ in range(20):
            await asyncio.sleep(0)
        assert disk.begun == [
            RING_POSITION + number * STEP_PAGES * PAGE_BYTES for number in range(READS_AHEAD)
        ]
        await reads.close()

    asyncio.run(main())


def test_a_read_that_fails_matters_only_to_whoever_needs_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        disk = Disk()
        disk.bad_position = RING_POSITION + STEP_PAGES * PAGE_BYTES
        reads = reads_of(disk)
        first = await reads.extend(memoryview(b""), PAGE_BYTES)
        for _ in range(20):
            await asyncio.sleep(0)
        assert bytes(first) == disk.ring(0, STEP_PAGES * PAGE_BYTES)
        await reads.close()
        again = reads_of(disk)
        await again.extend(memoryview(b""), PAGE_BYTES)
        with pytest.raises(OSError, match="Input/output error"):
            await again.extend(memoryview(b""), PAGE_BYTES)
        await again.close()

    asyncio.run(main())
    assert "never retrieved" not in caplog.text


def test_a_read_that_hangs_times_out() -> None:
    async def main() -> None:
        disk = Disk()
        disk.hangs = True
        reads = reads_of(disk, timeout_s=0.01)
        with pytest.raises(TimeoutError):
            await reads.extend(memoryview(b""), PAGE_BYTES)
        await reads.close()
        assert disk.inflight == 0

    asyncio.run(main())


def test_closing_waits_for_no_read() -> None:
    async def main() -> None:
        disk = Disk()
        disk.hangs = True
        reads = reads_of(disk, timeout_s=60.0)
        waiting = asyncio.create_task(reads.extend(memoryview(b""), PAGE_BYTES))
        while disk.inflight < READS_AHEAD:
            await asyncio.sleep(0)
        waiting.cancel()
        async with asyncio.timeout(5):
            await reads.close()
        assert disk.inflight == 0

    asyncio.run(main())
