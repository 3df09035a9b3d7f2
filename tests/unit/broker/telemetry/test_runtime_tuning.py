"""Process-wide settings without which the loop stalls."""

import asyncio
import gc
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.runtime_tuning import (
    IDLE_CHECK_INTERVAL_S,
    IDLE_REQUESTS,
    MAX_LOOKS,
    SWITCH_INTERVAL_S,
    freeze_what_is_left,
    raise_descriptor_limit,
    started,
    tune,
    watch_memory,
)
from tests.simulation.virtual_time import run


@pytest.fixture
def tuned() -> Iterator[None]:
    """The settings, until the end of a test."""
    before = sys.getswitchinterval(), gc.get_threshold()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        tune()
        started()
        yield
    finally:
        gc.callbacks.remove(freeze_what_is_left)
        gc.unfreeze()
        sys.setswitchinterval(before[0])
        gc.set_threshold(*before[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.usefixtures("tuned")
def test_threads_beside_the_loop_get_their_turn_after_a_tenth_of_a_millisecond() -> None:
    assert abs(sys.getswitchinterval() - SWITCH_INTERVAL_S) < 1e-9


@pytest.mark.usefixtures("tuned")
def test_the_collector_looks_at_no_object_for_ever() -> None:
    """Else it would look at all objects again and again, which takes tenths of a second."""
    gc.collect()
    before = gc.get_freeze_count()
    made = [[number] for number in range(200_000)]
    frozen, looked_at = gc.get_freeze_count() - before, len(gc.get_objects())
    del made
    assert frozen > 180_000
    assert looked_at < 30_000


def test_an_idle_node_collects_what_is_new_and_once_an_hour_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert calls_within(MAX_LOOKS - 1, lambda: 7, monkeypatch) == ["collect"] * 119
    calls = calls_within(2 * MAX_LOOKS, lambda: 7, monkeypatch)
    assert calls == 2 * (["collect"] * 119 + ["unfreeze", "collect"])


def test_a_node_that_is_never_idle_collects_everything_once_an_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests = iter(range(0, 10 * MAX_LOOKS * IDLE_REQUESTS, IDLE_REQUESTS))
    calls = calls_within(2 * MAX_LOOKS, lambda: next(requests), monkeypatch)
    assert calls == 2 * ["unfreeze", "collect"]


def test_a_node_with_few_requests_is_idle_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = iter(range(0, 10 * MAX_LOOKS * IDLE_REQUESTS, IDLE_REQUESTS - 1))
    assert calls_within(9, lambda: next(requests), monkeypatch) == ["collect"] * 9


def calls_within(
    looks: int, requests_total: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """What is asked of the collector while a node looks so often."""
    calls: list[str] = []

    class Collector:
        def collect(self) -> None:
            calls.append("collect")

        def unfreeze(self) -> None:
            calls.append("unfreeze")

    monkeypatch.setattr(runtime_tuning, "gc", Collector())
    monkeypatch.setattr(runtime_tuning, "give_back_memory", lambda: None)

    async def main() -> None:
        task = asyncio.create_task(watch_memory(requests_total))
        await asyncio.sleep((looks + 0.5) * IDLE_CHECK_INTERVAL_S)
        task.cancel()

    run(main())
    return calls


def test_the_soft_limit_of_open_files_is_raised_to_the_hard_one() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
        raise_descriptor_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_garbage_collector_hardly_looks_at_what_a_start_makes() -> None:
    script = """
import gc, json
from headrace.broker.telemetry import runtime_tuning
runtime_tuning.tune()
gc.collect()
looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase) if phase == "start" else None)
kept = [[] for _ in range(100_000)]
before = len(looks)
runtime_tuning.started()
frozen = gc.get_freeze_count()
more = [[] for _ in range(10_000)]
print(json.dumps([before, frozen, len(looks)]))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    before, frozen, after = json.loads(done.stdout)
    assert before == 0
    assert frozen > 100_000
    assert after >= 4
