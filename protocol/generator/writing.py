"""Writes the functions that write a message. Pure."""

from collections.abc import Iterator

from headrace.protocol.generator.classes import PRE_ENCODED, default_of
from headrace.protocol.generator.descriptions import NEVER, Field
from headrace.protocol.generator.functions import Functions, Layouts
from headrace.protocol.generator.structs import (
    BLOBS,
    FIXED,
    MessageStructs,
    Struct,
    is_numbers,
    snake,
)


class WritingFunctions:
    """What writes the structs of one message."""

    def __init__(self, structs: MessageStructs, functions: Functions, layouts: Layouts) -> None:
        self._structs = structs
        self._functions = functions
        self._layouts = layouts

    def flat(self, struct: Struct, version: int) -> str:
        """Name the function that writes a struct at once."""
        body = list(self._body(struct, version, stepped=False)) or ["pass"]
        head = (f"out: bytearray, m: {struct.alias}", "None")
        return self._functions.add("write", struct, version, head, body)

    def steps(self, struct: Struct, version: int) -> str | None:
        """Name the function that writes a struct in steps; None where it has nothing that may take long."""
        if not struct.has_steps(version):
            return None
        body = ["out = o.buffer", *self._body(struct, version, stepped=True)]
        head = (f"o: Output, m: {struct.alias}", "Generator[None, None, None]")
        return self._functions.add("write_steps", struct, version, head, body)

    def _body(self, struct: Struct, version: int, *, stepped: bool) -> Iterator[str]:
        run = _Run(self._layouts)
        for field in struct.plain(version):
            value = f"m.{snake(field.name)}"
            if field.type in FIXED:
                run.add_fixed(field, value)
            elif self._fits_run(field, version):
                run.add_array(field, value, is_compact=self._structs.is_compact(field, version))
            else:
                yield from run.lines()
                yield from self._field(field, value, version, stepped=stepped)
        tagged = struct.tagged(version)
        if tagged:
            yield from run.lines()
            yield from self._tagged(tagged, version)
        elif self._structs.is_flexible(version):
            yield from run.end_without_tags()
        else:
            yield from run.lines()

    def _fits_run(self, field: Field, version: int) -> bool:
        return is_numbers(field) and version not in field.nullable

    def _field(
        self, field: Field, value: str, version: int, *, stepped: bool, out: str = "out"
    ) -> Iterator[str]:
        if field.is_array:
            yield from self._array(field, value, version, stepped=stepped, out=out)
        elif field.is_struct:
            yield from self._struct(field, value, version, stepped=stepped, out=out)
        elif field.type in FIXED:
            packer = self._layouts.packer(FIXED[field.type][0])
            yield f"{out} += {packer}({_packed(field, value)})"
        else:
            compact = self._structs.compact(field, version)
            null = "null_" if version in field.nullable else ""
            if not null:
                yield from _not_null(field, value)
            yield f"write_{compact}{null}{BLOBS[field.type]}({out}, {value})"

    def _struct(
        self, field: Field, value: str, version: int, *, stepped: bool, out: str
    ) -> Iterator[str]:
        struct = self._structs.struct_of(field)
        steps = self.steps(struct, version) if stepped else None
        write = f"{self.flat(struct, version)}({out}, {value})"
        if steps is not None:
            write = f"yield from {steps}(o, {value})"
        if version not in field.nullable:
            yield from _not_null(field, value)
            yield write
            return
        if self._is_known_not_null(field, version):
            yield f"{out}.append(1)"
            yield write
            return
        yield f"if {value} is None:"
        yield f"    {out}.append({0 if field.is_tagged(version) else 255})"
        yield "else:"
        yield f"    {out}.append(1)"
        yield f"    {write}"

    def _array(
        self, field: Field, value: str, version: int, *, stepped: bool, out: str
    ) -> Iterator[str]:
        compact = self._structs.compact(field, version)
        indent = ""
        if version in field.nullable and not self._is_known_not_null(field, version):
            yield f"if {value} is None:"
            yield f"    write_{compact}count({out}, -1)"
            yield "else:"
            indent = "    "
        elif version not in field.nullable:
            yield from _not_null(field, value)
        yield f"{indent}write_{compact}count({out}, len({value}))"
        if is_numbers(field):
            code = FIXED[field.element][0]
            yield f'{indent}{out} += pack(f">{{len({value})}}{code}", *{value})'
            return
        for line in self._elements(field, value, version, stepped=stepped, out=out):
            yield indent + line

    def _elements(
        self, field: Field, value: str, version: int, *, stepped: bool, out: str
    ) -> Iterator[str]:
        steps = None
        if stepped and field.is_struct:
            steps = self.steps(self._structs.struct_of(field), version)
        is_pre_encoded = (self._structs.description.name, field.name) in PRE_ENCODED
        it = f"it_{snake(field.name)}"
        flat = self._element(field, version, it, out)
        if not stepped or not self._structs.may_take_long(field, version):
            yield f"for {it} in {value}:"
            if is_pre_encoded:
                yield f"    if isinstance({it}, EncodedElement):"
                yield f"        {out} += {it}"
                yield "        continue"
            yield f"    {flat}"
            return
        if self._structs.is_small(field, version):
            yield f"left_{snake(field.name)} = iter({value})"
            yield f"for some in batches(len({value})):"
            yield f"    for {it} in islice(left_{snake(field.name)}, some):"
            yield f"        {flat}"
            yield "    if o.elements_ended(some):"
            yield "        yield"
            return
        indent = ""
        if steps is None:
            yield f"if len({value}) <= FLAT_ELEMENTS:"
            yield f"    for {it} in {value}:"
            yield f"        {flat}"
            yield f"    if o.elements_ended(len({value})):"
            yield "        yield"
            yield "else:"
            indent = "    "
        yield f"{indent}for {it} in {value}:"
        write = flat if steps is None else f"yield from {steps}(o, {it})"
        if is_pre_encoded:
            yield f"{indent}    if isinstance({it}, EncodedElement):"
            yield f"{indent}        o.add({it})"
            yield f"{indent}    else:"
            yield f"{indent}        {write}"
        else:
            yield f"{indent}    {write}"
        yield f"{indent}    if o.elements_ended(1):"
        yield f"{indent}        yield"

    def _element(self, field: Field, version: int, it: str, out: str) -> str:
        if field.is_struct:
            return f"{self.flat(self._structs.struct_of(field), version)}({out}, {it})"
        if field.element == "uuid":
            return f"{out} += uuid_bytes({it})"
        compact = self._structs.compact(field, version)
        return f"write_{compact}{BLOBS[field.element]}({out}, {it})"

    def _tagged(self, fields: list[Field], version: int) -> Iterator[str]:
        yield "tags: list[tuple[int, bytearray]] = []"
        for field in fields:
            value = f"m.{snake(field.name)}"
            yield f"if {self._is_set(field, value, version)}:"
            yield "    field = bytearray()"
            for line in self._field(field, value, version, stepped=False, out="field"):
                yield f"    {line}"
            yield f"    tags.append(({field.tag}, field))"
        yield "write_tagged(out, tags)"

    def _is_known_not_null(self, field: Field, version: int) -> bool:
        """Whether it is written only when it is not null: a tagged field whose default that is."""
        return field.is_tagged(version) and default_of(self._structs, field) == "None"

    def _is_set(self, field: Field, value: str, version: int) -> str:
        default = default_of(self._structs, field)
        if default == "None":
            return f"{value} is not None"
        if default == "[]":
            is_nullable = version in field.nullable
            return f"{value} is None or {value}" if is_nullable else value
        return f"{value} != {default}"


