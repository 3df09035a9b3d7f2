"""Transactions of a partition: what is told of them is what a look at the whole log would tell."""

import random
from typing import NamedTuple

import pytest

from headrace.broker.partition import transactions
from headrace.broker.partition.transactions import Transactions
from headrace.protocol.records.control import Marker

ABORT, COMMIT = Marker.ABORT, Marker.COMMIT


class Seen(NamedTuple):
    """A transaction as the whole log shows it."""

    producer_id: int
    first: int
    marker_offset: int | None = None
    is_aborted: bool = False


def seen(log: list[tuple[int, Marker | None]]) -> list[Seen]:
    """Every transaction of a log whose batches have one offset each: whose it is, and its marker if it is one."""
    found: list[Seen] = []
    ongoing: dict[int, int] = {}
    for offset, (producer_id, marker) in enumerate(log):
        if marker is None:
            ongoing.setdefault(producer_id, offset)
        elif producer_id in ongoing:
            found.append(Seen(producer_id, ongoing.pop(producer_id), offset, marker is ABORT))
    return found + [Seen(*it) for it in ongoing.items()]


def taken_in(log: list[tuple[int, Marker | None]]) -> Transactions:
    found = Transactions()
    for offset, (producer_id, marker) in enumerate(log):
        if marker is None:
            found.begin(producer_id, offset)
        else:
            found.end(producer_id, offset, marker)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_it_tells_what_the_whole_log_tells(seed: int) -> None:
    rng = random.Random(seed)
    producers, length = rng.randint(1, 6), rng.randint(1, 60)
    marked = rng.choice([0.1, 0.3, 0.6])
    log = [
        (rng.randrange(producers), rng.choice([ABORT, COMMIT]) if rng.random() < marked else None)
        for _ in range(length)
    ]
    found, whole = taken_in(log), seen(log)
    for high_watermark in sorted(rng.choices(range(length + 1), k=20)):
        undecided = [
            it.first
            for it in whole
            if it.marker_offset is None or it.marker_offset >= high_watermark
        ]
        assert found.last_stable_offset(high_watermark) == min([*undecided, high_watermark])
        start = rng.randrange(length + 1)
        end = rng.randint(start, length)
        named = [(it.producer_id, it.first_offset) for it in found.aborted_between(start, end)]
        assert named == [
            (it.producer_id, it.first)
            for it in sorted(whole, key=lambda it: it.marker_offset or 0)
            if it.is_aborted
            and it.marker_offset is not None
            and it.marker_offset >= start
            and it.first < end
        ]
    log_start = rng.randrange(length + 1)
    found.trim(log_start)
    assert [it.marker_offset for it in found.aborted] == [
        it.marker_offset
        for it in sorted(whole, key=lambda it: it.marker_offset or 0)
        if it.is_aborted and it.marker_offset is not None and it.marker_offset >= log_start
    ]


def test_what_is_restored_is_what_was() -> None:
    before = taken_in([(1, None), (2, None), (1, ABORT), (3, None), (1, None)])
    after = Transactions(before.listed, before.aborted)
    assert (after.listed, after.aborted) == (before.listed, before.aborted)
    assert after.last_stable_offset(5) == before.last_stable_offset(5) == 1
    for one in (before, after):
        one.end(2, 5, COMMIT)
        one.end(1, 6, ABORT)
        assert one.last_stable_offset(7) == 3
    assert after.aborted == before.aborted


def test_ends_that_are_acknowledged_are_not_kept() -> None:
    found = Transactions()
    for number in range(1_000):
        found.begin(7, 2 * number)
        found.end(7, 2 * number + 1, COMMIT)
        found.acknowledged(2 * number + 2)
    assert not found._ended


def test_a_look_goes_no_further_than_what_may_be_aborted_in_its_range(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A partition may have aborted very many: a Fetch looks at those that it may need, and one more."""
    looked: list[int] = []

    class Watched(list[transactions.AbortedEntry]):
        def __getitem__(self, index: object) -> object:  # type: ignore[override]
            looked.append(1)
            return super().__getitem__(index)  # type: ignore[index]

    found = Transactions()
    for number in range(10_000):
        found.begin(7, 2 * number)
        found.end(7, 2 * number + 1, ABORT)
    monkeypatch.setattr(found, "_aborted", Watched(found._aborted))
    assert [it.first_offset for it in found.aborted_between(10_001, 10_004)] == [10_000, 10_002]
    assert len(looked) < 30


def test_at_the_bound_no_other_may_begin_until_some_are_deleted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transactions, "MAX_TRANSACTIONS", 3)
    found = taken_in([(1, None), (1, ABORT), (2, None)])
    assert not found.is_full
    found.begin(3, 3)
    assert found.is_full
    found.trim(2)
    assert not found.is_full
