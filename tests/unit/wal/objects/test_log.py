"""The driver on a simulated bucket, in virtual time."""

import asyncio
import random
from dataclasses import replace

import pytest

from headrace.wal.device.submissions import WriteStatistics
from headrace.wal.errors import (
    WalDeviceError,
    WalFailedError,
    WalIdentityError,
    WalOverCapacityError,
    WalStateError,
)
from headrace.wal.objects.deletion import FENCE_RETENTION_S
from headrace.wal.objects.errors import WalFencedError, WalObjectCorruptError
from headrace.wal.objects.layout import WINDOW, Kind, LogKeys, decode_header
from headrace.wal.objects.log import ObjectWal
from headrace.wal.objects.port import BucketRefusedError
from headrace.wal.objects.read_ahead import ObjectReadAhead
from headrace.wal.objects.requests import Requests
from headrace.wal.port import Medium
from tests.simulation.bucket import CALM, SimulatedBucket, Weather
from tests.simulation.object_wal_race import SMALL
from tests.simulation.virtual_time import run
from tests.unit.wal.objects.test_walk import OLD
from tests.unit.wal.objects.test_walk import Bucket as Objects

KEYS = LogKeys("c", 1)


class Owner:
    """An `ObjectWal` and what it has told."""

    def __init__(self, bucket, *, epoch=1, config=SMALL, seed=None):
        self.client = bucket.client()
        self.confirmed = []
        self.failures = []
        self.rooms = 0
        self.wal = ObjectWal(
            config,
            self.client,
            node_id=1,
            node_epoch=epoch,
            cluster_id="c",
            rng=random.Random(epoch if seed is None else seed),
            on_confirmed=self.confirmed.append,
            on_failed=self.failures.append,
            on_room=self._on_room,
        )

    def _on_room(self):
        self.rooms += 1

    async def begin(self):
        await self.wal.start()
        records = [bytes(record.body) async for record in self.wal.recover()]
        await self.wal.reset()
        return records

    async def append(self, *bodies):
        appended = [self.wal.append(b"", body) for body in bodies]
        async with asyncio.timeout(100):
            while self.wal.confirmed_offset < self.wal.next_offset:
                await asyncio.sleep(0.01)
        return appended


def bucket_with(weather=CALM):
    return SimulatedBucket(random.Random(0), weather)


def numbers(bucket):
    return sorted(number for key in bucket.objects if (number := KEYS.number(key)) is not None)


def kinds(bucket):
    return [decode_header(bucket.objects[KEYS.key(number)]).kind for number in numbers(bucket)]


def test_what_is_appended_is_recovered_by_a_later_life():
    async def main():
        bucket = bucket_with()
        first = Owner(bucket)
        assert await first.begin() == []
        await first.append(b"one", b"two")
        await first.append(b"three")
        first.client.is_cut = True
        second = Owner(bucket, epoch=2)
        assert await second.begin() == [b"one", b"two", b"three"]
        third = Owner(bucket, epoch=3)
        assert await third.begin() == []

    run(main())


def test_the_first_record_after_a_pause_goes_out_soon_and_the_next_keep_their_distance():
    async def main():
        bucket = bucket_with(Weather(max_delay_s=0))
        owner = Owner(bucket)
        await owner.begin()
        await asyncio.sleep(10)
        loop = asyncio.get_running_loop()
        begin_s = loop.time()
        await owner.append(b"x")
        assert loop.time() - begin_s < 0.03
        await owner.append(b"x")
        assert 0.24 < loop.time() - begin_s < 0.30

    run(main())


@pytest.mark.parametrize("graceless", ["killed", "shut down"])
def test_an_idle_log_tells_what_was_confirmed_so_that_the_last_record_is_missed(graceless):
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        await owner.append(b"first")
        await owner.append(b"last")
        data = numbers(bucket)[-1]
        if graceless == "killed":
            await asyncio.sleep(2.5)
            owner.client.is_cut = True
        else:
            await owner.wal.shutdown()
        assert kinds(bucket)[-3:] == [Kind.DATA, Kind.DATA, Kind.TRIM]
        del bucket.objects[KEYS.key(data)]
        with pytest.raises(WalObjectCorruptError) as refusal:
            await Owner(bucket, epoch=2).begin()
        assert refusal.value.number == data

    run(main())


