"""Whether data files with a table's columns and partitions can be written and read: shown by writing one in memory."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Final

import pyarrow as pa
from pyiceberg.table import FileScanTask
from pyiceberg.table.metadata import TableMetadata, TableMetadataUtil
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
)

from headrace.pipeline.tables.data_files import TableFiles
from headrace.pipeline.tables.memory_files import MemoryFiles

_SAMPLES: Final[dict[type[IcebergType], object]] = {
    BooleanType: True,
    IntegerType: 1,
    LongType: 1,
    FloatType: 1.5,
    DoubleType: 1.5,
    StringType: "text",
    BinaryType: b"bytes",
    DateType: date(2026, 1, 31),
    TimestampType: datetime(2026, 1, 31, 12),  # noqa: DTZ001 - the type has no time zone
    TimestamptzType: datetime(2026, 1, 31, 12, tzinfo=UTC),
}


def obstacle(metadata: TableMetadata) -> str:
    """Why no data file of a table can be written, or read again; empty if one can.

    Any failure is the reason: the question is whether it works.
    """
    try:
        TableMetadataUtil.parse_raw(metadata.model_dump_json())
        _write_and_read(TableFiles.of_metadata(metadata, MemoryFiles()))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - see above
        return f"{type(error).__name__}: {error}"
    return ""


def _write_and_read(files: TableFiles) -> None:
    schema = files.metadata.schema()
    if not schema.fields:
        return  # a table whose columns come with its records
    row = {it.name: _sample(it.field_type) for it in schema.fields}
    rows = pa.Table.from_pylist([row], files.arrow_schema())
    tasks = []
    for it in files.write(rows):
        it.spec_id = files.metadata.default_spec_id
        tasks.append(FileScanTask(it))
    back = files.read(tasks)
    if back.column_names != rows.column_names or back.num_rows != 1:
        raise ValueError("a file in memory was read with other columns than it was written with")


def _sample(kind: IcebergType) -> object:
    """A value of a type."""
    match kind:
        case StructType():
            return {it.name: _sample(it.field_type) for it in kind.fields}
        case ListType():
            return [_sample(kind.element_type)]
        case MapType():
            return [(_sample(kind.key_type), _sample(kind.value_type))]
        case DecimalType():
            return Decimal(0)
        case _:
            return _SAMPLES.get(type(kind))
