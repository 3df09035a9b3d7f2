"""Writes the functions that read a message. Pure."""

from collections.abc import Iterator

from headrace.protocol.generator.classes import default_of, element_type, type_of
from headrace.protocol.generator.descriptions import Field
from headrace.protocol.generator.functions import Functions, Layouts
from headrace.protocol.generator.structs import (
    BLOBS,
    FIXED,
    MessageStructs,
    Struct,
    is_numbers,
    local,
)


class ReadingFunctions:
    """What reads the structs of one message."""

    def __init__(self, structs: MessageStructs, functions: Functions, layouts: Layouts) -> None:
        self._structs = structs
        self._functions = functions
        self._layouts = layouts

    def flat(self, struct: Struct, version: int) -> str:
        """Name the function that reads a struct at once."""
        body = list(self._body(struct, version, stepped=False))
        return self._functions.add("read", struct, version, ("r: Reader", struct.alias), body)

    def steps(self, struct: Struct, version: int) -> str | None:
        """Name the function that reads a struct in steps; None where it has nothing that may take long."""
        if not struct.has_steps(version):
            return None
        body = list(self._body(struct, version, stepped=True))
        result = f"Generator[None, None, {struct.alias}]"
        return self._functions.add("read_steps", struct, version, ("r: Reader", result), body)

    def _body(self, struct: Struct, version: int, *, stepped: bool) -> Iterator[str]:
        plain = struct.plain(version)
        run: list[Field] = []
        for field in plain:
            if field.type in FIXED:
                run.append(field)
                continue
            yield from self._run(run)
            run = []
            yield from self._field(field, version, stepped=stepped)
        yield from self._run(run)
        tagged = struct.tagged(version)
        if tagged:
            yield from self._tagged(tagged, version)
        elif self._structs.is_flexible(version):
            yield "skip_tags(r)"
        yield f"return {struct.alias}({', '.join(self._values(struct, version))})"

    def _values(self, struct: Struct, version: int) -> list[str]:
        """What the class is called with: the fields of this version, and the defaults of those before them."""
        values = []
        last = 0
        for number, field in enumerate(struct.fields, start=1):
            if version in field.versions:
                last = number
                is_uuid = field.type == "uuid" and not field.is_tagged(version)
                values.append(f"uuid_of({local(field)})" if is_uuid else local(field))
            else:
                values.append(default_of(self._structs, field))
        return values[:last]

    def _run(self, run: list[Field]) -> Iterator[str]:
        if run:
            codes = "".join(FIXED[it.type][0] for it in run)
            names = ", ".join(map(local, run)) + ("," if len(run) == 1 else "")
            yield f"{names} = r.fixed({self._layouts.reader(codes)})"

    def _field(self, field: Field, version: int, *, stepped: bool) -> Iterator[str]:
        if field.is_array:
            yield from self._array(field, version, stepped=stepped)
        elif field.is_struct:
            yield from self._struct(field, version, stepped=stepped)
        else:
            yield f"{local(field)} = {self._one(field, version)}"

    def _struct(self, field: Field, version: int, *, stepped: bool) -> Iterator[str]:
        struct = self._structs.struct_of(field)
        steps = self.steps(struct, version) if stepped else None
        read = f"{self.flat(struct, version)}(r)" if steps is None else f"(yield from {steps}(r))"
        if version in field.nullable:
            # Among tagged fields it is a varint, 0 or 1, and elsewhere a byte, -1 or 1.
            is_null = "r.uvarint() == 0" if field.is_tagged(version) else "read_is_null(r)"
            read = f"None if {is_null} else {read}"
        yield f"{local(field)} = {read}"

    def _one(self, field: Field, version: int) -> str:
        """Return the expression that reads a field, or an element, of no fixed size."""
        compact = self._structs.compact(field, version)
        null = "null_" if version in field.nullable and not field.is_array else ""
        return f"read_{compact}{null}{BLOBS[field.element]}(r)"

    def _array(self, field: Field, version: int, *, stepped: bool) -> Iterator[str]:
        compact = self._structs.compact(field, version)
        is_nullable = version in field.nullable
        null = "null_" if is_nullable else ""
        name = local(field)
        if is_numbers(field):
            code, size = FIXED[field.element]
            yield f'{name} = read_{compact}{null}numbers(r, "{code}", {size})'
            return
        least = self._structs.min_element_bytes(field, version)
        yield f"n = read_{compact}{null}count(r, {least})"
        element = self._element(field, version)
        flat = f"[{element} for _ in range(n)]"
        if not self._structs.may_take_long(field, version) or not stepped:
            yield f"{name} = None if n < 0 else {flat}" if is_nullable else f"{name} = {flat}"
            return
        yield from self._stepped_array(field, version, element, flat)

    def _element(self, field: Field, version: int) -> str:
        if field.is_struct:
            return f"{self.flat(self._structs.struct_of(field), version)}(r)"
        if field.element == "uuid":
            return "read_uuid(r)"
        return self._one(field, version)

    def _stepped_array(self, field: Field, version: int, element: str, flat: str) -> Iterator[str]:
        kind = f"list[{element_type(self._structs, field)}]"
        name = local(field)
        if version not in field.nullable:
            yield from self._filled(field, version, name, kind, element, flat)
            return
        yield f"{name}: {kind} | None = None"
        yield "if n >= 0:"
        for line in self._filled(field, version, f"{name}_", kind, element, flat):
            yield f"    {line}"
        yield f"    {name} = {name}_"

    def _filled(
        self, field: Field, version: int, name: str, kind: str, element: str, flat: str
    ) -> Iterator[str]:
        """Give the lines that fill a list with the `n` elements of an array."""
        yield f"{name}: {kind} = []"
        if self._structs.is_small(field, version):
            yield "for some in batches(n):"
            yield f"    {name} += [{element} for _ in range(some)]"
            yield "    if r.elements_ended(some):"
            yield "        yield"
            return
        steps = None
        if field.is_struct:
            steps = self.steps(self._structs.struct_of(field), version)
        read = element if steps is None else f"(yield from {steps}(r))"
        indent = ""
        if steps is None:
            yield "if n <= FLAT_ELEMENTS:"
            yield f"    {name} = {flat}"
            yield "    r.elements_of_step += n"
            yield "else:"
            indent = "    "
        yield f"{indent}for _ in range(n):"
        yield f"{indent}    {name}.append({read})"
        yield f"{indent}    if r.elements_ended(1):"
        yield f"{indent}        yield"

    def _tagged(self, fields: list[Field], version: int) -> Iterator[str]:
        for field in fields:
            yield f"{self._declared(field)} = {default_of(self._structs, field)}"
        yield "for _ in range(read_tag_count(r)):"
        yield "    tag = r.uvarint()"
        yield "    end = read_tag_end(r)"
        branch = "if"
        for field in fields:
            yield f"    {branch} tag == {field.tag}:"
            branch = "elif"
            if field.type in FIXED:
                if field.type == "uuid":
                    yield f"        {local(field)} = read_uuid(r)"
                else:
                    layout = self._layouts.reader(FIXED[field.type][0])
                    yield f"        {local(field)}, = r.fixed({layout})"
            else:
                for line in self._field(field, version, stepped=False):
                    yield f"        {line}"
            yield "        check_tag_end(r, end)"
        yield "    else:"
        yield "        r.position = end"

    def _declared(self, field: Field) -> str:
        """A variable that a tag may set, with its type where its default does not imply it."""
        made = type_of(self._structs, field)
        return f"{local(field)}: {made.replace('Collection[', 'list[', 1)}"
