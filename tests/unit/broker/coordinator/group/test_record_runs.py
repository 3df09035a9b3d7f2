"""Offsets of a batch that follow each other alike are read as one run: it comes to the same as one after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.broker.coordinator.group.record_runs import MAX_RUN_RECORDS, decode_records
from headrace.broker.coordinator.group.records import (
    CoordinatorRecord,
    GroupMetadataValue,
    GroupRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    OffsetRecord,
    OffsetRun,
    decode_record,
    encode_record,
)
from headrace.broker.coordinator.group.shard import GroupShard
from headrace.broker.coordinator.runtime.record_fields import CorruptRecordError
from headrace.config.node import GroupConfig
from headrace.protocol.records import record as records_of_a_batch
from headrace.protocol.records.batch import HEADER_BYTES, encode_header, parse_header
from headrace.protocol.records.compression import Compression, compress
from headrace.protocol.records.errors import CorruptBatchError
from headrace.protocol.records.record import (
    BatchOptions,
    RecordReader,
    encode_batch,
    encode_varint,
)
from tests.unit.broker.coordinator.fake_log import replay

GROUP = GroupRecord("a", GroupMetadataValue("consumer", 1, None, None, 5, ()))
LIMIT = 1 << 24
TAGS_AT = 23  # in the value of an offset without metadata
FIELDS = 7  # of a record that are varints


@dataclass(frozen=True)
class Written:
    """A record as some client's batch may hold it."""

    key: bytes
    value: bytes | None
    timestamp_delta: int = 0
    offset_delta: int = 0
    headers: tuple[tuple[bytes, bytes], ...] = ()
    longer: int | None = None  # a varint that takes more bytes than it needs
    damage: tuple[int, int] = (0, 0)  # where, and which bits

    def encode(self) -> bytes:
        lengths = (self.timestamp_delta, self.offset_delta, len(self.key))
        body = bytearray(1)
        for number, field in enumerate(lengths):
            body += self.varint(number, field)
        body += self.key
        body += self.varint(3, -1 if self.value is None else len(self.value))
        body += self.value or b""
        body += self.varint(4, len(self.headers))
        for header in self.headers:
            for text in header:
                body += self.varint(5, len(text)) + text
        found = bytearray(self.varint(6, len(body)) + body)
        at, bits = self.damage
        found[at] ^= bits
        return bytes(found)

    def varint(self, number: int, value: int) -> bytes:
        *begin, last = encode_varint(value)
        return bytes((*begin, last | 0x80, 0) if number == self.longer else (*begin, last))


def batch_of(
    written: Sequence[Written], codec: Compression = Compression.NONE, wrong: int = 0
) -> bytearray:
    """A batch of these records; its header may count some more or less."""
    header = parse_header(
        encode_batch([], BatchOptions(compression=codec, base_offset=0, last_offset=0))
    )
    header = header._replace(records_count=max(0, len(written) + wrong))
    data = b"".join(record.encode() for record in written)
    return encode_header(header, compress(codec, data))


def reader_of(batch: bytearray) -> RecordReader:
    return RecordReader(memoryview(batch), parse_header(batch), LIMIT)


def singly(batch: bytearray) -> Iterator[tuple[CoordinatorRecord | None, int]]:
    for record in records_of_a_batch.decode_records(memoryview(batch), LIMIT):
        yield decode_record(record.key, record.value), 1


def replayed(
    decoded: Iterator[tuple[CoordinatorRecord | OffsetRun | None, int]],
) -> tuple[object, ...]:
    """What a shard knows after these records; how many there were, of unknown kinds too; why there were no more."""
    shard, count, unknown = GroupShard(GroupConfig()), 0, 0
    error = None
    try:
        for record, number in decoded:
            count += number
            unknown += record is None
            if record is not None:
                replay(shard, record)
    except (CorruptBatchError, CorruptRecordError) as found:
        error = type(found), str(found)
    return shard.image(), shard.live.count, shard.live.size_bytes, count, unknown, error


def written_of(record: CoordinatorRecord) -> Written:
    return Written(*encode_record(record))


