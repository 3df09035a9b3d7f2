"""Maps that share what they have in common: a changed map is a new one, and the old one stays. Pure.

This module stands below all packages: each of them may use it. What metadata know is kept in such maps.

A map is a list of parts, which are dicts; the hash of a key says which part has it. To change an entry is to copy the
list and one part, so it costs some microseconds, whatever the size. Runs of 32 numbers share a part: what was made
together changes together. The order of entries says nothing: it depends on how the map was made.
"""

from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
from itertools import chain
from typing import Any, Final, Generic, TypeVar, overload

Key = TypeVar("Key")
Value = TypeVar("Value")
Other = TypeVar("Other")

MAX_PART_ENTRIES: Final = 128  # more, and the map gets more parts
MAX_PARTS: Final = 1024  # then parts grow: 200,000 entries are 200 in each
GROWTH: Final = 32  # 1, 32 or 1024 parts
RUN_BITS: Final = 5

Parts = list[dict[Key, Value]]


class PersistentMap(Mapping[Key, Value]):
    """An immutable map. It equals another such map with equal entries.

    Its slots are for this module.
    """

    __slots__ = ("mask", "parts", "size")

    def __init__(self, entries: Mapping[Key, Value] | Iterable[tuple[Key, Value]] = ()) -> None:
        whole = dict(entries)
        self.size = len(whole)
        self.parts: Parts[Key, Value] = _divided([whole])
        self.mask = len(self.parts) - 1

    def __getitem__(self, key: Key) -> Value:
        """Return the value of a key.

        Raises:
            KeyError: it is not there.
        """
        return self.parts[(hash(key) >> RUN_BITS) & self.mask][key]

    @overload
    def get(self, key: Key, default: None = None, /) -> Value | None: ...
    @overload
    def get(self, key: Key, default: Value | Other, /) -> Value | Other: ...
    def get(self, key: Key, default: Any = None, /) -> Any:
        """Return the value of a key, or else `default`."""
        return self.parts[(hash(key) >> RUN_BITS) & self.mask].get(key, default)

    def __contains__(self, key: object) -> bool:
        """Whether a key is there."""
        return key in self.parts[(hash(key) >> RUN_BITS) & self.mask]

    def __len__(self) -> int:
        """Return the number of entries."""
        return self.size

    def __iter__(self) -> Iterator[Key]:
        """Iterate over the keys."""
        return chain.from_iterable(self.parts)

    def values(self) -> ValuesView[Value]:
        """Return a view of the values."""
        return _Values(self)

    def items(self) -> ItemsView[Key, Value]:
        """Return a view of keys and values."""
        return _Items(self)

    def __eq__(self, other: object) -> bool:
        """Whether the other is such a map, with equal entries. Parts that both share are not looked at."""
        if self is other:
            return True
        if not isinstance(other, PersistentMap):
            return NotImplemented
        if self.size != other.size:
            return False
        if self.mask == other.mask:
            return self.parts == other.parts
        return dict(self.items()) == dict(other.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Show the entries."""
        return f"PersistentMap({dict(self.items())!r})"

    def set(self, key: Key, value: Value) -> "PersistentMap[Key, Value]":
        """Return a map in which the key has this value."""
        changes = self.mutate()
        changes[key] = value
        return changes.finish()

    def delete(self, key: Key) -> "PersistentMap[Key, Value]":
        """Return a map without the key.

        Raises:
            KeyError: it is not there.
        """
        changes = self.mutate()
        del changes[key]
        return changes.finish()

    def mutate(self) -> "MapChanges[Key, Value]":
        """Begin a series of changes, which share their copies."""
        return MapChanges(self)


class MapChanges(Generic[Key, Value]):
    """Changes of a map, which itself stays as it is."""

    __slots__ = ("_mask", "_old", "_own", "_parts")

    def __init__(self, old: PersistentMap[Key, Value]) -> None:
        self._begin(old)

    def get(self, key: Key) -> Value | None:
        """Return the value of a key as changed so far, None when it is not there."""
        return self._parts[(hash(key) >> RUN_BITS) & self._mask].get(key)

    def __getitem__(self, key: Key) -> Value:
        """Return the value of a key as changed so far.

        Raises:
            KeyError: it is not there.
        """
        return self._parts[(hash(key) >> RUN_BITS) & self._mask][key]

    def __contains__(self, key: object) -> bool:
        """Whether a key is there by now."""
        return key in self._parts[(hash(key) >> RUN_BITS) & self._mask]

    def __setitem__(self, key: Key, value: Value) -> None:
        """Give a key a value."""
        index = (hash(key) >> RUN_BITS) & self._mask
        part = self._parts[index] if index in self._own else self._copied(index)
        part[key] = value
        if len(part) > MAX_PART_ENTRIES and self._mask + 1 < MAX_PARTS:
            self._divide()

    def __delitem__(self, key: Key) -> None:
        """Remove a key.

        Raises:
            KeyError: it is not there.
        """
        index = (hash(key) >> RUN_BITS) & self._mask
        part = self._parts[index] if index in self._own else self._copied(index)
        del part[key]

    def finish(self) -> PersistentMap[Key, Value]:
        """Return the changed map; the old one when nothing was changed. Later changes are based on it."""
        if not self._own:
            return self._old
        made: PersistentMap[Key, Value] = PersistentMap.__new__(PersistentMap)
        made.parts, made.size = self._parts, self._counted()
        if made.size <= self._mask:
            made.parts = _narrowed(self._parts)
        made.mask = len(made.parts) - 1
        self._begin(made)
        return made

    def _begin(self, old: PersistentMap[Key, Value]) -> None:
        self._old = old
        self._parts = old.parts
        self._mask = old.mask
        self._own: set[int] = set()  # indexes of parts that no map has

    def _copied(self, index: int) -> dict[Key, Value]:
        if not self._own:
            self._parts = self._parts.copy()
        self._own.add(index)
        part = self._parts[index] = self._parts[index].copy()
        return part

    def _divide(self) -> None:
        self._parts = _divided(self._parts)
        self._mask = len(self._parts) - 1
        self._own = set(range(len(self._parts)))

    def _counted(self) -> int:
        old = self._old
        if old.mask != self._mask:
            return sum(map(len, self._parts))
        size = old.size
        for index in self._own:
            size += len(self._parts[index]) - len(old.parts[index])
        return size


class _Values(ValuesView[Value]):
    __slots__ = ()
    _mapping: PersistentMap[Any, Value]

    def __iter__(self) -> Iterator[Value]:
        return chain.from_iterable(map(dict.values, self._mapping.parts))


class _Items(ItemsView[Key, Value]):
    __slots__ = ()
    _mapping: PersistentMap[Key, Value]

    def __iter__(self) -> Iterator[tuple[Key, Value]]:
        return chain.from_iterable(map(dict.items, self._mapping.parts))


def _divided(parts: Parts[Key, Value]) -> Parts[Key, Value]:
    """Return parts that are short enough, or as many as there may be."""
    while len(parts) < MAX_PARTS and max(map(len, parts)) > MAX_PART_ENTRIES:
        parts = _spread(parts, len(parts) * GROWTH)
    return parts


def _narrowed(parts: Parts[Key, Value]) -> Parts[Key, Value]:
    """Return fewer parts: there are not more entries than there were parts."""
    size = sum(map(len, parts))
    count = len(parts)
    while count > 1 and size < count:
        count //= GROWTH
    return _spread(parts, count)


def _spread(parts: Parts[Key, Value], count: int) -> Parts[Key, Value]:
    spread: Parts[Key, Value] = [{} for _ in range(count)]
    for part in parts:
        for key, value in part.items():
            spread[(hash(key) >> RUN_BITS) & (count - 1)][key] = value
    return spread
