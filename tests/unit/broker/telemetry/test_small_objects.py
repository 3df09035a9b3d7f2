"""Memory for small objects: after a flood of them it goes back, though some of them stay."""

import json
import subprocess
import sys

import pytest

from headrace.broker.telemetry.small_objects import MAX_MORE_BLOCKS

# A million objects, of which every ten thousandth stays; three times. Each is made while the others are alive.
FLOODS = """
import ctypes, gc, json, sys
from headrace.broker.telemetry import runtime_tuning
from headrace.broker.telemetry.small_objects import SmallObjects

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

gc.disable()
objects = SmallObjects(int(sys.argv[1]))
objects.started()
before, stays, states = resident(), [], []
for _ in range(3):
    made = []
    for number in range(300_000):
        made.append((number, str(number), [number]))
        if number % 1_000 == 0:
            objects.check()
    states.append(objects.are_in_arenas)
    assert made[1234] == (1234, "1234", [1234])
    stays += made[::10_000]
    del made
    objects.check()
    states.append(objects.are_in_arenas)
    runtime_tuning.give_back_memory()
assert [number for number, _, _ in stays] == 3 * list(range(0, 300_000, 10_000))
print(json.dumps([resident() - before, states]))
"""


def after_floods(max_blocks: int) -> tuple[int, list[bool]]:
    """How many bytes more are resident after floods, and whether arenas were taken at and after the end of each."""
    command = [sys.executable, "-c", FLOODS, str(max_blocks)]
    done = subprocess.run(command, capture_output=True, check=True)
    more_bytes, states = json.loads(done.stdout)
    return more_bytes, states


def test_after_floods_of_objects_their_memory_goes_back() -> None:
    more_bytes, states = after_floods(50_000)
    assert states == [False, True] * 3  # in arenas again when the flood is over
    assert more_bytes < 12 << 20


def test_within_the_bound_objects_are_in_arenas_and_keep_them() -> None:
    """So the test above can fail."""
    more_bytes, states = after_floods(10_000_000)
    assert states == [True] * 6
    assert more_bytes > 20 << 20


@pytest.mark.parametrize("way", ["role_ended", "started"])
def test_a_node_holds_the_bound_from_its_start_on(way: str) -> None:
    script = f"""
from headrace.broker.telemetry import runtime_tuning
runtime_tuning.tune()
made = [[] for _ in range({2 * MAX_MORE_BLOCKS})]
assert runtime_tuning.small_objects.are_in_arenas  # a start may make as many as it needs
runtime_tuning.started()
made = [[[]] for _ in range({2 * MAX_MORE_BLOCKS})]
assert not runtime_tuning.small_objects.are_in_arenas
del made
runtime_tuning.{way}()
assert runtime_tuning.small_objects.are_in_arenas
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
