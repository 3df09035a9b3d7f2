"""Takes a node's log over: checks the bucket, drives the walk, and takes the numbers of older generations.

`headrace.wal.objects.walk` decides what is read and created, `headrace.wal.objects.fencing` what an
object means that exists already.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from headrace.wal.errors import WalDeviceError
from headrace.wal.objects.errors import WalObjectCorruptError
from headrace.wal.objects.fencing import Owner, require_void
from headrace.wal.objects.layout import HEADER_BYTES, WINDOW, LogKeys, ObjectHeader, decode_header
from headrace.wal.objects.port import BucketError
from headrace.wal.objects.read_ahead import ObjectReadAhead
from headrace.wal.objects.requests import Requests
from headrace.wal.objects.walk import Action, Claims, Walk, check_identity, newest_numbers
from headrace.wal.port import RecoveredRecord

_MAX_LISTS = 10
_PROBE = b"Headrace created this object to see that this bucket never replaces one.\n"

_T = TypeVar("_T")


class Takeover:
    """The takeover of a log by one generation. Order of use: `prepare`, `recover` to its end, `take_window`."""

    def __init__(
        self, requests: Requests, keys: LogKeys, owner: Owner, *, accept_loss_generation: str
    ) -> None:
        self._requests = requests
        self._keys = keys
        self._owner = owner
        self._accept_loss_generation = accept_loss_generation
        self._accepts_damage = False
        self._listed: dict[int, int] = {}  # size by number
        self._walk: Walk | None = None
        self.claims = Claims()
        self.newest_epoch: int | None = None  # of the writers of the newest objects

    @property
    def walk(self) -> Walk:
        """The last walk; valid once `recover` has begun."""
        assert self._walk is not None
        return self._walk

    async def prepare(self) -> None:
        """Check that the bucket never replaces an object, and that the log in it is this node's.

        Raises:
            WalIdentityError: a newer registration of this node has used the log.
            WalObjectCorruptError: none of the newest objects is valid.
            WalDeviceError: the bucket replaces objects, refuses the requests, or does not answer.
        """
        with self._answers_needed():
            await self._probe()
            for header in await self._list():
                check_identity(header, self._keys, self._owner)
                self.claims.absorb(header)
                self.newest_epoch = max(header.node_epoch, self.newest_epoch or 0)

    def accept_damage(self) -> None:
        """Pass over what cannot be read, whichever generation wrote it; to be called before `prepare`."""
        self._accepts_damage = True

    async def recover(self) -> AsyncGenerator[RecoveredRecord, None]:
        """Yield the surviving records; at the end our fence exists.

        Raises:
            WalObjectCorruptError: a confirmed object cannot be read.
            WalFencedError: a newer generation takes the log over.
            WalDeviceError: the bucket does not answer.
        """
        self._walk = walk = Walk(
            self._keys,
            self._owner,
            self.claims,
            self._listed,
            accept_loss_generation=self._accept_loss_generation,
            accepts_damage=self._accepts_damage,
        )
        ahead = ObjectReadAhead(self._requests, self._keys)
        try:
            while walk.action is not Action.END:
                with self._answers_needed():
                    records = await self._step(walk, ahead)
                for record in records:
                    yield record
        finally:
            ahead.stop()

    async def take_window(self) -> int:
        """Take every number that an older generation may still use; return the first that is ours alone.

        Raises:
            WalFencedError: a newer generation takes the log over.
            WalDeviceError: the bucket does not answer.
        """
        walk = self.walk
        behind = range(walk.number + 1, walk.number + WINDOW)
        with self._answers_needed():
            await _all(self._take(walk.fence(number)) for number in behind)
        return walk.number + WINDOW

    async def _probe(self) -> None:
        """Create the same object twice; one that an earlier start created counts."""
        for _ in range(2):
            if await self._requests.create(self._keys.probe, [_PROBE], may_give_up=True):
                return
        msg = (
            f"the bucket replaces existing objects on a conditional PUT (it ignores If-None-Match): "
            f"it cannot hold a WAL, since two writers of {self._keys.folder} could overwrite each other's objects"
        )
        raise WalDeviceError(msg)

    async def _list(self) -> list[ObjectHeader]:
        """List the objects; return the headers of the newest.

        Raises:
            BucketError: a live owner releases objects faster than they can be read here.
            WalObjectCorruptError: none of the newest objects is valid.
        """
        keys = self._keys
        for _ in range(_MAX_LISTS):
            numbers = {
                keys.number(key): size for key, size in await self._requests.list(keys.folder)
            }
            self._listed = {number: size for number, size in numbers.items() if number is not None}
            newest = newest_numbers(self._listed)
            contents = await _all(
                self._requests.read(keys.key(number), 0, HEADER_BYTES) for number in newest
            )
            if contents and contents[-1] is None:
                continue  # the list is out of date: a newer object has released the newest listed one
            found = [content for content in contents if content is not None]
            headers = [header for each in found if (header := decode_header(each)) is not None]
            is_accepted = self._accepts_damage or self._accept_loss_generation
            if found and not headers and not is_accepted:
                key = keys.key(newest[-1])
                raise WalObjectCorruptError(key, newest[-1], "is damaged", generation_id=0)
            return headers
        msg = f"objects below {keys.folder} disappear while they are read: another process still writes this WAL"
        raise BucketError(msg)

    async def _step(self, walk: Walk, ahead: ObjectReadAhead) -> list[RecoveredRecord]:
        """Do the walk's next action."""
        match walk.action:
            case Action.READ:
                return walk.found(await ahead.get(walk.number, self._listed))
            case Action.LIST:
                headers = await self._list()
                walk.listed(self._listed, headers)
            case Action.FENCE:
                fence = walk.wanted_fence()
                key = self._keys.key(fence.number)
                content = fence.encode()
                existing = await self._requests.create(key, [content], may_give_up=True)
                if existing is None or bytes(existing.header or b"") == content:
                    walk.created()
                else:
                    walk.lost_race()
            case Action.END:
                pass
        return []

    async def _take(self, fence: ObjectHeader) -> None:
        """Take a number behind our first fence."""
        key = self._keys.key(fence.number)
        existing = await self._requests.create(key, [fence.encode()], may_give_up=True)
        if existing is not None:
            require_void(existing.header, self._owner, key)

    @contextmanager
    def _answers_needed(self) -> Iterator[None]:
        """Before the log runs, a bucket that does not answer is an error of the start."""
        try:
            yield
        except BucketError as error:
            msg = f"the bucket of the WAL {self._keys.folder} cannot be used: {error}"
            raise WalDeviceError(msg) from error


async def _all(awaitables: Iterable[Awaitable[_T]]) -> list[_T]:
    """Wait for all of them, then raise the first error."""
    results = await asyncio.gather(*awaitables, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]
