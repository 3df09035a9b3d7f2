"""The loops over bytes, compiled by numba when they are first called.

Nothing here checks an index by itself: compiled code reads whatever memory an index leads to. So every position is
compared with the end of its batch before it is used, lengths are compared by what is left (a sum might overflow), and
whatever is filled has a size that the caller knows beforehand. All numbers are signed and of 64 bits: numba turns a sum
of signed and unsigned ones into a float.

The layout of records is described in `headrace.protocol.records.record`, and the same records are refused here.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba

# What the numbers in the second dimension of `batches` are, one line a batch.
RECORDS_AT: Final = 0  # in the data
RECORDS_END: Final = 1
RECORDS: Final = 2
BASE_OFFSET: Final = 3
BASE_TIMESTAMP: Final = 4
APPEND_TIMESTAMP: Final = 5
TIMESTAMP_TYPE: Final = 6
BATCH_FACTS: Final = 7

# What the numbers in the first dimension of `rows` are, one column a row: each fact is contiguous, as Arrow wants it.
OFFSET: Final = 0
TIMESTAMP: Final = 1  # us
TYPE: Final = 2
KEY_AT: Final = 3
KEY_BYTES: Final = 4  # -1: null
VALUE_AT: Final = 5
VALUE_BYTES: Final = 6
HEADERS_AT: Final = 7  # behind their number
HEADER_COUNT: Final = 8
ROW_FACTS: Final = 9

# Where a scan is, to go on there.
AT_BATCH: Final = 0
AT_RECORD: Final = 1
AT_BYTE: Final = 2
SCAN_FACTS: Final = 3

# The result of a scan: a number of rows, or one of these.
ENDS_EARLY: Final = -1
LONG_VARINT: Final = -2
BAD_LENGTH: Final = -3
BAD_HEADERS: Final = -4
EXTRA_BYTES: Final = -5
BAD_OFFSET: Final = -6
BAD_TIMESTAMP: Final = -7

ERRORS: Final = {
    ENDS_EARLY: "records end inside a record",
    LONG_VARINT: "varint exceeds 64 bits",
    BAD_LENGTH: "record length does not match its fields",
    BAD_HEADERS: "negative number of headers, or a header key is null",
    EXTRA_BYTES: "extra bytes after the last record",
    BAD_OFFSET: "offset exceeds 64 bits",
    BAD_TIMESTAMP: "timestamp exceeds what microseconds in 64 bits can tell",
}

LARGEST_TIMESTAMP_MS: Final = ((1 << 63) - 1) // 1000
# Length, attributes, two deltas, two lengths and the number of headers, a byte each.
LEAST_RECORD_BYTES: Final = 7
# What an item of a header list takes besides its bytes, for the limit of a result.
HEADER_ITEM_BYTES: Final = 32

_POSITIVE: Final = (1 << 63) - 1
_LAST_SHIFT: Final = 63

# Arrays of numpy: bytes are uint8, everything else is int64 unless it is said.
Array = Any
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Fields = tuple[int, int, int, int, int, int, int, int, int]


def compiled(function: _Function) -> _Function:
    """Have a function compiled; what comes out is kept on disk where that can be written."""
    return _compiled(function)


def inlined(function: _Function) -> _Function:
    """Have a function compiled into each that calls it: for the small ones that every record needs."""
    return _compiled(function, is_inlined=True)


def _compiled(function: _Function, *, is_inlined: bool = False) -> _Function:
    dispatcher: Any
    try:
        dispatcher = numba.njit(cache=True, nogil=True, forceinline=is_inlined)(function)
    except RuntimeError:  # neither beside this file nor in the user's cache directory
        dispatcher = numba.njit(nogil=True, forceinline=is_inlined)(function)
    return cast("_Function", dispatcher)


@compiled
def any_varint(data: Array, at: int, end: int) -> tuple[int, int]:
    """What `varint` returns, for any number of bytes."""
    value = 0
    shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if shift == _LAST_SHIFT and byte > 1:
                return 0, LONG_VARINT
            return ((value >> 1) & _POSITIVE) ^ -(value & 1), at
        shift += 7
        if shift > _LAST_SHIFT:
            return 0, LONG_VARINT
    return 0, ENDS_EARLY


@inlined
def varint(data: Array, at: int, end: int) -> tuple[int, int]:
    """A zig-zag varint and the position behind it, or a position below 0: the error."""
    if end - at > 1:  # most have one byte or two
        value = data[at] & 0xFF  # 64 bits wide
        if value < 0x80:
            return (value >> 1) ^ -(value & 1), at + 1
        second = data[at + 1] & 0xFF
        if second < 0x80:
            value = (value & 0x7F) | (second << 7)
            return (value >> 1) ^ -(value & 1), at + 2
    return any_varint(data, at, end)


@inlined
def field(data: Array, at: int, end: int) -> tuple[int, int]:
    """The length of bytes that follow their length, -1 for null, and where they begin; or the error."""
    size, at = varint(data, at, end)
    if at < 0 or size < 0:
        return -1, at
    if size > end - at:
        return -1, ENDS_EARLY
    return size, at


@compiled
def skip_headers(data: Array, at: int, end: int, count: int) -> int:
    """The position behind so many headers, or the error."""
    for _ in range(count):
        size, at = field(data, at, end)
        if at < 0:
            return at
        if size < 0:
            return BAD_HEADERS
        size, at = field(data, at + size, end)
        if at < 0:
            return at
        at += max(size, 0)
    return at


@inlined
def refused(error: int) -> _Fields:
    """What `record` returns for one that is damaged."""
    return error, 0, 0, 0, 0, 0, 0, 0, 0


@inlined
def record(data: Array, at: int, end: int) -> _Fields:
    """Find the fields of a record.

    Returns:
        The position behind it, or the error; the deltas of its offset and its timestamp; where its key is, and its
        bytes; the same of its value; where its headers are, and their number.
    """
    length, at = varint(data, at, end)
    if at < 0:
        return refused(at)
    if length < 0 or length > end - at:
        return refused(ENDS_EARLY)
    end = at + length
    timestamp, at = varint(data, at + 1, end)  # behind the attributes
    if at < 0:
        return refused(at)
    offset, at = varint(data, at, end)
    if at < 0:
        return refused(at)
    key_bytes, key_at = field(data, at, end)
    if key_at < 0:
        return refused(key_at)
    value_bytes, value_at = field(data, key_at + max(key_bytes, 0), end)
    if value_at < 0:
        return refused(value_at)
    count, headers_at = varint(data, value_at + max(value_bytes, 0), end)
    if headers_at < 0:
        return refused(headers_at)
    if count < 0:
        return refused(BAD_HEADERS)
    at = headers_at
    if count > 0:
        at = skip_headers(data, at, end, count)
        if at < 0:
            return refused(at)
    if at != end:
        end = BAD_LENGTH
    return end, offset, timestamp, key_at, key_bytes, value_at, value_bytes, headers_at, count


@compiled
def scan(data: Array, batches: Array, place: Array, rows: Array, wanted: Array) -> int:
    """Find the rows that come next, up to the limits; return how many, 0 at the end, or the error.

    Everything that a row needs is in local variables: what is read from one array after another was written is read
    from memory each time, because they might be the same.

    Args:
        data: the records of some batches.
        batches: where they are, see above; positions and sizes are within `data`.
        place: where to begin; afterwards where to go on, or the batch that has the error.
        rows: filled.
        wanted: offsets from and to, bytes at most, and 1 or 0 for keys, values, headers and timestamps.
    """
    first_offset, end_offset, most_bytes = wanted[0], wanted[1], wanted[2]
    keys, values, headers, has_timestamps = wanted[3], wanted[4], wanted[5], wanted[6] == 1
    most_rows = rows.shape[1]
    row, size_bytes = 0, 0
    while place[AT_BATCH] < batches.shape[0]:
        batch = batches[place[AT_BATCH]]
        records, records_end, base_offset = batch[RECORDS], batch[RECORDS_END], batch[BASE_OFFSET]
        base_ms, append_ms, kind = (
            batch[BASE_TIMESTAMP],
            batch[APPEND_TIMESTAMP],
            batch[TIMESTAMP_TYPE],
        )
        at = batch[RECORDS_AT] + place[AT_BYTE]
        number = place[AT_RECORD]
        while number < records:
            end, delta, delta_ms, key_at, key_bytes, value_at, value_bytes, headers_at, count = (
                record(data, at, records_end)
            )
            if end < 0:
                return end
            offset = base_offset + delta
            if (base_offset ^ offset) & (delta ^ offset) < 0:
                return BAD_OFFSET
            if first_offset <= offset < end_offset:
                time_ms = append_ms
                if kind == 0:
                    time_ms = base_ms + delta_ms
                    if has_timestamps and (base_ms ^ time_ms) & (delta_ms ^ time_ms) < 0:
                        return BAD_TIMESTAMP
                if has_timestamps and not (
                    -LARGEST_TIMESTAMP_MS <= time_ms <= LARGEST_TIMESTAMP_MS
                ):
                    return BAD_TIMESTAMP
                size_bytes += keys * max(key_bytes, 0) + values * max(value_bytes, 0)
                size_bytes += headers * (end - headers_at + HEADER_ITEM_BYTES * count)
                if row == most_rows or (row > 0 and size_bytes > most_bytes):
                    place[AT_RECORD] = number
                    place[AT_BYTE] = at - batch[RECORDS_AT]
                    return row
                rows[OFFSET, row] = offset
                rows[TIMESTAMP, row] = time_ms * 1000
                rows[TYPE, row] = kind
                rows[KEY_AT, row] = key_at
                rows[KEY_BYTES, row] = key_bytes
                rows[VALUE_AT, row] = value_at
                rows[VALUE_BYTES, row] = value_bytes
                rows[HEADERS_AT, row] = headers_at
                rows[HEADER_COUNT, row] = count
                row += 1
            number += 1
            at = end
        if at != records_end:
            return EXTRA_BYTES
        place[AT_BATCH] += 1
        place[AT_RECORD] = 0
        place[AT_BYTE] = 0
    return row


@compiled
def header_items(data: Array, end: int, at: Array, counts: Array, items: Array) -> None:
    """Find the headers of rows that a scan has found.

    Args:
        data: the scanned data.
        end: of the data.
        at: where the headers of each row are.
        counts: how many.
        items: filled: where keys are, bytes of keys, where values are, bytes of values; one column a header.
    """
    item = 0
    for row in range(at.shape[0]):
        position = at[row]
        for _ in range(counts[row]):
            size, position = field(data, position, end)
            items[0, item] = position
            items[1, item] = size
            position += size
            size, position = field(data, position, end)
            items[2, item] = position
            items[3, item] = size
            position += max(size, 0)
            item += 1


@compiled
def total(sizes: Array) -> int:
    """Bytes of all fields; null ones have none."""
    size_bytes = 0
    for size in sizes:
        size_bytes += max(size, 0)
    return size_bytes


@compiled
def gather(data: Array, at: Array, sizes: Array, ends: Array, out: Array, valid: Array) -> int:
    """Copy fields behind each other, and return how many are null.

    Args:
        data: the scanned data.
        at: where each field is.
        sizes: its bytes, -1 for null.
        ends: filled, int32: 0 and where each field ends.
        out: filled: `total(sizes)` bytes.
        valid: filled, from zeros: a bit for each field that is not null.
    """
    end, nulls = 0, 0
    ends[0] = 0
    for index in range(at.shape[0]):
        size = sizes[index]
        if size < 0:
            nulls += 1
        else:
            valid[index >> 3] |= 1 << (index & 7)
            start = at[index]
            field_in, field_out = data[start : start + size], out[end : end + size]
            for byte in range(size):  # becomes a copy of memory
                field_out[byte] = field_in[byte]
            end += size
        ends[index + 1] = end
    return nulls
