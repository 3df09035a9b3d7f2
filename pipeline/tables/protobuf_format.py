"""Protobuf by schemas of a registry: the text of a .proto file, compiled by protoc of grpcio-tools.

Source: protobuf.dev, "Language Guide (proto 3)" and "ProtoJSON Format", for well-known types.
"""

import tempfile
from collections.abc import Mapping
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from grpc_tools import protoc

from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.registry import RegisteredSchema
from headrace.pipeline.tables.shapes import (
    MAX_DEPTH,
    ListShape,
    MapShape,
    SchemaWalk,
    Shape,
    walked,
)

_MAIN: Final = "headrace_value.proto"
_MAX_VARINT_BYTES: Final = 5
_MAX_INDEXES: Final = 32
_F = FieldDescriptor
_SCALARS: Final[Mapping[int, str]] = {
    _F.TYPE_BOOL: "boolean",
    _F.TYPE_INT32: "int",
    _F.TYPE_SINT32: "int",
    _F.TYPE_SFIXED32: "int",
    _F.TYPE_UINT32: "long",
    _F.TYPE_FIXED32: "long",
    _F.TYPE_INT64: "long",
    _F.TYPE_SINT64: "long",
    _F.TYPE_SFIXED64: "long",
    _F.TYPE_UINT64: "decimal(20, 0)",
    _F.TYPE_FIXED64: "decimal(20, 0)",
    _F.TYPE_FLOAT: "float",
    _F.TYPE_DOUBLE: "double",
    _F.TYPE_STRING: "string",
    _F.TYPE_BYTES: "binary",
    _F.TYPE_ENUM: "string",
}
_TIMESTAMP: Final = "google.protobuf.Timestamp"


class ProtobufSchema:
    """One schema: a file of messages."""

    def __init__(self, registered: RegisteredSchema, message: str) -> None:
        files = compiled(registered)
        pool = descriptor_pool.DescriptorPool()
        try:
            for it in files.file:
                pool.Add(it)
        except TypeError as error:
            raise BadRecordError(f"its schema cannot be used: {error}") from error
        self._file = pool.FindFileByName(_MAIN)
        self._name = message
        self._pool = pool
        self._last: Descriptor | None = None
        self._shapes: dict[str, Mapping[str, Shape]] = {}  # of its messages

    def decode(self, payload: bytes) -> Mapping[str, Any]:
        """Decode a value."""
        indexes, start = read_indexes(payload)
        kind = self._kind(indexes)
        found: Message = message_factory.GetMessageClass(kind)()
        try:
            found.ParseFromString(payload[start:])
        except DecodeError as error:
            raise BadRecordError(f"it is no message {kind.full_name}: {error}") from error
        self._last = kind
        return _document(found)

    def shape(self, document: Mapping[str, Any]) -> Mapping[str, Shape]:
        """That of the message that was decoded last; before any, that of the schema's first or the table's own."""
        del document
        kind = self._last or self._kind([0])
        if kind.full_name not in self._shapes:
            shape = walked(lambda walk: _message_shape(kind, 0, walk))
            self._shapes[kind.full_name] = shape if isinstance(shape, dict) else {}
        return self._shapes[kind.full_name]

    def _kind(self, indexes: list[int]) -> Descriptor:
        if self._name:
            try:
                named: Descriptor = self._pool.FindMessageTypeByName(self._name)
            except KeyError as error:
                raise BadRecordError(f"its schema has no message {self._name}") from error
            return named
        found: Descriptor | None = None
        for it in indexes:
            many = (
                list(self._file.message_types_by_name.values())
                if found is None
                else list(found.nested_types)
            )
            if not 0 <= it < len(many):
                raise BadRecordError(f"its schema has no message at {indexes}")
            found = many[it]
        assert found is not None
        return found


