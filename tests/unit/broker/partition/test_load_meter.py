"""What a broker tells of its partitions' traffic, from the first look at each."""

import asyncio

import pytest

from headrace.broker.partition.load_meter import LEAST_LOOKS, LOOKS_PER_WINDOW, LoadMeter
from headrace.metadata.rpc.loads import Loads, PartitionLoad, TrafficRates
from headrace.protocol.records.record import Record
from tests.simulation import virtual_time
from tests.unit.broker.cluster_scene import NOW_MS, ServedPartition

WINDOW_MS = 300_000
NOTHING = TrafficRates()


class Broker:
    """Its open partitions, by the id of their data stream; time passes as the test says."""

    def __init__(self) -> None:
        self.open: dict[int, ServedPartition] = {}
        self.now_ms = 7
        self.is_alone = False
        self.is_sound = True
        self.meter = LoadMeter(
            self,  # type: ignore[arg-type]
            WINDOW_MS,
            lambda: self.now_ms,
            lambda: self.is_alone,
            lambda: self.is_sound,
        )
        self.meter._looks = LEAST_LOOKS  # it has run for long

    def all(self) -> list[object]:
        """As `PartitionRegistry.all`."""
        return [it.partition for it in self.open.values()]

    def serve(self, stream_id: int) -> ServedPartition:
        served = self.open[stream_id] = ServedPartition("t", 1, 0)
        served.data.stream_id = stream_id
        return served

    async def look_after(self, elapsed_ms: int) -> Loads:
        self.now_ms += elapsed_ms
        await self.meter.look()
        loads = self.meter.take_loads()
        assert loads is not None
        return loads


def append(served: ServedPartition) -> int:
    return served.append(Record(0, NOW_MS, None, b"value"))


def test_a_partition_that_nobody_looks_at_counts_nothing() -> None:
    served = Broker().serve(5)
    append(served)
    assert served.partition.traffic is None


def test_a_broker_that_is_alone_counts_nothing() -> None:
    async def run() -> None:
        broker = Broker()
        broker.is_alone = True
        served = broker.serve(5)
        await broker.meter.look()
        append(served)
        assert served.partition.traffic is None
        assert broker.meter.take_loads() is None
        broker.is_alone = False
        for _ in range(LEAST_LOOKS - 1):
            broker.now_ms += 1_000
            await broker.meter.look()
            assert broker.meter.take_loads() is None, "it would be taken for a broker without load"
            append(served)
        assert [it.stream_id for it in (await broker.look_after(1_000)).partitions] == [5]

    asyncio.run(run())


def test_a_broker_that_cannot_serve_tells_nothing() -> None:
    async def run() -> None:
        broker = Broker()
        broker.is_sound = False
        await broker.meter.look()
        assert broker.meter.take_loads() is None
        broker.is_sound = True
        await broker.look_after(1_000)

    asyncio.run(run())


def test_traffic_since_the_first_look_is_told() -> None:
    async def run() -> None:
        broker = Broker()
        served = broker.serve(5)
        append(served)
        assert await broker.look_after(0) == Loads((), 0, NOTHING)
        size = append(served)
        assert await broker.look_after(1_000) == Loads(
            (PartitionLoad(5, TrafficRates(size, 0, 1)),), 0, NOTHING
        )

    asyncio.run(run())


def test_what_was_seen_is_told_once() -> None:
    async def run() -> None:
        broker = Broker()
        assert broker.meter.take_loads() is None
        await broker.look_after(0)
        assert broker.meter.take_loads() is None

    asyncio.run(run())


def test_a_partition_that_opens_later_counts_from_the_next_look() -> None:
    async def run() -> None:
        broker = Broker()
        await broker.look_after(0)
        served = broker.serve(5)
        append(served)
        assert (await broker.look_after(100_000)).partitions == ()
        size = append(served)
        (load,) = (await broker.look_after(1_000)).partitions
        assert load == PartitionLoad(5, TrafficRates(size, 0, 1))

    asyncio.run(run())


def test_a_partition_that_was_opened_again_begins_anew() -> None:
    async def run() -> None:
        broker = Broker()
        before = broker.serve(5)
        await broker.look_after(0)
        for _ in range(9):
            append(before)
        assert (await broker.look_after(1_000)).partitions[0].rates.requests == 9
        again = broker.serve(5)
        assert (await broker.look_after(1_000)).partitions == ()
        size = append(again)
        assert (await broker.look_after(1_000)).partitions == (
            PartitionLoad(5, TrafficRates(size, 0, 1)),
        )

    asyncio.run(run())


def test_it_looks_so_often_in_a_window() -> None:
    async def run() -> None:
        broker = Broker()
        loop = asyncio.get_running_loop()
        job = asyncio.create_task(broker.meter.run())
        looked_s: list[float] = []
        while len(looked_s) < 3:
            await asyncio.sleep(1)
            if broker.meter.take_loads() is not None:
                looked_s.append(loop.time())
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        step_s = WINDOW_MS / LOOKS_PER_WINDOW / 1000
        assert looked_s[2] - looked_s[1] == pytest.approx(step_s, abs=1)

    virtual_time.run(run())
