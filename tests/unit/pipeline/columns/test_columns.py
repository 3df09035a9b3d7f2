"""Record batches as columns: the compiled loops against the Python decoder, whatever is in the batches."""

import importlib.util
import logging
import sys
from collections.abc import Callable, Iterator
from types import ModuleType

import numba
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headrace.pipeline.columns import compiled, decoder, loops
from headrace.pipeline.columns.interpreted import decode_interpreted
from headrace.pipeline.columns.selection import COLUMNS, HEADERS, Limits, WantedRows
from headrace.protocol.records.batch import HEADER_BYTES, encode_header, parse_header
from headrace.protocol.records.compression import Compression, compress
from headrace.protocol.records.errors import (
    CorruptBatchError,
    DecompressionLimitError,
    RecordsError,
)
from headrace.protocol.records.record import BatchOptions, Record, encode_batch, encode_varint
from tests.environment.paths import CACHE
from tests.unit.protocol.records.framings import UNUSUAL, Form

ALL = (*COLUMNS, HEADERS)
EVERYTHING = WantedRows(topic="orders", partition=3, columns=ALL)
NULLABLE = st.none() | st.binary(max_size=150)
HEADER_LISTS = st.lists(st.tuples(st.text(max_size=5), NULLABLE), max_size=3).map(tuple)
ROWS = st.lists(
    st.tuples(st.integers(1, 300), st.integers(-1, 2**45), NULLABLE, NULLABLE, HEADER_LISTS),
    max_size=12,
)
OPTIONS = st.builds(
    BatchOptions,
    compression=st.sampled_from(Compression),
    is_transactional=st.booleans(),
    is_control=st.integers(0, 9).map(lambda it: it == 0),
    log_append_time_ms=st.none() | st.integers(0, 2**45),
)
LIMITS = st.builds(
    Limits,
    max_rows=st.integers(1, 20),
    max_bytes=st.integers(1, 2_000),
    piece_bytes=st.integers(1, 4_000),
)
Decode = Callable[..., Iterator[pa.RecordBatch]]


@pytest.fixture(scope="module", autouse=True)
def checked_loops() -> Iterator[ModuleType]:
    """Have the loops compiled so that an index that is out of bounds raises; once, for it takes seconds."""
    before = numba.config.BOUNDSCHECK, numba.config.CACHE_DIR
    numba.config.BOUNDSCHECK, numba.config.CACHE_DIR = 1, str(CACHE / "checked-loops")
    spec = importlib.util.spec_from_file_location("checked_loops", loops.__file__)
    checked = importlib.util.module_from_spec(spec)
    sys.modules["checked_loops"] = checked
    spec.loader.exec_module(checked)
    compiled.loops = checked
    yield checked
    compiled.loops = loops
    del sys.modules["checked_loops"]
    numba.config.BOUNDSCHECK, numba.config.CACHE_DIR = before


def outcome(decode: Decode, payloads: list[bytes], selection: WantedRows, limits: Limits) -> object:
    """Return the rows, or the kind of the refusal."""
    try:
        found = list(decode(payloads, selection, limits))
    except RecordsError as error:
        return type(error)
    for batch in found:
        batch.validate(full=True)
        assert 1 <= batch.num_rows <= limits.max_rows
    table = pa.Table.from_batches(found, schema=selection.schema)
    at = table.column_names.index("timestamp") if "timestamp" in table.column_names else None
    if at is not None:  # as a number: damage makes times that Python's calendar does not have
        table = table.set_column(at, "timestamp", table.column(at).cast(pa.int64()))
    return table.to_pylist()


def batch_of(rows: list[tuple], base_offset: int, options: BatchOptions) -> bytes:
    records, offset = [], base_offset
    for step, *rest in rows:
        records.append(Record(offset, *rest))
        offset += step
    gap = {"base_offset": base_offset, "last_offset": offset}
    options = BatchOptions(**{it: getattr(options, it) for it in options.__slots__} | gap)
    return bytes(encode_batch(records, options))


def log_of(sets: list[tuple[list[tuple], BatchOptions]]) -> list[bytes]:
    payloads, offset = [], 1_000
    for rows, options in sets:
        payloads.append(batch_of(rows, offset, options))
        offset = parse_header(payloads[-1]).next_offset
    return payloads


