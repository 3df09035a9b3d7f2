"""Writes the classes of a message. Pure."""

from collections.abc import Iterator
from typing import Final

from headrace.protocol.generator.descriptions import NEVER, NO_LAST_VERSION, Description, Field
from headrace.protocol.generator.structs import FIXED, MessageStructs, Struct, snake

# Arrays of answers of which elements may be kept encoded, since many clients ask for the same.
PRE_ENCODED: Final = {("MetadataResponse", "Topics")}
_TYPES: Final = {"string": "str", "bytes": "bytes", "records": "bytes", "bool": "bool"}
_NEVER_FLEXIBLE: Final = NO_LAST_VERSION + 1


def class_lines(structs: MessageStructs) -> Iterator[str]:
    """Give the lines of the class of a message, with those of its structs inside."""
    outer = structs.outer
    description = structs.description
    yield f"class {outer.name}(KafkaMessage):"
    yield f'    """{_about(description)}"""'
    yield ""
    for nested in outer.nested:
        yield from _nested_lines(structs, nested, "    ")
    if description.key is not None:
        name = "RECORD_TYPE" if description.kind.startswith("coordinator") else "API_KEY"
        yield f"    {name}: ClassVar[int] = {description.key}"
    yield f"    MIN_VERSION: ClassVar[int] = {description.versions.first}"
    flexible = description.flexible
    since = _NEVER_FLEXIBLE if flexible == NEVER else flexible.first
    yield f"    FLEXIBLE_SINCE: ClassVar[int] = {since}"
    yield from _field_lines(structs, outer, "    ")
    yield ""
    yield ""


def _about(description: Description) -> str:
    first, last = description.versions
    versions = f"version {first}" if first == last else f"versions {first} to {last}"
    key = "" if description.key is None else f"Key {description.key}, "
    flexible = description.flexible
    since = "none flexible" if flexible == NEVER else f"flexible from {flexible.first} on"
    text = f"{key}{versions}, {since}."
    return text[0].upper() + text[1:]


def _nested_lines(structs: MessageStructs, struct: Struct, indent: str) -> Iterator[str]:
    yield f"{indent}class {struct.name}(MessageStruct):"
    yield f'{indent}    """Versions {struct.versions}."""'
    yield ""
    for nested in struct.nested:
        yield from _nested_lines(structs, nested, indent + "    ")
    yield from _field_lines(structs, struct, indent + "    ")
    yield ""


def _field_lines(structs: MessageStructs, struct: Struct, indent: str) -> Iterator[str]:
    for field in struct.fields:
        default = default_of(structs, field)
        if field.is_struct and default.endswith("()"):
            path = structs.struct_of(field).path
            default = f"msgspec.field(default_factory=lambda: {path}())"
        yield f"{indent}{snake(field.name)}: {type_of(structs, field)} = {default}"


def type_of(structs: MessageStructs, field: Field) -> str:
    """Return the type of a field."""
    made = element_type(structs, field)
    description = structs.description
    if field.is_array:
        if (description.name, field.name) in PRE_ENCODED:
            made = f"{made} | EncodedElement"
        # What is answered may be made while it is written, so nobody takes it for a list.
        made = f"Collection[{made}]" if description.kind == "response" else f"list[{made}]"
    is_null = field.nullable != NEVER or field.default == "null"
    return f"{made} | None" if is_null and not made.endswith("| None") else made


def element_type(structs: MessageStructs, field: Field) -> str:
    """Return the type of a field, or that of the elements of an array."""
    if field.is_struct:
        return structs.struct_of(field).path
    element = field.element
    if element == "uuid":
        return "UUID | None"
    if element == "float64":
        return "float"
    return _TYPES.get(element, "int")


def default_of(structs: MessageStructs, field: Field) -> str:
    """Return the default of a field, as an expression that makes a new one each time."""
    default = field.default
    if default == "null" or field.type == "uuid":
        return "None"
    if field.is_array:
        return "[]"
    if field.is_struct:
        return f"{structs.struct_of(field).alias}()"
    if field.type == "string":
        return repr(default or "").replace("'", '"')
    if field.type in ("bytes", "records"):
        return 'b""'
    if field.type == "bool":
        return str(default == "true")
    if field.type == "float64":
        return repr(float(default or 0))
    if field.type in FIXED:
        return str(int(default, 0)) if default else "0"
    raise ValueError(f"{field.name} has an unknown type, {field.type}")
