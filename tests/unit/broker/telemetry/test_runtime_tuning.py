"""Process-wide settings without which the loop stalls."""

import sys

from headrace.broker.telemetry.runtime_tuning import SWITCH_INTERVAL_S, tune


def test_threads_beside_the_loop_get_their_turn_after_a_tenth_of_a_millisecond() -> None:
    before = sys.getswitchinterval()
    try:
        tune()
        assert abs(sys.getswitchinterval() - SWITCH_INTERVAL_S) < 1e-9
    finally:
        sys.setswitchinterval(before)
