"""Generations of one node's object WAL that race each other over a simulated bucket, and what must always hold.

A generation recovers, commits what it found to the world (as the engine uploads it), resets, appends, and now and then
commits and trims. It may be killed at any moment, or live on beside its successors: nothing tells it that there are
any. The world keeps a lease only in so far as a generation whose successor began long ago acknowledges nothing.
"""

import asyncio
import logging
import random
import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

from headrace.config.node import WalConfig
from headrace.wal.errors import WalDeviceError, WalError
from headrace.wal.objects.deletion import FENCE_RETENTION_S
from headrace.wal.objects.errors import WalObjectCorruptError
from headrace.wal.objects.log import ObjectWal
from headrace.wal.port import RecoveredRecord
from headrace.wal.registry import LogEnd, NoRegistry
from tests.simulation.bucket import Client, SimulatedBucket, Weather
from tests.simulation.virtual_time import run

KIB = 1024
SMALL = WalConfig(
    path="s3://simulated",
    capacity_bytes=64 * KIB,
    block_bytes=4 * KIB,
    max_window_bytes=32 * KIB,
    max_record_bytes=8 * KIB,
    batch_bytes=4 * KIB,
    io_depth=12,
    io_timeout_ms=20_000,
)
LEASE_S = FENCE_RETENTION_S / 2
STORM = Weather(late=0.08, lost=0.03, doubled=0.08, reply_lost=0.05, reply_late=0.05, refused=0.05)


@dataclass(frozen=True, slots=True)
class Record:
    """What was appended, and by whom."""

    generation: int
    index: int  # among the records of its generation
    end_offset: int
    body: bytes


@dataclass(slots=True)
class World:
    """Everything that is known from outside."""

    rng: random.Random
    bucket: SimulatedBucket
    appended: dict[int, Record] = field(default_factory=dict)
    acknowledged: set[int] = field(default_factory=set)
    committed: set[int] = field(default_factory=set)
    recovered: dict[int, set[int]] = field(
        default_factory=dict
    )  # by generation, once its fence is there
    started_s: dict[int, float] = field(default_factory=dict)
    # By generation: below it, everything was committed while there was no newer one.
    uploaded: dict[int, int] = field(default_factory=dict)
    seen: Counter[str] = field(default_factory=Counter)

    def append(
        self, generation: int, index: int, offset: int, end_offset: int, body: bytes
    ) -> None:
        assert (
            offset > max(self.appended, default=-1)
            or self.appended[max(self.appended)].generation > generation
        ), "an offset was handed out again"
        assert offset not in self.appended, "an offset was handed out again"
        self.appended[offset] = Record(generation, index, end_offset, body)

    def holds_lease(self, generation: int) -> bool:
        now_s = asyncio.get_running_loop().time()
        newer = [started_s for each, started_s in self.started_s.items() if each > generation]
        return not newer or now_s < min(newer) + LEASE_S

    def acknowledge(self, generation: int, offset: int) -> None:
        self.acknowledged.add(offset)
        for newer, found in self.recovered.items():
            assert newer <= generation or offset in found or offset in self.committed, (
                f"generation {generation} acknowledged {offset} behind the fence of generation {newer}"
            )

    def judge(self, generation: int, records: list[RecoveredRecord]) -> None:
        """Judge what a generation has recovered, its fence being there."""
        offsets = [record.offset for record in records]
        assert offsets == sorted(set(offsets)), "not in order, or twice"
        last: dict[int, int] = {}
        index_of = {(it.generation, it.index): offset for offset, it in self.appended.items()}
        for record in records:
            known = self.appended.get(record.offset)
            assert known is not None, f"phantom at {record.offset}"
            assert known.body == bytes(record.body), f"phantom at {record.offset}"
            assert known.end_offset == record.end_offset, "an end that was not told"
            assert known.generation < generation
            before = last.get(known.generation, known.index - 1)
            skipped = {index_of[known.generation, each] for each in range(before + 1, known.index)}
            assert skipped <= self.committed, f"a hole before {record.offset}"
            last[known.generation] = known.index
        found = set(offsets)
        superseded = any(newer > generation for newer in self.recovered)
        missing = self.acknowledged - self.committed - found
        missing = {each for each in missing if self.appended[each].generation < generation}
        assert superseded or not missing, f"acknowledged and lost: {sorted(missing)}"
        self.recovered[generation] = found
        self.seen["records recovered"] += len(records)


class UploadsOf(NoRegistry):
    """Knows what was uploaded from each generation, as the metadata do: none is taken for an old copy."""

    def __init__(self, world: World) -> None:
        self._world = world

    def require_end(self, place: str, end: LogEnd) -> None:
        uploaded = self._world.uploaded.get(end.node_epoch)
        if uploaded is not None:
            self._world.seen["ends compared"] += 1
            assert end.offset >= uploaded, "the log ends too early"


