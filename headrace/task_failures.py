"""Hands an exception that no code expected to the loop's exception handler, which decides.

Of tasks, the event loop reports an exception only when a task with an unread one is freed. One that is kept in a
collection, or cancelled after its end, is never reported. This module stands below all packages.
"""

import asyncio
from typing import Any


def report_error(what: str, error: BaseException) -> None:
    """Hand over what ends the node; code that has something to put in order goes on meanwhile."""
    asyncio.get_running_loop().call_exception_handler({"message": what, "exception": error})


def report_unexpected(task: asyncio.Future[Any], *expected: type[BaseException]) -> None:
    """Read the outcome of a task that is done, and hand what is not expected to the loop's exception handler."""
    if task.cancelled():
        return
    error = task.exception()
    if isinstance(error, BaseExceptionGroup):
        error = error.split(expected)[1]
    if error is None or isinstance(error, expected):
        return
    context = {"message": f"{task!r} failed", "exception": error, "future": task}
    task.get_loop().call_exception_handler(context)
