"""What a produced batch must satisfy, rule by rule."""

from collections.abc import Mapping, Sequence
from typing import Any

import lz4.frame
import pytest

from headrace.broker.partition import append_rules
from headrace.broker.partition.append_rules import Rejection, Validated, ValidationLimits
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import check_crc, encode_header, parse_header
from headrace.protocol.records.compression import (
    Compression,
    Framing,
    compress,
    decompressed_pieces,
)
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.protocol.records.window import Slice
from headrace.steps import completed
from tests.unit.protocol.records.framings import PLAIN, UNUSUAL, Form

NOW_MS = 1_700_000_000_000
LIMITS = ValidationLimits()


def zigzag(value: int) -> bytes:
    rest = (value << 1) ^ (value >> 63)
    encoded = bytearray()
    while rest >= 0x80:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def topic(overrides: Mapping[str, str] | None = None) -> EffectiveTopicConfig:
    return EffectiveTopicConfig.resolve(overrides or {})


def batch(
    *values: bytes, key: bytes | None = None, at: int = NOW_MS, **options: object
) -> memoryview:
    records = [Record(offset, at, key, value) for offset, value in enumerate(values or (b"v",))]
    return memoryview(encode_batch(records, BatchOptions(**options)))  # type: ignore[arg-type]


def with_header(data: memoryview, **changes: int) -> memoryview:
    """The same records under a changed header, with a right CRC."""
    header = parse_header(data)._replace(**changes)
    return memoryview(encode_header(header, data[61:]))


def validate(
    data: memoryview,
    config: EffectiveTopicConfig | None = None,
    *,
    version: int = 9,
    limits: ValidationLimits = LIMITS,
) -> Validated | Rejection:
    """All at once; the batch may be changed in place."""
    found = append_rules.validate(data, config or topic(), limits, version=version, now_ms=NOW_MS)
    return found if isinstance(found, (Validated, Rejection)) else completed(found)


def accepted(
    data: memoryview,
    config: EffectiveTopicConfig | None = None,
    limits: ValidationLimits = LIMITS,
) -> Validated:
    found = validate(data, config, limits=limits)
    assert isinstance(found, Validated), found
    assert found.header == parse_header(found.records)
    assert check_crc(found.records)
    return found


def refused(
    data: memoryview,
    config: EffectiveTopicConfig | None = None,
    limits: ValidationLimits = LIMITS,
) -> Rejection:
    found = validate(data, config, limits=limits)
    assert isinstance(found, Rejection)
    return found


def judge(
    data: memoryview, config: EffectiveTopicConfig | None = None, version: int = 9
) -> ErrorCode:
    found = validate(data, config, version=version)
    return found.code if isinstance(found, Rejection) else ErrorCode.NONE


@pytest.mark.parametrize("codec", list(Compression))
def test_a_good_batch_of_any_codec_is_taken(codec: Compression) -> None:
    assert judge(batch(b"a", b"b", compression=codec)) == ErrorCode.NONE


def test_no_batch_two_batches_and_part_of_a_batch_are_refused() -> None:
    whole = batch()
    nothing: Any = None
    assert judge(nothing) == judge(memoryview(b"")) == ErrorCode.INVALID_RECORD
    assert judge(memoryview(bytes(whole) * 2)) == ErrorCode.INVALID_RECORD
    for length in range(1, len(whole)):
        assert judge(whole[:length]) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("position", range(21, 70))
def test_a_damaged_batch_is_corrupt(position: int) -> None:
    damaged = bytearray(batch(b"some value"))
    damaged[position] ^= 1
    assert judge(memoryview(damaged)) == ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("size_bytes", [17, 34, 500])
@pytest.mark.parametrize("magic", [0, 1])
def test_older_formats_are_refused_for_good(magic: int, size_bytes: int) -> None:
    old = bytearray(size_bytes)
    old[16] = magic
    assert judge(memoryview(old)) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    "changes",
    [
        {"base_offset": 1},
        {"records_count": 0, "last_offset_delta": -1},
        {"records_count": 2},
        {"last_offset_delta": 4},
        {"attributes": 0x20},
        {"producer_id": 7, "producer_epoch": 0, "base_sequence": -1},
        {"producer_id": 7, "producer_epoch": -1, "base_sequence": 0},
    ],
)
def test_inconsistent_headers_are_invalid(changes: dict[str, int]) -> None:
    assert judge(with_header(batch(), **changes)) == ErrorCode.INVALID_RECORD