def test_one_object_is_told_in_each_pause_and_none_while_others_go_out():
    async def main():
        bucket = bucket_with(Weather(max_delay_s=0))
        owner = Owner(bucket)
        await owner.begin()

        await asyncio.sleep(100)

        def told():
            """All since, as long as nothing is released: what lies before goes once there is something newer."""
            return [kind for kind in kinds(bucket) if kind is not Kind.FENCE]

        for _ in range(20):
            await owner.append(b"x")
            await asyncio.sleep(0.7)
        assert told() == [Kind.DATA] * 20
        await asyncio.sleep(1000)
        assert told() == [Kind.DATA] * 20 + [Kind.TRIM]
        assert await Owner(bucket, epoch=2).begin() == [b"x"] * 20

    run(main())


def test_a_store_that_replaces_objects_is_refused():
    async def main():
        bucket = bucket_with()
        bucket.replaces = True
        with pytest.raises(WalDeviceError, match="If-None-Match"):
            await Owner(bucket).wal.start()
        assert numbers(bucket) == []

    run(main())


def test_a_bucket_that_does_not_answer_ends_a_start_in_time():
    async def main():
        bucket = bucket_with()
        bucket.is_down = True
        begin_s = asyncio.get_running_loop().time()
        with pytest.raises(WalDeviceError, match="503"):
            await Owner(bucket).wal.start()
        assert asyncio.get_running_loop().time() - begin_s <= SMALL.io_timeout_ms / 1000

    run(main())


def test_a_bucket_that_refuses_us_ends_a_start_at_once():
    async def main():
        owner = Owner(bucket_with())

        async def refuse(key, parts):
            raise BucketRefusedError("403")

        owner.client.create = refuse
        with pytest.raises(WalDeviceError, match="403"):
            await owner.wal.start()
        assert asyncio.get_running_loop().time() == 0

    run(main())


def test_the_log_of_a_newer_registration_is_refused():
    async def main():
        bucket = bucket_with()
        await Owner(bucket, epoch=2).begin()
        with pytest.raises(WalIdentityError, match="node epoch 2"):
            await Owner(bucket, epoch=1).wal.start()

    run(main())


def test_a_log_none_of_whose_newest_objects_is_valid_is_refused():
    async def main():
        bucket = bucket_with()
        bucket.objects[KEYS.key(5)] = b"something else"
        with pytest.raises(WalObjectCorruptError, match="00005 is damaged"):
            await Owner(bucket).wal.start()

    run(main())


def test_the_older_owner_learns_that_it_is_fenced():
    async def main():
        bucket = bucket_with()
        old, new = Owner(bucket), Owner(bucket, epoch=2)
        await old.begin()
        await old.append(b"acknowledged")
        confirmed = list(old.confirmed)
        assert await new.begin() == [b"acknowledged"]
        old.wal.append(b"", b"too late")
        await asyncio.sleep(5)
        (failure,) = old.failures
        assert isinstance(failure, WalFencedError)
        assert old.confirmed == confirmed
        with pytest.raises(WalFencedError):
            old.wal.append(b"", b"x")
        with pytest.raises(WalFencedError):
            old.wal.trim(confirmed[-1] - 1)
        with pytest.raises(WalFencedError):
            await old.wal.shutdown()
        with pytest.raises(WalFencedError):
            old.wal.append(b"", b"x")
        await new.append(b"goes on")
        assert not new.failures

    run(main())


def test_the_lower_of_two_that_take_over_ends():
    async def main():
        bucket = bucket_with()
        lower, higher = Owner(bucket, epoch=2), Owner(bucket, epoch=3)
        await lower.wal.start()
        assert [record async for record in lower.wal.recover()] == []
        await higher.begin()
        with pytest.raises(WalFencedError):
            await lower.wal.reset()
        await higher.append(b"x")

    run(main())


