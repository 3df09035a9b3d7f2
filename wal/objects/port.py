"""What the object WAL needs of a bucket."""

from collections.abc import Sequence
from typing import Protocol

Part = bytes | memoryview


class BucketError(Exception):
    """The bucket did not answer, or not correctly: the outcome is unknown, trying again is safe."""


class BucketRefusedError(BucketError):
    """The bucket answered with a refusal (credentials, permissions, no such bucket)."""


class LogBucket(Protocol):
    """Objects by key, strongly consistent: every later request sees what was answered before.

    Every method may raise `BucketError`. Only `list` and `delete` may repeat a request by themselves.
    """

    async def create(self, key: str, parts: Sequence[Part]) -> bool:
        """Write the concatenation of `parts` unless the key exists; return whether it was written.

        After an error, or a cancellation, it may have been written, or may be later.
        """
        ...

    async def read(self, key: str, start: int, end: int) -> memoryview | None:
        """Read `[start, end)`: None when there is no such object, an empty view when it ends before `end`."""
        ...

    async def list(self, folder: str) -> Sequence[tuple[str, int]]:
        """(key, bytes) of every object below `folder`."""
        ...

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete; a key that does not exist is not an error."""
        ...
