"""A start that is stopped or cancelled: who gets how it ended."""

import asyncio

import pytest

from headrace.broker.node.lifecycle import StoppedEarlyError, running, unless_stopped


async def ends_with(error: Exception) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise error


@pytest.mark.parametrize(("error", "reported"), [(KeyError("a bug"), True), (OSError(), False)])
def test_what_nobody_expected_of_a_start_whose_caller_is_cancelled_is_reported(
    error: Exception, *, reported: bool
) -> None:
    async def scenario() -> None:
        seen = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
        caller = asyncio.create_task(unless_stopped(asyncio.Event(), ends_with(error)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        await asyncio.sleep(0)
        assert [it["exception"] for it in seen] == ([error] if reported else [])

    asyncio.run(scenario())


def test_the_caller_of_a_start_that_is_stopped_gets_how_it_ended() -> None:
    async def scenario() -> None:
        stop = asyncio.Event()
        asyncio.get_running_loop().call_soon(stop.set)
        with pytest.raises(KeyError):
            await unless_stopped(stop, ends_with(KeyError("a bug")))
        with pytest.raises(StoppedEarlyError):
            await unless_stopped(stop, asyncio.Event().wait())

    asyncio.run(scenario())


@pytest.mark.parametrize(("error", "reported"), [(KeyError("a bug"), True), (OSError(), False)])
def test_what_ends_a_job_is_reported_before_the_others_have_ended(
    error: Exception, *, reported: bool
) -> None:
    async def fails() -> None:
        raise error

    async def scenario() -> None:
        seen, hang_on = [], asyncio.Event()
        asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))

        async def body() -> None:
            async with running(fails()):
                try:
                    await asyncio.Event().wait()
                finally:
                    await hang_on.wait()  # what is put in order before the end

        node = asyncio.create_task(body())
        for _ in range(10):  # more turns than it takes
            await asyncio.sleep(0)
        assert not node.done()
        assert [it["exception"] for it in seen] == ([error] if reported else [])
        hang_on.set()
        with pytest.raises(ExceptionGroup):
            await node

    asyncio.run(scenario())
