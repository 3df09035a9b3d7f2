"""The structs of a message, and their fields in one version. Pure."""

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from headrace.protocol.generator.descriptions import ALWAYS, Description, Field, Versions

# Of fields of a fixed size: as `struct` has them, and their bytes.
FIXED: Final = {
    "bool": ("?", 1),
    "int8": ("b", 1),
    "int16": ("h", 2),
    "uint16": ("H", 2),
    "int32": ("i", 4),
    "uint32": ("I", 4),
    "int64": ("q", 8),
    "float64": ("d", 8),
    "uuid": ("16s", 16),
}
# What the functions that read and write fields of no fixed size are called after.
BLOBS: Final = {"string": "string", "bytes": "blob", "records": "blob"}
# Names that generated functions use.
_TAKEN: Final = {"r", "n", "m", "o", "out", "it", "tag", "tags", "end", "field", "some", "left"}
_WORD: Final = re.compile(r"[A-Z]+(?![a-z0-9])|[A-Z]?[a-z0-9]+")


def snake(name: str) -> str:
    """Return a name of a schema as one of Python: `topicId` is `topic_id`, `V3AndBelowTopics` `v3_and_below_topics`."""
    made = "_".join(word.lower() for word in _WORD.findall(name))
    return f"{made}_" if keyword.iskeyword(made) else made


def is_numbers(field: Field) -> bool:
    """Whether it is an array of numbers."""
    return field.is_array and field.element in FIXED and field.element != "uuid"


def local(field: Field) -> str:
    """Return the name of a local variable for a field."""
    name = snake(field.name)
    return f"{name}_" if name in _TAKEN else name


@dataclass(frozen=True, eq=False)
class Struct:
    """A struct with the fields of all versions. `path` is how its class is reached, `alias` its short name."""

    name: str
    path: str
    versions: Versions
    fields: tuple[Field, ...]
    nested: tuple["Struct", ...]  # whose classes are inside of this one
    message: "MessageStructs"

    @property
    def alias(self) -> str:
        """The name by which functions know the class."""
        if self.path == self.name:
            return self.name
        prefix = self.message.prefix
        return f"_{prefix}{self.name}"

    def plain(self, version: int) -> list[Field]:
        """Return the fields that every message of this version has, in their order."""
        return [it for it in self.fields if version in it.versions and not it.is_tagged(version)]

    def tagged(self, version: int) -> list[Field]:
        """Return the fields that may be among the tagged ones, in their order."""
        found = (it for it in self.fields if version in it.versions and it.is_tagged(version))
        return sorted(found, key=lambda it: it.tag or 0)

    def has_steps(self, version: int) -> bool:
        """Whether it has an array, in itself or below, that may take long."""
        return any(self.message.may_take_long(it, version) for it in self.plain(version))

    def min_bytes(self, version: int) -> int:
        """The least that it takes on the wire."""
        size = sum(self.message.min_bytes(it, version) for it in self.plain(version))
        return size + (1 if self.message.is_flexible(version) else 0)


class MessageStructs:
    """The structs of one message."""

    def __init__(self, description: Description, prefix: str = "") -> None:
        """`prefix`: before the short names of its structs, where another message beside has the same."""
        self.description = description
        self.prefix = prefix
        self._by_name: dict[str, Struct] = {}
        self._shared = tuple(
            self._struct(it.name, description.name, it.versions, it.fields)
            for it in description.shared
        )

    @cached_property
    def outer(self) -> Struct:
        """The message itself."""
        name = self.description.name
        nested = self._nested(self.description.fields, name)
        return Struct(name, name, ALWAYS, self.description.fields, (*self._shared, *nested), self)

    def inner(self) -> list[Struct]:
        """All structs but the message, each behind those that it has fields of."""
        outer = self.outer
        ordered: dict[Struct, None] = {}

        def add(struct: Struct) -> None:
            for field in struct.fields:
                if field.is_struct:
                    add(self.struct_of(field))
            if struct is not outer:
                ordered[struct] = None

        add(outer)
        return list(ordered)

    def names(self) -> set[str]:
        """The names of all inner structs."""
        return {it.name for it in self.inner()}

    def struct_of(self, field: Field) -> Struct:
        """Return the struct that the type of a field names."""
        return self._by_name[field.element]

    def is_flexible(self, version: int) -> bool:
        """Whether a version has compact lengths and tagged fields."""
        return version in self.description.flexible

    def is_compact(self, field: Field, version: int) -> bool:
        """Whether a field has a compact length."""
        own = self.description.flexible if field.flexible is None else field.flexible
        return version in own and self.is_flexible(version)

    def compact(self, field: Field, version: int) -> str:
        """Return the part of a function's name that stands for a compact length, empty for another one."""
        return "c_" if self.is_compact(field, version) else ""

    def may_take_long(self, field: Field, version: int) -> bool:
        """Whether it is read and written in steps: an array of no numbers, or a struct that has one."""
        if field.is_array:
            return field.element not in FIXED
        return field.is_struct and self.struct_of(field).has_steps(version)

    def is_small(self, field: Field, version: int) -> bool:
        """Whether its elements are of numbers alone: many of them take no longer than few with text."""
        if not field.is_struct:
            return field.element in FIXED
        struct = self.struct_of(field)
        return not struct.has_steps(version) and all(
            self.is_small(it, version) for it in (*struct.plain(version), *struct.tagged(version))
        )

    def min_bytes(self, field: Field, version: int) -> int:
        """The least that a field takes on the wire."""
        is_nullable = version in field.nullable
        if field.is_array:
            return 1 if self.is_compact(field, version) else 4
        if field.is_struct:
            return 1 if is_nullable else self.struct_of(field).min_bytes(version)
        return self.min_element_bytes(field, version)

    def min_element_bytes(self, field: Field, version: int) -> int:
        """The least that an element of an array, or what is no array, takes on the wire."""
        if field.is_struct:
            return self.struct_of(field).min_bytes(version)
        if field.element in FIXED:
            return FIXED[field.element][1]
        if self.is_compact(field, version):
            return 1
        return 2 if field.element == "string" else 4

    def _nested(self, fields: tuple[Field, ...], path: str) -> Iterator[Struct]:
        for field in fields:
            if field.is_struct and field.fields:
                yield self._struct(field.element, path, field.versions, field.fields)

    def _struct(
        self, name: str, path: str, versions: Versions, fields: tuple[Field, ...]
    ) -> Struct:
        path = f"{path}.{name}"
        nested = tuple(self._nested(fields, path))
        made = self._by_name[name] = Struct(name, path, versions, fields, nested, self)
        return made
