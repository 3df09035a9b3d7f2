from dataclasses import replace

import pytest

from headrace.wal.errors import WalFailedError, WalOverCapacityError, WalRecordTooLargeError
from headrace.wal.objects.commit import CommitLimits, Generation, ObjectCommit
from headrace.wal.objects.layout import REACH, Kind, decode_header, read_records

LIMITS = CommitLimits(
    batch_bytes=1000,
    batch_interval_s=0.25,
    linger_s=0.01,
    max_inflight=REACH,
    max_unconfirmed_bytes=50_000,
    max_record_bytes=5000,
    buffer_bytes=4096,
)
GENERATION = Generation(
    cluster_id="c",
    node_id=1,
    node_epoch=2,
    generation_id=3,
    first_number=100,
    start_offset=7000,
    capacity_bytes=100_000,
)


class Log:
    """An `ObjectCommit` and its time; everything that may go is sent at once."""

    def __init__(self, generation=GENERATION, **changes):
        self.commit = ObjectCommit(
            generation,
            replace(LIMITS, **changes),
            take_buffer=lambda size: memoryview(bytearray(size)),
        )
        self.now_s = 50.0

    @classmethod
    def begun(cls, generation=GENERATION, **changes):
        log = cls(generation, **changes)
        log.settle(*log.send())
        log.now_s += 10
        return log

    def send(self):
        sent = []
        while (outgoing := self.commit.next_object(self.now_s)) is not None:
            sent.append(outgoing)
        return sent

    def send_at(self, now_s):
        self.now_s = now_s
        return self.send()

    def settle(self, *sent):
        return [self.commit.settled(outgoing) for outgoing in sent]

    def append(self, size, count=1):
        return [self.commit.append(b"", bytes(size)) for _ in range(count)]

    def append_confirmed(self, *sizes):
        appended = []
        for size in sizes:
            appended += self.append(size)
            self.now_s += 1
            self.send()
            self.now_s += 1
            self.settle(*self.send())
        return appended


def test_a_life_begins_with_an_object_that_releases_all_before():
    log = Log()
    (first,) = log.send()
    header = first.header
    assert (header.kind, header.number, header.released) == (Kind.TRIM, 100, 100)
    assert (header.trim_offset, header.base_offset) == (6999, 7000)
    assert not log.commit.is_quiet
    log.settle(first)
    assert log.commit.is_quiet
    assert log.send_at(1000) == []


def test_an_object_is_its_header_and_its_records():
    log = Log.begun(buffer_bytes=100)
    appended = [log.commit.append(b"he", b"ad%03d" % n) for n in range(8)]
    log.send()
    (outgoing,) = log.send_at(log.now_s + 1)
    content = memoryview(b"".join(outgoing.content))
    assert len(content) == outgoing.size_bytes
    header = decode_header(content)
    assert header == outgoing.header
    assert (header.number, header.confirmed, header.base_offset) == (101, 101, 7000)
    found = [(it.offset, it.end_offset, bytes(it.body)) for it in read_records(content, header)]
    expected = [(it.offset, it.end_offset, b"he" + bytes(it.payload)) for it in appended]
    assert found == expected


def test_batches_share_buffers():
    log = Log.begun(buffer_bytes=4096)
    first = log.append(100, 3)
    log.send()
    log.settle(*log.send_at(log.now_s + 1))
    (second,) = log.append(100)
    (large,) = log.append(4500)
    assert {id(it.payload.obj) for it in (*first, second)} == {id(first[0].payload.obj)}
    assert (first[0].block_bytes, large.block_bytes) == (4096, 4524)
    assert large.payload.obj is not second.payload.obj


def test_the_first_record_after_a_pause_waits_for_company_only_so_long():
    log = Log.begun()
    log.append(10)
    start_s = log.now_s
    assert log.send() == []
    assert log.commit.delay_s(start_s) == pytest.approx(0.01)
    assert log.send_at(start_s + 0.009) == []
    assert len(log.send_at(start_s + 0.0101)) == 1


def test_objects_that_are_not_full_keep_their_distance():
    log = Log.begun()
    log.append(10)
    log.send()
    assert len(log.send_at(log.now_s + 0.02)) == 1
    sent_s = log.now_s
    log.append(10)
    assert log.send_at(sent_s + 0.1) == []
    assert log.commit.delay_s(sent_s + 0.1) == pytest.approx(0.15)
    assert log.send_at(sent_s + 0.249) == []
    assert len(log.send_at(sent_s + 0.251)) == 1


def test_a_full_batch_goes_at_once():
    log = Log.begun()
    log.append(300, 3)
    assert not log.commit.has_full_batch
    log.append(300)
    assert log.commit.has_full_batch
    (full,) = log.send()
    assert full.header.records == 3
    log.append(976)
    (rest, exact) = log.send()
    assert (rest.header.records, exact.header.length) == (1, 1000)


def test_a_record_larger_than_a_batch_has_an_object_of_its_own():
    log = Log.begun()
    log.append(10)
    log.append(5000)
    log.append(10)
    assert [it.header.length for it in log.send()] == [34, 5024]


@pytest.mark.parametrize("max_inflight", [1, 4, REACH])
def test_so_many_objects_are_under_way(max_inflight):
    log = Log.begun(max_inflight=max_inflight)
    log.append(976, 30)
    sent = log.send()
    assert len(sent) == max_inflight
    assert log.commit.delay_s(log.now_s) is None
    log.settle(sent[0])
    assert len(log.send()) == 1


