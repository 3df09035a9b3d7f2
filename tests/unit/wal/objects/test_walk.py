"""What a walk makes of a bucket, without one: the objects are a dict."""

from dataclasses import replace

import pytest

from headrace.wal.errors import WalIdentityError
from headrace.wal.objects.errors import WalFencedError, WalObjectCorruptError
from headrace.wal.objects.fencing import Owner, require_own, require_void
from headrace.wal.objects.layout import (
    HEADER_BYTES,
    REACH,
    WINDOW,
    Kind,
    LogKeys,
    ObjectHeader,
    decode_header,
)
from headrace.wal.objects.walk import Action, Claims, Walk, newest_numbers
from tests.unit.wal.objects.test_layout import packed

KEYS = LogKeys("c", 1)
OLD, OTHER, ME, NEW = Owner(1, 0x0123456789ABCDEF), Owner(2, 22), Owner(3, 33), Owner(4, 44)
BLANK = ObjectHeader(
    kind=Kind.TRIM,
    cluster_id="c",
    node_id=1,
    node_epoch=1,
    generation_id=OLD.generation_id,
    number=0,
    released=0,
    confirmed=0,
    trim_offset=-1,
    base_offset=0,
    length=0,
    capacity_bytes=1000,
    records=0,
)


class Bucket:
    """Objects by number, and a walk over them."""

    def __init__(self, **contents):
        self.objects = {}
        self.on_fence = lambda number: None  # what happens just before a fence is created

    def data(
        self, number, body=b"", *, owner=OLD, released=0, confirmed=None, trim_offset=-1, base=None
    ):
        body = body or b"record %d" % number
        base = 100 * number if base is None else base
        header = replace(
            BLANK,
            kind=Kind.DATA,
            number=number,
            node_epoch=owner.node_epoch,
            generation_id=OLD.generation_id,
            released=released,
            confirmed=number if confirmed is None else confirmed,
            trim_offset=trim_offset,
            base_offset=base,
            length=24 + len(body),
            records=1,
        )
        content = packed(body, base_offset=base)
        if (
            owner is not OLD
        ):  # the records' checksums are another generation's, which only a reader looks at
            header = replace(header, generation_id=owner.generation_id)
        self.objects[number] = header.encode() + content

    def bare(self, number, kind, owner, **changes):
        header = replace(
            BLANK,
            kind=kind,
            number=number,
            node_epoch=owner.node_epoch,
            generation_id=owner.generation_id,
            confirmed=number,
            base_offset=100 * number,
            **changes,
        )
        self.objects[number] = header.encode()

    def headers(self):
        found = [decode_header(self.objects[each]) for each in newest_numbers(self.objects)]
        return [header for header in found if header is not None]

    def walk(self, owner=ME, **options):
        claims = Claims()
        for header in self.headers():
            claims.absorb(header)
        return Walk(KEYS, owner, claims, set(self.objects), **options)

    def step(self, walk):
        match walk.action:
            case Action.READ:
                content = self.objects.get(walk.number)
                return walk.found(None if content is None else memoryview(content))
            case Action.LIST:
                walk.listed(set(self.objects), self.headers())
            case Action.FENCE:
                fence = walk.wanted_fence()
                self.on_fence(fence.number)
                if fence.number in self.objects:
                    walk.lost_race()
                else:
                    self.objects[fence.number] = fence.encode()
                    walk.created()
        return []

    def run(self, walk=None):
        walk = walk or self.walk()
        records = []
        for _ in range(1000):
            if walk.action is Action.END:
                return [bytes(record.body) for record in records]
            records += self.step(walk)
        raise AssertionError("the walk does not end")


def fence_at(bucket, number):
    return decode_header(bucket.objects[number])


def test_a_blank_bucket_is_fenced_at_its_first_number():
    bucket = Bucket()
    assert bucket.run() == []
    fence = fence_at(bucket, 0)
    assert (fence.kind, fence.node_epoch, fence.generation_id) == (Kind.FENCE, 3, 33)