class GenerationOfALog:
    """One process."""

    def __init__(self, world: World, number: int, client: Client, max_idle_s: float) -> None:
        self.world = world
        self.number = number
        self.client = client
        self.rng = random.Random(world.rng.random())
        self.failures: list[WalError] = []
        self.open: list[tuple[int, int]] = []  # (offset, end offset) of what is not confirmed
        self.confirmed: list[int] = []  # offsets, not yet released
        self.confirmations = 0
        self.is_told_damage = False  # though nothing is ever damaged here
        self.is_killed = False
        self.task = asyncio.create_task(self.run())
        self.max_idle_s = max_idle_s
        self.end: WalError | None = None
        self.wal = ObjectWal(
            SMALL,
            client,
            node_id=7,
            node_epoch=number,
            cluster_id="race",
            rng=self.rng,
            on_confirmed=self.on_confirmed,
            on_failed=self.failures.append,
            registry=UploadsOf(world),
        )

    def on_confirmed(self, offset: int) -> None:
        assert not self.failures, "confirmed after the failure"
        if self.is_killed:
            return
        if not self.world.holds_lease(self.number):
            self.world.seen["ended by the lease"] += 1
            self.kill()
            return
        while self.open and self.open[0][1] <= offset:
            first, _ = self.open.pop(0)
            self.confirmed.append(first)
            self.confirmations += 1
            self.world.acknowledge(self.number, first)

    async def run(self) -> None:
        """Live until killed or fenced."""
        world, wal = self.world, self.wal
        loop = asyncio.get_running_loop()
        world.started_s[self.number] = loop.time()
        try:
            await wal.start()
            await self.pause(1)
            records = [record async for record in wal.recover()]
            world.judge(self.number, records)
            await self.pause(2)
            world.committed.update(record.offset for record in records)
            await wal.reset()
            world.seen["generations begun"] += 1
            await self.work()
        except WalDeviceError as error:
            world.seen["starts given up"] += 1
            self.end = error
        except WalError as error:
            world.seen[type(error).__name__] += 1
            self.end = error
            self.is_told_damage |= isinstance(error, WalObjectCorruptError)
            assert max(world.started_s) > self.number, "fenced, and there is nobody newer"

    async def work(self) -> None:
        """Append in bursts, with pauses of all lengths; release now and then."""
        index = 0
        while not self.failures:
            for _ in range(self.rng.randrange(1, 6)):
                size = self.rng.choice((10, 300, 2000, 6000))
                if not self.wal.room_for(size):
                    self.world.seen["full"] += 1
                    break
                body = self.rng.randbytes(size)
                appended = self.wal.append(body[:4], body[4:])
                self.world.append(self.number, index, appended.offset, appended.end_offset, body)
                self.open.append((appended.offset, appended.end_offset))
                index += 1
            if self.confirmed and self.rng.random() < 0.5:
                self.release(self.rng.randrange(len(self.confirmed)) + 1)
            busy = self.world.rng.random() < 0.99
            await self.pause(self.rng.choice((0.02, 0.5, 3)) if busy else self.max_idle_s)

    def release(self, count: int) -> None:
        """Commit the oldest confirmed records, and trim them."""
        released, self.confirmed = self.confirmed[:count], self.confirmed[count:]
        self.world.committed.update(released)
        if self.number == max(self.world.started_s):
            self.world.uploaded[self.number] = self.world.appended[released[-1]].end_offset
        if not self.failures:
            self.wal.trim(released[-1])

    async def pause(self, max_seconds: float) -> None:
        await asyncio.sleep(self.rng.random() * max_seconds)

    def kill(self) -> None:
        """End at once: what was sent still arrives."""
        self.is_killed = True
        self.client.is_cut = True
        self.task.cancel()


async def race(seed: int, *, generations: int = 4, long_pauses: bool = False) -> World:
    """Let generations follow each other in a storm, and a last one find everything in a calm."""
    rng = random.Random(seed)
    bucket = SimulatedBucket(rng, STORM if rng.random() < 0.8 else Weather())
    world = World(rng, bucket)
    running: list[GenerationOfALog] = []
    max_idle_s = FENCE_RETENTION_S if long_pauses else 20
    for number in range(1, generations + 1):
        running.append(GenerationOfALog(world, number, bucket.client(), max_idle_s))
        await asyncio.sleep(rng.choice((0.3, 3, 12, 40)) * rng.random())
        if long_pauses and rng.random() < 0.5:
            await asyncio.sleep(FENCE_RETENTION_S * 2 * rng.random())
        if rng.random() < 0.4:
            running.pop(rng.randrange(len(running))).kill()
            world.seen["killed"] += 1
    await asyncio.sleep(rng.random() * 20)
    bucket.weather = Weather()
    last = GenerationOfALog(world, generations + 1, bucket.client(), 1)
    running.append(last)
    for _ in range(1000):
        await asyncio.sleep(0.5)
        if last.confirmations >= 5:
            break
    for generation in running:
        generation.kill()
        with suppress(asyncio.CancelledError):
            await generation.task  # raises what it has found to be wrong
        assert not generation.is_told_damage, generation.end
    assert last.number in world.recovered, f"the last generation ended: {last.end!r}"
    assert last.confirmations, "the last generation confirmed nothing"
    missing = world.acknowledged - world.committed - world.recovered[last.number]
    missing = {each for each in missing if world.appended[each].generation != last.number}
    assert not missing, f"acknowledged and lost: {sorted(missing)}"
    world.seen.update(bucket.seen)
    world.seen["acknowledged"] = len(world.acknowledged)
    return world


def run_race(seed: int, *, generations: int = 4, long_pauses: bool = False) -> World:
    """Run one race in virtual time."""
    return run(race(seed, generations=generations, long_pauses=long_pauses))


def main(first: int, last: int, long_pauses: bool) -> None:
    """Run many races: `python -m tests.simulation.object_wal_race FIRST LAST [long]`."""
    logging.disable(logging.CRITICAL)
    seen: Counter[str] = Counter()
    for seed in range(first, last):
        try:
            seen.update(run_race(seed, long_pauses=long_pauses).seen)
        except Exception:
            print(f"seed {seed}")
            raise
    print(f"{last - first} races: {dict(seen)}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] == ["long"])
