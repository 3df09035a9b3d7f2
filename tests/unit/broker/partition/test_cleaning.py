"""What stays of a compacted topic's batches."""

import random

import pytest

from headrace.broker.partition.append_rules import advance
from headrace.broker.partition.cleaning import (
    BatchFilter,
    CleaningRules,
    KeyMap,
    NotCleanError,
    aborted_by_producer,
    producers_to_keep,
)
from headrace.broker.partition.producer_state import last_sequence
from headrace.protocol.partition_checkpoint import AbortedEntry, BatchMetadata, ProducerEntry
from headrace.protocol.records.batch import (
    HEADER_BYTES,
    BatchHeader,
    check_crc,
    newest_timestamp,
    parse_header,
)
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, decode_records, encode_batch
from headrace.protocol.records.window import Slice

NOW_MS = 1_000_000
DELETE_RETENTION_MS = 5_000
LIMIT = 1 << 30
OLDER = [(10, b"a", b"1"), (11, b"b", b"2"), (12, b"a", b"3")]


def last_sequence_of(header: BatchHeader) -> int:
    """Sequence of the last record; -1 without one."""
    if header.base_sequence < 0:
        return header.base_sequence
    return last_sequence(header.base_sequence, header.last_offset_delta + 1)


def batch(records, **options):
    made = [
        Record(offset, 500 + offset, key, value, ((("h", b"x"),) if offset % 2 else ()))
        for offset, key, value in records
    ]
    return memoryview(encode_batch(made, BatchOptions(**options)))


def rules(**changes):
    made = {
        "now_ms": NOW_MS,
        "delete_retention_ms": DELETE_RETENTION_MS,
        "cleaned_offset": 0,
        "producers": {},
        "aborted": {},
    }
    return CleaningRules(**(made | changes))


def done(steps):
    while isinstance(found := advance(steps), Slice):
        pass
    return found


def a_filter(indexed=(), max_keys=1_000_000, **changes):
    made = BatchFilter(rules(**changes), KeyMap(max_keys))
    for it in indexed:
        done(made.index(it))
    return made


def clean(found, cleaned, *, must_stay=False):
    return done(found.clean(cleaned, must_stay=must_stay))


def content(cleaned):
    return [(it.offset, it.key, it.value) for it in decode_records(cleaned, LIMIT)]


@pytest.mark.parametrize("codec", Compression)
def test_only_the_last_record_of_a_key_stays(codec):
    before = batch(
        OLDER, compression=codec, leader_epoch=7, producer_id=3, producer_epoch=1, base_sequence=20
    )
    after = clean(a_filter([before]), before)
    assert content(after) == OLDER[1:]
    assert [*decode_records(before, LIMIT)][1:] == [*decode_records(after, LIMIT)]
    was, header = parse_header(before), parse_header(after)
    assert check_crc(after)
    changed = {"batch_length", "crc", "records_count"}
    assert {name for name in was._fields if getattr(was, name) != getattr(header, name)} <= changed
    assert (header.records_count, header.last_offset, last_sequence_of(header)) == (2, 12, 22)


def test_a_batch_of_which_all_stays_is_not_changed():
    before = batch(OLDER[1:])
    assert clean(a_filter([before]), before) is before


def test_the_newest_timestamp_is_that_of_what_stays():
    before = batch([(1, b"a", b"1"), (2, b"b", b"2")])
    newer = batch([(3, b"b", b"3")])
    after = clean(a_filter([before, newer]), before)
    assert newest_timestamp(parse_header(after)) == 501


def test_a_batch_of_which_nothing_stays_goes():
    before = batch(OLDER)
    found = a_filter([before, batch([(13, b"a", b"4"), (14, b"b", b"5")])])
    assert clean(found, before) is None