@st.composite
def commits(draw: st.DrawFn) -> list[Written]:
    """Offsets that are alike, but for some of them."""
    group, topic = draw(st.sampled_from(("a", "b", "b" * 70))), draw(st.sampled_from("tuü"))
    topic_id = draw(st.sampled_from((None, UUID(int=1), UUID(int=2))))
    metadata = draw(st.sampled_from(("", "", "", "note")))
    expiry_ms = draw(st.sampled_from((-1, -1, -1, 9)))
    time_delta, first = draw(st.sampled_from((0, 1, 500))), draw(st.sampled_from((0, 60, 8_180)))
    written = []
    for number in range(draw(st.integers(1, 20))):
        key = OffsetCommitKey(group, topic, draw(st.integers(-1, 9)))
        epoch = -1 if expiry_ms != -1 else number % 3
        value = OffsetCommitValue(number, epoch, metadata, number // 2, expiry_ms)
        if expiry_ms == -1:
            value = value._replace(topic_id=topic_id)
        record = written_of(OffsetRecord(key, value))
        written.append(replace(record, timestamp_delta=time_delta, offset_delta=first + number))
    for at in draw(st.lists(st.integers(0, len(written) - 1), max_size=2, unique=True)):
        written[at] = draw(st.sampled_from(list(unusual(written[at]))))
    return written


def unusual(record: Written) -> Iterator[Written]:
    """What may come in between."""
    assert record.value is not None
    yield replace(record, value=None)
    yield replace(record, headers=((b"h", b"v"),))
    yield replace(record, timestamp_delta=7)
    yield replace(record, key=b"\0\0" + record.key[2:])  # the older version
    yield replace(record, key=record.key[:4] + b"z" + record.key[5:])  # another group
    yield replace(record, key=b"\0\x09" + record.key[2:])  # of an unknown kind
    for version in range(6):
        yield replace(record, value=bytes((0, version)) + record.value[2:])
    for length in (
        0,
        2,
    ):  # of the metadata, plus one: of the same size with other bytes than expected
        yield replace(record, value=record.value[:14] + bytes((length,)) + record.value[15:])
    for tags in (b"\0", b"\1\5\2ab", b"\1\0\x10" + UUID(int=3).bytes, b"\0\0"):
        yield replace(record, value=record.value[:TAGS_AT] + tags)
    for number in range(FIELDS):
        yield replace(record, longer=number)
    for at in range(
        8
    ):  # length, attributes, timestamp delta, offset delta, and what the key begins with
        for bits in (1, 2, 0x80):
            yield replace(record, damage=(at, bits))
    for delta in (0, -1, -65, 63, 64, 8_191, 8_192, 2**31):
        yield replace(record, offset_delta=delta)


groups = st.sampled_from([GROUP, GroupRecord("a", None)]).map(lambda it: [written_of(it)])
logs = st.lists(st.one_of(commits(), commits(), groups), max_size=6)
damage = st.lists(st.tuples(st.integers(0, 10_000), st.integers(1, 255)), max_size=2)


@settings(deadline=None)
@given(logs, st.sampled_from((Compression.NONE, Compression.NONE, Compression.GZIP)))
def test_runs_and_single_records_give_the_same_shard(
    log: list[list[Written]], codec: Compression
) -> None:
    batch = batch_of([record for records in log for record in records], codec)
    assert replayed(decode_records(reader_of(batch))) == replayed(singly(batch))


@settings(deadline=None)
@given(logs, damage, st.sampled_from((0, 0, -1, -2, 1)))
def test_a_damaged_batch_is_read_as_far_as_single_records_are(
    log: list[list[Written]], changes: list[tuple[int, int]], wrong: int
) -> None:
    batch = batch_of([record for records in log for record in records], wrong=wrong)
    for at, bits in changes:
        if len(batch) > HEADER_BYTES:
            batch[HEADER_BYTES + at % (len(batch) - HEADER_BYTES)] ^= bits
    assert replayed(decode_records(reader_of(batch))) == replayed(singly(batch))


def offset(partition: int, group: str = "g") -> OffsetRecord:
    return OffsetRecord(OffsetCommitKey(group, "t", partition), OffsetCommitValue(5, 1, "", 7))


def decoded_of(
    records: Sequence[CoordinatorRecord | Written],
) -> list[tuple[CoordinatorRecord | OffsetRun | None, int]]:
    written = [it if isinstance(it, Written) else written_of(it) for it in records]
    return list(decode_records(reader_of(batch_of(written))))


def test_a_run_ends_with_its_group_and_topic_and_with_anything_else() -> None:
    unknown = Written(b"\0\x09", b"")
    removed = offset(1, "h")._replace(value=None)
    found = decoded_of(
        [offset(0), offset(1), offset(0), offset(0, "h"), GROUP, offset(1, "h"), removed, unknown]
    )
    value = OffsetCommitValue(5, 1, "", 7)
    assert found == [
        (OffsetRun("g", "t", {0: value, 1: value}), 3),
        (OffsetRun("h", "t", {0: value}), 1),
        (GROUP, 1),
        (OffsetRun("h", "t", {1: value}), 1),
        (removed, 1),
        (None, 1),
    ]


def test_an_offset_has_the_topic_id_of_its_own_record() -> None:
    values = [OffsetCommitValue(5, 1, "", 7, topic_id=UUID(int=it)) for it in (1, 1, 2)]
    keys = [OffsetCommitKey("g", "t", it) for it in range(3)]
    found = decoded_of(list(map(OffsetRecord, keys, values)))
    assert found == [
        (OffsetRun("g", "t", {0: values[0], 1: values[1]}), 2),
        (OffsetRun("g", "t", {2: values[2]}), 1),
    ]


def test_what_a_rewrite_writes_is_read_in_few_runs_each_with_a_bound() -> None:
    written = [replace(written_of(offset(number)), offset_delta=number) for number in range(1_000)]
    counts = [number for _, number in decoded_of(written)]
    assert sum(counts) == 1_000
    assert max(counts) == MAX_RUN_RECORDS
    assert len(counts) <= 1_000 // MAX_RUN_RECORDS + 2