def test_size_is_judged_as_sent() -> None:
    data = batch(bytes(1000))
    assert judge(data, topic({"max.message.bytes": str(len(data))})) == ErrorCode.NONE
    assert (
        judge(data, topic({"max.message.bytes": str(len(data) - 1)})) == ErrorCode.MESSAGE_TOO_LARGE
    )


def test_codecs_by_version() -> None:
    assert (
        judge(batch(compression=Compression.ZSTD), version=6)
        == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    )
    assert judge(batch(compression=Compression.ZSTD), version=7) == ErrorCode.NONE
    assert judge(with_header(batch(), attributes=5)) == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_transactions_are_refused() -> None:
    assert judge(with_header(batch(), attributes=0x10)) == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize(
    ("at", "overrides", "code"),
    [
        (NOW_MS + 3_600_000, {}, ErrorCode.NONE),
        (NOW_MS + 3_600_001, {}, ErrorCode.INVALID_TIMESTAMP),
        (0, {}, ErrorCode.NONE),
        (NOW_MS - 1_001, {"message.timestamp.before.max.ms": "1000"}, ErrorCode.INVALID_TIMESTAMP),
        (NOW_MS - 1_000, {"message.timestamp.before.max.ms": "1000"}, ErrorCode.NONE),
        (NOW_MS + 9_999_999, {"message.timestamp.type": "LogAppendTime"}, ErrorCode.NONE),
    ],
)
def test_timestamps(at: int, overrides: dict[str, str], code: ErrorCode) -> None:
    assert judge(batch(at=at), topic(overrides)) == code


def test_a_client_may_not_stamp_append_time_itself() -> None:
    config = topic({"message.timestamp.type": "LogAppendTime"})
    assert judge(batch(log_append_time_ms=5), config) == ErrorCode.INVALID_TIMESTAMP


def test_a_compacted_topic_names_each_record_without_a_key() -> None:
    records = [
        Record(0, NOW_MS, b"k", b"1"),
        Record(1, NOW_MS, None, b"2"),
        Record(2, NOW_MS, None, b"3"),
    ]
    found = refused(
        memoryview(encode_batch(records, BatchOptions())), topic({"cleanup.policy": "compact"})
    )
    assert found.code == ErrorCode.INVALID_RECORD
    assert [index for index, _ in found.record_errors] == [1, 2]


def test_a_compacted_topic_takes_keyed_records_as_they_are() -> None:
    data = batch(b"v", key=b"k")
    assert accepted(data, topic({"cleanup.policy": "compact"})).records is data


@pytest.mark.parametrize("source", list(Compression))
@pytest.mark.parametrize("wanted", ["uncompressed", "zstd", "lz4"])
def test_a_topic_may_ask_for_another_codec_and_keeps_the_rest(
    source: Compression, wanted: str
) -> None:
    producer = {"producer_id": 7, "producer_epoch": 2, "base_sequence": 40}
    data = batch(b"a" * 500, b"b" * 500, compression=source, **producer)
    before = list(decode_records(data, 10_000))
    rebuilt = accepted(data, topic({"compression.type": wanted}))
    header = rebuilt.header
    assert header.codec == (
        Compression.NONE if wanted == "uncompressed" else Compression[wanted.upper()]
    )
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 40)
    assert list(decode_records(rebuilt.records, 10_000)) == before


@pytest.mark.parametrize("codec", [it for it in Compression if it != Compression.NONE])
def test_records_that_do_not_decompress_are_invalid(codec: Compression) -> None:
    assert judge(with_header(batch(b"garbage"), attributes=int(codec))) == ErrorCode.INVALID_RECORD


def record(  # the fields of a record
    offset: int,
    timestamp: int = 0,
    key: bytes = b"\x01",
    value: bytes = b"\x02v",
    headers: bytes = b"\x00",
    longer: int = 0,
) -> bytes:
    """A record as it is on the wire; key, value and headers with their lengths, as the test wants them."""
    body = b"\0" + zigzag(timestamp) + zigzag(offset) + key + value + headers
    return zigzag(len(body) + longer) + body


def raw(*records: bytes, count: int | None = None, **changes: int) -> memoryview:
    """A batch of these records, with a right CRC."""
    number = len(records) if count is None else count
    header = parse_header(batch())._replace(records_count=number, last_offset_delta=number - 1)
    return memoryview(encode_header(header._replace(**changes), b"".join(records)))