def test_one_that_must_stay_keeps_its_offsets_and_nothing_else():
    before = batch(OLDER, compression=Compression.GZIP, leader_epoch=7)
    found = a_filter([before, batch([(13, b"a", b"4"), (14, b"b", b"5")])])
    assert clean(found, before) is None
    after = clean(found, before, must_stay=True)
    header = parse_header(after)
    assert (len(after), content(after)) == (HEADER_BYTES, [])
    assert (header.base_offset, header.last_offset, header.records_count) == (10, 12, 0)
    assert (header.partition_leader_epoch, header.codec, header.base_timestamp) == (7, 0, -1)
    assert header.max_timestamp == 512
    assert check_crc(after)
    assert found.counts.records_in == 3
    # As it is cleaned again.
    assert clean(found, after) is None
    assert clean(found, after, must_stay=True) is after


def test_the_last_batch_of_a_producer_stays_without_records():
    of_seven = {"producer_id": 7, "producer_epoch": 2, "base_sequence": 5}
    first, last = batch(OLDER[:1], **of_seven), batch(OLDER[1:], **of_seven)
    newer = batch([(13, b"a", b"4"), (14, b"b", b"5")])
    found = a_filter([first, last, newer], producers={7: 12})
    assert clean(found, first) is None
    header = parse_header(clean(found, last))
    assert (header.producer_id, header.producer_epoch, last_sequence_of(header)) == (7, 2, 6)
    assert header.records_count == 0


def test_of_a_producer_the_newest_acknowledged_batch_is_its_last_one():
    def metadata(offset):
        return BatchMetadata(0, 0, offset, offset, 0)

    known = [
        ProducerEntry(1, 0, 0, (metadata(5), metadata(8), metadata(20))),
        ProducerEntry(2, 0, 0, (metadata(20),)),
        ProducerEntry(3, 0, 0, ()),
    ]
    assert producers_to_keep(known, 20) == {1: 8, 2: 0, 3: 0}
    assert producers_to_keep(known, 21) == {1: 20, 2: 20, 3: 0}


def test_records_without_a_key_go():
    before = batch([(10, None, b"1"), (11, b"b", b"2")])
    found = a_filter([before])
    assert content(clean(found, before)) == [(11, b"b", b"2")]
    assert found.counts.records_without_key == 1


@pytest.mark.parametrize("codec", Compression)
def test_a_tombstone_stays_until_its_horizon(codec):
    records = [(10, b"a", b"1"), (11, b"a", None), (12, b"b", b"2")]
    before = batch(records, compression=codec)
    after = clean(a_filter([before]), before)
    header = parse_header(after)
    assert content(after) == records[1:]
    assert [it.timestamp_ms for it in decode_records(after, LIMIT)] == [511, 512]
    assert [*decode_records(after, LIMIT)] == [*decode_records(before, LIMIT)][1:]
    assert header.has_delete_horizon
    assert header.base_timestamp == NOW_MS + DELETE_RETENTION_MS
    assert newest_timestamp(header) == 512
    just_before = a_filter(now_ms=header.base_timestamp - 1, cleaned_offset=13)
    assert clean(just_before, after) is after
    later = a_filter(now_ms=header.base_timestamp, cleaned_offset=13)
    again = clean(later, after)
    assert content(again) == records[2:]
    assert [*decode_records(again, LIMIT)] == [*decode_records(before, LIMIT)][2:]


def test_a_horizon_is_set_once():
    before = batch([(10, b"a", None), (11, b"b", b"2")])
    after = clean(a_filter([before]), before)
    newer = batch([(12, b"b", b"3")])
    again = clean(a_filter([newer], now_ms=NOW_MS + 1, cleaned_offset=12), after)
    assert content(again) == [(10, b"a", None)]
    assert parse_header(again).base_timestamp == NOW_MS + DELETE_RETENTION_MS


def test_with_append_time_a_tombstone_keeps_it():
    before = batch([(10, b"a", None)], log_append_time_ms=777)
    after = clean(a_filter([before]), before)
    assert [it.timestamp_ms for it in decode_records(after, LIMIT)] == [777]


def test_a_tombstone_that_was_never_cleaned_is_not_below_the_cleaned_offset():
    with pytest.raises(NotCleanError):
        clean(a_filter(cleaned_offset=11), batch([(10, b"a", None)]))