def _not_null(field: Field, value: str) -> Iterator[str]:
    """Assert for the type checker what callers ensure: null is for other versions."""
    if field.nullable != NEVER or field.default == "null":
        yield f"assert {value} is not None"


def _packed(field: Field, value: str) -> str:
    return f"uuid_bytes({value})" if field.type == "uuid" else value


class _Run:
    """Adjacent fields that are packed at once: those of a fixed size, and arrays of numbers."""

    def __init__(self, layouts: Layouts) -> None:
        self._layouts = layouts
        self._clear()

    def _clear(self) -> None:
        self._parts: list[tuple[str, bool]] = []
        self._values: list[str] = []
        self._arrays: list[str] = []
        self._checks: list[str] = []

    def add_fixed(self, field: Field, value: str) -> None:
        """Add a field of a fixed size."""
        self._add_codes(FIXED[field.type][0])
        self._values.append(_packed(field, value))

    def add_array(self, field: Field, value: str, *, is_compact: bool) -> None:
        """Add an array of numbers."""
        self._checks += _not_null(field, value)
        self._parts.append((("B" if is_compact else "i") + FIXED[field.element][0], True))
        self._arrays.append(value)
        name = f"n{len(self._arrays)}"
        self._values += [f"{name} + 1" if is_compact else name, f"*{value}"]

    def end_without_tags(self) -> Iterator[str]:
        """Give the lines that write the run, and that there are no tagged fields."""
        if not self._parts:
            yield "out.append(0)"
            return
        self._add_codes("x")
        yield from self.lines()

    def lines(self) -> Iterator[str]:
        """Give the lines that write the run."""
        yield from self._checks
        if self._arrays:
            names = [f"n{number}" for number in range(1, len(self._arrays) + 1)]
            for name, array in zip(names, self._arrays, strict=True):
                yield f"{name} = len({array})"
            runs = self._layouts.runs(self._parts)
            counts = ", ".join(names) + ("," if len(names) == 1 else "")
            yield f"out += {runs}[{counts}]({', '.join(self._values)})"
        elif self._parts:
            packer = self._layouts.packer(self._parts[0][0])
            yield f"out += {packer}({', '.join(self._values)})"
        self._clear()

    def _add_codes(self, codes: str) -> None:
        if self._parts and not self._parts[-1][1]:
            self._parts[-1] = (self._parts[-1][0] + codes, False)
        else:
            self._parts.append((codes, False))
