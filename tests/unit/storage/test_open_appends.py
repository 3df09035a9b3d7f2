"""Appends between the WAL and their confirmation."""

from headrace.storage.cache.log_cache import max_charge
from headrace.storage.open_appends import OpenAppend, OpenAppends, group_by_buffer
from headrace.storage.record_batch import StreamRecordBatch


def append_at(wal_offset: int, payload: memoryview, *, stream_id: int = 1) -> OpenAppend:
    batch = StreamRecordBatch(stream_id, 1, wal_offset, 1, payload)
    end = wal_offset + len(payload)
    return OpenAppend(wal_offset, end, batch, len(payload.obj), None, lambda _: None)


def payload(size: int) -> memoryview:
    return memoryview(bytearray(size))


def test_confirms_in_order_and_only_what_is_below_the_offset():
    appends = OpenAppends()
    for offset in (0, 10, 20):
        appends.add(append_at(offset, payload(10)))
    assert appends.wal_end_offset == 30
    assert appends.confirm(9) == []
    assert [each.wal_offset for each in appends.confirm(25)] == [0, 10]
    assert len(appends) == 1
    assert [each.wal_offset for each in appends.confirm(30)] == [20]
    assert appends.wal_end_offset == -1


def test_reservations_follow_what_is_open():
    appends = OpenAppends()
    for offset in (0, 10, 20):
        appends.add(append_at(offset, payload(10)))
    assert appends.reserved_bytes == 3 * max_charge(10, 1)
    appends.confirm(10)
    assert appends.reserved_bytes == 2 * max_charge(10, 1)
    assert [each.wal_offset for each in appends.abandon()] == [10, 20]
    assert appends.reserved_bytes == 0
    assert len(appends) == 0


def test_records_of_one_buffer_make_one_group():
    first, second = payload(100), payload(50)
    appends = [
        append_at(0, first[:10]),
        append_at(40, first[10:30], stream_id=2),
        append_at(4096, second[:5]),
    ]
    one, other = group_by_buffer(appends)
    assert [batch.stream_id for batch in one.batches] == [1, 2]
    assert (one.wal_offset, one.wal_end_offset, one.buffer_bytes) == (0, 60, 100)
    assert (other.wal_offset, other.wal_end_offset, other.buffer_bytes) == (4096, 4101, 50)
    assert group_by_buffer([]) == []
