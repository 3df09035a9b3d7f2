"""The facts of descriptions as text: a line for each message, shared struct and field, below its owner. Pure.

    message MetadataRequest request 3 0-13 flexible 9+
      topics []MetadataRequestTopic 0+ null 1+
        topicId uuid 10+
        name string 0+ null 10+
      allowAutoTopicCreation bool 4+ default "true"

Options of a field, in this order: `null` versions, `default` text in JSON, `tag` number and versions, `flexible`
versions. A message without an API key has `-` in its place.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final

from headrace.protocol.generator.descriptions import (
    NEVER,
    Description,
    Field,
    Shared,
    parse_versions,
)

_INDENT: Final = "  "


def format_table(descriptions: Iterable[Description]) -> str:
    """Write the table of messages, in the order of their names."""
    lines: list[str] = []
    for it in sorted(descriptions, key=lambda it: it.name):
        key = "-" if it.key is None else it.key
        lines.append(
            f"message {it.name} {it.kind} {key} {it.versions} flexible {it.flexible}",
        )
        lines += _field_lines(it.fields, _INDENT)
        for shared in it.shared:
            lines.append(f"{_INDENT}struct {shared.name} {shared.versions}")
            lines += _field_lines(shared.fields, 2 * _INDENT)
    return "\n".join([*lines, ""])


def _field_lines(fields: Iterable[Field], indent: str) -> Iterator[str]:
    for it in fields:
        line = f"{indent}{it.name} {it.type} {it.versions}"
        if it.nullable != NEVER:
            line += f" null {it.nullable}"
        if it.default is not None:
            line += f" default {json.dumps(it.default)}"
        if it.tag is not None:
            line += f" tag {it.tag} {it.tagged}"
        if it.flexible is not None:
            line += f" flexible {it.flexible}"
        yield line
        yield from _field_lines(it.fields, indent + _INDENT)


class _Lines:
    """The lines of a table that have not been read yet."""

    def __init__(self, text: str) -> None:
        self._lines = [line for line in text.split("\n") if line]
        self._at = 0

    def words(self, depth: int) -> list[str] | None:
        """Take the next line if it is at this depth."""
        if self._at == len(self._lines):
            return None
        line = self._lines[self._at]
        if len(line) - len(line.lstrip()) != depth * len(_INDENT):
            return None
        self._at += 1
        return line.split()

    def is_shared(self) -> bool:
        """Whether the next line begins a shared struct."""
        return self._at < len(self._lines) and self._lines[self._at].startswith("  struct ")


def parse_table(text: str) -> list[Description]:
    """Read what `format_table` has written."""
    lines = _Lines(text)
    found = []
    while (words := lines.words(0)) is not None:
        _, name, kind, key, versions, _, flexible = words
        fields = _parse_fields(lines, 1)
        shared = []
        while lines.is_shared():
            _, struct, its_versions = lines.words(1) or ("", "", "none")
            shared.append(Shared(struct, parse_versions(its_versions), _parse_fields(lines, 2)))
        found.append(
            Description(
                name=name,
                kind=kind,
                key=None if key == "-" else int(key),
                versions=parse_versions(versions),
                flexible=parse_versions(flexible),
                fields=fields,
                shared=tuple(shared),
            )
        )
    return found


def _parse_fields(lines: _Lines, depth: int) -> tuple[Field, ...]:
    fields = []
    while not (depth == 1 and lines.is_shared()) and (words := lines.words(depth)) is not None:
        name, kind, versions, *options = words
        found = dict(_options(options))
        tag = found.get("tag")
        flexible = found.get("flexible")
        fields.append(
            Field(
                name=name,
                type=kind,
                versions=parse_versions(versions),
                nullable=parse_versions(found.get("null", ["none"])[0]),
                default=json.loads(found["default"][0]) if "default" in found else None,
                tag=None if tag is None else int(tag[0]),
                tagged=NEVER if tag is None else parse_versions(tag[1]),
                flexible=None if flexible is None else parse_versions(flexible[0]),
                fields=_parse_fields(lines, depth + 1),
            )
        )
    return tuple(fields)


def _options(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    at = 0
    while at < len(words):
        values = 2 if words[at] == "tag" else 1
        yield words[at], words[at + 1 : at + 1 + values]
        at += 1 + values
