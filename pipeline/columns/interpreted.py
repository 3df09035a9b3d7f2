"""Columns from the Python decoder: what compiled loops are compared with, and what is left without them. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa

from headrace.pipeline.columns.pieces import Buffer, located, wanted_batches
from headrace.pipeline.columns.selection import HEADERS, Limits, WantedRows
from headrace.protocol.records.batch import BatchHeader
from headrace.protocol.records.errors import CorruptBatchError, RecordsError
from headrace.protocol.records.record import Record, decode_records

_LARGEST: Final = (1 << 63) - 1
_LARGEST_TIMESTAMP_MS: Final = _LARGEST // 1000

Row = tuple[Record, int]  # and its timestamp type


def decode_interpreted(
    payloads: Iterable[Buffer], selection: WantedRows, limits: Limits
) -> Iterator[Any]:
    """Yield `pyarrow.RecordBatch`es with the wanted rows; see `headrace.pipeline.columns.decoder`."""
    rows: list[Row] = []
    size_bytes = 0
    for header, batch in wanted_batches(payloads, selection):
        records = decode_records(batch, limits.max_batch_bytes)
        try:
            for record in _within(records, selection):
                row_bytes = _size_bytes(record, selection)
                if rows and (
                    len(rows) == limits.max_rows or size_bytes + row_bytes > limits.max_bytes
                ):
                    yield _record_batch(rows, selection)
                    rows, size_bytes = [], 0
                rows.append((record, _timestamp_type(header)))
                size_bytes += row_bytes
        except RecordsError as error:
            raise located(error, selection, header.base_offset) from error
    if rows:
        yield _record_batch(rows, selection)


def _timestamp_type(header: BatchHeader) -> int:
    return int(header.is_log_append_time)


def _within(records: Iterable[Record], selection: WantedRows) -> Iterator[Record]:
    for record in records:
        if not -_LARGEST - 1 <= record.offset <= _LARGEST:
            raise CorruptBatchError("offset exceeds 64 bits")
        if selection.start_offset <= record.offset < selection.end_offset:
            if (
                "timestamp" in selection.columns
                and abs(record.timestamp_ms) > _LARGEST_TIMESTAMP_MS
            ):
                raise CorruptBatchError("timestamp exceeds what microseconds in 64 bits can tell")
            yield record


def _size_bytes(record: Record, selection: WantedRows) -> int:
    size_bytes = 0
    if "key" in selection.columns:
        size_bytes += len(record.key or b"")
    if "value" in selection.columns:
        size_bytes += len(record.value or b"")
    if HEADERS in selection.columns:
        size_bytes += sum(4 * len(key) + len(value or b"") + 32 for key, value in record.headers)
    return size_bytes


def _record_batch(rows: list[Row], selection: WantedRows) -> Any:
    schema = selection.schema
    found = [_column(name, rows, selection) for name in schema.names]
    arrays = [pa.array(it, kind) for it, kind in zip(found, schema.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(name: str, rows: list[Row], selection: WantedRows) -> list[Any]:
    if name == "topic":
        return [selection.topic] * len(rows)
    if name == "partition":
        return [selection.partition] * len(rows)
    return [_field(name, *row) for row in rows]


def _field(name: str, record: Record, timestamp_type: int) -> Any:
    match name:
        case "key":
            return record.key
        case "value":
            return record.value
        case "offset":
            return record.offset
        case "timestamp":
            return record.timestamp_ms * 1000
        case "timestampType":
            return timestamp_type
        case _:  # headers
            return [{"key": key, "value": value} for key, value in record.headers] or None