def test_everything_from_the_head_to_the_first_missing_number():
    bucket = Bucket()
    for number in (10, 11, 12):
        bucket.data(number, released=10)
    walk = bucket.walk()
    assert bucket.run(walk) == [b"record 10", b"record 11", b"record 12"]
    assert walk.number == 13
    fence = fence_at(bucket, 13)
    assert (fence.released, fence.confirmed) == (10, 13)
    assert walk.unneeded == [10, 11, 12]
    assert (walk.summary.objects, walk.summary.records) == (3, 3)


def test_what_lies_behind_a_gap_of_the_window_is_void():
    bucket = Bucket()
    bucket.data(10, released=10)
    for number in (12, 10 + WINDOW):
        bucket.data(number, released=10, confirmed=11)
    assert bucket.run() == [b"record 10"]
    assert fence_at(bucket, 11).kind is Kind.FENCE


def test_released_records_of_an_object_are_left_out():
    bucket = Bucket()
    bucket.data(10, released=10, base=1000)
    bucket.data(11, released=10, base=1100)
    bucket.bare(12, Kind.TRIM, OLD, released=10, trim_offset=1000)
    assert bucket.run() == [b"record 11"]


def test_the_newest_head_counts_wherever_it_is_told():
    bucket = Bucket()
    bucket.data(10, released=5)
    bucket.data(11, released=11)
    bucket.data(12, released=11)
    assert bucket.run() == [b"record 11", b"record 12"]


def test_numbers_below_the_head_may_be_missing():
    bucket = Bucket()
    bucket.data(3, released=0)
    bucket.data(12, released=12)
    assert bucket.run() == [b"record 12"]


def test_a_hole_below_what_was_confirmed_is_refused():
    bucket = Bucket()
    bucket.data(10, released=10)
    bucket.data(12, released=10, confirmed=12)
    with pytest.raises(
        WalObjectCorruptError, match=r"00011 is missing.*number 12 was confirmed"
    ) as caught:
        bucket.run()
    assert caught.value.number == caught.value.position == 11
    assert caught.value.offset == -1
    assert 11 not in bucket.objects


def test_what_a_long_list_has_missed_is_looked_for_once_more():
    """A list of many pages is no snapshot: the last ones tell of what came after the first were made."""
    bucket = Bucket()
    for number in range(3):
        bucket.data(number)
    late = bucket.objects.pop(1)
    walk = bucket.walk()
    assert len(bucket.step(walk)) == 1
    assert bucket.step(walk) == []
    assert walk.action is Action.LIST
    bucket.step(walk)
    bucket.objects[1] = late
    assert walk.action is Action.READ
    assert [bytes(record.body) for record in bucket.step(walk)] == [b"record 1"]


def test_a_hole_further_back_than_the_window_is_refused():
    bucket = Bucket()
    bucket.data(10, released=10)
    bucket.data(11 + WINDOW, released=10, confirmed=12)
    with pytest.raises(WalObjectCorruptError, match="00011 is missing"):
        bucket.run()


def test_a_hole_is_passed_over_when_that_is_accepted():
    bucket = Bucket()
    bucket.data(10, released=10)
    bucket.data(12, released=10, confirmed=12)
    walk = bucket.walk(accept_loss_generation="0123456789abcdef")
    assert bucket.run(walk) == [b"record 10", b"record 12"]
    assert walk.summary.lost == [11]


def test_another_life_is_not_meant_by_an_acceptance():
    bucket = Bucket()
    bucket.data(12, released=11, confirmed=12)
    with pytest.raises(
        WalObjectCorruptError, match=r"headrace\.wal\.accept\.loss=0123456789abcdef"
    ):
        bucket.run(bucket.walk(accept_loss_generation="0123456789abcdee"))


@pytest.mark.parametrize("position", [0, 50, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 30])
def test_damage_is_refused(position):
    bucket = Bucket()
    for number in (10, 11, 12):
        bucket.data(number, released=10)
    damaged = bytearray(bucket.objects[11])
    damaged[position] ^= 1
    bucket.objects[11] = bytes(damaged)
    with pytest.raises(WalObjectCorruptError, match="00011 is damaged"):
        bucket.run()