def test_records_of_aborted_transactions_go_and_hide_nothing():
    of_seven = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    aborted = aborted_by_producer([AbortedEntry(7, 11, 13, 14)])
    before = [
        batch([(10, b"a", b"1")]),
        batch([(11, b"a", b"2")], **of_seven),
        batch([(12, b"a", b"3")], **(of_seven | {"producer_id": 8})),
        batch([(14, b"c", b"4")], **of_seven),
    ]
    found = a_filter([before[0], before[1]], aborted=aborted)
    assert clean(found, before[0]) is before[0]
    assert clean(found, before[1]) is None
    for it in before[2:]:
        assert clean(found, it) is it


def test_a_control_batch_stays():
    before = batch([(10, b"\0\0\0\1", b"\0\0\0\0\0\0")], producer_id=7, is_control=True)
    found = a_filter([before, batch([(11, b"\0\0\0\1", b"x")])])
    assert clean(found, before) is before


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
def test_a_batch_that_cannot_be_read_stays_and_hides_nothing(codec):
    older = batch([(5, b"a", b"0"), (6, b"b", b"0")])
    damaged = bytearray(batch(OLDER, compression=codec))
    damaged[-3:] = b"\xff\xff\xff"
    damaged = memoryview(damaged)
    found = a_filter([older, damaged])
    assert clean(found, damaged) is damaged
    assert clean(found, older) is older
    assert found.counts.batches_unreadable == 1


def test_tombstones_that_are_kept_for_ever_have_the_last_horizon_of_all():
    before = batch([(10, b"a", None)])
    after = clean(a_filter([before], delete_retention_ms=(1 << 63) - 1), before)
    assert parse_header(after).base_timestamp == (1 << 63) - 1
    assert [it.timestamp_ms for it in decode_records(after, LIMIT)] == [510]


@pytest.mark.parametrize("time_ms", [-(1 << 63), (1 << 63) - 1, -1, 0])
def test_times_at_the_ends_of_their_range(time_ms):
    before = memoryview(encode_batch([Record(10, time_ms, b"a", None)], BatchOptions()))
    after = clean(a_filter([before]), before)
    header = parse_header(after)
    (found,) = decode_records(after, LIMIT)
    assert (found.timestamp_ms - time_ms) % (1 << 64) == 0
    assert header.max_timestamp == max(time_ms, -1)
    again = clean(a_filter([after]), after)
    assert again is after


