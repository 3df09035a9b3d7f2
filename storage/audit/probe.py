"""Tries every operation that a broker needs of a bucket, on keys of its own, and removes them.

An S3 bucket is tried request by request, so that a refusal names the missing right, and then through
the broker's own client. A directory is tried through the client alone.
"""

import asyncio
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from headrace.storage.audit import rights
from headrace.storage.audit.audited_bucket import require_reachable
from headrace.storage.audit.inventory import PROBE_PREFIX, TEMPORARY_FOLDER
from headrace.storage.audit.probe_s3 import (
    LAST_PART_BYTES,
    PART_BYTES,
    RefusedRequestError,
    S3Requests,
    WrongAnswerError,
)
from headrace.storage.audit.rights import Outcome, Refusal, Status, Step, judge, judge_race
from headrace.storage.errors import StorageError
from headrace.storage.object_store.factory import open_object_store
from headrace.storage.object_store.retrying import RequestRefusedError, RetryPolicy
from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.s3_client import one_thread
from headrace.storage.object_store.uri import FileLocation, S3Location, parse_bucket_uri
from headrace.storage.ports import Buffer, ObjectStore

CREATORS_DEFAULT: Final = 16
RACES: Final = 3
SMALL_BYTES: Final = 4_096
LISTED_KEYS: Final = 5  # three pages of two
CLEANUP_TIMEOUT_S: Final = 30
_POLICY: Final = RetryPolicy(max_attempts=2)
_STATUS: Final = re.compile(r"\b(?:status|HTTP error) (\d{3})\b|\b(4\d\d|5\d\d) [A-Z][a-z]+")
_CODE: Final = re.compile(r"<Code>(\w+)</Code>|\(code: (\w+)")
_MESSAGE: Final = re.compile(r"<Message>([^<]+)</Message>")

_T = TypeVar("_T")
_Attempt = Callable[[], Awaitable[str]]


@dataclass(slots=True)
class ProbeReport:
    """The result of a probe."""

    outcomes: list[Outcome] = field(default_factory=list)
    left_behind: list[str] = field(default_factory=list)  # keys that could not be removed

    @property
    def missing_actions(self) -> list[str]:
        """IAM actions that would help."""
        return rights.missing_actions(self.outcomes)


async def probe_bucket(
    uri: str,
    *,
    rng: random.Random,
    environment: Mapping[str, str],
    creators: int = CREATORS_DEFAULT,
    on_outcome: Callable[[Outcome], None] = lambda _: None,
) -> ProbeReport:
    """Probe a bucket. Nothing but keys below `headrace-probe/` is written or removed.

    Args:
        uri: see `headrace.storage.object_store.uri`.
        rng: names the probe's keys, and makes what they hold.
        environment: where `AWS_*` variables are looked up.
        creators: how many race for one key.
        on_outcome: called with the outcome of each operation.

    Raises:
        ValueError: the URI is invalid, or names no bucket that can be probed.
        ObjectStoreError: there is no such directory.
    """
    location = parse_bucket_uri(uri)
    require_reachable(location)
    store = open_object_store(
        uri, rng=rng, environment=environment, part_bytes=PART_BYTES, policy=_POLICY
    )
    is_directory = isinstance(location, FileLocation)
    probe = _Probe(store, rng, creators, on_outcome, is_directory=is_directory)
    try:
        if isinstance(location, S3Location):
            access = resolve_access(location, environment)
            with one_thread(access, "bucket-probe", _POLICY) as client:
                requests = S3Requests(client, access.bucket, location.prefix)
                await _ThroughS3(probe, requests).run()
        elif isinstance(location, FileLocation):
            await _through_directory(probe, Path(location.path))
    finally:
        await store.close()
    return probe.report


