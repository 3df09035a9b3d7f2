"""Strict decoders, compiled from the message schemas when a class and version are first used.

The decoder of kafka-python's message classes is too lenient for a broker: it accepts a frame that
ends inside a string, a record set or an unknown tag, null where null is not allowed, and negative
array lengths; its time for one long varint is quadratic, as it is for many tagged structs. So only
the classes and their schemas are used, and `Reader` reads the bytes. The result equals that of the
lenient decoder for a valid message, apart from unknown tags, which are skipped instead of kept.

Schemas do not nest recursively, so the depth of a decoder is that of its schema.

A message may have tens of thousands of elements, which takes a part of a second. So its decoder is a
generator that stops after each `STEP_ELEMENTS` of them, or fewer that are large; who decodes on an
event loop lets others run there.
"""

from collections.abc import Callable, Generator
from functools import cache
from struct import Struct
from typing import Any, Final, NamedTuple
from uuid import UUID

from headrace.protocol.errors import ProtocolError
from headrace.protocol.primitives import (
    STRING_AS_JAVA,
    UUID_BYTES,
    Reader,
    check_string,
    read_uuid,
)

STEP_ELEMENTS: Final = 256  # about a millisecond
ELEMENT_BYTES: Final = 4 << 10  # of strings and bytes that take as long as an element

Read = Callable[[Reader], Any]
Steps = Callable[[Reader], Generator[None, None, Any]]
_Store = Callable[[Reader, Any], None]

_INT16: Final = Struct(">h")
_INT32: Final = Struct(">i")
_UINT32: Final = Struct(">I")
_FIXED_FORMATS: Final = {
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "int64": "q",
    "float64": "d",
    "bool": "?",
}
_OPERATIONS_NOT_ASKED_FOR: Final = 1 << 31


class _Plan(NamedTuple):
    """How one type is read, and its minimum size on the wire."""

    read: Read
    min_bytes: int
    steps: Steps | None = None  # reads it step by step: an array, or a struct that has one


@cache
def decoder(message_class: Any, version: int) -> Steps:
    """Return the decoder of this message's body in this version."""
    schema = message_class._struct  # noqa: SLF001 - the library gives no other way to its schema
    flexible = message_class.flexible_version_q(version)
    # Slots of the outermost object only; encoding it again reads them.
    outer = {"_header": None, "_min_version": None, "_max_version": None}
    plan = _struct(schema, message_class, version, flexible=flexible, constants=outer)
    return plan.steps or _in_one_step(plan.read)


def _in_one_step(read: Read) -> Steps:
    def steps(reader: Reader) -> Generator[None, None, Any]:
        yield from ()
        return read(reader)

    return steps


def _struct(
    schema: Any,
    message_class: Any,
    version: int,
    *,
    flexible: bool,
    constants: dict[str, None] | None = None,
) -> _Plan:
    fields = [field for field in schema.fields.values() if field.for_version_q(version)]
    plain = [field for field in fields if not field.tagged_field_q(version)]
    tagged = [field for field in fields if field.tagged_field_q(version)]
    stores, stepped, min_bytes = _stores(plain, version, flexible=flexible)
    initial: tuple[tuple[str, Any], ...] = (
        ("_version", version),
        ("tags", None),
        ("unknown_tags", None),
        *(constants or {}).items(),
        *((field.name, field.default) for field in tagged if not field.is_array()),
    )
    arrays = tuple(field.name for field in tagged if field.is_array())
    if flexible:
        stores.append(_tagged_store(tagged, version))
        min_bytes += 1

    def new() -> Any:
        item = object.__new__(message_class)
        for name, value in initial:
            setattr(item, name, value)
        for name in arrays:
            setattr(item, name, [])
        return item

    def read(reader: Reader) -> Any:
        item = new()
        for store in stores:
            store(reader, item)
        return item

    def steps(reader: Reader) -> Generator[None, None, Any]:
        item = new()
        for position, store in enumerate(stores):
            if position in stepped:
                name, read_steps = stepped[position]
                setattr(item, name, (yield from read_steps(reader)))
            else:
                store(reader, item)
        return item

    return _Plan(read, min_bytes, steps if stepped else None)


def _stores(
    fields: list[Any], version: int, *, flexible: bool
) -> tuple[list[_Store], dict[int, tuple[str, Steps]], int]:
    """Return what fills the untagged fields of an object; adjacent fields of fixed size are read at once.

    Also: name and steps of those that are read step by step, by their position; and the minimum size of all.
    """
    stores: list[_Store] = []
    stepped: dict[int, tuple[str, Steps]] = {}
    min_bytes = 0
    names: list[str] = []
    layout = ">"
    for field in fields:
        code = _fixed_format(field)
        if code is not None:
            names.append(field.name)
            layout += code
            continue
        if names:
            stores.append(_fixed_store(tuple(names), Struct(layout)))
            min_bytes += Struct(layout).size
            names, layout = [], ">"
        plan = _field(field, version, flexible=flexible)
        if plan.steps is not None:
            stepped[len(stores)] = field.name, plan.steps
        stores.append(_field_store(field.name, plan.read))
        min_bytes += plan.min_bytes
    if names:
        stores.append(_fixed_store(tuple(names), Struct(layout)))
        min_bytes += Struct(layout).size
    return stores, stepped, min_bytes


