"""What is repeated, and what is not."""

import asyncio
import random
from itertools import pairwise

import pytest

from headrace.storage.errors import CommitRefusedError, ObjectStoreError
from headrace.storage.stats import UploadCounters
from headrace.storage.upload.retry import Retrying
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import PassingError


def test_repeats_what_may_pass_with_growing_delays():
    async def scenario():
        counters = UploadCounters()
        times = []
        faults = [
            ObjectStoreError("503"),
            TimeoutError(),
            ConnectionResetError(),
            PassingError(),
        ] * 5

        async def operation():
            times.append(asyncio.get_running_loop().time())
            if faults:
                raise faults.pop(0)
            return "done"

        assert await Retrying(random.Random(1), counters).call("test", operation) == "done"
        assert counters.retries_total == 20
        delays = [later - earlier for earlier, later in pairwise(times)]
        assert delays[0] <= 0.1
        assert max(delays) <= 10
        assert delays[-1] >= 5, "capped, but no longer short"

    run(scenario())


def test_who_gives_up_raises_what_has_not_passed_for_so_long():
    async def scenario():
        async def operation():
            raise ObjectStoreError("403")

        loop = asyncio.get_running_loop()
        retrying = Retrying(random.Random(1), UploadCounters(), give_up_ms=30_000)
        begin_s = loop.time()
        with pytest.raises(ObjectStoreError):
            await retrying.call("test", operation)
        assert 30 <= loop.time() - begin_s <= 41

    run(scenario())


@pytest.mark.parametrize("error", [CommitRefusedError("no"), KeyError("a bug")])
def test_does_not_repeat_what_will_not_pass(error):
    async def scenario():
        counters = UploadCounters()

        async def operation():
            raise error

        with pytest.raises(type(error)):
            await Retrying(random.Random(1), counters).call("test", operation)
        assert counters.retries_total == 0

    run(scenario())


def test_cancellation_ends_it():
    async def scenario():
        async def operation():
            raise ObjectStoreError("503")

        retrying = Retrying(random.Random(1), UploadCounters())
        task = asyncio.create_task(retrying.call("test", operation))
        await asyncio.sleep(100)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(scenario())
