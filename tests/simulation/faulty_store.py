"""An object store around another one that fails in the ways in which real ones do, on demand or at random."""

import asyncio
import random
from collections import Counter, deque
from collections.abc import AsyncIterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from headrace.storage.errors import ObjectNotFoundError, ObjectStoreError
from headrace.storage.ports import Buffer, CopiedRange, ObjectStore, Progress, unnoticed


class Fault(Enum):
    """What can go wrong with one request."""

    REFUSED = auto()  # an error, and nothing happened
    LOST_REPLY = auto()  # it happened, and the answer is an error
    NOT_FOUND = auto()  # a read of what is there is told that it is not
    FLIPPED_BIT = auto()  # a read returns one bit that is not so
    LATE = auto()  # a put fails, and happens later (`land`)


@dataclass(frozen=True, slots=True)
class Rates:
    """Probabilities of faults per request."""

    refused: float = 0.0
    lost_reply: float = 0.0
    not_found: float = 0.0
    flipped_bit: float = 0.0
    max_latency_ms: int = 0


class FaultyStore:
    """Faults come from `script` (operation -> faults of its next requests, None for none), then from `rates`."""

    def __init__(
        self, inner: ObjectStore, rng: random.Random | None = None, rates: Rates | None = None
    ) -> None:
        self.inner = inner
        self.rates = rates or Rates()
        self.script: dict[str, deque[Fault | None]] = {}
        self.requests: Counter[str] = Counter()
        self.log: list[tuple[str, str]] = []
        self._rng = rng or random.Random(0)
        self._late: list[tuple[str, bytes]] = []

    def then(self, operation: str, *faults: Fault | None) -> None:
        """Script the next requests of an operation (put, put_stream, compose, get_range, delete, list)."""
        self.script.setdefault(operation, deque()).extend(faults)

    async def land(self) -> None:
        """Let the late puts happen."""
        late, self._late = self._late, []
        for key, content in late:
            await self.inner.put(key, [content])

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        fault = await self._next("put", key)
        if fault is Fault.LATE:
            self._late.append((key, b"".join(parts)))
        if fault in (None, Fault.LOST_REPLY):
            await self.inner.put(key, parts)
        self._raise(fault, key)

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        fault = await self._next("create", key)
        created = False
        if fault in (None, Fault.LOST_REPLY):
            created = await self.inner.create(key, parts)
        self._raise(fault, key)
        return created

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        fault = await self._next("put_stream", key)
        if fault in (None, Fault.LOST_REPLY):
            await self.inner.put_stream(key, chunks)
        self._raise(fault, key)

    @property
    def copies_remotely(self) -> bool:
        return self.inner.copies_remotely

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        fault = await self._next("compose", key)
        if fault in (None, Fault.LOST_REPLY):
            await self.inner.compose(key, pieces, progress)
        self._raise(fault, key)

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        fault = await self._next("get_range", key)
        if fault is Fault.NOT_FOUND:
            raise ObjectNotFoundError(f"{key}: not found, says the fault")
        content = await self.inner.get_range(key, start, end)
        if fault is Fault.FLIPPED_BIT:
            damaged = bytearray(content)
            bit = self._rng.randrange(len(damaged) * 8)
            damaged[bit // 8] ^= 1 << bit % 8
            return memoryview(damaged).toreadonly()
        self._raise(fault, key)
        return content

    async def delete(self, keys: Sequence[str]) -> None:
        fault = await self._next("delete", ",".join(keys))
        if fault in (None, Fault.LOST_REPLY):
            await self.inner.delete(keys)
        self._raise(fault, "delete")

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        fault = await self._next("list", prefix)
        self._raise(fault, prefix)
        return await self.inner.list(prefix)

    async def close(self) -> None:
        await self.inner.close()

    async def _next(self, operation: str, what: str) -> Fault | None:
        self.requests[operation] += 1
        self.log.append((operation, what))
        if self.rates.max_latency_ms:
            await asyncio.sleep(self._rng.random() * self.rates.max_latency_ms / 1000)
        scripted = self.script.get(operation)
        if scripted:
            return scripted.popleft()
        point = self._rng.random()
        for fault, rate in (
            (Fault.REFUSED, self.rates.refused),
            (Fault.LOST_REPLY, self.rates.lost_reply),
            (Fault.NOT_FOUND, self.rates.not_found if operation == "get_range" else 0.0),
            (Fault.FLIPPED_BIT, self.rates.flipped_bit if operation == "get_range" else 0.0),
        ):
            point -= rate
            if point < 0:
                return fault
        return None

    def _raise(self, fault: Fault | None, what: str) -> None:
        if fault is not None:
            raise ObjectStoreError(f"{what}: {fault.name}, says the fault")
