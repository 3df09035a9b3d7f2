"""A dict whose table becomes smaller again: that of a plain one keeps the size of its largest day.

This module stands below all packages: each of them may use it.
"""

from typing import Final, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

MIN_DELETED: Final = 10_000
DELETED_PER_ENTRY: Final = 8


class ShrinkingDict(dict[Key, Value]):
    """A dict for tables of many thousand entries, which are deleted by `del`.

    When eight times as many entries were deleted as are left, the table is made anew. So a deletion costs on average
    at most an eighth of an insertion more.
    """

    __slots__ = ("_deleted",)

    def __init__(self) -> None:
        self._deleted = 0

    def __delitem__(self, key: Key, /) -> None:
        """Delete an entry.

        Raises:
            KeyError: there is none.
        """
        super().__delitem__(key)
        self._deleted += 1
        if self._deleted >= max(MIN_DELETED, DELETED_PER_ENTRY * len(self)):
            left = dict(self)
            self.clear()
            self.update(left)
            self._deleted = 0