def test_an_object_at_another_number_is_damage():
    bucket = Bucket()
    bucket.data(10, released=10)
    bucket.objects[11] = bucket.objects[10]
    with pytest.raises(WalObjectCorruptError, match="00011 is damaged"):
        bucket.run()


def test_another_logs_object_is_refused():
    bucket = Bucket()
    header = replace(BLANK, cluster_id="other")
    bucket.objects[0] = header.encode()
    with pytest.raises(WalIdentityError, match="cluster 'other'"):
        bucket.run()


def test_void_behind_a_fence():
    bucket = Bucket()
    bucket.data(10, released=10)
    bucket.bare(11, Kind.FENCE, OTHER, released=10)
    bucket.data(12, released=10, confirmed=11)
    walk = bucket.walk()
    assert bucket.run(walk) == [b"record 10"]
    assert (walk.number, walk.summary.void_objects, walk.summary.fences) == (13, 1, 1)


def test_a_fence_of_an_older_life_behind_a_newer_one_changes_nothing():
    bucket = Bucket()
    bucket.bare(10, Kind.TRIM, OLD, released=10)
    bucket.bare(11, Kind.FENCE, OTHER, released=10)
    bucket.bare(12, Kind.FENCE, OLD, released=10)
    bucket.data(13, released=10, confirmed=11)
    assert bucket.run() == []


def test_records_of_the_life_that_fenced_count():
    bucket = Bucket()
    bucket.bare(10, Kind.FENCE, OLD, released=10)
    bucket.data(11, released=10)
    assert bucket.run() == [b"record 11"]


def test_what_arrives_before_the_fence_is_read():
    bucket = Bucket()
    bucket.data(10, released=10)
    late = [11, 12]

    def arrive(number):
        if late:
            bucket.data(late.pop(0), released=10)

    bucket.on_fence = arrive
    assert bucket.run() == [b"record 10", b"record 11", b"record 12"]
    assert fence_at(bucket, 13).kind is Kind.FENCE


def test_an_owner_who_wins_every_race_is_stopped_ahead():
    """It writes where the walk has got to, up to its reach beyond that, and as long as it is not fenced."""
    bucket = Bucket()
    bucket.data(10, released=10)
    fences = []

    def append(number):
        fences.append(number)
        reached = max(each for each in bucket.objects if bucket.objects[each][11] == Kind.DATA)
        for each in range(reached + 1, reached + 1 + REACH):
            if each in bucket.objects:
                break
            bucket.data(each, released=10)

    bucket.on_fence = append
    walk = bucket.walk()
    records = bucket.run(walk)
    barrier = walk.number
    assert fence_at(bucket, barrier).generation_id == ME.generation_id
    assert records == [b"record %d" % number for number in range(10, barrier)]
    assert barrier < 10 + 3 * WINDOW
    assert max(bucket.objects) < barrier + WINDOW


def test_a_fence_where_the_owner_has_been_and_gone_stops_nobody():
    """It confirmed and released 11 and went on, while the walk took 11 for the end."""
    bucket = Bucket()
    bucket.data(10, released=10)
    walk = bucket.walk()

    def go_on(number):
        if number == 11 and 12 not in bucket.objects:
            del bucket.objects[10]
            for each in (12, 13):
                bucket.data(each, released=12)

    bucket.on_fence = go_on
    assert bucket.run(walk) == [b"record 10", b"record 12", b"record 13"]
    assert walk.number == 14


def test_a_stray_fence_of_somebody_else_voids_nothing():
    """The walk knew of the head only when it had passed the fence and what is behind it."""
    bucket = Bucket()
    bucket.data(10, released=10)
    walk = bucket.walk()
    bucket.bare(11, Kind.FENCE, OTHER, released=10)
    for number in (12, 13):
        bucket.data(number, released=12, confirmed=number)
    assert bucket.run(walk) == [b"record 10", b"record 12", b"record 13"]


