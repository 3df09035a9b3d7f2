"""How long the turns of the event loop are, and who had the loop when one was long.

All share the loop: while one callback runs, no record is acknowledged, no lease renewed and no other
client served. A timer of `INTERVAL_S` measures it: how much later than asked it runs is how long the loop was busy
without a look at what has come, and so how long a request that comes at such a moment waits before it is read. No
request can measure that step itself. Timers are good for a millisecond. The same is measured in processor time of the
loop's thread, which a busy machine does not lengthen: what other processes take is in the first series only.

Where no client asks for anything, it looks every `RESTING_INTERVAL_S` only: each look wakes the processor, which took
an idle node more time than all the rest. What a client asks for ends that rest before it is served (`wake`).
"""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.latencies import Latencies

logger = logging.getLogger("headrace.telemetry")

INTERVAL_S: Final = 0.01
RESTING_INTERVAL_S: Final = 0.1
RESTS_AFTER: Final = 20  # looks in a row without a client's work
LONG_S: Final = 0.02  # no turn should be longer
LOGGED_S: Final = 1.0  # such a turn is logged: sessions and leases are in danger
BUCKETS_S: Final = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
NOBODY: Final = "none"


class LoopTurns(Collector):
    """Measures turns while `run` runs.

    Args:
        clock_s: monotonic.
        cpu_clock_s: processor time of the thread of the loop.
    """

    def __init__(self, clock_s: Callable[[], float], cpu_clock_s: Callable[[], float]) -> None:
        self._clock_s = clock_s
        self._cpu_clock_s = cpu_clock_s
        # The API of the request that was taken last since the last call; a role that serves requests sets it.
        self.who: Callable[[], str] = lambda: NOBODY
        self._wall = Latencies(BUCKETS_S)
        self._cpu = Latencies(BUCKETS_S)
        self._long: dict[str, int] = {}
        self._timer: asyncio.TimerHandle | None = None  # of the next look, while `run` runs
        self._is_resting = False
        self._idle_looks = 0  # since a client's work began

    async def run(self) -> None:
        """Measure until cancelled."""
        self._begin(INTERVAL_S)
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    def wake(self) -> None:
        """A turn begins in which a client is served: it is measured from here."""
        self._idle_looks = 0
        if self._is_resting and self._timer is not None:
            self._timer.cancel()
            self._begin(INTERVAL_S)

    def _begin(self, interval_s: float) -> None:
        # The timer itself looks: a task that it wakes would run one or two turns later.
        self._is_resting = interval_s != INTERVAL_S
        self._timer = asyncio.get_running_loop().call_later(
            interval_s, self._look_and_go_on, interval_s, self._clock_s(), self._cpu_clock_s()
        )

    def _look_and_go_on(self, interval_s: float, began_s: float, cpu_began_s: float) -> None:
        self._idle_looks += 1
        self.look(self._clock_s() - began_s, self._cpu_clock_s() - cpu_began_s, interval_s)
        self._begin(RESTING_INTERVAL_S if self._idle_looks > RESTS_AFTER else INTERVAL_S)

    def look(self, elapsed_s: float, cpu_s: float, interval_s: float = INTERVAL_S) -> None:
        """Count one interval by the time and the processor time that it took."""
        who = self.who()
        late_s, late_cpu_s = max(0.0, elapsed_s - interval_s), max(0.0, cpu_s - interval_s)
        self._wall.observe(late_s)
        self._cpu.observe(late_cpu_s)
        if late_s > LONG_S:
            self._long[who] = self._long.get(who, 0) + 1
        if late_s > LOGGED_S:
            logger.warning(
                "the event loop was held up",
                extra={
                    "seconds": round(late_s, 3),
                    "cpu_seconds": round(late_cpu_s, 3),
                    "api": who,
                },
            )

    def collect(self) -> Iterator[Metric]:
        """Both histograms, and the long turns by API."""
        yield HistogramMetricFamily(
            "headrace_event_loop_turn_seconds",
            "How late a timer of 10 ms ran: how long the event loop was busy from then on",
            self._wall.buckets(),
            self._wall.sum_s,
        )
        yield HistogramMetricFamily(
            "headrace_event_loop_turn_cpu_seconds",
            "Processor time of the loop's thread beyond 10 ms between two looks",
            self._cpu.buckets(),
            self._cpu.sum_s,
        )
        long = CounterMetricFamily(
            "headrace_event_loop_long_turns",
            "Turns of more than 20 ms beyond the interval, by the API of the last request before",
            labels=["api"],
        )
        for api, count in sorted(self._long.items()):
            long.add_metric([api], count)
        yield long