class _Probe:
    """What both kinds of buckets share: keys, outcomes, and the operations of the broker's client."""

    def __init__(
        self,
        store: ObjectStore,
        rng: random.Random,
        creators: int,
        on_outcome: Callable[[Outcome], None],
        *,
        is_directory: bool,
    ) -> None:
        self.store = store
        self._is_directory = is_directory
        self.report = ProbeReport()
        self.folder = f"{PROBE_PREFIX}/{rng.getrandbits(64):016x}"
        self.content = rng.randbytes(PART_BYTES + LAST_PART_BYTES)
        self.keys: list[str] = []  # everything that may have been written, once each
        self._creators = creators
        self._on_outcome = on_outcome

    def key(self, name: str) -> str:
        """Name an object of this probe, and remember to remove it."""
        key = f"{self.folder}/{name}"
        if key not in self.keys:
            self.keys.append(key)
        return key

    async def attempt(self, step: Step, act: _Attempt) -> bool:
        """Do one operation and record its outcome; return whether it succeeded."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            outcome = Outcome(step, Status.OK, await act())
        except RefusedRequestError as error:
            outcome = judge(step, error.refusal)
        except WrongAnswerError as error:
            outcome = Outcome(step, Status.FAILED, str(error))
        return self.note(outcome, (loop.time() - started) * 1000)

    def note(self, outcome: Outcome, milliseconds: float = 0.0) -> bool:
        """Record an outcome; return whether it is a success."""
        noted = Outcome(
            outcome.step,
            outcome.status,
            outcome.detail,
            outcome.missing,
            outcome.advice,
            milliseconds,
        )
        self.report.outcomes.append(noted)
        self._on_outcome(noted)
        return noted.status == Status.OK

    def skip(self, step: Step, why: str) -> None:
        """Record that an operation could not be tried."""
        self.note(Outcome(step, Status.SKIPPED, why))

    async def client(self) -> str:
        """Use the bucket as the broker does."""
        small, large = self.key("client/small"), self.key("client/large")
        content, store, ask = self.content, self.store, self.ask
        await ask(rights.PUT_OBJECT, store.put(small, [content[:1000], content[1000:SMALL_BYTES]]))
        await ask(rights.PUT_OBJECT, store.put_stream(large, _in_chunks(content)))
        read = await ask(rights.GET_OBJECT, store.get_range(large, PART_BYTES - 100, len(content)))
        if bytes(read) != content[PART_BYTES - 100 :]:
            raise WrongAnswerError(
                "a ranged get of a multipart upload returned other bytes than were written"
            )
        folder = f"{self.folder}/client"
        listed = await ask(rights.LIST_BUCKET, store.list(folder))
        if sorted(listed) != [(large, len(content)), (small, SMALL_BYTES)]:
            raise WrongAnswerError("the listing differs from what was written")
        await ask(rights.DELETE_OBJECT, store.delete([small, large]))
        if await ask(rights.LIST_BUCKET, store.list(folder)):
            raise WrongAnswerError("the listing still shows deleted objects")
        return ""

    async def conditional_put(self) -> str:
        """Create an object twice."""
        key, ask = self.key("created"), self.ask
        if not await ask(rights.PUT_OBJECT, self.store.create(key, [b"first"])):
            raise WrongAnswerError("the service says that an unused key exists already")
        if await ask(rights.PUT_OBJECT, self.store.create(key, [b"other"])):
            raise WrongAnswerError(
                "a second conditional put of the same key succeeded: If-None-Match is ignored"
            )
        if bytes(await ask(rights.GET_OBJECT, self.store.get_range(key, 0, 5))) != b"first":
            raise WrongAnswerError(
                "a second conditional put of the same key was refused, but overwrote the object"
            )
        return ""

    async def race(self) -> Outcome:
        """Create one key from many tasks at the same time, several times over."""
        outcome = Outcome(rights.RACE, Status.SKIPPED)
        for number in range(RACES):
            key = self.key(f"raced-{number}")
            contents = [b"%08d" % creator for creator in range(self._creators)]
            results = await asyncio.gather(*(self._create(key, it) for it in contents))
            try:
                stored = await self.ask(rights.GET_OBJECT, self.store.get_range(key, 0, 8))
            except RefusedRequestError as error:
                return judge(rights.RACE, error.refusal)
            outcome = judge_race(results, bytes(stored), contents)
            if outcome.status != Status.OK:
                break
        return outcome

    async def _create(self, key: str, content: bytes) -> Refusal | None:
        try:
            won = await self.ask(rights.PUT_OBJECT, self.store.create(key, [content]))
        except RefusedRequestError as error:
            return error.refusal
        return None if won else Refusal(412, "PreconditionFailed", "")

    async def ask(self, actions: tuple[str, ...], answer: Awaitable[_T]) -> _T:
        """Wait for an answer to the broker's client.

        Raises:
            RefusedRequestError: it was refused, or there was no answer.
        """
        try:
            return await answer
        except StorageError as error:
            if self._is_directory:
                raise WrongAnswerError(str(error)) from error
            refusal = refusal_of(error)._replace(actions=actions)
            raise RefusedRequestError(refusal) from error


class _ThroughS3:
    """The steps of an S3 bucket."""

    def __init__(self, probe: _Probe, requests: S3Requests) -> None:
        self._probe = probe
        self._requests = requests

    async def run(self) -> None:
        """Do every step, then remove what is left, also when this is cancelled."""
        try:
            await self._steps()
        finally:
            await self._clean_up()

    async def _steps(self) -> None:
        probe, requests = self._probe, self._requests
        attempt = probe.attempt
        await attempt(rights.HEAD_BUCKET, requests.head_bucket)
        if probe.report.outcomes[-1].status == Status.FAILED:
            self._skip_all("the bucket cannot be reached")
            return
        small = probe.content[:SMALL_BYTES]
        put = probe.key("put")
        wrote = await attempt(rights.PUT, partial(requests.put, put, small))
        if rights.blames_credentials(probe.report.outcomes[-1]):
            self._skip_all("the credentials are not accepted")
            return
        if wrote:
            await attempt(rights.HEAD, partial(requests.head, put, len(small)))
            await attempt(rights.RANGED_GET, partial(requests.ranged_get, put, small))
        else:
            probe.skip(rights.HEAD, "the put failed")
            probe.skip(rights.RANGED_GET, "the put failed")
        await attempt(rights.LIST_PAGES, lambda: self._list_pages(wrote=wrote))
        source = probe.key("multipart")
        made = await attempt(rights.MULTIPART, partial(requests.multipart, source, probe.content))
        await attempt(rights.ABORT, partial(requests.abort, f"{probe.folder}/aborted"))
        await attempt(rights.LIST_UPLOADS, partial(requests.list_uploads, f"{probe.folder}/listed"))
        if made:
            copy = partial(requests.part_copy, probe.key("copy"), source, probe.content)
            await attempt(rights.PART_COPY, copy)
        else:
            probe.skip(rights.PART_COPY, "the multipart upload failed")
        await _conditional_steps(probe)
        await attempt(rights.CLIENT, probe.client)
        await attempt(rights.DELETE_MANY, self._delete_many)

    async def _list_pages(self, *, wrote: bool) -> str:
        """List more keys than a page holds; without the right to put, list an empty folder."""
        keys = []
        if wrote:
            keys = [self._probe.key(f"list/{number}") for number in range(LISTED_KEYS)]
            for key in keys:
                await self._requests.put(key, b"x")
        folder = f"{self._probe.folder}/list/"
        return await self._requests.list_pages(folder, set(keys))

    async def _delete_many(self) -> str:
        probe = self._probe
        detail = await self._requests.delete_many(probe.keys)
        probe.keys.clear()
        return detail

    async def _clean_up(self) -> None:
        """Abort uploads and delete keys that still exist; record what could not be removed."""
        probe = self._probe
        with suppress(TimeoutError):
            async with asyncio.timeout(CLEANUP_TIMEOUT_S):
                for key, upload_id in list(self._requests.uploads):
                    await self._quietly(self._requests.abort_upload(key, upload_id))
                if probe.keys and await self._quietly(self._requests.delete_many(probe.keys)):
                    probe.keys.clear()
        written = {it.step for it in probe.report.outcomes if it.status == Status.OK}
        if probe.keys and written & {rights.PUT, rights.MULTIPART, rights.CONDITIONAL_PUT}:
            probe.report.left_behind += probe.keys
        probe.report.left_behind += [f"{key} (upload {it})" for key, it in self._requests.uploads]

    async def _quietly(self, request: Awaitable[object]) -> bool:
        with suppress(RefusedRequestError):
            await request
            return True
        return False

    def _skip_all(self, why: str) -> None:
        tried = {it.step for it in self._probe.report.outcomes}
        for step in rights.STEPS:
            if step not in tried:
                self._probe.skip(step, why)


async def _conditional_steps(probe: _Probe) -> None:
    if await probe.attempt(rights.CONDITIONAL_PUT, probe.conditional_put):
        loop = asyncio.get_running_loop()
        started = loop.time()
        outcome = await probe.race()
        probe.note(outcome, (loop.time() - started) * 1000)
    else:
        probe.skip(rights.RACE, "the conditional put failed")


async def _through_directory(probe: _Probe, root: Path) -> None:
    """Use a directory as the broker does, and remove the folders that were made."""

    async def delete() -> str:
        keys = list(probe.keys)
        await probe.ask(rights.DELETE_OBJECT, probe.store.delete(keys))
        if await probe.ask(rights.LIST_BUCKET, probe.store.list(probe.folder)):
            raise WrongAnswerError("the listing still shows deleted objects")
        probe.keys.clear()
        return f"{len(keys)} keys"

    folders = [f"{probe.folder}/client", probe.folder, PROBE_PREFIX]
    if not (root / TEMPORARY_FOLDER).exists():
        folders.append(TEMPORARY_FOLDER)
    try:
        await _conditional_steps(probe)
        await probe.attempt(rights.CLIENT, probe.client)
        await probe.attempt(rights.DELETE_MANY, delete)
    finally:
        with suppress(StorageError):
            await probe.store.delete(probe.keys)
        for folder in folders:
            with suppress(OSError):
                (root / folder).rmdir()  # fails while the folder holds other files


async def _in_chunks(content: bytes) -> AsyncIterator[Sequence[Buffer]]:
    view = memoryview(content)
    for start in range(0, len(view), 1 << 20):
        yield [view[start : start + (1 << 20)]]


def refusal_of(error: StorageError) -> Refusal:
    """Extract status and code from an error of the broker's client."""
    text = str(error)
    status = _STATUS.search(text)
    code = _CODE.search(text)
    number = int(status[1] or status[2]) if status else 0
    named = (code[1] or code[2]) if code else type(error).__name__
    if not number and (isinstance(error, RequestRefusedError) or named == "AccessDenied"):
        number = 403
    message = _MESSAGE.search(text)
    return Refusal(number, named, message[1] if message else text)
