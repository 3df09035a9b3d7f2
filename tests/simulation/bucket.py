"""A bucket whose requests and replies are late, lost and doubled, in virtual time.

A request takes effect at one moment (`create` as one step), which may be long after its sender has given up, and a
second time later when it is doubled. Every request has had its effect by `max_late_s` after it was sent: what a
fence must outlive. `Client` is the `headrace.wal.objects.port.Bucket` of one process, which can be cut off: what it has
sent still arrives, nothing comes back, nothing more is sent.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headrace.wal.objects.port import BucketError


@dataclass(frozen=True, slots=True)
class Weather:
    """Probabilities per request, and delays."""

    late: float = 0.0  # the request arrives after a long time
    lost: float = 0.0  # it never arrives
    doubled: float = 0.0  # it arrives twice
    reply_lost: float = 0.0
    reply_late: float = 0.0
    refused: float = 0.0  # it fails at once, and was not carried out
    max_delay_s: float = 0.2  # of what is not late
    max_late_s: float = 40.0


CALM = Weather()


class SimulatedBucket:
    """What is in the bucket, and what has happened to it."""

    def __init__(self, rng: random.Random, weather: Weather = CALM) -> None:
        self.objects: dict[str, bytes] = {}
        self.rng = rng
        self.weather = weather
        self.is_down = False
        self.replaces = False  # whether it is a store that ignores If-None-Match
        self.seen: Counter[str] = Counter()

    def client(self) -> "Client":
        """The bucket as one process sees it."""
        return Client(self)


class Client:
    """A `headrace.wal.objects.port.Bucket`."""

    def __init__(self, bucket: SimulatedBucket) -> None:
        self._bucket = bucket
        self.is_cut = False

    async def create(self, key: str, parts: Sequence[bytes | memoryview]) -> bool:
        objects = self._bucket.objects
        content = b"".join(parts)

        def apply() -> bool:
            if key in objects and not self._bucket.replaces:
                self._bucket.seen["create: exists"] += 1
                return False
            objects[key] = content
            return True

        return await self._request("create", apply)

    async def read(self, key: str, start: int, end: int) -> memoryview | None:
        def apply() -> memoryview | None:
            content = self._bucket.objects.get(key)
            if content is None:
                return None
            return memoryview(content)[start:end] if end <= len(content) else memoryview(b"")

        return await self._request("read", apply)

    async def list(self, folder: str) -> Sequence[tuple[str, int]]:
        """As pages of two keys that see different moments, as far as a synchronous step can: see `_pages`."""
        objects = self._bucket.objects

        def page(after: str) -> list[tuple[str, int]]:
            keys = sorted(key for key in objects if key.startswith(f"{folder}/") and key > after)
            return [(key, len(objects[key])) for key in keys[:PAGE_KEYS]]

        found: list[tuple[str, int]] = []
        while True:
            last = found[-1][0] if found else ""
            more = await self._request("list", lambda last=last: page(last))
            found += more
            if len(more) < PAGE_KEYS:
                return found

    async def delete(self, keys: Sequence[str]) -> None:
        def apply() -> None:
            for key in keys:
                self._bucket.objects.pop(key, None)

        await self._request("delete", apply)

    async def _request(self, kind: str, apply: Callable[[], object]):
        bucket, rng, weather = self._bucket, self._bucket.rng, self._bucket.weather
        loop = asyncio.get_running_loop()
        if self.is_cut:
            await loop.create_future()
        bucket.seen[kind] += 1
        if bucket.is_down or rng.random() < weather.refused:
            await asyncio.sleep(rng.random() * weather.max_delay_s)
            raise BucketError(f"{kind}: 503")
        reply = loop.create_future()
        repeats = 1 + (rng.random() < weather.doubled)
        arrives = [self._travel_s(weather.late, "late") for _ in range(repeats)]
        if rng.random() < weather.lost:
            arrives = arrives[1:]
            bucket.seen["lost"] += 1

        def arrive(is_first: bool) -> None:
            answer = apply()
            if not is_first or self.is_cut or rng.random() < weather.reply_lost:
                return
            loop.call_later(self._travel_s(weather.reply_late, "reply late"), answered, answer)

        def answered(answer: object) -> None:
            if not self.is_cut and not reply.done():
                reply.set_result(answer)

        for number, delay_s in enumerate(sorted(arrives)):
            loop.call_later(delay_s, arrive, number == 0)
        return await reply

    def _travel_s(self, late: float, what: str) -> float:
        weather, rng = self._bucket.weather, self._bucket.rng
        if rng.random() < late:
            self._bucket.seen[what] += 1
            return rng.random() * weather.max_late_s
        return rng.random() * weather.max_delay_s


PAGE_KEYS = 30