@given(
    st.lists(st.tuples(ROWS, OPTIONS), max_size=4),
    st.integers(900, 2_500),
    st.integers(0, 2_000),
    st.lists(st.sampled_from(ALL), min_size=1, unique=True),
    LIMITS,
)
@settings(max_examples=50, deadline=None)
def test_the_rows_are_those_of_the_python_decoder(
    sets: list[tuple[list[tuple], BatchOptions]],
    start: int,
    count: int,
    columns: list[str],
    limits: Limits,
) -> None:
    payloads = log_of(sets)
    selection = WantedRows(
        topic="orders",
        partition=3,
        start_offset=start,
        end_offset=start + count,
        columns=tuple(columns),
    )
    expected = outcome(decode_interpreted, payloads, selection, limits)
    assert outcome(compiled.decode_compiled, payloads, selection, limits) == expected
    assert outcome(compiled.decode_compiled, [b"".join(payloads)], selection, limits) == expected


@given(
    st.lists(st.tuples(ROWS, OPTIONS), min_size=1, max_size=2),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=3),
    st.integers(0, 40),
    st.booleans(),
    LIMITS,
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_damage_is_refused_by_both_or_by_none(
    sets: list[tuple[list[tuple], BatchOptions]],
    changes: list[tuple[int, int]],
    cut_bytes: int,
    is_inside: bool,
    limits: Limits,
) -> None:
    """Damage below the compression, so that the loops meet it; or anywhere."""
    payloads = []
    for rows, options in sets:
        batch = bytearray(batch_of(rows, 5, BatchOptions() if is_inside else options))
        for at, byte in changes:
            first = HEADER_BYTES if is_inside else 0
            if len(batch) > first:
                batch[first + at % (len(batch) - first)] = byte
        if is_inside:
            records = batch[HEADER_BYTES : max(HEADER_BYTES, len(batch) - cut_bytes)]
            header = parse_header(batch)._replace(attributes=options.compression)
            batch = encode_header(header, compress(options.compression, records))
        payloads.append(bytes(batch))
    expected = outcome(decode_interpreted, payloads, EVERYTHING, limits)
    assert outcome(compiled.decode_compiled, payloads, EVERYTHING, limits) == expected


def hand_made(body: bytes, *, count: int = 1, **fields: int) -> bytes:
    header = parse_header(encode_batch([Record(7, 1_000, None, None)], BatchOptions()))
    return bytes(encode_header(header._replace(records_count=count, **fields), body))


def record_of(*parts: bytes) -> bytes:
    body = b"".join((b"\0", *parts))
    return encode_varint(len(body)) + body


