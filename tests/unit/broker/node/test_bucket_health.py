"""The bucket as a condition of readiness, and the wait for it at the start."""

import asyncio
import random
from itertools import pairwise

import pytest

from headrace.broker.node.bucket_health import BucketHealth
from headrace.broker.telemetry.readiness import CheckResult
from headrace.storage.errors import FailureKind, ObjectStoreError
from headrace.storage.object_store.retrying import RequestRefusedError
from headrace.storage.object_store.statistics import Operation, StoreStatistics
from tests.simulation.virtual_time import run


def now() -> float:
    return asyncio.get_running_loop().time()


@pytest.mark.parametrize("error", [ObjectStoreError("503 SlowDown"), RequestRefusedError("403")])
def test_a_start_waits_for_as_long_as_it_takes_and_says_why(error: ObjectStoreError) -> None:
    async def main() -> None:
        health = BucketHealth(random.Random(1))
        assert health.check() == CheckResult(
            "bucket", ok=False, reason="has not answered: no request sent yet"
        )
        assert not health.is_answering()
        asked: list[float] = []

        async def ask() -> str:
            asked.append(now())
            if len(asked) < 100:
                raise error
            return "there"

        waiting = asyncio.create_task(health.answer(ask))
        await asyncio.sleep(20)
        assert health.check() == CheckResult(
            "bucket", ok=False, reason=f"has not answered: {error}"
        )
        assert await waiting == "there"
        pauses = [after - before for before, after in pairwise(asked)]
        assert 0.1 < pauses[0] <= 0.25
        assert all(2.5 <= pause <= 5 for pause in pauses[6:])
        assert len(set(pauses)) > 90, "no jitter"

    run(main())


def test_what_is_no_answer_of_a_bucket_ends_the_start() -> None:
    async def main() -> None:
        async def ask() -> None:
            raise ValueError("no credentials")

        with pytest.raises(ValueError, match="no credentials"):
            await BucketHealth(random.Random(1)).answer(ask)

    run(main())


def test_a_stop_ends_the_wait() -> None:
    async def main() -> None:
        async def ask() -> None:
            raise ObjectStoreError("503")

        with pytest.raises(TimeoutError):
            async with asyncio.timeout(60):
                await BucketHealth(random.Random(1)).answer(ask)

    run(main())


@pytest.mark.parametrize(
    ("operation", "fails_for_s", "ok"),
    [
        (Operation.PUT, 1, True),
        (Operation.PUT, 9, True),
        (Operation.PUT, 11, False),
        (Operation.GET, 11, False),
        (Operation.DELETE, 50, True),
        (Operation.LIST, 50, True),
        (Operation.COPY, 50, True),
    ],
)
def test_lasting_trouble_with_what_clients_need_is_not_ready(
    operation: Operation, fails_for_s: int, *, ok: bool
) -> None:
    async def main() -> None:
        statistics = StoreStatistics()
        health = BucketHealth(random.Random(1))
        health.watch(statistics)
        assert health.check() == CheckResult("bucket", ok=True, reason="no request sent yet")
        statistics.answered(Operation.LIST, now())
        await asyncio.sleep(3)
        assert health.check() == CheckResult("bucket", ok=True, reason="answered 3 s ago")
        statistics.failed(operation, now(), FailureKind.REFUSED, "403 Forbidden")
        await asyncio.sleep(fails_for_s)
        statistics.failed(operation, now(), FailureKind.THROTTLED, "503 SlowDown")
        reason = (
            f"{operation.value} has failed for {fails_for_s} s, 2 times, throttled: 503 SlowDown"
        )
        assert health.check() == CheckResult("bucket", ok=ok, reason=reason)
        is_needed = operation in (Operation.PUT, Operation.GET)
        assert health.is_answering() is (fails_for_s < 2 or not is_needed)
        statistics.answered(operation, now())
        assert health.is_answering()
        assert health.check() == CheckResult("bucket", ok=True, reason="answered 0 s ago")

    run(main())