def test_two_lives_of_one_epoch_do_not_both_go_on():
    async def main():
        bucket = bucket_with()
        one, two = Owner(bucket, seed=1), Owner(bucket, seed=2)
        results = await asyncio.gather(one.begin(), two.begin(), return_exceptions=True)
        for owner, result in zip((one, two), results, strict=True):
            if not isinstance(result, WalFencedError):
                owner.wal.append(b"", b"x")
        await asyncio.sleep(10)
        assert sum(bool(owner.confirmed) and not owner.failures for owner in (one, two)) <= 1

    run(main())


def test_an_outage_stops_the_acknowledgements_and_then_they_go_on():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        await owner.append(b"before")
        confirmed = list(owner.confirmed)
        bucket.is_down = True
        bodies = []
        while owner.wal.room_for(1000):
            bodies.append(b"%04d" % len(bodies) + bytes(996))
            owner.wal.append(b"", bodies[-1])
        with pytest.raises(WalOverCapacityError):
            owner.wal.append(b"", bytes(1000))
        assert sum(map(len, bodies)) <= SMALL.max_window_bytes
        await asyncio.sleep(3600)
        assert (owner.confirmed, owner.failures, owner.rooms) == (confirmed, [], 0)
        errors = owner.wal.statistics.io_errors_total
        assert 100 < errors < 12 * 3600  # 12 requests at once, each once a second at most
        bucket.is_down = False
        await asyncio.sleep(10)
        assert owner.wal.confirmed_offset == owner.wal.next_offset
        assert owner.rooms > 0
        assert owner.wal.room_for(1000)
        assert await Owner(bucket, epoch=2).begin() == [b"before", *bodies]

    run(main())


def test_a_lost_reply_is_settled_by_reading():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        created = owner.client.create
        lost = []

        async def lose_first(key, parts):
            answer = await created(key, parts)
            if not lost:
                lost.append(key)
                await asyncio.get_running_loop().create_future()
            return answer

        owner.client.create = lose_first
        await owner.append(b"once")
        assert lost
        assert not owner.failures
        assert bucket.seen["create: exists"] >= 2  # the probe's and this one
        assert await Owner(bucket, epoch=2).begin() == [b"once"]

    run(main())


def test_a_graceful_shutdown_leaves_one_object_to_read():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        appended = await owner.append(*[bytes(3000)] * 10)
        owner.wal.trim(appended[-1].offset)
        await owner.wal.shutdown()
        assert kinds(bucket) == [Kind.FENCE] * WINDOW + [Kind.TRIM]
        again = Owner(bucket, epoch=2)
        await again.wal.start()
        reads = bucket.seen["read"]
        assert [record async for record in again.wal.recover()] == []
        # The last object, where the next would be, and the newest headers once the fence is there.
        assert bucket.seen["read"] - reads <= 2 + WINDOW

    run(main())


def test_a_shutdown_makes_everything_durable():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        for number in range(20):
            owner.wal.append(b"", b"%d" % number)
        await owner.wal.shutdown()
        with pytest.raises(WalFailedError, match="shut down"):
            owner.wal.append(b"", b"x")
        assert await Owner(bucket, epoch=2).begin() == [b"%d" % number for number in range(20)]

    run(main())


def test_a_shutdown_without_a_bucket_ends_in_time():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        owner.wal.append(b"", b"x")
        bucket.is_down = True
        begin_s = asyncio.get_running_loop().time()
        with pytest.raises(WalFailedError, match="not durable"):
            await owner.wal.shutdown()
        assert asyncio.get_running_loop().time() - begin_s == pytest.approx(20)
        assert len(asyncio.all_tasks()) == 1

    run(main())


def test_released_objects_are_deleted_once_the_release_is_durable():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        first = numbers(bucket)[-1]
        one, two = await owner.append(bytes(4000), bytes(4000))
        assert numbers(bucket)[-2:] == [first + 1, first + 2]
        owner.wal.trim(one.offset)
        assert owner.wal.used_bytes == two.end_offset - one.offset
        await asyncio.sleep(5)
        assert numbers(bucket)[WINDOW:] == [first + 2, first + 3]
        assert owner.wal.used_bytes == two.end_offset - two.offset

    run(main())


