"""Process-wide settings without which the loop stalls."""

import resource
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
