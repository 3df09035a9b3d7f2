"""A bucket of the whole cluster, whose requests and answers are late, lost, repeated and refused, in virtual time.

A request takes effect at one moment of its own, whether its sender still lives then or not: an upload that was given
up may arrive much later, and one that was repeated on its way arrives twice. What a process is answered reaches it
only while it lives.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.storage.audit.inventory import ListedObject
from headrace.storage.errors import FailureKind, ObjectStoreError
from headrace.storage.object_store.memory import MemoryObjectStore
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed
from headrace.storage.sweep.rules import IncompleteUpload
from tests.simulation.cluster.network import ClusterNetwork
from tests.simulation.cluster.process import current

MAX_PAGE_OBJECTS = 100
GIVEN_UP_S = 3.0  # after this time the client takes a request for lost


@dataclass(frozen=True, slots=True)
class Weather:
    """Probabilities per request, and delays in virtual seconds."""

    refused: float = 0.0  # not carried out, and told so
    lost: float = 0.0  # not carried out, and no answer
    reply_lost: float = 0.0  # carried out, and no answer
    late: float = 0.0  # no answer, and carried out much later
    repeated: float = 0.0  # carried out a second time, later
    delay_s: tuple[float, float] = (0.005, 0.03)
    max_late_s: float = 8.0
    put_s: tuple[float, float] | None = None  # more, of what is uploaded

    @property
    def is_fair(self) -> bool:
        """Whether every request is carried out once, and answered."""
        return not (self.refused or self.lost or self.reply_lost or self.late or self.repeated)


class ClusterBucket:
    """What is in the bucket, and the weather around it."""

    def __init__(self, network: ClusterNetwork, rng: random.Random, weather: Weather) -> None:
        self.network = network
        self.rng = rng
        self.weather = weather
        self.is_down = False
        self.out_of_reach: set[str] = set()  # of these hosts
        self.contents = MemoryObjectStore()
        self.modified_ms: dict[str, int] = {}
        self.seen: Counter[str] = Counter()
        self.conflicts: list[str] = []  # a key that was given two contents

    @property
    def objects(self) -> dict[str, bytes]:
        return self.contents.objects

    def now_ms(self) -> int:
        """Return the bucket's own clock."""
        return wall_clock_ms(self.network.loop.time())

    async def write(self, operation: str, key: str, apply: Callable[[], Awaitable[Any]]) -> Any:
        """Carry out a request that changes objects."""

        async def applied() -> Any:
            before = set(self.objects)
            try:
                return await apply()
            except ObjectStoreError as error:
                if "another content" in str(error):
                    self.conflicts.append(key)
                raise
            finally:
                for new in sorted(set(self.objects) - before):
                    self.modified_ms[new] = self.now_ms()

        return await self._request(f"{operation} {key}", applied)

    async def read(self, operation: str, key: str, apply: Callable[[], Awaitable[Any]]) -> Any:
        """Carry out a request that changes nothing."""
        return await self._request(f"{operation} {key}", apply)

    async def _request(self, what: str, apply: Callable[[], Awaitable[Any]]) -> Any:
        process, rng, weather = current(), self.rng, self.weather
        assert process is not None
        reply: asyncio.Future[Any] = self.network.loop.create_future()
        fate = self._fate()
        self.seen[fate] += 1
        if self.is_down or process.host in self.out_of_reach or fate == "refused":
            await asyncio.sleep(rng.uniform(*weather.delay_s))
            raise ObjectStoreError(f"{what}: 503", FailureKind.THROTTLED)
        arrives_s = rng.uniform(*weather.delay_s)
        if weather.put_s is not None and what.startswith("put "):
            arrives_s += rng.uniform(*weather.put_s)
        if fate == "late":
            arrives_s = GIVEN_UP_S + rng.random() * weather.max_late_s
        answers = fate in ("calm", "repeated")
        if fate != "lost":
            self.network.world(arrives_s, self._arrive, what, apply, reply if answers else None)
        if fate == "repeated":
            again_s = arrives_s + rng.random() * weather.max_late_s
            self.network.world(again_s, self._arrive, what, apply, None)
        try:
            async with asyncio.timeout(GIVEN_UP_S):
                return await reply
        except TimeoutError:
            raise ObjectStoreError(f"{what}: no answer", FailureKind.TIMEOUT) from None

    def _fate(self) -> str:
        weather = self.weather
        point = self.rng.random()
        for fate in ("refused", "lost", "reply_lost", "late", "repeated"):
            point -= getattr(weather, fate)
            if point < 0:
                return fate
        return "calm"

    def _arrive(
        self, what: str, apply: Callable[[], Awaitable[Any]], reply: "asyncio.Future[Any] | None"
    ) -> None:
        self.network.note(what, b"")
        result: Any = None
        error: Exception | None = None
        try:
            result = _at_once(apply())
        except Exception as failure:
            error = failure
        if reply is not None:
            self.network.world(
                self.rng.uniform(*self.weather.delay_s), _answer, reply, result, error
            )


