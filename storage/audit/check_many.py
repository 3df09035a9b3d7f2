"""Reads the indexes of many objects at once, a bounded number at a time."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Final

from headrace.storage.audit.object_check import ObjectReport, RangeReader, Watch, check_object
from headrace.storage.errors import ObjectNotFoundError, StorageError
from headrace.task_failures import report_unexpected

PARALLEL_DEFAULT: Final = 8

# (key, size as listed)
Candidate = tuple[str, int]


async def check_many(
    reader: RangeReader,
    candidates: Iterable[Candidate],
    *,
    blocks: bool,
    parallel: int = PARALLEL_DEFAULT,
    watch: Watch | None = None,
) -> AsyncIterator[tuple[str, ObjectReport | None]]:
    """Check objects and yield (key, report) as each is done; None: it does not exist (any more).

    Args:
        reader: of the bucket.
        candidates: what to check; taken one by one as others are done.
        blocks: whether the data are read as well.
        parallel: how many at a time; each takes a few chunks of memory.
        watch: callbacks meanwhile.

    Raises:
        ObjectStoreError: the bucket does not answer.
    """

    async def check(key: str, size_bytes: int) -> tuple[str, ObjectReport | None]:
        try:
            return key, await check_object(reader, key, size_bytes, blocks=blocks, watch=watch)
        except ObjectNotFoundError:
            return key, None

    remaining = iter(candidates)
    running: dict[asyncio.Task[tuple[str, ObjectReport | None]], None] = {}
    try:
        while True:
            while len(running) < parallel and (candidate := next(remaining, None)) is not None:
                task = asyncio.create_task(check(*candidate))
                # The first that fails ends the others, of which some may have failed as well.
                task.add_done_callback(lambda done: report_unexpected(done, StorageError))
                running[task] = None
            if not running:
                return
            await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in [it for it in running if it.done()]:
                del running[task]
                yield task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