@pytest.mark.parametrize("seed", range(30))
def test_nothing_that_may_be_stored_raises(seed):
    rng = random.Random(seed)
    for _ in range(60):
        (made,) = random_history(rng, 1)
        hostile = bytearray(made)
        for _ in range(rng.randint(1, 4)):
            # Not the size, by which the log is divided into batches.
            position = rng.choice((*range(16, 61), *range(61, len(hostile))))
            hostile[position] = rng.choice((0, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        found = a_filter([memoryview(hostile)], delete_retention_ms=rng.choice((1, (1 << 63) - 1)))
        cleaned = clean(found, memoryview(hostile))
        if cleaned is not None and cleaned is not memoryview(hostile):
            clean(a_filter([cleaned]), cleaned, must_stay=True)


def test_long_keys_are_told_apart_from_short_ones():
    keys = KeyMap(10)
    long = b"k" * 100
    keys.put(long, 5)
    (stored,) = keys._offsets
    assert len(stored) < len(long)
    keys.put(stored[:24], 7)
    assert (keys.newest(long), keys.newest(long + b"k"), keys.newest(stored[:24])) == (5, -1, 7)
    keys.put(long, 3)
    assert keys.newest(long) == 5


def test_long_work_is_done_in_slices():
    many = batch(
        [(it, b"%d" % (it % 7), b"v") for it in range(5_000)], compression=Compression.ZSTD
    )
    found = a_filter()
    slices = 0
    for steps in (found.index(many), found.clean(many, must_stay=False)):
        while isinstance(advance(steps), Slice):
            slices += 1
    assert slices >= 18


def test_a_small_batch_that_becomes_large_is_decompressed_in_a_thread():
    large = batch([(0, b"k", bytes(4 << 20))], compression=Compression.ZSTD)
    assert len(large) < 10_000
    found = a_filter()
    for steps in (found.index(large), found.clean(large, must_stay=False)):
        assert advance(steps) is Slice.THREAD
        done(steps)
    assert found._keys.newest(b"k") == 0
    small = batch([(1, b"k", b"v")], compression=Compression.ZSTD)
    assert advance(found.index(small)) is None


def test_many_aborted_transactions_of_one_producer():
    entries = [AbortedEntry(7, 10 * it, 10 * it + 5, 10 * it + 6) for it in range(50_000)]
    aborted = aborted_by_producer([*entries, AbortedEntry(8, 0, 9, 10)])
    assert aborted == {7: tuple(entries), 8: (AbortedEntry(8, 0, 9, 10),)}
    of_seven = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    found = a_filter(aborted=aborted)
    for offset in (0, 4, 5, 9, 10, 499_990, 499_995):
        is_aborted = offset % 10 < 5
        made = batch([(offset, b"a", b"1")], **of_seven)
        assert (clean(found, made) is None) == is_aborted


def random_history(rng, number):
    """Batches of some producers, with gaps as a log has that was cleaned before."""
    offset, made = 0, []
    for _ in range(number):
        records = []
        for _ in range(rng.randint(1, 6)):
            key = b"k%d" % rng.randint(0, 8) + b"-" * rng.choice((0, 40))
            value = None if rng.random() < 0.2 else b"%d" % offset
            records.append((offset, key, value))
            offset += 1
        options = {"compression": rng.choice([*Compression])}
        if rng.random() < 0.5:
            options |= {
                "producer_id": rng.randint(0, 2),
                "producer_epoch": 0,
                "base_sequence": offset,
            }
        made.append(batch(records, **options))
    return made


def view(log):
    """What a consumer knows who has read everything: the last value of each key, none for a tombstone."""
    found = {}
    for it in log:
        found |= {key: value for _, key, value in content(it)}
    return {key: value for key, value in found.items() if value is not None}


@pytest.mark.parametrize("seed", range(40))
def test_a_reader_from_the_start_sees_the_last_value_of_each_key(seed):
    """However often, how far and with how small a map a log is cleaned, and wherever a pass ends early."""
    rng = random.Random(seed)
    log, dirty, now_ms = random_history(rng, 30), 0, NOW_MS
    history = {}
    for it in log:
        history |= {offset: (key, value) for offset, key, value in content(it)}
    expected, ends = view(log), [parse_header(it).next_offset for it in log]
    sequences = {parse_header(it).producer_id: last_sequence_of(parse_header(it)) for it in log}
    last = {parse_header(it).producer_id: parse_header(it).last_offset for it in log}
    last.pop(-1, None)
    for _ in range(12):
        now_ms += rng.choice((1, DELETE_RETENTION_MS))
        found = BatchFilter(
            rules(now_ms=now_ms, cleaned_offset=dirty, producers=last),
            KeyMap(rng.choice((3, 1000))),
        )
        end = rng.choice([it for it in ends if it >= dirty])
        for it in log:
            header = parse_header(it)
            if header.base_offset < dirty or header.next_offset > end:
                continue
            if found._keys.is_full:
                end = header.base_offset
                break
            done(found.index(it))
        stops_after = rng.choice((len(log), rng.randint(0, len(log))))
        cleaned = []
        for number, it in enumerate(log):
            if parse_header(it).next_offset > end or number >= stops_after:
                cleaned.append(it)
            else:
                after = clean(found, it)
                cleaned += [] if after is None else [after]
        if stops_after >= len(log):
            dirty = max(dirty, end)
        log = cleaned
        assert view(log) == expected
        for it in log:
            assert check_crc(it)
            for offset, key, value in content(it):
                assert history[offset] == (key, value)
        for producer_id in last:
            (found_sequence,) = [
                last_sequence_of(parse_header(it))
                for it in log
                if parse_header(it).producer_id == producer_id
            ][-1:]
            assert found_sequence == sequences[producer_id]
    assert sum(parse_header(it).records_count for it in log) < len(history)
