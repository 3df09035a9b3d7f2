"""Writes the functions that make the answer which refuses all that a request asks for. Pure.

An answer has an error code of its own, or one for each thing asked for: then it names what the request names. Arrays of
both belong together if they have the same name, or if their elements share a field. A struct with an error code in all
versions needs none further down.
"""

from collections.abc import Iterator

from headrace.protocol.generator.classes import default_of
from headrace.protocol.generator.descriptions import NEVER, Field, Versions
from headrace.protocol.generator.structs import MessageStructs, Struct, snake


def refusing_lines(request: MessageStructs, response: MessageStructs) -> Iterator[str]:
    """Give the lines of `_error_for`."""
    answer = _Answer(request, response).struct(response.outer, request.outer, "m", depth=0)
    yield f"def _error_for(m: {request.outer.name}, code: int) -> {response.outer.name}:"
    yield f"    return {answer}"
    yield ""
    yield ""


class _Answer:
    """The expression of an answer."""

    def __init__(self, request: MessageStructs, response: MessageStructs) -> None:
        self._request = request
        self._response = response

    def struct(self, struct: Struct, asked: Struct | None, source: str, *, depth: int) -> str:
        """Return a struct that refuses what `source`, of the class `asked`, asks for."""
        named = {} if asked is None or depth == 0 else {it.name: it for it in asked.fields}
        values = []
        for field in struct.fields:
            value = None
            if _is_code(field):
                value = "code"
            elif field.name.endswith("ErrorMessage") and field.nullable != NEVER:
                value = "None"
            elif field.is_array and field.is_struct:
                if asked is not None and self._has_code_below(field, struct):
                    value = self._array(field, asked, source, depth)
            elif field.name in named and named[field.name].type == field.type:
                value = self._copied(field, named[field.name], source)
            if value is not None:
                values.append(f"{snake(field.name)}={value}")
        return f"{struct.alias}({', '.join(values)})"

    def _copied(self, field: Field, asked: Field, source: str) -> str:
        value = f"{source}.{snake(asked.name)}"
        is_always_nullable = field.nullable.first <= field.versions.first <= field.nullable.last
        if asked.nullable != NEVER and not is_always_nullable and field.type != "uuid":
            return f"{value} or {default_of(self._response, field)}"
        return value

    def _has_code_below(self, field: Field, owner: Struct) -> bool:
        versions = self._response.description.versions
        if any(_is_code(it) and _covers(it.versions, versions, owner) for it in owner.fields):
            return False
        return self._has_code(self._response.struct_of(field))

    def _has_code(self, struct: Struct) -> bool:
        return any(
            _is_code(it) or (it.is_struct and self._has_code(self._response.struct_of(it)))
            for it in struct.fields
        )

    def _array(self, field: Field, asked: Struct, source: str, depth: int) -> str | None:
        element = self._response.struct_of(field)
        arrays = [it for it in asked.fields if it.is_array and _overlap(it, field)]
        same = [it for it in arrays if it.name == field.name]
        parts = [
            part
            for it in same or arrays
            if (part := self._from(element, it, f"{source}.{snake(it.name)}", depth)) is not None
        ]
        return " + ".join(parts) or None

    def _from(self, element: Struct, asked: Field, source: str, depth: int) -> str | None:
        name = f"it{depth}"
        if asked.is_struct:
            owner = self._request.struct_of(asked)
            names = {it.name for it in owner.fields}
            own = {it.name for it in element.fields if not it.name.startswith("Error")}
            if own and not own & names:
                return None
            made = self.struct(element, owner, name, depth=depth + 1)
        else:
            fields = [it for it in element.fields if it.type == asked.element and not _is_error(it)]
            if not fields:
                return None
            codes = [f"{snake(it.name)}=code" for it in element.fields if _is_code(it)]
            made = f"{element.alias}({', '.join([f'{snake(fields[0].name)}={name}', *codes])})"
        array = f"{source} or ()" if asked.nullable != NEVER else source
        return f"[{made} for {name} in {array}]"


def _is_code(field: Field) -> bool:
    return field.name.endswith("ErrorCode") and field.type == "int16"


def _is_error(field: Field) -> bool:
    return field.name.startswith("Error")


def _covers(found: Versions, all_versions: Versions, owner: Struct) -> bool:
    first = max(all_versions.first, owner.versions.first)
    return found.first <= first and found.last >= all_versions.last


def _overlap(one: Field, other: Field) -> bool:
    return max(one.versions.first, other.versions.first) <= min(
        one.versions.last, other.versions.last
    )
