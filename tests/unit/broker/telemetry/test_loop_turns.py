"""Turns of the event loop: what a long one shows, and whom it names."""

import asyncio
import logging

import pytest
from prometheus_client.registry import Collector

from headrace.broker.telemetry.loop_turns import (
    INTERVAL_S,
    LONG_S,
    RESTING_INTERVAL_S,
    RESTS_AFTER,
    LoopTurns,
)
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.api_keys import ApiKey


def samples(collector: Collector) -> dict[str, float]:
    return {
        sample.name + "".join(f" {it}" for it in sample.labels.values()): sample.value
        for family in collector.collect()
        for sample in family.samples
    }


def test_a_long_turn_is_counted_with_its_length_and_its_api() -> None:
    turns = LoopTurns(lambda: 0.0, lambda: 0.0)
    requests = RequestMetrics(lambda: 0.0)
    turns.who = requests.take_latest
    requests.latest = int(ApiKey.METADATA)
    turns.look(INTERVAL_S + 0.15, INTERVAL_S + 0.03)
    turns.look(INTERVAL_S + 0.15, 0.001)  # no request has come since
    turns.look(INTERVAL_S + LONG_S, 0.001)
    turns.look(INTERVAL_S, 0.0)
    told = samples(turns)
    assert told["headrace_event_loop_turn_seconds_bucket 0.1"] == 2
    assert told["headrace_event_loop_turn_seconds_bucket 0.2"] == 4
    assert told["headrace_event_loop_turn_cpu_seconds_bucket 0.02"] == 3
    assert told["headrace_event_loop_turn_cpu_seconds_bucket 0.05"] == 4
    assert told["headrace_event_loop_long_turns_total metadata"] == 1
    assert told["headrace_event_loop_long_turns_total none"] == 1


def test_a_turn_that_endangers_leases_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    turns = LoopTurns(lambda: 0.0, lambda: 0.0)
    with caplog.at_level(logging.WARNING, "headrace.telemetry"):
        turns.look(0.9, 0.9)
        turns.look(2.51, 1.01)
    (record,) = caplog.records
    assert (record.__dict__["seconds"], record.__dict__["cpu_seconds"]) == (2.5, 1.0)


def test_the_loop_is_measured_while_it_runs() -> None:
    """The clocks are counted: a second goes by at each look at the one, half of it at the other."""
    now_s = {"wall": 0.0, "cpu": 0.0}

    def clock(name: str, tick_s: float) -> float:
        now_s[name] += tick_s
        return now_s[name]

    async def test() -> float:
        turns = LoopTurns(lambda: clock("wall", 1.0), lambda: clock("cpu", 0.5))
        running = asyncio.create_task(turns.run())
        while samples(turns)["headrace_event_loop_turn_seconds_count"] < 2:
            await asyncio.sleep(0.001)
        running.cancel()
        return samples(turns)["headrace_event_loop_turn_cpu_seconds_bucket 0.5"]

    assert asyncio.run(test()) >= 2


class SteppedLoop(asyncio.SelectorEventLoop):
    """A loop whose clock goes from one timer to the next at once."""

    now_s = 0.0

    def time(self) -> float:
        return self.now_s

    def step(self) -> None:
        """Go on to the next timer, and run it."""
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        self.now_s = max(self.now_s, min(it.when() for it in timers if not it.cancelled()))
        self.run_once()

    def run_once(self) -> None:
        """Run what is due."""
        self.call_soon(self.stop)
        self.run_forever()


def test_it_looks_seldom_while_no_client_is_served() -> None:
    loop = SteppedLoop()
    turns = LoopTurns(loop.time, lambda: 0.0)
    running = loop.create_task(turns.run())
    loop.run_once()

    def looks_until(end_s: float) -> float:
        before = samples(turns)["headrace_event_loop_turn_seconds_count"]
        while loop.now_s < end_s:
            loop.step()
        return samples(turns)["headrace_event_loop_turn_seconds_count"] - before

    assert looks_until(RESTS_AFTER * INTERVAL_S) >= RESTS_AFTER - 1
    assert looks_until(loop.now_s + 10) < 10 / RESTING_INTERVAL_S + 3
    # A client comes in the middle of a rest, and its request takes a turn of 30 ms.
    loop.now_s += RESTING_INTERVAL_S / 2
    loop.call_soon(turns.wake)
    loop.run_once()
    loop.now_s += INTERVAL_S + 0.03
    assert looks_until(loop.now_s + INTERVAL_S) >= 1
    told = samples(turns)
    count = told["headrace_event_loop_turn_seconds_count"]
    assert count - told["headrace_event_loop_turn_seconds_bucket 0.02"] == 1
    # As long as clients are served it looks often.
    for _ in range(3 * RESTS_AFTER):
        turns.wake()
        assert looks_until(loop.now_s + 0.9 * INTERVAL_S) == 1
    running.cancel()
    loop.run_once()
    loop.close()