def test_deletion_that_fails_is_made_later_and_fails_nothing():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        first = numbers(bucket)[-1]
        deleted, failures = owner.client.delete, []

        async def refuse(keys):
            failures.append(keys)
            raise BucketRefusedError("403")

        owner.client.delete = refuse
        (one,) = await owner.append(bytes(4000))
        owner.wal.trim(one.offset)
        await asyncio.sleep(60)
        assert len(failures) > 2
        assert first in numbers(bucket)
        owner.client.delete = deleted
        await asyncio.sleep(60)
        assert first not in numbers(bucket)
        assert not owner.failures

    run(main())


def test_what_was_recovered_is_deleted_once_the_reset_is_durable():
    async def main():
        bucket = bucket_with()
        first, second = Owner(bucket), Owner(bucket, epoch=2)
        await first.begin()
        await first.append(b"x")
        data = numbers(bucket)[-1]
        await second.wal.start()
        assert len([record async for record in second.wal.recover()]) == 1
        created, begun = second.client.create, asyncio.Event()

        async def hold(key, parts):
            if decode_header(parts[0]).kind is Kind.TRIM:
                await begun.wait()
            return await created(key, parts)

        second.client.create = hold
        resetting = asyncio.create_task(second.wal.reset())
        await asyncio.sleep(60)
        assert data in numbers(bucket)
        begun.set()
        await resetting
        await asyncio.sleep(5)
        assert data not in numbers(bucket)

    run(main())


def test_fences_are_kept_as_long_as_requests_may_be_under_way():
    async def main():
        bucket = bucket_with()
        owner = Owner(bucket)
        await owner.begin()
        fences = numbers(bucket)[:WINDOW]
        await asyncio.sleep(FENCE_RETENTION_S - 10)
        assert numbers(bucket)[:WINDOW] == fences
        await asyncio.sleep(20)
        assert not set(fences) & set(numbers(bucket))
        assert len(numbers(bucket)) == 1
        await owner.append(b"x")
        assert await Owner(bucket, epoch=2).begin() == [b"x"]

    run(main())


def test_recovery_may_be_repeated_and_is_changed_by_nothing():
    async def main():
        bucket = bucket_with()
        first = Owner(bucket)
        await first.begin()
        await first.append(b"one", b"two")
        second = Owner(bucket, epoch=2)
        await second.wal.start()
        for _ in range(3):
            found = [bytes(record.body) async for record in second.wal.recover()]
            assert found == [b"one", b"two"]
        await second.wal.reset()
        await second.append(b"three")

    run(main())


@pytest.mark.parametrize("listed_bytes", [0, 4184])
def test_a_number_that_is_taken_anew_between_two_reads(listed_bytes):
    async def main():
        bucket = bucket_with()
        first = Owner(bucket)
        await first.begin()
        await first.append(bytes(4000))
        key = KEYS.key(numbers(bucket)[-1])
        assert len(bucket.objects[key]) == 4184
        fence = bucket.objects[KEYS.key(0)]
        client = bucket.client()
        read, reads = client.read, []

        async def replace_first(key, start, end):
            reads.append(end)
            if end == 4184:
                bucket.objects[key] = fence
            return await read(key, start, end)

        client.read = replace_first
        requests = Requests(
            client, statistics=WriteStatistics(), log_name="", rng=random.Random(0), timeout_s=1
        )
        number = KEYS.number(key)
        sizes = {number: listed_bytes} if listed_bytes else {}
        assert bytes(await ObjectReadAhead(requests, KEYS).get(number, sizes)) == fence
        assert len(reads) <= 3

    run(main())


