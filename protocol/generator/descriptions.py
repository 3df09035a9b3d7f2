"""What a message consists of, as Apache Kafka's descriptions of it say. Pure.

Only facts are taken: names, types, versions, which fields may be null, defaults and tags. A description is JSON with
comments in lines of their own.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

NO_LAST_VERSION: Final = 32_767
_COMMENT: Final = re.compile(r"^\s*//.*$", re.MULTILINE)


class Versions(NamedTuple):
    """A range of versions, both ends included; empty where the first is above the last."""

    first: int
    last: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.first <= version <= self.last

    def __str__(self) -> str:
        if self == NEVER:
            return "none"
        if self.last == NO_LAST_VERSION:
            return f"{self.first}+"
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


NEVER: Final = Versions(0, -1)
ALWAYS: Final = Versions(0, NO_LAST_VERSION)


def parse_versions(text: str) -> Versions:
    """Read `3`, `0+`, `2-5` or `none`."""
    if text == "none":
        return NEVER
    if text.endswith("+"):
        return Versions(int(text[:-1]), NO_LAST_VERSION)
    first, _, last = text.partition("-")
    return Versions(int(first), int(last or first))


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a struct; `fields` are those of the struct that its type names, unless it is a shared one."""

    name: str
    type: str
    versions: Versions
    nullable: Versions = NEVER
    default: str | None = None
    tag: int | None = None
    tagged: Versions = NEVER
    flexible: Versions | None = None  # where they are not those of the message
    fields: tuple["Field", ...] = ()

    @property
    def element(self) -> str:
        """The type, or that of the elements of an array."""
        return self.type.removeprefix("[]")

    @property
    def is_array(self) -> bool:
        """Whether it is an array."""
        return self.type.startswith("[]")

    @property
    def is_struct(self) -> bool:
        """Whether it is a struct, or an array of structs."""
        return self.element[0].isupper()

    def is_tagged(self, version: int) -> bool:
        """Whether it stands among the tagged fields."""
        return self.tag is not None and version in self.tagged


@dataclass(frozen=True, slots=True)
class Shared:
    """A struct that several fields of a message have as their type."""

    name: str
    versions: Versions
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Description:
    """A message, or the key or value of a coordinator's record."""

    name: str
    kind: str  # request, response, header, data, metadata, coordinator-key, coordinator-value
    key: int | None  # of the API, or the type of the record
    versions: Versions
    flexible: Versions
    fields: tuple[Field, ...]
    shared: tuple[Shared, ...] = ()

    def all_versions(self) -> range:
        """Every version."""
        return range(self.versions.first, self.versions.last + 1)


def parse_description(text: str) -> Description | None:
    """Read one description; None for a message of which no version is left."""
    found = json.loads(_COMMENT.sub("", text))
    versions = parse_versions(found["validVersions"])
    if versions == NEVER:
        return None
    return Description(
        name=found["name"],
        kind=found["type"],
        key=found.get("apiKey"),
        versions=versions,
        flexible=parse_versions(found.get("flexibleVersions", "none")),
        fields=tuple(_fields(found["fields"])),
        shared=tuple(
            Shared(it["name"], parse_versions(it["versions"]), tuple(_fields(it["fields"])))
            for it in found.get("commonStructs", ())
        ),
    )


def _fields(found: list[Mapping[str, Any]]) -> Iterator[Field]:
    for it in found:
        default = it.get("default")
        flexible = it.get("flexibleVersions")
        yield Field(
            name=it["name"],
            type=it["type"],
            versions=parse_versions(it.get("versions", it.get("taggedVersions", "none"))),
            nullable=parse_versions(it.get("nullableVersions", "none")),
            default=None if default is None else _text(default),  # as Kafka, which asks for "null"
            tag=it.get("tag"),
            tagged=parse_versions(it.get("taggedVersions", "none")),
            flexible=None if flexible is None else parse_versions(flexible),
            fields=tuple(_fields(it.get("fields", []))),
        )


def _text(default: object) -> str:
    return str(default).lower() if isinstance(default, bool) else str(default)
