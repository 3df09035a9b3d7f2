"""Runs jobs together, and cancels a start when the node is stopped."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class StoppedEarlyError(Exception):
    """The node was asked to stop while it was starting."""


@asynccontextmanager
async def running(*jobs: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `jobs` while the body runs, and cancel them when it ends; when one fails, the body is cancelled.

    Raises:
        ExceptionGroup: the failure of a job.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(job) for job in jobs]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, which may never end, unless `stop` is set before it is done; then it is cancelled.

    Raises:
        StoppedEarlyError: it was cancelled, and has ended.
    """
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.wait((working, stopping))
        if not working.cancelled():
            working.exception()  # is read here: a caller that is cancelled has a reason of its own
    if working.cancelled():
        raise StoppedEarlyError
    return working.result()
