"""The dict whose table becomes smaller again."""

import sys

import pytest

from headrace.shrinking_dict import DELETED_PER_ENTRY, MIN_DELETED, ShrinkingDict


def test_its_table_becomes_smaller_when_most_entries_are_deleted() -> None:
    table: ShrinkingDict[int, str] = ShrinkingDict()
    table.update((number, str(number)) for number in range(200_000))
    full_bytes = sys.getsizeof(table)
    for number in range(199_900):
        del table[number]
    assert sys.getsizeof(table) < full_bytes / 10
    assert list(table) == list(range(199_900, 200_000))  # in their order
    assert all(table[number] == str(number) for number in table)


def test_it_is_made_anew_seldom() -> None:
    """Where entries come and go, a table of the same size is kept."""
    table: ShrinkingDict[int, int] = ShrinkingDict()
    table.update((number, number) for number in range(MIN_DELETED))
    made_anew = 0
    for number in range(2 * DELETED_PER_ENTRY * MIN_DELETED):
        before = table._deleted
        del table[number]
        table[number + MIN_DELETED] = 0
        made_anew += table._deleted < before
    assert made_anew == 2


def test_what_is_not_there_cannot_be_deleted() -> None:
    table: ShrinkingDict[int, int] = ShrinkingDict()
    with pytest.raises(KeyError):
        del table[1]
