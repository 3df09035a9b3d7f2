"""`mem://`: a bucket in memory, for tests and throw-away brokers. Lost with the process."""

from collections.abc import AsyncIterable, Sequence

from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError
from headrace.storage.object_store.ranges import exactly, folder_of, require_valid_range
from headrace.storage.objects.keys import require_valid_key
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed


class MemoryObjectStore:
    """Objects as a dict of bytes. Unbounded: it holds what it is given."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        self._publish(key, b"".join(parts))

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        if key in self.objects:
            return False
        self.objects[key] = b"".join(parts)
        return True

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        joined = [b"".join(parts) async for parts in chunks]
        self._publish(key, b"".join(joined))

    @property
    def copies_remotely(self) -> bool:
        """No: it is this process that does it."""
        return False

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        parts = [
            await self.get_range(*piece) if isinstance(piece, CopiedRange) else piece
            for piece in pieces
        ]
        self._publish(key, b"".join(parts))
        progress(len(self.objects[key]))

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        require_valid_range(start, end)
        content = self.objects.get(key)
        if content is None:
            raise ObjectNotFoundError(key)
        return exactly(memoryview(content)[start:end], key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        for key in keys:
            require_valid_key(key)
        for key in keys:
            self.objects.pop(key, None)

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `headrace.storage.ports.ObjectStore`."""
        folder = folder_of(prefix)
        return sorted(
            (key, len(content)) for key, content in self.objects.items() if key.startswith(folder)
        )

    async def close(self) -> None:
        """Keep the objects: holders of this instance may go on reading."""

    def _publish(self, key: str, content: bytes) -> None:
        """Keep an object.

        Raises:
            ObjectStoreError: the key has another content.
        """
        if self.objects.setdefault(key, content) != content:
            raise ObjectStoreError(f"{key} exists and has another content")