def test_no_number_goes_further_than_the_window_beyond_the_first_unconfirmed():
    log = Log.begun(max_inflight=REACH)
    log.append(976, 40)
    first, *others = log.send()
    log.settle(*others)
    assert log.commit.inflight == 1
    assert log.send() == []
    log.settle(first)
    numbers = [it.header.number for it in log.send()]
    assert numbers == list(range(101 + REACH, 101 + 2 * REACH))


def test_confirmed_in_the_order_of_numbers():
    log = Log.begun()
    log.append(976, 4)
    sent = log.send()
    ends = [it.header.end_offset for it in sent]
    assert log.settle(sent[2], sent[1]) == [False, False]
    assert log.commit.confirmed_offset == 7000
    assert log.settle(sent[0]) == [True]
    assert log.commit.confirmed_offset == ends[2]
    assert not log.commit.is_quiet
    assert log.settle(sent[3]) == [True]
    assert (log.commit.confirmed_offset, log.commit.confirmed_number) == (ends[3], 105)


def test_what_is_released_is_told_and_then_free():
    log = Log.begun()
    _, two, three = log.append_confirmed(100, 100, 100)
    log.commit.trim(two.offset)
    used = log.commit.used_bytes
    log.send()
    (told,) = log.send_at(log.now_s + 1)
    assert told.header.kind is Kind.TRIM
    assert (told.header.released, told.header.trim_offset) == (103, two.offset)
    assert (log.commit.used_bytes, log.commit.durable_head) == (used, 101)
    log.settle(told)
    assert log.commit.durable_head == 103
    assert log.commit.used_bytes == three.end_offset - three.offset
    log.commit.trim(three.offset)
    log.send()
    log.settle(*log.send_at(log.now_s + 1))
    assert log.commit.used_bytes == 0
    assert log.commit.durable_head == 105
    assert log.send_at(log.now_s + 1) == []


def test_a_trim_rides_along_with_records():
    log = Log.begun()
    (one,) = log.append_confirmed(100)
    log.commit.trim(one.offset)
    log.append(10)
    log.send()
    (told,) = log.send_at(log.now_s + 1)
    assert (told.header.kind, told.header.released) == (Kind.DATA, 102)
    log.settle(told)
    assert log.send_at(log.now_s + 1) == []


def test_a_trim_inside_of_an_object_keeps_the_object():
    log = Log.begun()
    one, _ = log.append(100, 2)
    log.send()
    log.settle(*log.send_at(log.now_s + 1))
    log.commit.trim(one.offset)
    log.send()
    (told,) = log.send_at(log.now_s + 1)
    assert (told.header.released, told.header.trim_offset) == (101, one.offset)
    used = log.commit.used_bytes
    log.settle(told)
    assert 0 < log.commit.used_bytes < used


def test_only_what_is_confirmed_can_be_trimmed():
    log = Log.begun()
    (one,) = log.append(100)
    with pytest.raises(ValueError, match="are confirmed"):
        log.commit.trim(one.offset)
    assert log.commit.trim_offset == 6999


def test_trims_never_go_back():
    log = Log.begun()
    one, two = log.append_confirmed(100, 100)
    log.commit.trim(two.offset)
    log.commit.trim(one.offset)
    assert log.commit.trim_offset == two.offset


def fill(log, size=976):
    while log.commit.room_for(size):
        log.append(size)
        log.settle(*log.send())


def test_a_full_log_takes_nothing_and_changes_nothing():
    log = Log.begun(replace(GENERATION, capacity_bytes=10_000))
    fill(log)
    before = (log.commit.next_offset, log.commit.used_bytes)
    assert before == (17_000, 10_000)
    with pytest.raises(WalOverCapacityError):
        log.append(1)
    assert (log.commit.next_offset, log.commit.used_bytes) == before
    assert log.commit.was_full


def test_unconfirmed_bytes_are_bounded():
    log = Log.begun(max_unconfirmed_bytes=10_000)
    log.append(976, 10)
    assert not log.commit.room_for(0)
    log.settle(*log.send())
    assert log.commit.room_for(976)


def test_unreleased_objects_are_bounded():
    log = Log.begun(max_objects=5)
    log.append_confirmed(10, 10, 10, 10, 10)
    with pytest.raises(WalOverCapacityError):
        log.append(10)
    log.commit.trim(log.commit.confirmed_offset - 1)
    log.send()
    log.settle(*log.send_at(log.now_s + 1))
    log.append(10)


@pytest.mark.parametrize(
    ("changes", "largest"), [({}, 5000), ({"max_unconfirmed_bytes": 3000}, 2976)]
)
def test_the_largest_record(changes, largest):
    log = Log.begun(**changes)
    assert not log.commit.room_for(largest + 1)
    with pytest.raises(WalRecordTooLargeError):
        log.append(largest + 1)
    assert log.commit.room_for(largest)
    log.append(largest)


def test_after_a_refusal_everything_goes_out_at_once():
    log = Log.begun()
    one, *_ = log.append_confirmed(10)
    log.append(10)
    log.commit.trim(one.offset)
    log.commit.refuse(WalFailedError("over"))
    (last,) = log.send()
    assert (last.header.kind, last.header.trim_offset) == (Kind.DATA, one.offset)
    assert not log.commit.room_for(1)
    with pytest.raises(WalFailedError, match="over"):
        log.append(1)
    log.settle(last)
    assert log.commit.is_quiet


def test_after_a_halt_nothing_goes_out():
    log = Log.begun()
    log.append(976)
    log.commit.halt(WalFailedError("over"))
    assert log.send_at(1000) == []
    assert log.commit.delay_s(1000) is None