def read_indexes(payload: bytes) -> tuple[list[int], int]:
    """Read the path to the message, and where the message begins.

    Raises:
        BadRecordError: there is none.
    """
    count, position = _varint(payload, 0)
    if count == 0:
        return [0], position
    if not 0 < count <= _MAX_INDEXES:
        raise BadRecordError(f"it has {count} message indexes")
    found = []
    for _ in range(count):
        index, position = _varint(payload, position)
        found.append(index)
    return found, position


def _varint(payload: bytes, position: int) -> tuple[int, int]:
    value = 0
    for number in range(_MAX_VARINT_BYTES):
        if position >= len(payload):
            break
        byte = payload[position]
        position += 1
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
    raise BadRecordError("its message indexes are cut off")


def compiled(registered: RegisteredSchema) -> descriptor_pb2.FileDescriptorSet:
    """Compile the text of a schema, with those that it refers to.

    Raises:
        BadRecordError: protoc refuses it.
    """
    with tempfile.TemporaryDirectory(prefix="headrace-proto-") as name:
        directory = Path(name)
        for place, text in (*registered.references, (_MAIN, registered.text)):
            if ".." in PurePosixPath(place).parts or PurePosixPath(place).is_absolute():
                raise BadRecordError(f"its schema refers to {place}")
            path = directory / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        output = directory / "descriptors"
        own = resources.files("grpc_tools") / "_proto"
        arguments = ["protoc", f"-I{directory}", f"-I{own}", "--include_imports"]
        code = protoc.main([*arguments, f"--descriptor_set_out={output}", str(directory / _MAIN)])
        if code:
            raise BadRecordError("its schema is no Protobuf: protoc refuses it")
        return descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes())


def _document(message: Message) -> dict[str, Any]:
    """Values of all fields; a field with presence that is not set is null."""
    found: dict[str, Any] = {}
    for it in message.DESCRIPTOR.fields:
        if it.has_presence and not message.HasField(it.name):
            found[it.name] = None
            continue
        value = getattr(message, it.name)
        if _is_map(it):
            inner = it.message_type.fields_by_name["value"]
            found[it.name] = {str(key): _value(inner, value[key]) for key in value}
        elif it.is_repeated:
            found[it.name] = [_value(it, one) for one in value]
        else:
            found[it.name] = _value(it, value)
    return found


def _value(field: FieldDescriptor, value: Any) -> Any:
    if field.type == _F.TYPE_ENUM:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    if field.message_type is None:
        return value
    name = field.message_type.full_name
    if name == _TIMESTAMP:
        return value.ToJsonString()
    if _is_wrapper(field.message_type):
        return value.value
    return _document(value)


def _message_shape(kind: Descriptor, depth: int, walk: SchemaWalk) -> Shape:
    with walk.into(kind.full_name, len(kind.fields)) as is_text:
        if is_text or depth > MAX_DEPTH:
            return "string"
        return {it.name: _field_shape(it, depth, walk) for it in kind.fields} or None


def _field_shape(field: FieldDescriptor, depth: int, walk: SchemaWalk) -> Shape:
    if _is_map(field):
        value = _one_shape(field.message_type.fields_by_name["value"], depth, walk)
        return None if value is None else MapShape("string", value)
    one = _one_shape(field, depth, walk)
    return ListShape(one) if field.is_repeated and one is not None else one


def _one_shape(field: FieldDescriptor, depth: int, walk: SchemaWalk) -> Shape:
    if field.message_type is None:
        return _SCALARS.get(field.type)
    if field.message_type.full_name == _TIMESTAMP:
        return "timestamptz"
    if _is_wrapper(field.message_type):
        return _SCALARS.get(field.message_type.fields_by_name["value"].type)
    return _message_shape(field.message_type, depth + 1, walk)


def _is_map(field: FieldDescriptor) -> bool:
    kind = field.message_type
    return bool(field.is_repeated and kind is not None and kind.GetOptions().map_entry)


def _is_wrapper(kind: Descriptor) -> bool:
    return bool(kind.file.name == "google/protobuf/wrappers.proto")
