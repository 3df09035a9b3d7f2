"""Rules of ranged reads."""

import pytest

from headrace.storage.errors import CorruptObjectError
from headrace.storage.object_store.ranges import exactly, folder_of, require_valid_range


def test_ranges():
    require_valid_range(0, 1)
    for start, end in ((0, 0), (2, 1), (-1, 1)):
        with pytest.raises(ValueError, match="empty range"):
            require_valid_range(start, end)


def test_a_short_answer_is_corrupt():
    whole = memoryview(b"abc")
    assert exactly(whole, "k", 5, 8) is whole
    for start, end in ((5, 9), (5, 7)):
        with pytest.raises(CorruptObjectError, match="k: "):
            exactly(whole, "k", start, end)


def test_folders():
    assert [folder_of(it) for it in ("", "a", "a/", "a/b")] == ["", "a/", "a/", "a/b/"]