def wall_clock_ms(now_s: float) -> int:
    """Return the time of day of a moment of the simulation."""
    return 1_700_000_000_000 + round(now_s * 1000)


def _at_once(request: Awaitable[Any]) -> Any:
    """Run a coroutine that never waits."""
    try:
        request.send(None)  # type: ignore[attr-defined]
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a request to the bucket in memory waited")


def _answer(reply: "asyncio.Future[Any]", result: Any, error: Exception | None) -> None:
    if reply.done():
        return
    if error is None:
        reply.set_result(result)
    else:
        reply.set_exception(error)


class BucketClient:
    """The bucket as one process has it: a `headrace.storage.ports.ObjectStore`."""

    def __init__(self, bucket: ClusterBucket) -> None:
        self._bucket = bucket
        self._contents = bucket.contents

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        content = b"".join(parts)
        await self._bucket.write("put", key, lambda: self._contents.put(key, [content]))

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        content = b"".join(parts)
        written = lambda: self._contents.create(key, [content])  # noqa: E731
        return bool(await self._bucket.write("create", key, written))

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        content = b"".join([b"".join(parts) async for parts in chunks])
        await self.put(key, [content])

    @property
    def copies_remotely(self) -> bool:
        return True

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        kept = [it if isinstance(it, CopiedRange) else bytes(it) for it in pieces]
        await self._bucket.write("compose", key, lambda: self._contents.compose(key, kept))
        progress(len(self._contents.objects.get(key, b"")))

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        request = lambda: self._contents.get_range(key, start, end)  # noqa: E731
        found: memoryview = await self._bucket.read("get", key, request)
        return found

    async def delete(self, keys: Sequence[str]) -> None:
        kept = list(keys)
        await self._bucket.write("delete", ",".join(kept), lambda: self._contents.delete(kept))

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        listed: Sequence[tuple[str, int]] = await self._bucket.read(
            "list", prefix, lambda: self._contents.list(prefix)
        )
        return listed

    async def close(self) -> None:
        """It is nobody's."""


class BucketLists:
    """What a sweep lists: objects with their times; no upload is ever incomplete."""

    def __init__(self, bucket: ClusterBucket) -> None:
        self._bucket = bucket

    async def pages(self, prefix: str = "") -> AsyncIterator[list[ListedObject]]:
        bucket = self._bucket

        async def listed() -> list[ListedObject]:
            found = sorted((it, len(content)) for it, content in bucket.objects.items())
            return [
                ListedObject(key, size, bucket.modified_ms[key])
                for key, size in found
                if key.startswith(prefix)
            ]

        found = await bucket.read("list", prefix, listed)
        for at in range(0, len(found), MAX_PAGE_OBJECTS):
            yield found[at : at + MAX_PAGE_OBJECTS]


class NoUploads:
    """A bucket without multipart uploads."""

    async def pages(self) -> AsyncIterator[list[IncompleteUpload]]:
        for none in ():
            yield none

    async def abort(self, uploads: Sequence[IncompleteUpload]) -> None:
        assert not uploads
