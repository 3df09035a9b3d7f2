"""What a partition's clients cost its broker: counters, and their averages over a window. Pure.

The averages are exponential: what is `window_ms` old counts about a third of what is new. They are of the time that
was looked at, so the average of a partition that has just been opened is not too small.
"""

from collections.abc import Iterable
from heapq import heappush, heappushpop
from math import exp
from typing import Final, NamedTuple

from headrace.metadata.rpc.loads import Loads, PartitionLoad, TrafficRates
from headrace.steps import Steps

MAX_TOLD: Final = 500  # partitions named in one message; the rest is summed up
STEP_PARTITIONS: Final = 500  # looked at in a step


class Traffic:
    """Counters since the first look at a partition; they only grow."""

    __slots__ = ("bytes_in", "bytes_out", "requests")

    def __init__(self) -> None:
        self.bytes_in = 0
        self.bytes_out = 0
        self.requests = 0

    def appended(self, size_bytes: int) -> None:
        """A batch was appended."""
        self.bytes_in += size_bytes
        self.requests += 1

    def read(self, size_bytes: int) -> None:
        """Batches were read for a client."""
        self.bytes_out += size_bytes
        self.requests += 1


class TrafficSample(NamedTuple):
    """The counters of one partition, by its data stream, which no other partition ever has."""

    stream_id: int
    bytes_in: int
    bytes_out: int
    requests: int


class _Average:
    """Of one partition. The sums are of what was counted, and of the time, both fading."""

    __slots__ = ("bytes_in", "bytes_out", "last", "requests", "time_ms")

    def __init__(self, stream_id: int) -> None:
        self.last = TrafficSample(stream_id, 0, 0, 0)
        self.bytes_in = self.bytes_out = self.requests = 0.0
        self.time_ms = 0.0

    def take(self, now: TrafficSample, elapsed_ms: int, kept: float) -> None:
        last, self.last = self.last, now
        self.bytes_in = self.bytes_in * kept + now.bytes_in - last.bytes_in
        self.bytes_out = self.bytes_out * kept + now.bytes_out - last.bytes_out
        self.requests = self.requests * kept + now.requests - last.requests
        self.time_ms = self.time_ms * kept + elapsed_ms

    def told(self) -> PartitionLoad:
        per_s = 1000 / self.time_ms if self.time_ms else 0.0
        rates = (self.bytes_in, self.bytes_out, self.requests)
        return PartitionLoad(
            self.last.stream_id, TrafficRates(*(round(it * per_s) for it in rates))
        )


class TrafficAverages:
    """The averages of all partitions that are open on this broker."""

    def __init__(self, window_ms: int) -> None:
        self._window_ms = window_ms
        self._averages: dict[int, _Average] = {}
        self._taken_ms: int | None = None

    def take(self, samples: Iterable[TrafficSample], now_ms: int) -> Steps[Loads]:
        """Take all counters in, in steps; partitions that are not among them are forgotten.

        Counters that were not among them at the last look have begun at zero then.

        Returns:
            The partitions with the most traffic, and the sum of all others.
        """
        elapsed_ms = 0 if self._taken_ms is None else now_ms - self._taken_ms
        self._taken_ms = now_ms
        kept = exp(-elapsed_ms / self._window_ms)
        averages = {}
        most: list[tuple[int, int, PartitionLoad]] = []  # a heap of those with the most traffic
        bytes_in = bytes_out = requests = 0
        for count, it in enumerate(samples, start=1):
            average = self._averages.get(it.stream_id)
            if average is None:
                average = _Average(it.stream_id)
            average.take(it, elapsed_ms, kept)
            averages[it.stream_id] = average
            load = average.told()
            bytes_in += load.rates.bytes_in
            bytes_out += load.rates.bytes_out
            requests += load.rates.requests
            ranked = (load.rates.cost, -load.stream_id, load)
            if len(most) < MAX_TOLD:
                heappush(most, ranked)
            else:
                heappushpop(most, ranked)
            if count % STEP_PARTITIONS == 0:
                yield
        self._averages = averages
        yield
        told = [load for _, _, load in sorted(most, reverse=True)]
        others = TrafficRates(
            bytes_in - sum(it.rates.bytes_in for it in told),
            bytes_out - sum(it.rates.bytes_out for it in told),
            requests - sum(it.rates.requests for it in told),
        )
        return Loads(tuple(told), len(averages) - len(told), others)