def test_what_is_released_while_the_walk_is_on_its_way():
    bucket = Bucket()
    for number in range(10, 15):
        bucket.data(number, released=10)
    walk = bucket.walk()
    bucket.step(walk)
    for number in range(10, 14):
        del bucket.objects[number]
    bucket.data(14, released=10)
    bucket.data(15, released=14)
    assert bucket.run(walk) == [b"record 14", b"record 15"]


@pytest.mark.parametrize("kind", [Kind.FENCE, Kind.TRIM])
def test_a_newer_life_ends_the_walk(kind):
    bucket = Bucket()
    bucket.data(10, released=10)
    walk = bucket.walk()
    bucket.bare(11, kind, NEW, released=10)
    with pytest.raises(WalFencedError, match="node epoch 4"):
        bucket.run(walk)


def test_a_newer_life_that_goes_on_while_we_fence_ends_the_walk():
    bucket = Bucket()
    walk = bucket.walk()

    def take_over(number):
        bucket.bare(number + 1, Kind.FENCE, NEW, released=0)

    bucket.on_fence = take_over
    with pytest.raises(WalFencedError, match="node epoch 4"):
        bucket.run(walk)


def test_a_walk_may_be_repeated():
    bucket = Bucket()
    bucket.data(10, released=10)
    assert bucket.run() == [b"record 10"]
    again = bucket.walk()
    assert bucket.run(again) == [b"record 10"]
    assert again.number == 11


def test_offsets_of_the_next_life_were_never_handed_out():
    claims = Claims()
    claims.absorb(replace(BLANK, number=5, confirmed=5, base_offset=700, capacity_bytes=900))
    claims.absorb(replace(BLANK, number=4, confirmed=4, base_offset=600))
    assert claims.next_start_offset == 1700


def encoded(kind, owner):
    return replace(
        BLANK, kind=kind, node_epoch=owner.node_epoch, generation_id=owner.generation_id
    ).encode()


def test_ones_own_object_in_the_way_is_a_success():
    sent = encoded(Kind.TRIM, ME)
    require_own(memoryview(sent), sent, "k")


@pytest.mark.parametrize(
    "found",
    [
        None,  # somebody released what we have not confirmed
        b"",
        encoded(Kind.FENCE, NEW),
        encoded(Kind.FENCE, ME),
        encoded(Kind.TRIM, OLD),
        encoded(Kind.TRIM, Owner(ME.node_epoch, 99)),
        replace(BLANK, node_epoch=3, generation_id=33, capacity_bytes=1001).encode(),
    ],
)
def test_anything_else_in_the_way_is_somebody_elses(found):
    with pytest.raises(WalFencedError):
        require_own(found, encoded(Kind.TRIM, ME), "k")


@pytest.mark.parametrize(
    "found",
    [
        b"",
        encoded(Kind.TRIM, OLD),
        encoded(Kind.FENCE, OLD),
        encoded(Kind.FENCE, ME),
        encoded(Kind.TRIM, Owner(ME.node_epoch, 99)),
    ],
)
def test_what_takes_a_number_as_well_as_a_fence(found):
    require_void(found, ME, "k")


@pytest.mark.parametrize(
    "found",
    [None, encoded(Kind.FENCE, NEW), encoded(Kind.TRIM, NEW), encoded(Kind.FENCE, Owner(3, 99))],
)
def test_somebody_else_who_takes_over(found):
    with pytest.raises(WalFencedError, match="taking the WAL over"):
        require_void(found, ME, "k")


def test_a_barrier_is_not_followed_by_one_that_is_out_of_its_window():
    """The walk jumps over what was released after it has created the barrier, and loses the next race as well."""
    bucket = Bucket()
    bucket.data(10, released=10)
    walk = bucket.walk()
    fences = []

    def append(number):
        fences.append(number)
        if len(fences) == 2:  # the barrier
            for each in (10, 11):
                del bucket.objects[each]
            for each in range(20, number + REACH):
                if each not in (30, number):
                    bucket.data(each, released=20, confirmed=min(each, 30))
        elif number in (11, 30):
            bucket.data(number, released=10)

    bucket.on_fence = append
    bucket.run(walk)
    assert walk.number == fences[1]
    assert fences[2:] == [30]
    assert max(bucket.objects) < walk.number + WINDOW