def _fixed_format(field: Any) -> str | None:
    if field.is_array() or field.is_struct():
        return None
    return _FIXED_FORMATS.get(field.type_str)


def _fixed_store(names: tuple[str, ...], layout: Struct) -> _Store:
    def store(reader: Reader, item: Any) -> None:
        for name, value in zip(names, reader.fixed(layout), strict=True):
            setattr(item, name, value)

    return store


def _field_store(name: str, read: Read) -> _Store:
    def store(reader: Reader, item: Any) -> None:
        setattr(item, name, read(reader))

    return store


def _tagged_store(fields: list[Any], version: int) -> _Store:
    names = {field.tag: field.name for field in fields}
    known = {field.tag: _field(field, version, flexible=True).read for field in fields}

    def store(reader: Reader, item: Any) -> None:
        values = reader.tagged_fields(known)
        if values:
            item.tags = {names[tag] for tag in values}
            for tag, value in values.items():
                setattr(item, names[tag], value)

    return store


def _field(field: Any, version: int, *, flexible: bool) -> _Plan:
    nullable = field.nullable_for_version_q(version)
    if field.is_array():
        inner = field.array_of
        if field.is_struct_array():
            element = _struct(inner, inner.data_class, version, flexible=flexible)
        else:
            element = _simple(inner.type_str, nullable=False, flexible=flexible)
        return _array(element, nullable=nullable, flexible=flexible)
    if field.is_struct():
        plan = _struct(field, field.data_class, version, flexible=flexible)
        return _nullable_struct(plan) if nullable else plan
    return _simple(field.type_str, nullable=nullable, flexible=flexible)


def _nullable_struct(plan: _Plan) -> _Plan:
    """KIP-893: one byte before the struct, negative when it is null."""
    presence = Struct(">b")

    def read(reader: Reader) -> Any:
        return None if reader.fixed(presence)[0] < 0 else plan.read(reader)

    return _Plan(read, presence.size)


def _array(element: _Plan, *, nullable: bool, flexible: bool) -> _Plan:
    read_length, length_bytes = _length(_INT32, nullable=nullable, flexible=flexible)

    def read(reader: Reader) -> Any:
        count = read_length(reader)
        return None if count < 0 else reader.array(element.read, count, element.min_bytes)

    def steps(reader: Reader) -> Generator[None, None, Any]:
        count = read_length(reader)
        if count < 0:
            return None
        reader.begin_array(count, element.min_bytes)
        items = []
        for _ in range(count):
            if element.steps is None:
                items.append(element.read(reader))
            else:
                items.append((yield from element.steps(reader)))
            reader.elements_of_step += 1
            if reader.elements_of_step >= STEP_ELEMENTS:
                reader.elements_of_step = 0
                yield
        return items

    return _Plan(read, length_bytes, steps)


def _simple(type_str: str, *, nullable: bool, flexible: bool) -> _Plan:
    code = _FIXED_FORMATS.get(type_str)
    if code is not None:
        layout = Struct(">" + code)
        return _Plan(lambda reader: reader.fixed(layout)[0], layout.size)
    if type_str == "uuid":
        return _Plan(_read_uuid, UUID_BYTES)
    if type_str == "bitfield":
        return _Plan(_read_operations, _UINT32.size)
    prefix = _INT16 if type_str == "string" else _INT32
    read_length, length_bytes = _length(prefix, nullable=nullable, flexible=flexible)

    def read_string(reader: Reader) -> str | None:
        length = read_length(reader)
        if length < 0:
            return None
        check_string(length)
        reader.elements_of_step += length // ELEMENT_BYTES
        return str(reader.take(length), "utf-8", STRING_AS_JAVA)

    def read_bytes(reader: Reader) -> bytes | None:
        length = read_length(reader)
        if length < 0:
            return None
        reader.elements_of_step += length // ELEMENT_BYTES
        return bytes(reader.take(length))

    return _Plan(read_string if type_str == "string" else read_bytes, length_bytes)


def _length(
    prefix: Struct, *, nullable: bool, flexible: bool
) -> tuple[Callable[[Reader], int], int]:
    """Return the reader of a length, which is negative for null, and its minimum size."""

    def read_compact(reader: Reader) -> int:
        length = reader.uvarint() - 1
        if length < 0 and not nullable:
            raise ProtocolError("null in a field that is not nullable")
        return length

    def read_classic(reader: Reader) -> int:
        length: int = reader.fixed(prefix)[0]
        if length < 0 and not nullable:
            raise ProtocolError("null in a field that is not nullable")
        return length

    return (read_compact, 1) if flexible else (read_classic, prefix.size)


def _read_uuid(reader: Reader) -> UUID | None:
    return read_uuid(reader.take(UUID_BYTES), 0)


def _read_operations(reader: Reader) -> set[int] | None:
    bits: int = reader.fixed(_UINT32)[0]
    if bits == _OPERATIONS_NOT_ASKED_FOR:
        return None
    return {bit for bit in range(32) if bits >> bit & 1}
