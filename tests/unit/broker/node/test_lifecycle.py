"""A start that is stopped or cancelled: who gets how it ended."""

import asyncio

import pytest

from headrace.broker.node.lifecycle import (
    StoppedEarlyError,
    ending_with,
    running,
    unless_stopped,
)


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


class Ending:
    """An end that takes a while, and may fail."""

    def __init__(self, failure: Exception | None = None) -> None:
        self._failure = failure
        self.begun, self.go_on = asyncio.Event(), asyncio.Event()
        self.got: BaseException | None = None
        self.is_done = False

    async def __call__(self, failure: BaseException | None) -> None:
        self.got = failure
        self.begun.set()
        await self.go_on.wait()
        self.is_done = True
        if self._failure is not None:
            raise self._failure


async def ended(end: Ending, first: BaseException | None) -> None:
    async with ending_with(end):
        if first is not None:
            raise first


@pytest.mark.parametrize("first", [None, OSError("broken")], ids=["in order", "failed"])
@pytest.mark.parametrize("times", [0, 1, 3])
def test_an_end_is_whole_however_often_its_caller_is_cancelled(
    first: Exception | None, times: int
) -> None:
    async def scenario() -> None:
        end = Ending()
        caller = asyncio.create_task(ended(end, first))
        await end.begun.wait()
        for _ in range(times):
            caller.cancel()
            await asyncio.sleep(0)
        assert not caller.done()
        end.go_on.set()
        await asyncio.wait([caller])
        assert end.is_done
        assert end.got is first
        if first is not None:
            assert caller.exception() is first, "and not whatever came later"
        else:
            assert caller.cancelled() == (times > 0)

    asyncio.run(scenario())


def test_a_failure_and_that_of_the_end_are_both_told() -> None:
    async def scenario() -> None:
        first, second = OSError("broken"), KeyError("a bug")
        end = Ending(second)
        end.go_on.set()
        with pytest.raises(BaseExceptionGroup) as told:
            await ended(end, first)
        assert list(told.value.exceptions) == [first, second]
        with pytest.raises(KeyError):
            await ended(end, None)

    asyncio.run(scenario())
