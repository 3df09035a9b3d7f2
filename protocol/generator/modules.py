"""Puts the modules of messages together. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from headrace.protocol.generator.classes import PRE_ENCODED, class_lines
from headrace.protocol.generator.descriptions import Description
from headrace.protocol.generator.functions import Functions, Layouts
from headrace.protocol.generator.reading import ReadingFunctions
from headrace.protocol.generator.refusing import refusing_lines
from headrace.protocol.generator.structs import MessageStructs, snake
from headrace.protocol.generator.writing import WritingFunctions

_PACKAGE: Final = "headrace.protocol.generated"
_MADE: Final = "Made by `headrace.protocol.generator`: change that, or its tables."
# What a module may use, by where it is; what it does not use is left out.
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "collections.abc": ("Collection", "Generator"),
    "itertools": ("islice",),
    "struct": ("Struct", "pack"),
    "typing": ("ClassVar", "Final"),
    "uuid": ("UUID",),
    "headrace.protocol.message_class": ("KafkaMessage", "MessageStruct"),
    "headrace.protocol.message_reading": (
        "FLAT_ELEMENTS",
        "batches",
        "check_tag_end",
        "read_blob",
        "read_c_blob",
        "read_c_count",
        "read_c_null_blob",
        "read_c_null_count",
        "read_c_null_numbers",
        "read_c_null_string",
        "read_c_numbers",
        "read_c_string",
        "read_count",
        "read_is_null",
        "read_null_blob",
        "read_null_count",
        "read_null_numbers",
        "read_null_string",
        "read_numbers",
        "read_string",
        "read_tag_count",
        "read_tag_end",
        "read_uuid",
        "skip_tags",
        "uuid_of",
    ),
    "headrace.protocol.message_writing": (
        "EncodedElement",
        "Output",
        "Runs",
        "uuid_bytes",
        "write_blob",
        "write_c_blob",
        "write_c_count",
        "write_c_null_blob",
        "write_c_null_string",
        "write_c_string",
        "write_count",
        "write_null_blob",
        "write_null_string",
        "write_string",
        "write_tagged",
    ),
    "headrace.protocol.primitives": ("Reader",),
}


def modules(descriptions: Iterable[Description], others: str) -> dict[str, list[Description]]:
    """Give the messages of each module: request and response of an API are one, all others go to `others`."""
    found: dict[str, list[Description]] = {}
    for it in sorted(descriptions, key=lambda it: it.name):
        found.setdefault(module_of(it) or others, []).append(it)
    return found


def module_of(description: Description) -> str | None:
    """Return the module of a request or a response."""
    if description.kind not in ("request", "response"):
        return None
    return snake(description.name.removesuffix("Request").removesuffix("Response"))


def module_text(descriptions: Sequence[Description]) -> str:
    """Write the module of these messages."""
    structs = [MessageStructs(it) for it in descriptions]
    _tell_apart(structs)
    functions, layouts = Functions(), Layouts()
    tables = [line for it in structs for line in _codec_lines(it, functions, layouts)]
    kinds = {it.description.kind: it for it in structs}
    refusing: list[str] = []
    if "request" in kinds and "response" in kinds:
        refusing += refusing_lines(kinds["request"], kinds["response"])
        tables.append(f"{kinds['request'].outer.name}.ERROR_FOR = _error_for")
    body = [
        *(line for it in structs for line in class_lines(it)),
        *_alias_lines(structs),
        *layouts.lines(),
        "",
        "",
        *functions.lines(),
        *refusing,
        *tables,
    ]
    names = ", ".join(it.outer.name for it in structs)
    text = "\n".join([*body, ""])
    return "\n".join([f'"""{names}. {_MADE}"""', "", *_import_lines(text), "", text])


def package_text(names: Mapping[str, Sequence[str]]) -> str:
    """Write the package that finds a class by its name; `names`: of each module."""
    lines = [f'"""Finds a class of a message, in the module that has it. {_MADE}"""', ""]
    lines += ["from importlib import import_module", "from typing import TYPE_CHECKING, Any, Final"]
    lines += ["", "if TYPE_CHECKING:"]
    for module, classes in sorted(names.items()):
        imported = ", ".join(f"{it} as {it}" for it in sorted(classes))
        lines.append(f"    from {_PACKAGE}.{module} import {imported}")
    lines += ["", "MODULES: Final = {"]
    found = sorted((name, module) for module, classes in names.items() for name in classes)
    lines += [f'    "{name}": "{module}",' for name, module in found]
    lines += [
        "}",
        "",
        "",
        "if not TYPE_CHECKING:",
        "",
        "    def __getattr__(name: str) -> Any:",
        "        module = MODULES.get(name)",
        "        if module is None:",
        '            raise AttributeError(f"there is no message {name!r}")',
        f'        return getattr(import_module("{_PACKAGE}." + module), name)',
        "",
    ]
    return "\n".join(lines)


def _tell_apart(structs: list[MessageStructs]) -> None:
    """Give structs of the same name in several messages of a module different short names."""
    for it in structs:
        others = [other.names() for other in structs if other is not it]
        if any(it.names() & names for names in others):
            it.prefix = it.description.name


def _codec_lines(structs: MessageStructs, functions: Functions, layouts: Layouts) -> Iterator[str]:
    outer = structs.outer
    versions = structs.description.all_versions()
    reading = ReadingFunctions(structs, functions, layouts)
    writing = WritingFunctions(structs, functions, layouts)
    tables = {
        "READ": [reading.flat(outer, it) for it in versions],
        "READ_STEPS": [str(reading.steps(outer, it)) for it in versions],
        "WRITE": [writing.flat(outer, it) for it in versions],
        "WRITE_STEPS": [str(writing.steps(outer, it)) for it in versions],
    }
    for table, names in tables.items():
        yield f"{outer.name}.{table} = ({', '.join(names)},)"
    for field in outer.fields:
        if (outer.name, field.name) in PRE_ENCODED:
            struct = structs.struct_of(field)
            names = [str(writing.steps(struct, it)) for it in versions]
            yield f'{outer.name}.ELEMENT_STEPS = {{"{snake(field.name)}": ({", ".join(names)},)}}'


def _alias_lines(structs: Iterable[MessageStructs]) -> Iterator[str]:
    for it in structs:
        for struct in it.inner():
            yield f"{struct.alias} = {struct.path}"


def _import_lines(text: str) -> Iterator[str]:
    used = set(re.findall(r"\w+", text))
    yield "from __future__ import annotations"
    yield ""
    for module, names in _NAMES.items():
        found = [name for name in names if name in used]
        if module == "headrace.protocol.message_class":
            if "msgspec.field" in text:
                yield ""
                yield "import msgspec"
            yield ""
        if found:
            yield f"from {module} import {', '.join(found)}"
