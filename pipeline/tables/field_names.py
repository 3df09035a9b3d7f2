"""Names of fields: which may become columns, and which a reader could not distinguish from an existing column.

Readers distinguish columns by three things: names without case (Spark's default), paths with dots (pyiceberg's and
Spark's), and the names that columns have in data files (Avro's letters, digits and `_`; others are replaced).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from pyiceberg.schema import make_compatible_name
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.types import IcebergType, ListType, MapType, StructType

from headrace.pipeline.tables.configuration import RESERVED, TableConfig
from headrace.pipeline.tables.errors import BadRecordError
from headrace.pipeline.tables.shapes import ListShape, MapShape, Shape

IGNORE, ADD, REJECT = "ignore", "add", "reject"
MAX_FIELDS_PER_COLUMN: Final = 10  # those in other fields; a table has so many times its columns
_OWN: Final = "the pipeline fills the column of this name"
_RESERVED: Final = "Iceberg has this name for itself"
_PARTITION: Final = "the table is partitioned by something of this name"


@dataclass(frozen=True, slots=True)
class Path:
    """Where a field is: in a schema, and in a data file."""

    names: tuple[str, ...] = ()
    in_file: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> "Path":
        """The path of a field in it."""
        return Path((*self.names, name), (*self.in_file, make_compatible_name(name)))

    def part(self, name: str) -> "Path":
        """The path of an element, a key or a value."""
        return Path((*self.names, name), (*self.in_file, name))

    def __str__(self) -> str:
        """As schemas have it."""
        return ".".join(self.names)

    def marks(self) -> tuple[tuple[int, str], tuple[int, str]]:
        """What no other field may have as well."""
        return (0, str(self)), (1, ".".join(self.in_file))


@dataclass(slots=True)
class Marks:
    """What the names of some fields take."""

    exact: set[tuple[int, str]] = field(default_factory=set)
    folded: set[tuple[int, str]] = field(default_factory=set)

    def add(self, path: Path) -> None:
        """Take what a path needs."""
        for kind, text in path.marks():
            self.exact.add((kind, text))
            self.folded.add((kind, text.lower()))

    def has(self, path: Path, *, by_case: bool) -> bool:
        """Whether another field has a part of it, upper and lower case being different or not."""
        if by_case:
            return any(it in self.exact for it in path.marks())
        return any((kind, text.lower()) in self.folded for kind, text in path.marks())


class FieldNames:
    """The names of the columns that a table has for documents, and what may stand beside them."""

    def __init__(self, struct: StructType, taken: Mapping[str, str], similar: str) -> None:
        self._struct = struct
        self._taken = {name.lower(): why for name, why in taken.items()}
        self._similar = similar
        self._marks = Marks()
        for path, _ in paths_of(struct, Path()):
            if all(path.names):
                self._marks.add(path)

    def admitted(self, fields: Mapping[str, Shape]) -> tuple[dict[str, Shape], dict[str, str]]:
        """The fields that are columns or may become some, and the paths of the others with the reason.

        Raises:
            BadRecordError: a name is none, or fields with such names are to be refused.
        """
        admission = _Admission(self._marks, self._similar)
        for name, why in self._taken_of(fields):
            admission.leave_out(name, why)
        kept = {it: kind for it, kind in fields.items() if it not in admission.ignored}
        return admission.fields(kept, self._struct, Path()), admission.ignored

    def _taken_of(self, fields: Mapping[str, Shape]) -> Iterator[tuple[str, str]]:
        known = {it.name for it in self._struct.fields}
        for name in fields:
            if name not in known and name.lower() in self._taken:
                yield name, self._taken[name.lower()]


class _Admission:
    """Looks at the fields of one document, or of many that have been merged."""

    def __init__(self, marks: Marks, similar: str) -> None:
        self._known = marks
        self._new = Marks()
        self._similar = similar
        self.ignored: dict[str, str] = {}

    def fields(
        self, fields: Mapping[str, Shape], struct: IcebergType | None, place: Path
    ) -> dict[str, Shape]:
        known = (
            {it.name: it.field_type for it in struct.fields}
            if isinstance(struct, StructType)
            else {}
        )
        kept: dict[str, Shape] = {}
        for name, shape in fields.items():
            if shape is None:
                continue
            if name in known:
                kept[name] = self._inner(shape, known[name], place / name if name else place)
            elif not name:
                where = f" in {place}" if place.names else ""
                raise BadRecordError(f"a field{where} has an empty name, which no column can have")
            elif self._is_free(place / name):
                kept[name] = self._inner(shape, None, place / name)
        return kept

    def leave_out(self, path: str, why: str) -> None:
        if self._similar == REJECT:
            raise BadRecordError(f"{path}: {why}")
        self.ignored[path] = why

    def _is_free(self, path: Path) -> bool:
        by_case = self._similar == ADD
        if self._known.has(path, by_case=by_case) or self._new.has(path, by_case=by_case):
            self.leave_out(
                str(path), "readers cannot distinguish its name from that of another column"
            )
            return False
        self._new.add(path)
        return True

    def _inner(self, shape: Shape, kind: IcebergType | None, path: Path) -> Shape:
        match shape:
            case dict():
                return self.fields(shape, kind, path) or None
            case ListShape():
                element = kind.element_type if isinstance(kind, ListType) else None
                inner = self._inner(shape.element, element, path.part("element"))
                return None if inner is None else ListShape(inner)
            case MapShape():
                value = kind.value_type if isinstance(kind, MapType) else None
                inner = self._inner(shape.value, value, path.part("value"))
                return None if inner is None else MapShape(shape.key, inner)
            case _:
                return shape


def field_names(table: TableConfig, metadata: TableMetadata, own: frozenset[str]) -> FieldNames:
    """What the columns of a table leave for others; `own` are those that the pipeline fills."""
    struct = metadata.schema().as_struct()
    columns = [it for it in struct.fields if it.name not in own]
    names = {it.name for it in struct.fields}
    partitions = {it.name for spec in metadata.partition_specs for it in spec.fields} - names
    taken = {
        **dict.fromkeys(partitions, _PARTITION),
        **dict.fromkeys(RESERVED, _RESERVED),
        **dict.fromkeys(own, _OWN),
    }
    return FieldNames(StructType(*columns), taken, table.similar_names)


def paths_of(kind: IcebergType, place: Path) -> Iterator[tuple[Path, str]]:
    """The path of each field in a type, and its name; a field with an empty name has the path of what it is in."""
    match kind:
        case StructType():
            for it in kind.fields:
                path = (
                    place / it.name if it.name else Path((*place.names, ""), (*place.in_file, ""))
                )
                yield path, it.name
                yield from paths_of(it.field_type, path)
        case ListType():
            path = place.part("element")
            yield path, "element"
            yield from paths_of(kind.element_type, path)
        case MapType():
            for name, inner in (("key", kind.key_type), ("value", kind.value_type)):
                yield place.part(name), name
                yield from paths_of(inner, place.part(name))
        case _:
            return


def unusable_paths(struct: StructType) -> list[tuple[tuple[str, ...], str]]:
    """Fields that no data file can have, outermost first, and why: of two that are the same, the later one."""
    marks = Marks()
    found: list[tuple[tuple[str, ...], str]] = []
    for path, name in paths_of(struct, Path()):
        if any(path.names[: len(it)] == it for it, _ in found):
            continue
        if not name:
            found.append((path.names, "it has an empty name"))
        elif marks.has(path, by_case=True):
            found.append((path.names, "another column has its name in data files"))
        else:
            marks.add(path)
    return found


def droppable_paths(struct: StructType) -> list[tuple[tuple[str, ...], str]]:
    """Fields to drop so that no unusable one is left, and why: those, and what would have no field without them."""
    unusable = dict(unusable_paths(struct))
    found: list[tuple[tuple[str, ...], str]] = []
    for it in struct.fields:
        found += _dropped_of(it.name, it.field_type, (), unusable)
    return found


def _dropped_of(
    name: str,
    kind: IcebergType,
    place: tuple[str, ...],
    unusable: Mapping[tuple[str, ...], str],
) -> list[tuple[tuple[str, ...], str]]:
    """What is dropped of a field: itself, if it is all or nothing would be left in it."""
    path = (*place, name)
    if path in unusable:
        return [(path, unusable[path])]
    parts: list[tuple[str, IcebergType]] = []
    match kind:
        case StructType():
            parts = [(it.name, it.field_type) for it in kind.fields]
        case ListType():
            parts = [("element", kind.element_type)]
        case MapType():
            parts = [("key", kind.key_type), ("value", kind.value_type)]
        case _:
            return []
    dropped = [_dropped_of(part, inner, path, unusable) for part, inner in parts]
    gone = [it for (part, _), it in zip(parts, dropped, strict=True) if (*path, part) in dict(it)]
    if gone and (len(gone) == len(parts) or not isinstance(kind, StructType)):
        return [(path, gone[0][0][1])]
    return [it for many in dropped for it in many]


def too_many(columns: set[str], fields: int, more: Mapping[str, Shape], max_columns: int) -> str:
    """Why a table cannot have more fields: it would have too many; empty if it can.

    Args:
        columns: that it has.
        fields: how many it has, those in other fields among them.
        more: what is added.
        max_columns: of the configuration.
    """
    new = more.keys() - columns
    if new and len(columns) + len(new) > max_columns:
        return f"the table would have {len(columns) + len(new)} columns, and max_columns is {max_columns}"
    count, limit = fields + sum(map(count_of, more.values())), max_columns * MAX_FIELDS_PER_COLUMN
    if count > limit:
        return (
            f"the table would have {count} fields in its columns, and {limit} are allowed, "
            f"{MAX_FIELDS_PER_COLUMN} times max_columns"
        )
    return ""


def count_of(shape: Shape) -> int:
    """How many fields a shape has, with those in it."""
    match shape:
        case dict():
            return 1 + sum(map(count_of, shape.values()))
        case ListShape():
            return 1 + count_of(shape.element)
        case MapShape():
            return 2 + count_of(shape.value)
        case _:
            return 1
