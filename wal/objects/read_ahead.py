"""Reads objects for a walk: the current one, and some of the next ones in advance."""

import asyncio
from collections.abc import Mapping

from headrace.task_failures import report_unexpected
from headrace.wal.errors import WalError
from headrace.wal.objects.layout import HEADER_BYTES, LogKeys, decode_header
from headrace.wal.objects.port import BucketError
from headrace.wal.objects.requests import Requests

MAX_OBJECTS_AHEAD = 8
MAX_BYTES_AHEAD = 32 * 1024 * 1024
MAX_READS = 3


class ObjectReadAhead:
    """Inflight reads of objects."""

    def __init__(self, requests: Requests, keys: LogKeys) -> None:
        self._requests = requests
        self._keys = keys
        self._tasks: dict[int, asyncio.Task[memoryview | None]] = {}

    async def get(self, number: int, sizes: Mapping[int, int]) -> memoryview | None:
        """Return a whole object; None when there is none.

        Args:
            number: of the object.
            sizes: of the objects that probably exist.

        Raises:
            BucketError: no answer in time.
        """
        self._start(number, sizes)
        ahead_bytes = sizes.get(number, 0)
        for after in range(number + 1, number + MAX_OBJECTS_AHEAD):
            ahead_bytes += sizes.get(after, 0)
            if after not in sizes or ahead_bytes > MAX_BYTES_AHEAD:
                break
            self._start(after, sizes)
        return await self._tasks.pop(number)

    def stop(self) -> None:
        """Cancel inflight reads."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def _start(self, number: int, sizes: Mapping[int, int]) -> None:
        if number not in self._tasks:
            reading = self._read(self._keys.key(number), sizes.get(number, 0))
            self._tasks[number] = task = asyncio.get_running_loop().create_task(reading)
            # Who walks the log stops at the first that fails; those behind it were begun for nothing.
            task.add_done_callback(lambda done: report_unexpected(done, BucketError, WalError))

    async def _read(self, key: str, size_bytes: int) -> memoryview | None:
        if size_bytes >= HEADER_BYTES:
            content = await self._requests.read(key, 0, size_bytes)
            if content is None or len(content) == size_bytes == _declared_bytes(content):
                return content
        # Not listed, or no longer as listed. A number that was released may be taken by a fence
        # between the two reads; an object that is cut off stays so.
        header: memoryview | None = None
        for _ in range(MAX_READS):
            header = await self._requests.read(key, 0, HEADER_BYTES)
            size_bytes = 0 if header is None else _declared_bytes(header)
            if size_bytes <= HEADER_BYTES:
                return header
            content = await self._requests.read(key, 0, size_bytes)
            if content is None or len(content) > 0:
                return content
        return header


def _declared_bytes(content: memoryview) -> int:
    """Size of an object according to its header; 0 when it has no valid one."""
    header = decode_header(content)
    return 0 if header is None else HEADER_BYTES + header.length
