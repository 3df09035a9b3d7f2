"""Record batches: what is built is read back, here and by kafka-python, whatever is in it."""

from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch

from headrace.protocol.records.batch import check_crc, parse_header, patch, split_batches
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch

NULLABLE = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.tuples(st.text(max_size=10), NULLABLE), max_size=3).map(tuple)
RECORDS = st.lists(
    st.tuples(st.integers(1, 1_000), st.integers(0, 2**45), NULLABLE, NULLABLE, HEADERS),
    min_size=1,
    max_size=20,
)
OPTIONS = st.builds(
    BatchOptions,
    compression=st.sampled_from(Compression),
    leader_epoch=st.integers(-1, 2**31 - 1),
    producer_id=st.integers(-1, 2**63 - 1),
    producer_epoch=st.integers(-1, 2**15 - 1),
    base_sequence=st.integers(-1, 2**31 - 1),
    is_transactional=st.booleans(),
    is_control=st.just(False),
    log_append_time_ms=st.none() | st.integers(0, 2**45),
)


def as_records(rows: list[tuple], base_offset: int) -> list[Record]:
    """Give each row the offset that is its first number behind the row before."""
    records = []
    offset = base_offset
    for step, *rest in rows:
        records.append(Record(offset, *rest))
        offset += step
    return records


@given(RECORDS, st.integers(0, 2**40), OPTIONS)
@settings(max_examples=120, deadline=None)
def test_round_trip(rows: list[tuple], base_offset: int, options: BatchOptions) -> None:
    records = as_records(rows, base_offset)
    batch = memoryview(encode_batch(records, options))
    assert check_crc(batch)
    expected = records
    if options.log_append_time_ms is not None:
        expected = [r._replace(timestamp_ms=options.log_append_time_ms) for r in records]
    assert list(decode_records(batch, 1 << 20)) == expected
    read = DefaultRecordBatch(bytes(batch))
    assert read.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in read] == expected


@given(st.lists(st.tuples(RECORDS, OPTIONS), max_size=4), st.integers(0, 2**40))
@settings(max_examples=50, deadline=None)
def test_batches_are_split_where_they_were_joined(
    sets: list[tuple[list[tuple], BatchOptions]], base_offset: int
) -> None:
    batches = [bytes(encode_batch(as_records(rows, 0), options)) for rows, options in sets]
    found = list(split_batches(memoryview(bytearray(b"".join(batches)))))
    assert [bytes(batch) for _, batch in found] == batches
    for header, batch in found:
        patch(batch, base_offset, 5)
        assert check_crc(batch)
        expected = header._replace(base_offset=base_offset, partition_leader_epoch=5)
        assert parse_header(batch) == expected
