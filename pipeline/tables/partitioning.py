"""Partition specs from texts: `region`, `day(at)`, `bucket(16, id)`."""

import re
from collections.abc import Sequence
from typing import Final

from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import Transform, parse_transform

_FIRST_FIELD_ID: Final = 1_000  # as Iceberg's specification has it
_WITH_COLUMN: Final = re.compile(r"(year|month|day|hour)\(\s*([^,()]+?)\s*\)")
_WITH_NUMBER: Final = re.compile(r"(bucket|truncate)\(\s*(\d{1,9})\s*,\s*([^,()]+?)\s*\)")
_ALLOWED: Final = "a column, year(C), month(C), day(C), hour(C), bucket(N, C) or truncate(N, C)"


def partition_spec(texts: Sequence[str], schema: Schema) -> PartitionSpec:
    """Make a spec.

    Raises:
        ValueError: a text is none, or names a column that is not there or does not suit; the message says which.
    """
    fields = []
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
