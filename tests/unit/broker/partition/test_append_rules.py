"""What a produced batch must satisfy, rule by rule."""

from collections.abc import Mapping

import pytest

from headrace.broker.partition import append_rules
from headrace.broker.partition.append_rules import Rejection
from headrace.config.topic import EffectiveTopicConfig
from headrace.protocol.errors import ErrorCode
from headrace.protocol.records.batch import BatchHeader, encode_header, parse_header
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch

NOW_MS = 1_700_000_000_000


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


def judge(
    data: memoryview, config: EffectiveTopicConfig | None = None, version: int = 9
) -> ErrorCode:
    header = append_rules.parse_single_batch(data)
    if isinstance(header, Rejection):
        return header.code
    found = append_rules.check(header, data, config or topic(), version=version, now_ms=NOW_MS)
    return ErrorCode.NONE if found is None else found.code


@pytest.mark.parametrize("codec", list(Compression))
def test_a_good_batch_of_any_codec_is_taken(codec: Compression) -> None:
    assert judge(batch(b"a", b"b", compression=codec)) == ErrorCode.NONE


def test_no_batch_two_batches_and_part_of_a_batch_are_refused() -> None:
    whole = batch()
    assert append_rules.parse_single_batch(None) == append_rules.parse_single_batch(memoryview(b""))
    assert judge(memoryview(b"")) == ErrorCode.INVALID_RECORD
    assert judge(memoryview(bytes(whole) * 2)) == ErrorCode.INVALID_RECORD
    for length in range(1, len(whole)):
        assert judge(whole[:length]) == ErrorCode.CORRUPT_MESSAGE


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


def apply(data: memoryview, config: EffectiveTopicConfig) -> memoryview | Rejection:
    header = append_rules.parse_single_batch(data)
    assert isinstance(header, BatchHeader)
    assert append_rules.needs_records(header, config)
    return append_rules.apply_record_rules(header, data, config)


def test_a_compacted_topic_names_each_record_without_a_key() -> None:
    records = [
        Record(0, NOW_MS, b"k", b"1"),
        Record(1, NOW_MS, None, b"2"),
        Record(2, NOW_MS, None, b"3"),
    ]
    refused = apply(
        memoryview(encode_batch(records, BatchOptions())), topic({"cleanup.policy": "compact"})
    )
    assert isinstance(refused, Rejection)
    assert refused.code == ErrorCode.INVALID_RECORD
    assert [index for index, _ in refused.record_errors] == [1, 2]


def test_a_compacted_topic_takes_keyed_records_as_they_are() -> None:
    data = batch(b"v", key=b"k")
    assert apply(data, topic({"cleanup.policy": "compact"})) is data


def test_a_topic_may_ask_for_another_codec_and_keeps_the_rest() -> None:
    data = batch(b"a" * 500, b"b" * 500, producer_id=7, producer_epoch=2, base_sequence=40)
    rebuilt = apply(data, topic({"compression.type": "zstd"}))
    assert isinstance(rebuilt, memoryview)
    header = parse_header(rebuilt)
    assert header.codec == Compression.ZSTD
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 2, 40)
    assert list(decode_records(rebuilt, 10_000)) == list(decode_records(data, 10_000))
    assert judge(rebuilt) == ErrorCode.NONE


def test_nothing_is_decoded_when_the_header_settles_it() -> None:
    header = parse_header(batch())
    assert not append_rules.needs_records(header, topic())
    assert not append_rules.needs_records(header, topic({"compression.type": "uncompressed"}))
    assert append_rules.needs_records(header, topic({"compression.type": "lz4"}))


def test_records_that_do_not_decompress_are_invalid() -> None:
    data = with_header(batch(b"not gzip"), attributes=int(Compression.GZIP))
    refused = apply(data, topic({"cleanup.policy": "compact"}))
    assert isinstance(refused, Rejection)
    assert refused.code == ErrorCode.INVALID_RECORD


@pytest.mark.parametrize(
    "records",
    [
        [Record(it, NOW_MS, b"k", b"") for it in range(append_rules.MAX_DECODED_RECORDS + 1)],
        [Record(0, NOW_MS, b"k", bytes(append_rules.MAX_DECODED_BYTES))],
    ],
    ids=["records", "bytes"],
)
def test_a_small_batch_that_holds_very_much_is_not_decoded_while_others_wait(
    records: list[Record],
) -> None:
    data = memoryview(encode_batch(records, BatchOptions(compression=Compression.ZSTD)))
    assert judge(data) == ErrorCode.NONE, "as it is, it may be stored"
    refused = apply(data, topic({"cleanup.policy": "compact"}))
    assert isinstance(refused, Rejection)
    assert refused.code == ErrorCode.MESSAGE_TOO_LARGE
