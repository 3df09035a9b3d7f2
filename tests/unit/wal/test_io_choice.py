"""Which kind of IO small writes go by."""

import itertools
from collections import Counter
from collections.abc import Callable

from headrace.wal.io_choice import PAIRS, SMALL_BYTES, STALLS, WRITES_BETWEEN, IoChoice

US = 1_000


def write(choice: IoChoice, took_ns: Callable[[int], int], writes: int) -> Counter[int]:
    """Make so many small writes, one after the other; return how many went by each kind."""
    kinds: Counter[int] = Counter()
    for _ in range(writes):
        kind, is_measured = choice.take(4096)
        kinds[kind] += 1
        if is_measured:
            choice.note(kind, took_ns(kind))
    return kinds


def test_the_first_writes_measure_both_kinds_alike() -> None:
    choice = IoChoice()
    assert write(choice, lambda _: 300 * US, 2 * PAIRS) == {0: PAIRS, 1: PAIRS}


def test_a_kind_that_is_much_faster_takes_over() -> None:
    choice = IoChoice()
    slow_first = [4_000 * US, 350 * US]
    write(choice, slow_first.__getitem__, 2 * PAIRS)
    assert choice.kind == 1
    assert choice.switches_total == 1
    write(choice, slow_first.__getitem__, 2 * PAIRS)
    kinds = write(choice, slow_first.__getitem__, 100 * WRITES_BETWEEN)
    assert kinds[0] <= 100, "the slower kind gets one write of many"
    assert kinds[0] >= 90, "and is not forgotten"


def test_it_goes_back_when_the_machine_has_changed() -> None:
    choice = IoChoice()
    write(choice, [4_000 * US, 350 * US].__getitem__, 10 * WRITES_BETWEEN)
    write(choice, [100 * US, 350 * US].__getitem__, PAIRS * (WRITES_BETWEEN + 2))
    assert choice.kind == 0
    assert choice.switches_total == 2


def test_kinds_that_differ_little_are_left_as_they_are() -> None:
    choice = IoChoice()
    kinds = write(choice, [100 * US, 81 * US].__getitem__, 50 * WRITES_BETWEEN)
    assert choice.switches_total == 0
    assert kinds[1] <= PAIRS + 50


def test_a_disk_that_stalls_says_nothing_about_a_kind() -> None:
    choice = IoChoice()
    stalls = iter([10**9] * STALLS + [300 * US] * PAIRS)
    write(choice, lambda kind: 300 * US if kind else next(stalls), 2 * PAIRS)
    assert choice.switches_total == 0


def test_a_kind_of_which_every_second_write_waits_is_the_slower_one() -> None:
    """As AIO beside one busy process, whose median stays what it was."""
    choice = IoChoice()
    waits = itertools.cycle([170 * US, 5_000 * US])
    write(choice, lambda kind: 230 * US if kind else next(waits), 2 * PAIRS)
    assert choice.kind == 1


def test_large_writes_go_by_the_kind_in_use_and_are_not_measured() -> None:
    choice = IoChoice()
    assert [choice.take(SMALL_BYTES + 1) for _ in range(5)] == [(0, False)] * 5
    write(choice, [4_000 * US, 350 * US].__getitem__, 2 * PAIRS)
    assert choice.take(SMALL_BYTES + 1) == (1, False)


def test_writes_that_are_inflight_together_are_counted_as_their_own() -> None:
    choice = IoChoice()
    inflight: list[tuple[int, bool]] = []
    for _ in range(10 * WRITES_BETWEEN):
        inflight.append(choice.take(4096))
        if len(inflight) == 8:  # the newest comes back first
            kind, is_measured = inflight.pop()
            if is_measured:
                choice.note(kind, 200 * US if kind else 900 * US)
    assert choice.kind == 1
    assert choice.switches_total == 1
