"""Columns from compiled loops: Arrow arrays over buffers that they fill."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa

from headrace.pipeline.columns import loops
from headrace.pipeline.columns.pieces import Buffer, OpenedBatch, located, opened_pieces
from headrace.pipeline.columns.selection import HEADERS, Limits, WantedRows
from headrace.protocol.records.errors import CorruptBatchError
from headrace.protocol.records.record import header_key_text

_PAYLOADS: Final = {
    "key": (loops.KEY_AT, loops.KEY_BYTES),
    "value": (loops.VALUE_AT, loops.VALUE_BYTES),
}
# Numbers behind each fact of rows: lines of memory that are a power of two apart share few lines of the cache.
_PAD: Final = 72
# An array of numpy.
Array = Any


def decode_compiled(
    payloads: Iterable[Buffer], selection: WantedRows, limits: Limits
) -> Iterator[Any]:
    """Yield `pyarrow.RecordBatch`es with the wanted rows; see `headrace.pipeline.columns.decoder`."""
    wanted = np.array(
        [
            selection.start_offset,
            selection.end_offset,
            limits.max_bytes,
            *(name in selection.columns for name in ("key", "value", HEADERS, "timestamp")),
        ],
        np.int64,
    )
    rows = np.empty((loops.ROW_FACTS, 0), np.int64)  # used again and again: new memory is slow
    for piece in opened_pieces(payloads, selection, limits):
        data = np.frombuffer(_joined(piece), np.uint8)
        data.setflags(write=False)  # or loops are compiled for both kinds
        batches = _table(piece)
        place = np.zeros(loops.SCAN_FACTS, np.int64)
        records = int(batches[:, loops.RECORDS].sum())
        # A header may claim more records than its bytes can hold: a record has at least seven.
        capacity = min(limits.max_rows, records, len(data) // loops.LEAST_RECORD_BYTES + 1)
        capacity = max(capacity, 1)
        if rows.shape[1] <= capacity:  # more than is used: loops are compiled for parts of arrays
            rows = np.empty((loops.ROW_FACTS, capacity + _PAD), np.int64)
        while True:
            count = loops.scan(data, batches, place, rows[:, :capacity], wanted)
            if count < 0:
                base_offset = piece[place[loops.AT_BATCH]].header.base_offset
                raise located(CorruptBatchError(loops.ERRORS[count]), selection, base_offset)
            if not count:
                break
            yield _record_batch(data, rows[:, :count], selection)


def _joined(piece: list[OpenedBatch]) -> Buffer:
    return piece[0].records if len(piece) == 1 else b"".join(it.records for it in piece)


def _table(piece: list[OpenedBatch]) -> Array:
    """Where each batch is in the joined data, and what the scan needs of its header."""
    batches = np.empty((len(piece), loops.BATCH_FACTS), np.int64)
    end = 0
    for line, (header, records) in zip(batches, piece, strict=True):
        start, end = end, end + len(records)
        line[:] = (
            start,
            end,
            header.records_count,
            header.base_offset,
            header.base_timestamp,
            header.max_timestamp,
            header.is_log_append_time,
        )
    return batches


def _record_batch(data: Array, rows: Array, selection: WantedRows) -> Any:
    schema = selection.schema
    count = rows.shape[1]
    arrays = []
    for name, kind in zip(schema.names, schema.types, strict=True):
        match name:
            case "key" | "value":
                at, sizes = _PAYLOADS[name]
                array = _gathered(data, rows[at], rows[sizes])
            case "topic":
                array = pa.repeat(pa.scalar(selection.topic, kind), count)
            case "partition":
                array = pa.repeat(pa.scalar(selection.partition, kind), count)
            case "timestampType":
                array = pa.array(rows[loops.TYPE].astype(np.int32))
            case "headers":
                array = _headers(data, rows[loops.HEADERS_AT], rows[loops.HEADER_COUNT], kind)
            case _:  # offset, timestamp
                fact = loops.OFFSET if name == "offset" else loops.TIMESTAMP
                # A copy: a view would keep all the facts of all rows.
                array = pa.Array.from_buffers(kind, count, [None, pa.py_buffer(rows[fact].copy())])
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _gathered(data: Array, at: Array, sizes: Array) -> Any:
    """A binary array of the fields at these positions."""
    count = len(at)
    ends = np.empty(count + 1, np.int32)
    out = np.empty(loops.total(sizes), np.uint8)
    valid = np.zeros((count + 7) // 8, np.uint8)
    nulls = loops.gather(data, at, sizes, ends, out, valid)
    buffers = [pa.py_buffer(valid) if nulls else None, pa.py_buffer(ends), pa.py_buffer(out)]
    return pa.Array.from_buffers(pa.binary(), count, buffers, null_count=nulls)


def _headers(data: Array, at: Array, counts: Array, kind: Any) -> Any:
    """A list array; a row without headers has null."""
    rows = len(counts)
    ends = np.zeros(rows + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    if not ends[-1]:
        return pa.nulls(rows, kind)
    items = np.empty((4, ends[-1]), np.int64)
    loops.header_items(data, len(data), at, counts, items)
    fields = [_texts(_gathered(data, items[0], items[1])), _gathered(data, items[2], items[3])]
    structs = pa.StructArray.from_arrays(fields, fields=list(kind.value_type))
    has_some = counts > 0
    valid = pa.py_buffer(np.packbits(has_some, bitorder="little"))
    return pa.Array.from_buffers(
        kind,
        rows,
        [valid, pa.py_buffer(ends)],
        null_count=rows - int(has_some.sum()),
        children=[structs],
    )


def _texts(keys: Any) -> Any:
    """Keys of headers as text; those that are not UTF-8 as Kafka's clients read them."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([header_key_text(key.as_py()) for key in keys], pa.string())
