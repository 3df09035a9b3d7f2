"""Partition specs from texts: `region`, `day(at)`, `bucket(16, id)`."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import quote_plus

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.transforms import IdentityTransform, Transform, TruncateTransform, parse_transform
from pyiceberg.types import BinaryType, DoubleType, FloatType, StringType

_FIRST_FIELD_ID: Final = 1_000  # as Iceberg's specification has it
_WITH_COLUMN: Final = re.compile(r"(year|month|day|hour)\(\s*([^,()]+?)\s*\)")
_WITH_NUMBER: Final = re.compile(r"(bucket|truncate)\(\s*(\d{1,9})\s*,\s*([^,()]+?)\s*\)")
MAX_PATH_PART: Final = 255  # bytes: a partition is a directory, and file systems bound its name
_ALLOWED: Final = "a column, year(C), month(C), day(C), hour(C), bucket(N, C) or truncate(N, C)"


def partition_spec(texts: Sequence[str], schema: Schema) -> PartitionSpec:
    """Make a spec.

    Raises:
        ValueError: a text is none, or names a column that is not there or does not suit; the message says which.
    """
    fields: list[PartitionField] = []
    for number, text in enumerate(texts):
        column, transform, name = _parsed(text)
        source = next((it for it in schema.fields if it.name == column), None)
        if source is None:
            raise ValueError(
                f"{text}: there is no column {column}; a column that others are partitioned by is named in `columns`"
            )
        if not transform.can_transform(source.field_type):
            raise ValueError(
                f"{text}: a column of type {source.field_type} cannot be partitioned so"
            )
        if transform == IdentityTransform() and isinstance(
            source.field_type, FloatType | DoubleType
        ):
            raise ValueError(
                f"{text}: a column of type {source.field_type} cannot be partitioned by, as 0.0 and -0.0 are one value "
                f"of two partitions"
            )
        if any(it.source_id == source.field_id for it in fields):
            raise ValueError(
                f"{text}: {column} is there twice, and files of such partitions cannot be written"
            )
        if transform != IdentityTransform() and name in {it.name for it in schema.fields}:
            raise ValueError(f"{text}: it is called {name}, as a column is: rename that column")
        fields.append(PartitionField(source.field_id, _FIRST_FIELD_ID + number, transform, name))
    return PartitionSpec(*fields)


def _parsed(text: str) -> tuple[str, Transform, str]:  # type: ignore[type-arg]
    if (match := _WITH_COLUMN.fullmatch(text)) is not None:
        return match[2], parse_transform(match[1]), f"{match[2]}_{match[1]}"
    if (match := _WITH_NUMBER.fullmatch(text)) is not None and int(match[2]):
        return match[3], parse_transform(f"{match[1]}[{match[2]}]"), f"{match[3]}_{match[1]}"
    if not text or "(" in text:
        raise ValueError(f"{text!r} is not {_ALLOWED}")
    return text, parse_transform("identity"), text


def too_long_for_a_path(metadata: TableMetadata) -> list[tuple[str, Callable[[Any], bool]]]:
    """Columns whose values become names of directories, and whether a value is too long for one."""
    found: list[tuple[str, Callable[[Any], bool]]] = []
    schema = metadata.schema()
    for it in metadata.spec().fields:
        column = next((one for one in schema.fields if one.field_id == it.source_id), None)
        if column is None or not isinstance(it.transform, IdentityTransform | TruncateTransform):
            continue
        if isinstance(column.field_type, StringType | BinaryType):
            found.append((column.name, _is_too_long(it, column.field_type)))
    return found


def floating_partitions(metadata: TableMetadata) -> list[str]:
    """Columns of floating point numbers that a table is partitioned by, which no new table can be."""
    sources = {it.source_id for it in metadata.spec().fields}
    return [
        it.name
        for it in metadata.schema().fields
        if it.field_id in sources and isinstance(it.field_type, FloatType | DoubleType)
    ]


def _is_too_long(field: PartitionField, kind: StringType | BinaryType) -> Callable[[Any], bool]:
    transform, shown = field.transform.transform(kind), field.transform.to_human_string
    room = MAX_PATH_PART - len(quote_plus(field.name)) - 1

    def is_too_long(value: Any) -> bool:
        return value is not None and len(quote_plus(shown(kind, transform(value)))) > room

    return is_too_long