ZERO, NULL, LARGEST = encode_varint(0), encode_varint(-1), encode_varint(2**63 - 1)
END = (NULL, NULL, ZERO)
REFUSED = {
    "no bytes": hand_made(b""),
    "more records claimed than there are": hand_made(record_of(ZERO, ZERO, *END), count=2**31 - 1),
    "a record more than claimed": hand_made(record_of(ZERO, ZERO, *END) * 2),
    "a length of 2**63 - 1": hand_made(LARGEST + b"\0" * 20),
    "a negative length": hand_made(NULL + b"\0" * 20),
    "a key of 2**63 - 1 bytes": hand_made(record_of(ZERO, ZERO, LARGEST, NULL, ZERO)),
    "a value that ends behind the record": hand_made(
        record_of(ZERO, ZERO, NULL, encode_varint(9)) + b"\0" * 9
    ),
    "2**63 - 1 headers": hand_made(record_of(ZERO, ZERO, NULL, NULL, LARGEST)),
    "fewer than no headers": hand_made(record_of(ZERO, ZERO, NULL, NULL, NULL)),
    "a header without key": hand_made(
        record_of(ZERO, ZERO, NULL, NULL, encode_varint(1), NULL, NULL)
    ),
    "a varint of eleven bytes": hand_made(record_of(b"\x80" * 10 + b"\0", ZERO, *END)),
    "a varint of 65 bits": hand_made(record_of(b"\xff" * 9 + b"\x02", ZERO, *END)),
    "an offset above 64 bits": hand_made(record_of(ZERO, LARGEST, *END)),
    "a time above 64 bits": hand_made(record_of(LARGEST, ZERO, *END)),
    "a time above what microseconds tell": hand_made(record_of(encode_varint(2**55), ZERO, *END)),
    "fewer than no records": hand_made(b"", count=-1),
    "a batch that is cut off": hand_made(record_of(ZERO, ZERO, *END))[:-1],
    "a header that is cut off": hand_made(b"")[:40],
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize("decode", [decode_interpreted, compiled.decode_compiled])
def test_it_is_refused(what: str, decode: Decode) -> None:
    with pytest.raises(CorruptBatchError):
        list(decode([REFUSED[what]], EVERYTHING, Limits()))


@pytest.mark.parametrize("decode", [decode_interpreted, compiled.decode_compiled])
def test_a_batch_that_would_become_too_large_is_refused_with_its_place(decode: Decode) -> None:
    batch = encode_batch(
        [Record(41, 0, None, b"x" * 100_000)], BatchOptions(compression=Compression.ZSTD)
    )
    with pytest.raises(
        DecompressionLimitError, match=r"orders-3, batch at offset 41: .* 9999 bytes"
    ):
        list(decode([batch], EVERYTHING, Limits(max_batch_bytes=9_999)))


# What Java 17 makes of these bytes: `new String(bytes, UTF_8)`.
JAVA_TEXTS = {
    "eda080": "\ufffd",
    "eda041": "\ufffdA",
    "edbfbfed": "\ufffd\ufffd",
    "c080": "\ufffd\ufffd",
    "f0908041": "\ufffdA",
    "e228a1": "\ufffd(\ufffd",
}


@pytest.mark.parametrize("decode", [decode_interpreted, compiled.decode_compiled])
def test_header_keys_that_are_not_utf8_read_as_in_java(decode: Decode) -> None:
    keys = [bytes.fromhex(key) for key in JAVA_TEXTS]
    headers = b"".join(encode_varint(len(key)) + key + NULL for key in keys)
    record = record_of(ZERO, ZERO, NULL, NULL, encode_varint(len(keys)), headers)
    (found,) = decode([hand_made(record)], EVERYTHING, Limits())
    expected = [{"key": text, "value": None} for text in JAVA_TEXTS.values()]
    assert found.column("headers").to_pylist() == [expected]


def test_what_a_caller_hides_is_left_out() -> None:
    payloads = [
        bytes(encode_batch([Record(offset, 0, None, b"")], BatchOptions(producer_id=producer)))
        for offset, producer in ((0, 5), (1, 6), (2, 5))
    ]
    selection = WantedRows(
        topic="t",
        partition=0,
        columns=("offset",),
        is_hidden=lambda header: header.producer_id == 6,
    )
    rows = outcome(compiled.decode_compiled, payloads, selection, Limits())
    assert rows == [{"offset": 0}, {"offset": 2}]


def test_a_result_ends_before_its_bytes_exceed_the_limit() -> None:
    records = [Record(it, 0, None, bytes(size)) for it, size in enumerate((60, 40, 1, 500, 10))]
    payload = bytes(encode_batch(records, BatchOptions()))
    for decode in (decode_interpreted, compiled.decode_compiled):
        found = decode([payload], WantedRows(topic="t", partition=0), Limits(max_bytes=100))
        assert [it.num_rows for it in found] == [2, 1, 1, 1]


def test_columns_are_known_ones() -> None:
    with pytest.raises(ValueError, match=r"once each: \['values'\]"):
        WantedRows(topic="t", partition=0, columns=("values",))
    with pytest.raises(ValueError, match="max_bytes is between 1 and 2147483647"):
        Limits(max_bytes=2**31)


def test_without_numba_python_decodes_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "headrace.pipeline.columns.compiled", None)  # as if not there
    decoder._fastest.cache_clear()
    payload = bytes(encode_batch([Record(0, 0, b"k", b"v")], BatchOptions()))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            (found,) = decoder.decode([payload], WantedRows(topic="t", partition=0))
            assert found.column("value").to_pylist() == [b"v"]
    decoder._fastest.cache_clear()
    (message,) = caplog.messages
    assert "decoded by Python" in message
    assert "import of headrace.pipeline.columns.compiled halted" in message


def test_the_compiled_loops_are_taken_where_they_can_be() -> None:
    assert decoder._fastest() is compiled.decode_compiled


@pytest.mark.parametrize("form", UNUSUAL, ids=lambda form: form.name)
def test_records_in_an_unusual_form_are_read_like_those_in_a_plain_one(form: Form) -> None:
    """A broker that believes compressed batches has stored them as they were sent."""
    plain = batch_of([(1, 5, b"k", b"v" * 50, ()), (1, 6, None, b"w" * 50, ())], 7, BatchOptions())
    header = parse_header(plain)._replace(attributes=int(form.codec))
    unusual = bytes(encode_header(header, form.encode(plain[HEADER_BYTES:])))
    for decode in (decoder.decode, decode_interpreted):
        rows = [outcome(decode, [it], EVERYTHING, Limits()) for it in (plain, unusual)]
        assert rows[0] == rows[1]
        assert len(rows[0]) == 2
