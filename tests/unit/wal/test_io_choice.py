"""Which kind of IO small writes go by."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable

import pytest

from headrace.wal.device.io_choice import (
    FAVOURED_BETWEEN,
    MAX_BETWEEN,
    MIN_BETWEEN,
    MIN_WINDOWS,
    PAIRS,
    SMALL_BYTES,
    STALLS,
    WATCHED,
    IoChoice,
    Note,
)

US = 1_000
WINDOW = 2 * PAIRS  # writes of the first one
FIRST_DECISION = WINDOW + (MIN_WINDOWS - 1) * PAIRS * (FAVOURED_BETWEEN + 2)


def write(choice: IoChoice, took_ns: Callable[[int], int], writes: int) -> Counter[int]:
    """Make so many small writes, one after the other; return how many went by each kind."""
    kinds: Counter[int] = Counter()
    for _ in range(writes):
        kind, note = choice.take(4096)
        kinds[kind] += 1
        if note is not None:
            note(kind, took_ns(kind))
    return kinds


def test_the_first_writes_measure_both_kinds_alike() -> None:
    choice = IoChoice()
    assert write(choice, lambda _: 300 * US, WINDOW) == {0: PAIRS, 1: PAIRS}


def test_a_kind_that_is_much_faster_takes_over() -> None:
    choice = IoChoice()
    took_ns = [4_000 * US, 350 * US].__getitem__
    write(choice, took_ns, WINDOW)
    assert choice.kind == 0, "one window may be chance"
    write(choice, took_ns, FIRST_DECISION)
    assert (choice.kind, choice.switches_total) == (1, 1)
    write(choice, took_ns, 10 * PAIRS * MAX_BETWEEN)
    kinds = write(choice, took_ns, 100 * (MAX_BETWEEN + 2))
    assert kinds[0] == 100, "the slower kind gets one write of many, and is not forgotten"
    assert choice.switches_total == 1


def test_it_goes_back_when_the_machine_has_changed() -> None:
    choice = IoChoice()
    write(choice, [4_000 * US, 350 * US].__getitem__, FIRST_DECISION)
    write(choice, [100 * US, 350 * US].__getitem__, 5 * PAIRS * (MIN_BETWEEN + 2))
    assert (choice.kind, choice.switches_total) == (0, 2)


def test_a_kind_that_has_become_slow_is_left_soon_however_long_it_was_in_use() -> None:
    """Windows are 33,000 writes apart by then: 16 s of 5,000 records a second."""
    choice = IoChoice()
    write(choice, [160 * US, 180 * US].__getitem__, 200_000)
    noticed = WATCHED * PAIRS + WATCHED
    write(choice, [1_670 * US, 180 * US].__getitem__, noticed + FIRST_DECISION)
    assert (choice.kind, choice.switches_total) == (1, 1)


def test_a_disk_that_has_become_slow_makes_one_window_more() -> None:
    """Both kinds are slow now: that is looked at once, and is known then."""
    choice = IoChoice()
    write(choice, [160 * US, 180 * US].__getitem__, 200_000)
    kinds = write(choice, [1_670 * US, 1_700 * US].__getitem__, PAIRS * MIN_BETWEEN)
    assert kinds[1] <= PAIRS + PAIRS
    assert choice.switches_total == 0


def test_kinds_that_differ_little_are_left_as_they_are() -> None:
    choice = IoChoice()
    write(choice, [100 * US, 81 * US].__getitem__, 100_000)
    assert choice.switches_total == 0


@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize("p99_ms", [0.4, 3.6, 14.6])
def test_long_tails_do_not_make_it_go_to_and_fro(seed: int, p99_ms: float) -> None:
    """Both kinds are the same, with the median and the tail of a disk beside nothing, reads, and large files."""
    rng = random.Random(seed)
    sigma = math.log(p99_ms / 0.16) / 2.326
    choice = IoChoice()
    write(choice, lambda _: int(160 * US * rng.lognormvariate(0, sigma)), 300_000)
    assert choice.switches_total <= 3


def test_a_disk_that_stalls_says_nothing_about_a_kind() -> None:
    choice = IoChoice()
    stalls = itertools.cycle([10**9] * STALLS + [300 * US] * (PAIRS - STALLS))
    write(choice, lambda kind: 300 * US if kind else next(stalls), 100_000)
    assert choice.switches_total == 0


def test_a_kind_of_which_every_second_write_waits_is_the_slower_one() -> None:
    """As AIO beside one busy process, whose median stays what it was."""
    choice = IoChoice()
    waits = itertools.cycle([170 * US, 5_000 * US])
    write(choice, lambda kind: 230 * US if kind else next(waits), FIRST_DECISION)
    assert choice.kind == 1


def test_large_writes_go_by_the_kind_in_use_and_are_not_measured() -> None:
    choice = IoChoice()
    assert [choice.take(SMALL_BYTES + 1) for _ in range(5)] == [(0, None)] * 5
    write(choice, [4_000 * US, 350 * US].__getitem__, FIRST_DECISION)
    assert choice.take(SMALL_BYTES + 1) == (1, None)


def test_writes_that_are_inflight_together_are_counted_as_their_own() -> None:
    choice = IoChoice()
    inflight: list[tuple[int, Note | None]] = []
    for _ in range(2 * FIRST_DECISION):
        inflight.append(choice.take(4096))
        if len(inflight) == 8:  # the newest comes back first
            kind, note = inflight.pop()
            if note is not None:
                note(kind, 200 * US if kind else 900 * US)
    assert (choice.kind, choice.switches_total) == (1, 1)
