"""Retries: what is repeated, how often, after how long, and what is counted."""

import asyncio
import random
import sys
from itertools import pairwise
from typing import ClassVar

import pytest

from headrace.storage.errors import (
    CorruptObjectError,
    FailureKind,
    NotDeletedError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.object_store.retrying import (
    RequestRefusedError,
    Retries,
    RetryingObjectStore,
    RetryPolicy,
)
from headrace.storage.object_store.statistics import Operation
from headrace.storage.ports import CopiedRange
from tests.simulation.faulty_store import Fault, FaultyStore
from tests.simulation.virtual_time import run

POLICY = RetryPolicy(max_attempts=4, backoff_ms_initial=100, max_backoff_ms=250)


class AlwaysOne(random.Random):
    """Jitter at its upper end."""

    def random(self):
        return 1.0


def stores():
    faulty = FaultyStore(MemoryObjectStore())
    return faulty, RetryingObjectStore(faulty, AlwaysOne(), POLICY)


def now():
    return asyncio.get_running_loop().time()


def test_a_passing_fault_is_not_seen():
    async def main():
        faulty, store = stores()
        faulty.then("put", Fault.REFUSED, Fault.LOST_REPLY)
        await store.put("a", [b"content"])
        faulty.then("get_range", Fault.REFUSED, Fault.REFUSED)
        assert bytes(await store.get_range("a", 0, 7)) == b"content"
        assert faulty.requests == {"put": 3, "get_range": 3}
        found = store.statistics
        assert (found.put_requests, found.get_requests, found.retries, found.errors) == (1, 1, 4, 0)
        assert (found.put_bytes, found.get_bytes) == (7, 7)
        assert found.get_seconds == pytest.approx(0.3)
        assert found.requests_inflight == 0

    run(main())


def test_what_a_failed_attempt_has_copied_is_taken_back():
    async def main():
        faulty, store = stores()
        await store.put("a", [b"content"])
        told = []
        faulty.then("compose", Fault.LOST_REPLY, Fault.REFUSED)
        await store.compose("made", [CopiedRange("a", 0, 7), b"!"], told.append)
        done = [sum(told[: n + 1]) for n in range(len(told))]
        assert max(done) == done[-1] == 8
        assert done.count(0) >= 2, "each attempt begins with nothing"

    run(main())


def test_attempts_and_delays_are_bounded():
    async def main():
        faulty, store = stores()
        faulty.then("list", *[Fault.REFUSED] * 9)
        with pytest.raises(ObjectStoreError):
            await store.list("")
        assert faulty.requests["list"] == 4
        assert now() == pytest.approx(0.1 + 0.2 + 0.25)
        assert (store.statistics.retries, store.statistics.errors) == (3, 1)

    run(main())


def test_jitter_makes_delays_shorter_only():
    async def main():
        faulty = FaultyStore(MemoryObjectStore())
        store = RetryingObjectStore(faulty, random.Random(5), POLICY)
        faulty.then("delete", *[Fault.REFUSED] * 3)
        await store.delete(["a"])
        assert 0 < now() < 0.55

    run(main())


@pytest.mark.parametrize(
    ("error", "counter"),
    [
        (RequestRefusedError("access denied"), "errors"),
    ],
)
def test_answers_are_not_retried(error, counter):
    class Answering(MemoryObjectStore):
        calls = 0

        async def get_range(self, key, start, end):
            self.calls += 1
            raise error

    async def main():
        inner = Answering()
        store = RetryingObjectStore(inner, AlwaysOne(), POLICY)
        with pytest.raises(type(error)):
            await store.get_range("a", 0, 1)
        assert inner.calls == 1
        assert getattr(store.statistics, counter) == 1

    run(main())


@pytest.mark.parametrize("error", [ObjectNotFoundError("a"), CorruptObjectError("too short")])
def test_what_is_not_found_or_too_short_is_looked_for_again_with_pauses(error):
    class Answering(MemoryObjectStore):
        wrong = 0
        asked_s: ClassVar[list[float]] = []

        async def get_range(self, key, start, end):
            self.asked_s.append(now())
            if len(self.asked_s) <= self.wrong:
                raise error
            return await super().get_range(key, start, end)

    async def main():
        inner = Answering()
        store = RetryingObjectStore(inner, AlwaysOne(), POLICY)
        await store.put("a", [b"content"])
        inner.wrong = POLICY.max_looks - 1
        assert bytes(await store.get_range("a", 0, 7)) == b"content"
        pauses = [after - before for before, after in pairwise(inner.asked_s)]
        assert pauses == pytest.approx([0, 0.01, 0.02, 0.04])
        statistics = store.statistics
        assert (statistics.not_found, statistics.errors, statistics.retries) == (0, 0, 0)
        inner.wrong = sys.maxsize
        inner.asked_s.clear()
        with pytest.raises(type(error)):
            await store.get_range("a", 0, 7)
        assert len(inner.asked_s) == POLICY.max_looks
        assert statistics.not_found + statistics.errors == 1

    run(main())


class Slow(MemoryObjectStore):
    """Fails after a while."""

    def __init__(self, after_s):
        super().__init__()
        self.after_s = after_s
        self.calls = 0

    async def put(self, key, parts):
        self.calls += 1
        await asyncio.sleep(self.after_s)
        raise ObjectStoreError("503 Service Unavailable")


@pytest.mark.parametrize(("after_s", "calls"), [(29, 3), (20, 3), (5, 9), (61, 2)])
def test_no_attempt_begins_when_the_time_for_all_of_them_is_over(after_s, calls):
    async def main():
        inner = Slow(after_s)
        policy = RetryPolicy(max_attempts=9, backoff_ms_initial=100, max_backoff_ms=100)
        store = RetryingObjectStore(inner, AlwaysOne(), policy)
        with pytest.raises(ObjectStoreError):
            await store.put("a", [b"content"])
        assert inner.calls == calls
        assert now() <= (policy.total_ms_base + policy.attempt_ms_base) / 1000 + 1

    run(main())


def test_bytes_get_time_of_their_own():
    async def main():
        inner = Slow(100)
        policy = RetryPolicy(max_attempts=9, backoff_ms_initial=1, attempt_bytes_per_s=1000)
        store = RetryingObjectStore(inner, AlwaysOne(), policy)
        with pytest.raises(ObjectStoreError):
            await store.put("a", [bytes(130_000)])
        assert inner.calls == 2

    run(main())


def test_what_failed_and_for_how_long_is_told():
    async def main():
        faulty, store = stores()
        statistics = store.statistics
        assert statistics.troubles(now()) == []
        assert statistics.answered_ago_s(now()) is None
        await store.put("a", [b"content"])
        faulty.then("put", *[Fault.REFUSED] * 4)
        with pytest.raises(ObjectStoreError):
            await store.put("a", [b"content"])
        failed_s = now()
        await store.list("")
        await asyncio.sleep(10)
        (trouble,) = statistics.troubles(now())
        assert (trouble.operation, trouble.failures) == (Operation.PUT, 4)
        assert trouble.since_s == pytest.approx(failed_s + 10)
        assert statistics.answered_ago_s(now()) == pytest.approx(10)
        assert sum(statistics.failures.values()) == 4
        await store.put("a", [b"content"])
        assert statistics.troubles(now()) == []
        assert sum(statistics.failures.values()) == 4

    run(main())


def test_trouble_is_forgotten_when_nobody_asks_any_more():
    async def main():
        faulty, store = stores()
        await store.put("a", [b"content"])
        faulty.then("get_range", *[Fault.REFUSED] * 4)
        with pytest.raises(ObjectStoreError):
            await store.get_range("a", 0, 7)
        await asyncio.sleep(59)
        assert store.statistics.troubles(now())
        await asyncio.sleep(2)
        assert not store.statistics.troubles(now())

    run(main())


def test_trouble_lasts_while_somebody_waits():
    class Hanging(MemoryObjectStore):
        async def put(self, key, parts):
            if parts[0] == b"hang":
                await asyncio.Event().wait()
            raise ObjectStoreError("slow down", FailureKind.THROTTLED)

    async def main():
        policy = RetryPolicy(max_attempts=1, attempt_ms_base=1000_000)
        store = RetryingObjectStore(Hanging(), AlwaysOne(), policy)
        with pytest.raises(ObjectStoreError):
            await store.put("a", [b""])
        task = asyncio.create_task(store.put("a", [b"hang"]))
        await asyncio.sleep(500)
        (trouble,) = store.statistics.troubles(now())
        assert trouble.kind is FailureKind.THROTTLED
        task.cancel()
        await asyncio.wait([task])
        assert not store.statistics.troubles(now())

    run(main())


def test_refusals_are_counted_as_such():
    class Refusing(MemoryObjectStore):
        async def delete(self, keys):
            raise RequestRefusedError("whatever it says")

    async def main():
        store = RetryingObjectStore(Refusing(), AlwaysOne(), POLICY)
        with pytest.raises(RequestRefusedError):
            await store.delete(["a"])
        assert store.statistics.failures == {FailureKind.REFUSED: 1}

    run(main())


class Keeping(MemoryObjectStore):
    """Deletes what is not in `kept`; `after` more attempts there is no answer at all."""

    def __init__(self, kept, after=99):
        super().__init__()
        self.kept = kept
        self.after = after
        self.asked = []

    async def delete(self, keys):
        self.asked.append(list(keys))
        if len(self.asked) > self.after:
            raise ObjectStoreError("503")
        left = [key for key in keys if key in self.kept]
        await super().delete([key for key in keys if key not in self.kept])
        if left:
            raise NotDeletedError("kept", left)


@pytest.mark.parametrize("after", [99, 1])
def test_only_keys_that_are_left_are_deleted_again_and_they_are_told(after):
    async def main():
        inner = Keeping({"b", "d"}, after)
        store = RetryingObjectStore(inner, AlwaysOne(), POLICY)
        for key in "abcd":
            await store.put(key, [b"x"])
        with pytest.raises(NotDeletedError) as caught:
            await store.delete(list("abcd"))
        assert list(caught.value.keys) == ["b", "d"]
        assert inner.asked == [list("abcd"), *[["b", "d"]] * 3]
        assert store.statistics.deleted_objects == 2

    run(main())


def test_of_a_deletion_without_any_answer_nothing_is_known():
    async def main():
        store = RetryingObjectStore(Keeping({"b"}, 0), AlwaysOne(), POLICY)
        with pytest.raises(ObjectStoreError) as caught:
            await store.delete(list("abcd"))
        assert not isinstance(caught.value, NotDeletedError)
        assert store.statistics.deleted_objects == 0

    run(main())


def test_an_attempt_that_hangs_is_given_up():
    class Hanging(MemoryObjectStore):
        calls = 0

        async def put(self, key, parts):
            self.calls += 1
            if self.calls == 1:
                await asyncio.Event().wait()
            await super().put(key, parts)

    async def main():
        inner = Hanging()
        store = RetryingObjectStore(inner, AlwaysOne(), POLICY)
        await store.put("a", [bytes(2 * 1024 * 1024)])
        assert inner.calls == 2
        assert now() == pytest.approx(30 + 2 + 0.1)  # two seconds for two megabytes
        assert store.statistics.retries == 1

    run(main())


def test_streams_are_tried_once():
    async def chunks():
        yield (b"abc",)

    async def main():
        faulty, store = stores()
        faulty.then("put_stream", Fault.REFUSED)
        with pytest.raises(ObjectStoreError):
            await store.put_stream("a", chunks())
        assert (faulty.requests["put_stream"], store.statistics.errors) == (1, 1)
        await store.put_stream("a", chunks())
        assert store.statistics.put_bytes == 3
        assert store.statistics.requests_inflight == 0

    run(main())


def test_cancellation_passes():
    class Hanging(MemoryObjectStore):
        async def list(self, prefix):
            await asyncio.Event().wait()

    async def main():
        store = RetryingObjectStore(Hanging(), AlwaysOne(), POLICY)
        task = asyncio.create_task(store.list(""))
        await asyncio.sleep(0)
        assert store.statistics.requests_inflight == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert store.statistics.requests_inflight == 0
        assert store.statistics.errors == 0

    run(main())


@pytest.mark.parametrize(
    ("kind", "attempts"),
    [
        (FailureKind.THROTTLED, 3),
        (FailureKind.SERVER, 3),
        (FailureKind.TIMEOUT, 3),
        (FailureKind.CONNECTION, 3),
        (FailureKind.REFUSED, 1),
        (FailureKind.CREDENTIALS, 1),
        (FailureKind.CLOCK, 1),
        (FailureKind.OTHER, 1),
    ],
)
def test_single_requests_are_repeated_for_what_passes(kind, attempts):
    """And without jitter where nobody has an `rng`."""

    async def main():
        made = []

        async def attempt():
            made.append(now())
            raise ObjectStoreError("failed", kind)

        policy = RetryPolicy(max_attempts=3, backoff_ms_initial=100, max_backoff_ms=10_000)
        with pytest.raises(ObjectStoreError):
            await Retries(policy).run(attempt)
        assert made == pytest.approx([0, 0.05, 0.15][:attempts])

    run(main())
