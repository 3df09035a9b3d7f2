"""Runs jobs together, and cancels a start when the node is stopped."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from headrace.broker.telemetry.unexpected_errors import UnexpectedError
from headrace.metadata.errors import MetadataError
from headrace.storage.errors import StorageError
from headrace.task_failures import report_unexpected
from headrace.wal.errors import WalError

# Raised because of the configuration or a failing dependency; anything else is a bug.
EXPECTED_FAILURES: Final = (OSError, ValueError, MetadataError, StorageError, WalError)

T = TypeVar("T")


class StoppedEarlyError(Exception):
    """The node was asked to stop while it was starting."""


def _report_bug(job: asyncio.Task[None]) -> None:
    report_unexpected(job, *EXPECTED_FAILURES, UnexpectedError)


@asynccontextmanager
async def running(*jobs: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run `jobs` while the body runs, and cancel them when it ends; when one fails, the body is cancelled.

    Raises:
        ExceptionGroup: the failure of a job.
    """
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(job) for job in jobs]
        for task in tasks:
            # Now: what comes to its end because of it may take long.
            task.add_done_callback(_report_bug)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Do `work`, to its end also when the caller is cancelled meanwhile; the cancellation is passed on then.

    How long it may take is bounded by `work`, and by what ends the process of a node that cannot end.
    """
    working = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait((working,))
        except asyncio.CancelledError as error:
            cancelled = error
    await working
    if cancelled is not None:
        raise cancelled


@asynccontextmanager
async def ending_with(
    end: Callable[[BaseException | None], Coroutine[Any, Any, None]],
) -> AsyncIterator[None]:
    """Do `end` after the body, however that ends, and to its end; it gets what has ended the body.

    Raises:
        BaseException: what has ended the body, also if this task is cancelled meanwhile.
        BaseExceptionGroup: that and the failure of `end`.
    """
    try:
        yield
    except asyncio.CancelledError as cancelled:
        await to_the_end(end(cancelled))
        raise
    except BaseException as first:
        try:
            await to_the_end(end(first))
        except asyncio.CancelledError:
            pass  # the canceller has a reason of its own, and waits for this one
        except Exception as second:
            msg = "a part has failed, and its end as well"
            raise BaseExceptionGroup(msg, [first, second]) from second
        raise
    else:
        await to_the_end(end(None))


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """Do `work`, which may never end, unless `stop` is set before it is done; then it is cancelled.

    Raises:
        StoppedEarlyError: it was cancelled, and has ended.
    """
    working = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        # The caller has a reason of its own, and does not get how the work ends.
        working.add_done_callback(lambda done: report_unexpected(done, *EXPECTED_FAILURES))
        raise
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.wait((working, stopping))
    if working.cancelled():
        raise StoppedEarlyError
    return working.result()
