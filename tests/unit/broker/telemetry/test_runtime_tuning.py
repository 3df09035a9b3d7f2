"""Process-wide settings without which the loop stalls."""

import json
import resource
import subprocess
import sys

from headrace.broker.telemetry.runtime_tuning import (
    SWITCH_INTERVAL_S,
    raise_descriptor_limit,
    tune,
)


def test_threads_beside_the_loop_get_their_turn_after_a_tenth_of_a_millisecond() -> None:
    before = sys.getswitchinterval()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        tune()
        assert abs(sys.getswitchinterval() - SWITCH_INTERVAL_S) < 1e-9
    finally:
        sys.setswitchinterval(before)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


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