class Overtaken:
    """A client of a bucket whose owner writes, releases and deletes between its requests."""

    def __init__(self, client):
        self._client = client
        self._lists = 0
        self.read, self.delete = client.read, client.delete

    def _put(self, objects):
        for number, content in objects.objects.items():
            self._client._bucket.objects[KEYS.key(number)] = content

    async def create(self, key, parts):
        if key == KEYS.key(0):  # missing a moment ago; by now it was there, and is gone again
            objects = Objects()
            objects.bare(5, Kind.TRIM, OLD, released=5)
            self._put(objects)
        return await self._client.create(key, parts)

    async def list(self, folder):
        self._lists += 1
        listed = await self._client.list(folder)
        if self._lists == 2:
            del self._client._bucket.objects[KEYS.key(5)]
            objects = Objects()
            objects.data(7, b"acknowledged", released=7)
            self._put(objects)
        return listed


def test_a_list_whose_newest_object_is_gone_is_made_anew():
    """Else the fence would be believed to have stopped an owner who is far beyond it."""

    async def main():
        owner = Owner(bucket_with(), epoch=2)
        owner.wal._requests._bucket = Overtaken(owner.client)
        assert await owner.begin() == [b"acknowledged"]

    run(main())


def test_an_object_that_is_cut_off_is_damage():
    async def main():
        bucket = bucket_with()
        first = Owner(bucket)
        await first.begin()
        await first.append(bytes(4000))
        number = numbers(bucket)[-1]
        bucket.objects[KEYS.key(number)] = bucket.objects[KEYS.key(number)][:-1]
        with pytest.raises(WalObjectCorruptError, match=f"{number} is damaged"):
            await Owner(bucket, epoch=2).begin()

    run(main())


def test_many_objects_are_read_ahead():
    async def main():
        bucket = bucket_with(Weather(max_delay_s=0.1))
        first = Owner(bucket, config=replace(SMALL, capacity_bytes=2**20))
        await first.begin()
        bodies = [b"%04d" % number + bytes(4000) for number in range(100)]
        for body in bodies:
            await first.append(body)
        second = Owner(bucket, epoch=2)
        await second.wal.start()
        begin_s = asyncio.get_running_loop().time()
        assert [bytes(record.body) async for record in second.wal.recover()] == bodies
        # One after the other they would take 0.1 s on average, there and back.
        assert asyncio.get_running_loop().time() - begin_s < 4

    run(main())


@pytest.mark.parametrize("call", ["append", "trim", "recover", "reset"])
def test_calls_out_of_order_are_told(call):
    async def main():
        wal = Owner(bucket_with()).wal
        calls = {
            "append": lambda: wal.append(b"", b"x"),
            "trim": lambda: wal.trim(0),
            "recover": lambda: anext(wal.recover()),
            "reset": wal.reset,
        }
        with pytest.raises(WalStateError, match="not started"):
            await calls[call]()

    run(main())


def test_statistics_count_objects_and_appends():
    async def main():
        owner = Owner(bucket_with())
        await owner.begin()
        statistics = owner.wal.statistics
        assert statistics.queue() == (0, 0)
        await asyncio.sleep(1)
        for _ in range(3):
            owner.wal.append(b"", bytes(2000))
        await asyncio.sleep(0.001)
        assert statistics.queue().writes == 1  # two records, under way
        assert statistics.queue().oldest_age_ns == pytest.approx(1_000_000, abs=2)
        await asyncio.sleep(1)
        assert statistics.queue() == (0, 0)
        assert statistics.writes_total == 3
        assert statistics.written_bytes_total == 3 * 160 + 3 * 2024
        assert sum(statistics.writes.counts) == 3
        assert sum(statistics.appends.counts) == 3
        assert 0 < statistics.appends.max_ns < 700_000_000
        assert statistics.io_errors_total == 0
        assert owner.wal.medium is Medium.OBJECTS

    run(main())


def test_a_mistake_behind_a_confirmation_fails_the_log():
    async def main():
        owner = Owner(bucket_with())
        await owner.begin()

        def broken(_offset):
            raise KeyError("a bug")

        owner.wal._on_confirmed = broken
        owner.wal._writer._on_confirmed = broken
        appended = owner.wal.append(b"", b"x")
        await asyncio.sleep(5)
        (failure,) = owner.failures
        assert "a bug" in str(failure)
        with pytest.raises(WalFailedError):
            owner.wal.append(b"", b"y")
        assert owner.confirmed == [] or owner.confirmed[-1] <= appended.offset

    run(main())
