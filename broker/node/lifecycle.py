"""Runs jobs together, and cancels a start when the node is stopped."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

from headrace.broker.telemetry.unexpected_errors import UnexpectedError
from headrace.metadata.errors import MetadataError, NodeFencedError
from headrace.storage.errors import EngineFailedError, FencedError, StorageError
from headrace.task_failures import report_unexpected
from headrace.wal.errors import WalError
from headrace.wal.objects.errors import WalFencedError

# Raised because of the configuration or a failing dependency; anything else is a bug.
EXPECTED_FAILURES: Final = (OSError, ValueError, MetadataError, StorageError, WalError)

# The broker has lost its epoch or its log to another registration or a drainer, and nothing else is wrong with it.
FENCINGS: Final = (NodeFencedError, FencedError, WalFencedError)

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


def causes(failure: BaseException) -> list[BaseException]:
    """What has raised a failure, or each one of a group; a failed engine is none if it has one itself."""
    if isinstance(failure, BaseExceptionGroup):
        return [cause for each in failure.exceptions for cause in causes(each)]
    if isinstance(failure, EngineFailedError) and failure.__cause__ is not None:
        return causes(failure.__cause__)
    return [failure]


def was_fenced(failure: BaseException) -> bool:
    """Whether a broker has ended because it was fenced, and for no reason that is a bug."""
    found = causes(failure)
    return any(isinstance(it, FENCINGS) for it in found) and all(
        isinstance(it, EXPECTED_FAILURES) for it in found
    )
