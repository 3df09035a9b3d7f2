"""Delays between attempts."""

import random

from headrace.storage.upload.backoff import DELAY_MS_FIRST, MAX_DELAY_MS, Backoff


def test_steps_double_up_to_the_cap_with_jitter_in_their_upper_half():
    backoff = Backoff(random.Random(7))
    step = DELAY_MS_FIRST
    for _ in range(200):
        assert step / 2 <= backoff.next_delay_ms() <= step
        step = min(MAX_DELAY_MS, 2 * step)


def test_same_seed_same_delays():
    first, second, other = (Backoff(random.Random(seed)) for seed in (1, 1, 2))
    delays = [first.next_delay_ms() for _ in range(20)]
    assert delays == [second.next_delay_ms() for _ in range(20)]
    assert delays != [other.next_delay_ms() for _ in range(20)]


def test_nodes_that_fail_together_do_not_come_back_together():
    thirds = {round(Backoff(random.Random(seed)).next_delay_ms()) for seed in range(100)}
    assert len(thirds) > 20