BAD_RECORDS = {
    "nothing": raw(count=1),
    "garbage": raw(b"\xff" * 40, count=1),
    "fewer than counted": raw(record(0), count=2),
    "far fewer than counted": raw(record(0), count=2**31 - 1),
    "more than counted": raw(record(0), record(1), count=1),
    "bytes behind the last": raw(record(0) + b"\0", count=1),
    "offset skipped": raw(record(0), record(2)),
    "offset far away": raw(record(0), record(10**6)),
    "offset twice": raw(record(0), record(0)),
    "first offset": raw(record(1)),
    "negative offset": raw(record(-1)),
    "too long": raw(record(0, longer=1), record(1)),
    "too short": raw(record(0, longer=-1), record(1)),
    "negative length": raw(zigzag(-5) + record(0)[1:]),
    "key beyond the record": raw(record(0, key=zigzag(1000))),
    "value beyond the record": raw(record(0, value=zigzag(1000))),
    "value into the next record": raw(record(0, value=zigzag(9) + b"v"), record(1)),
    "header missing": raw(record(0, headers=b"\x02")),
    "negative headers": raw(record(0, headers=zigzag(-1))),
    "header without a key": raw(record(0, headers=b"\x02\x01\x02v")),
    "header key beyond": raw(record(0, headers=b"\x02" + zigzag(99) + b"k\x02v")),
    "header value beyond": raw(record(0, headers=b"\x02\x02k" + zigzag(99) + b"v")),
    "key length below -1": raw(record(0, key=zigzag(-2))),
    "value length below -1": raw(record(0), record(1, value=zigzag(-7))),
    "header value length below -1": raw(record(0, headers=b"\x02\x02k" + zigzag(-3))),
    "varint of six bytes": raw(b"\x80\x80\x80\x80\x80\x00" + record(0)[1:]),
    "varint beyond 32 bits": raw(b"\x90\x80\x80\x80\x7f" + record(0)[1:]),
    "varlong of eleven bytes": raw(zigzag(18) + b"\0" + b"\x80" * 10 + b"\0\0\x01\x02v\0"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_records_that_cannot_be_read_as_the_header_says_are_invalid(name: str) -> None:
    """A consumer would not get past them, or offsets would be skipped or given twice."""
    assert judge(memoryview(bytearray(BAD_RECORDS[name]))) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("name", BAD_RECORDS)
@pytest.mark.parametrize("codec", [it for it in Compression if it != Compression.NONE])
def test_compressed_records_are_validated_like_others(codec: Compression, name: str) -> None:
    plain = BAD_RECORDS[name]
    header = parse_header(plain)._replace(attributes=int(codec))
    data = memoryview(encode_header(header, compress(codec, plain[61:])))
    assert judge(data) == ErrorCode.INVALID_RECORD
    assert judge(data, topic({"compression.type": "gzip"})) == ErrorCode.INVALID_RECORD
    found = validate(data, limits=ValidationLimits(walks_compressed=False))
    assert isinstance(found, Validated), "its records are believed"


@pytest.mark.parametrize("form", UNUSUAL, ids=lambda form: form.name)
@pytest.mark.parametrize("wanted", ["producer", "gzip", "zstd", "uncompressed"])
def test_records_in_an_unusual_form_are_stored_in_one_that_every_client_reads(
    form: Form, wanted: str
) -> None:
    """librdkafka would lose the records of a second gzip member, and all that are behind that batch."""
    plain = batch(b"first", b"second" * 50, producer_id=7, producer_epoch=2, base_sequence=40)
    header = parse_header(plain)._replace(attributes=int(form.codec))
    data = memoryview(encode_header(header, form.encode(bytes(plain[61:]))))
    found = accepted(data, topic({"compression.type": wanted}))
    codec = form.codec
    if wanted != "producer":
        codec = Compression.NONE if wanted == "uncompressed" else Compression[wanted.upper()]
    assert found.header.codec == codec
    assert check_crc(found.records)
    assert found.header[-4:] == header[-4:], "producer, epoch, sequence and count"
    assert list(decode_records(found.records, 10_000)) == list(decode_records(plain, 10_000))
    framing = Framing()
    for _ in decompressed_pieces(codec or 0, found.records[61:], 10_000, framing) if codec else ():
        pass
    assert framing.is_plain


@pytest.mark.parametrize("form", PLAIN, ids=lambda form: form.name)
def test_one_plain_stream_is_stored_as_it_was_sent(form: Form) -> None:
    plain = batch(b"first", b"second" * 50)
    header = parse_header(plain)._replace(attributes=int(form.codec))
    data = memoryview(encode_header(header, form.encode(bytes(plain[61:]))))
    assert accepted(data).records is data


@pytest.mark.parametrize("walks_compressed", [True, False])
def test_lz4_blocks_that_depend_on_each_other_are_refused(*, walks_compressed: bool) -> None:
    """Kafka's Java consumers would not get past them."""
    plain = raw(*(record(it, value=zigzag(1000) + bytes(1000)) for it in range(100)))
    header = parse_header(plain)._replace(attributes=int(Compression.LZ4))
    limits = ValidationLimits(walks_compressed=walks_compressed)
    linked = lz4.frame.compress(plain[61:], block_linked=True)
    found = refused(memoryview(encode_header(header, linked)), limits=limits)
    assert found.code == ErrorCode.INVALID_RECORD
    independent = lz4.frame.compress(plain[61:], block_linked=False)
    accepted(memoryview(encode_header(header, independent)), limits=limits)


@pytest.mark.parametrize("position", [1, 7, 40, 63, 64, 65, 200, 299])
@pytest.mark.parametrize("what", ["length", "offset", "key", "value", "headers"])
def test_one_bad_record_among_many_equal_ones_is_found(what: str, position: int) -> None:
    """Records of equal size are checked by columns, not one by one."""
    records = [record(it, it // 3, b"\x04kk", b"\x08" + b"vvvv") for it in range(300)]
    good = raw(*records)
    assert judge(good) == ErrorCode.NONE
    bad = bytearray(records[position])
    wide = 1 if position > 63 else 0  # the offset takes two bytes
    late = 1 if position // 3 > 63 else 0
    place = {
        "length": 0,
        "offset": 3 + late,
        "key": 4 + wide + late,
        "value": 7 + wide + late,
        "headers": len(bad) - 1,
    }[what]
    bad[place] ^= 2
    records[position] = bytes(bad)
    assert judge(raw(*records)) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize("varied", [False, True])
@pytest.mark.parametrize("position", [0, 1, 63, 64, 65, 150, 199])
def test_one_bad_record_in_a_long_batch_is_found(position: int, *, varied: bool) -> None:
    """Its records are read where they were received, and copied only if their sizes differ."""

    def records(bad: int) -> memoryview:
        sizes = [1_000 + (7 * it % 50 if varied else 0) for it in range(200)]
        return raw(
            *(
                record(it, 100 * it, b"\x01", zigzag(size) + bytes(size), longer=-(it == bad))
                for it, size in enumerate(sizes)
            )
        )

    good = records(-1)
    assert len(good) > 2**17
    assert accepted(good).header.max_timestamp == NOW_MS + 100 * 199
    assert judge(records(position)) == ErrorCode.INVALID_RECORD


def test_an_offset_of_more_bytes_than_needed_hides_nothing_in_the_records_behind_it() -> None:
    """Equal records are compared with one that was read; its fields must lie where theirs do."""
    forms = [
        b"\0\0" + bytes((2 * it | 0x80, 0) if it < 2 else (2 * it, 0x7F)) + b"\x00\x02v\0"
        for it in range(40)
    ]
    assert judge(raw(*(zigzag(len(it)) + it for it in forms))) == ErrorCode.INVALID_RECORD


def test_the_first_offset_of_two_bytes_hides_nothing_in_the_records_behind_it() -> None:
    empty = b"\x01"  # a length of -1
    records = [record(it, -1 if it == 63 else 0, empty, empty) for it in range(64)]
    cut = [record(it, 0, empty, b"", b"\0") for it in range(64, 120)]  # as long, a field less
    assert judge(raw(*records, *cut)) == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    "deltas",
    [
        range(300),
        range(-100, 200),
        range(0, 3_000_000, 10_000),
        [0, 2**40, -(2**40), *range(297)],
        [5] * 300,
        [300 - it for it in range(300)],
    ],
    ids=str,
)
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.LZ4])
def test_the_maximum_timestamp_is_that_of_the_records(
    deltas: Sequence[int], codec: Compression
) -> None:
    config = topic({"message.timestamp.after.max.ms": str(2**62)})
    plain = raw(*(record(it, delta) for it, delta in enumerate(deltas)))
    for claimed in (-1, 1, NOW_MS, 2**60):
        header = parse_header(plain)._replace(max_timestamp=claimed, attributes=int(codec))
        data = memoryview(encode_header(header, compress(codec, plain[61:])))
        assert accepted(data, config).header.max_timestamp == NOW_MS + max(deltas)


def test_a_right_header_is_left_as_it_is() -> None:
    data = batch(b"a", b"b")
    before = bytes(data)
    assert bytes(accepted(data).records) == before


@pytest.mark.parametrize("claimed", [-1, NOW_MS])
def test_a_timestamp_that_the_header_hides_is_refused_and_its_record_is_named(claimed: int) -> None:
    data = raw(record(0), record(1, 10**8), record(2), record(3, 10**9), max_timestamp=claimed)
    found = refused(data)
    assert found.code == ErrorCode.INVALID_TIMESTAMP
    assert [index for index, _ in found.record_errors] == [1, 3]
    old = raw(record(0), record(1, -(10**8)))
    config = topic({"message.timestamp.before.max.ms": "60000"})
    assert [index for index, _ in refused(old, config).record_errors] == [1]
    assert judge(old) == ErrorCode.NONE


def test_a_base_in_the_future_does_not_hide_behind_an_empty_maximum() -> None:
    """It would be the newest of the partition for good, and stop deletion by age."""
    data = with_header(batch(), base_timestamp=2**62, max_timestamp=-1)
    assert judge(data) == ErrorCode.INVALID_TIMESTAMP
    compressed = with_header(
        batch(compression=Compression.ZSTD), base_timestamp=2**62, max_timestamp=-1
    )
    by_header = refused(compressed, limits=ValidationLimits(walks_compressed=False))
    assert by_header.code == ErrorCode.INVALID_TIMESTAMP


def test_timestamps_that_overflow_are_refused() -> None:
    config = topic({"message.timestamp.after.max.ms": str(2**63 - 1)})
    data = raw(record(0), record(1, 2**62), base_timestamp=2**63 - 5)
    assert judge(data, config) == ErrorCode.INVALID_TIMESTAMP


def test_records_without_a_timestamp_are_in_every_bound() -> None:
    config = topic({"message.timestamp.before.max.ms": "1000"})
    data = with_header(batch(), base_timestamp=-1, max_timestamp=-1)
    assert accepted(data, config).header.max_timestamp == -1


def test_the_append_time_bit_is_cleared_where_the_producer_sets_the_time() -> None:
    found = accepted(batch(log_append_time_ms=NOW_MS - 5))
    assert not found.header.is_log_append_time
    assert found.header.max_timestamp == NOW_MS - 5
    assert judge(batch(log_append_time_ms=-1)) == ErrorCode.INVALID_TIMESTAMP
    assert judge(batch(log_append_time_ms=NOW_MS + 10**8)) == ErrorCode.INVALID_TIMESTAMP


def test_a_topic_that_stamps_sets_bit_and_time() -> None:
    found = accepted(batch(at=5), topic({"message.timestamp.type": "LogAppendTime"}))
    assert found.header.is_log_append_time
    assert (found.header.max_timestamp, found.append_time_ms) == (NOW_MS, NOW_MS)


def test_a_batch_that_decompresses_to_too_much_is_too_large() -> None:
    data = batch(bytes(100_000), compression=Compression.ZSTD)
    limits = ValidationLimits(max_decompressed_bytes=99_000)
    assert refused(data, limits=limits).code == ErrorCode.MESSAGE_TOO_LARGE
    wanted = topic({"compression.type": "lz4"})
    assert refused(data, wanted, limits).code == ErrorCode.MESSAGE_TOO_LARGE
    assert validate(data, limits=ValidationLimits(max_decompressed_bytes=101_000)).__class__ is (
        Validated
    )


def many_headers(count: int) -> memoryview:
    one = record(0, headers=zigzag(count) + bytes(2 * count))
    header = parse_header(raw(one))._replace(attributes=int(Compression.ZSTD))
    return memoryview(encode_header(header, compress(Compression.ZSTD, one)))


def test_headers_count_as_much_as_records() -> None:
    """Some kilobytes may hold tens of millions of them."""
    assert judge(many_headers(append_rules.MAX_ELEMENTS)) == ErrorCode.MESSAGE_TOO_LARGE
    assert judge(many_headers(5_000)) == ErrorCode.NONE


@pytest.mark.parametrize(
    "data",
    [
        many_headers(100_000),
        raw(*(record(it) for it in range(20_000))),
        raw(*(record(it, 0, b"\x01", zigzag(it % 50) + bytes(it % 50)) for it in range(20_000))),
        batch(bytes(20_000_000), compression=Compression.ZSTD),
    ],
    ids=["headers", "equal records", "records", "bytes"],
)
def test_work_that_takes_long_is_done_in_slices(data: memoryview) -> None:
    steps = append_rules.validate(
        memoryview(bytearray(data)), topic(), LIMITS, version=9, now_ms=NOW_MS
    )
    assert not isinstance(steps, (Validated, Rejection))
    slices = 0
    while isinstance(found := append_rules.advance(steps), Slice):
        slices += 1
    assert isinstance(found, Validated) or found.code == ErrorCode.MESSAGE_TOO_LARGE
    assert slices >= 9
