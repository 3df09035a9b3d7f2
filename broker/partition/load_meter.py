"""Measures the traffic of all open partitions at intervals, and reports it with the next heartbeat.

A partition counts its traffic from the first look at it. Without a load meter none does, nor on a broker that is the
only one of its cluster.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.traffic import TrafficAverages, TrafficSample
from headrace.metadata.rpc.loads import Loads
from headrace.turns import Work, turns_of

LOOKS_PER_WINDOW: Final = 30
# After so many looks something is told: what has just begun to count would be taken for a broker without load.
LEAST_LOOKS: Final = 3


class LoadMeter:
    """Averages of this broker's partitions."""

    def __init__(
        self,
        partitions: PartitionRegistry,
        window_ms: int,
        clock_ms: Callable[[], int],
        is_alone: Callable[[], bool],
        is_sound: Callable[[], bool],
    ) -> None:
        self._partitions = partitions
        self._is_alone = is_alone
        self._is_sound = is_sound
        self._interval_ms = window_ms // LOOKS_PER_WINDOW
        self._averages = TrafficAverages(window_ms)
        self._clock_ms = clock_ms
        self._loads: Loads | None = None
        self._looks = 0  # since there is another broker

    async def run(self) -> None:
        """Look until cancelled."""
        while True:
            await self.look()
            await asyncio.sleep(self._interval_ms / 1000)

    async def look(self) -> None:
        """Take all counters in, if there is another broker to share the load with."""
        if self._is_alone():
            self._looks = 0
            return
        self._looks += 1
        turns = turns_of(Work.UPKEEP)
        samples = _samples(self._partitions.all())
        loads = await turns.run(self._averages.take(samples, self._clock_ms()))
        self._loads = loads if self._looks >= LEAST_LOOKS else None

    def take_loads(self) -> Loads | None:
        """What was seen since the last call; None: nothing was looked at.

        Nor is anything told while the broker cannot append or has no bucket: with its traffic gone it would be given
        more partitions.
        """
        loads, self._loads = self._loads, None
        return loads if self._is_sound() else None


def _samples(partitions: Iterable[Partition]) -> Iterator[TrafficSample]:
    """The counters of partitions that count; the others begin to."""
    for partition in partitions:
        traffic = partition.traffic
        if traffic is None:
            partition.count_traffic()
            continue
        (data_stream_id, _), _ = partition.streams
        yield TrafficSample(data_stream_id, traffic.bytes_in, traffic.bytes_out, traffic.requests)
