"""`s3://`: a bucket of AWS, MinIO, Ceph or whoever else speaks S3.

The data path is obstore (Rust; its own threads, no GIL while bytes move). An object up to
`part_bytes` is one PUT, a larger one a multipart upload with its parts in parallel. obstore wants
the whole of a request at once, in one copy; so what is large and all here is sent by boto3, step by
step (`S3Copier.upload`). When that fails, the object is sent in small parts from then on, each of
which is retried by itself. The clients retry parts and copies; all else is retried by
`headrace.storage.object_store.retrying`, which counts it. Lists are boto3's, which lets us see each page.

A failed multipart upload is aborted by the client; what a killed or cancelled one leaves is for the
sweep. One whose completion was answered by "no such upload" is settled by the object's size: a key
is never given another content of several parts.
"""

import asyncio
import logging
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import S3Store

from headrace.storage.errors import (
    CorruptObjectError,
    NotDeletedError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.failures import FailureKind, failure_kind, keys_left
from headrace.storage.object_store.ranges import exactly, folder_of, require_valid_range
from headrace.storage.object_store.retrying import RefusedError
from headrace.storage.object_store.s3_access import ChainCredentials, S3Access, resolve_access
from headrace.storage.object_store.s3_administration import s3_client
from headrace.storage.object_store.s3_calls import S3Calls
from headrace.storage.object_store.s3_copy import S3Copier
from headrace.storage.object_store.s3_listing import S3Listing
from headrace.storage.object_store.upload_parts import part_bytes_for
from headrace.storage.object_store.uri import S3Location
from headrace.storage.objects.keys import require_valid_key
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed

if TYPE_CHECKING:
    from obstore.store import S3Config

logger = logging.getLogger("headrace.storage.object_store")

MIN_PART_BYTES = 5 * 1024 * 1024  # S3's own limit
# Of an object that comes in chunks: its parts are in memory, as many as are in flight and one more.
MAX_STREAMED_PART_BYTES = 32 * 1024 * 1024
MAX_STREAMED_PARTS_INFLIGHT = 2
MIN_STEPPED_BYTES = 4 * 1024 * 1024  # objects of this size on are sent step by step
# Of an object whose first attempt has failed: no more than a part is repeated from then on.
REPEATED_PART_BYTES = 32 * 1024 * 1024
MAX_BROKEN_OFF = 256  # objects of which that is known; one that is forgotten is sent in one again
UPLOAD_THREADS = 8  # parts of large objects under way at once; each has a step in memory
UPLOAD_TIMEOUT_S = 60  # without a byte moving
JOIN_BYTES = 4 * 1024 * 1024  # small buffers are joined to about this before the client gets them
MAX_PART_RETRIES = 4
MAX_PART_ATTEMPTS = 4  # of boto3
COPY_THREADS = 4  # parts copied at once, over all objects
LIST_THREADS = 2
MAX_DELETED_KEYS = 1_000  # by one request
REQUEST_TIMEOUT = timedelta(seconds=60)
CONNECT_TIMEOUT = timedelta(seconds=5)
RETRY_TIMEOUT = timedelta(seconds=120)
COPY_TIMEOUT_S = 300  # of one part, which has up to a gigabyte
_MAX_MESSAGE_LENGTH = 500
# Refusals that pass by themselves: a clock that is being set, a token that is being renewed.
_PASSING = (FailureKind.CLOCK, FailureKind.CREDENTIALS, FailureKind.THROTTLED)
_CONFLICT = "409 Conflict"
_UPLOAD_IS_GONE = "NoSuchUpload"


class S3ObjectStore:
    """Tries each request once; wrap it in `RetryingObjectStore`."""

    def __init__(
        self, location: S3Location, *, environment: Mapping[str, str], part_bytes: int
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Raises:
            ValueError: there are no credentials, or `part_bytes` is below S3's minimum.
        """
        if part_bytes < MIN_PART_BYTES:
            raise ValueError(f"parts of {part_bytes} bytes: S3 wants at least {MIN_PART_BYTES}")
        access = resolve_access(location, environment)
        self._prefix = location.prefix
        self._part_bytes = part_bytes
        self._streamed_part_bytes = min(part_bytes, MAX_STREAMED_PART_BYTES)
        self._single = _open(access, retries=0)
        self._multipart = _open(access, retries=MAX_PART_RETRIES)
        # boto3 knows no other checksum without a library of its own.
        self._uploads_by_steps = access.checksum in ("", "SHA256")
        checksum = access.checksum if self._uploads_by_steps else ""

        def copier(max_attempts: int, timeout_s: int, threads: int, checksum: str) -> S3Copier:
            return S3Copier(
                lambda: s3_client(access, max_attempts=max_attempts, read_timeout_s=timeout_s),
                access.bucket,
                location.prefix,
                self.get_range,
                threads=threads,
                checksum=checksum,
            )

        self._at_once = copier(1, UPLOAD_TIMEOUT_S, UPLOAD_THREADS, checksum)
        self._by_parts = copier(MAX_PART_ATTEMPTS, UPLOAD_TIMEOUT_S, UPLOAD_THREADS, checksum)
        self._copier = copier(MAX_PART_ATTEMPTS, COPY_TIMEOUT_S, COPY_THREADS, checksum)
        listing = S3Calls(
            lambda: s3_client(access, max_attempts=1), threads=LIST_THREADS, name="bucket-list"
        )
        # Keys of large objects that an attempt has left unfinished; the values mean nothing.
        self._broken_off: dict[str, None] = {}
        self._listing = S3Listing(listing, access.bucket)

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        size_bytes = sum(map(len, parts))
        if size_bytes >= MIN_STEPPED_BYTES and self._uploads_by_steps:
            await self._put_by_steps(key, parts, size_bytes)
            return
        if size_bytes > self._streamed_part_bytes:
            await self._put_multipart(key, _joined_chunks(_once(parts)))
            return
        with _translated(key, ObjectStoreError):
            content = parts[0] if len(parts) == 1 else b"".join(parts)
            await obstore.put_async(self._single, self._prefix + key, content, use_multipart=False)

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `headrace.storage.ports.ObjectStore`: `If-None-Match: *`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        with _translated(key, ObjectStoreError):
            try:
                # An iterator's buffers are sent as they are; a list would have to be joined.
                await obstore.put_async(
                    self._single,
                    self._prefix + key,
                    iter(parts),
                    use_multipart=False,
                    mode="create",
                )
            except AlreadyExistsError as error:
                # The client also says so when another request for the key is under way (409), and
                # that one may come to nothing.
                if _CONFLICT in str(error):
                    raise
                return False
        return True

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        begin: list[Buffer] = []
        begin_bytes = 0
        buffers = _joined_chunks(chunks)
        async for buffer in buffers:
            begin.append(buffer)
            begin_bytes += len(buffer)
            if begin_bytes > self._streamed_part_bytes:
                await self._put_multipart(key, _chained(begin, buffers))
                return
        with _translated(key, ObjectStoreError):
            content = b"".join(begin)
            await obstore.put_async(
                self._multipart, self._prefix + key, content, use_multipart=False
            )

    @property
    def copies_remotely(self) -> bool:
        """Yes: the service does it."""
        return True

    async def compose(
        self,
        key: str,
        pieces: Sequence[CopiedRange | Buffer],
        progress: Progress = unnoticed,
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`: multipart copy."""
        for name in (key, *(it.key for it in pieces if isinstance(it, CopiedRange))):
            require_valid_key(name)
        await self._copier.compose(key, pieces, progress)

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        require_valid_range(start, end)
        with _translated(key, ObjectNotFoundError):
            content = await obstore.get_range_async(
                self._single, self._prefix + key, start=start, end=end
            )
        return exactly(memoryview(content), key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        for key in keys:
            require_valid_key(key)
        if not keys:
            return
        try:
            with _translated("delete", ObjectStoreError):
                await obstore.delete_async(self._single, [self._prefix + key for key in keys])
        except ObjectStoreError as error:
            left = keys_left(_text(error.__cause__), self._prefix)
            # What is longer takes several requests, of which this may be the first.
            if left and len(keys) <= MAX_DELETED_KEYS and set(left) <= set(keys):
                raise NotDeletedError(f"{len(left)} keys not deleted: {error}", left) from error
            raise

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `headrace.storage.ports.ObjectStore`."""
        found = await self._listing.objects(self._prefix + folder_of(prefix))
        return sorted((key.removeprefix(self._prefix), size) for key, size in found)

    async def close(self) -> None:
        """End the threads; connections close when the client is collected."""
        users = (self._copier, self._at_once, self._by_parts, self._listing)
        await asyncio.gather(*(it.close() for it in users))

    async def _put_by_steps(self, key: str, parts: Sequence[Buffer], size_bytes: int) -> None:
        try:
            if key in self._broken_off:
                part_bytes = min(REPEATED_PART_BYTES, self._part_bytes)
                await self._by_parts.upload(key, parts, part_bytes)
            elif size_bytes > self._part_bytes:
                part_bytes = part_bytes_for(size_bytes, self._part_bytes)
                await self._by_parts.upload(key, parts, part_bytes)
            else:
                await self._at_once.upload(key, parts, size_bytes)
        except RefusedError:
            raise
        except ObjectStoreError as error:
            # Who is asked to slow down has sent little, and parts are more requests.
            if failure_kind(str(error)) is not FailureKind.THROTTLED:
                self._note_broken_off(key)
            raise
        except asyncio.CancelledError:
            self._note_broken_off(key)
            raise
        self._broken_off.pop(key, None)

    def _note_broken_off(self, key: str) -> None:
        self._broken_off[key] = None
        if len(self._broken_off) > MAX_BROKEN_OFF:
            del self._broken_off[next(iter(self._broken_off))]

    async def _put_multipart(self, key: str, buffers: AsyncIterator[Buffer]) -> None:
        sent = _Sent(buffers)
        try:
            with _translated(key, ObjectStoreError):
                await obstore.put_async(
                    self._multipart,
                    self._prefix + key,
                    sent.buffers(),
                    use_multipart=True,
                    chunk_size=self._streamed_part_bytes,
                    max_concurrency=MAX_STREAMED_PARTS_INFLIGHT,
                )
        except ObjectStoreError as error:
            # The client repeats a completion whose answer was lost, and is told that there is no
            # such upload: it is an object by now, or somebody has removed it. The object decides.
            if _UPLOAD_IS_GONE not in str(error.__cause__) or not sent.is_all:
                raise
            if await self._size(key) != sent.size_bytes:
                raise
            logger.info("uploaded after all", extra={"key": key, "answer": str(error)})

    async def _size(self, key: str) -> int:
        """Size of an object; -1 if there is none."""
        with _translated(key, ObjectNotFoundError):
            try:
                return (await obstore.head_async(self._single, self._prefix + key))["size"]
            except FileNotFoundError:
                return -1


def _open(access: S3Access, *, retries: int) -> S3Store:
    config: S3Config = {
        "region": access.region,
        "virtual_hosted_style_request": not access.path_style,
    }
    if access.checksum:
        config["checksum_algorithm"] = access.checksum
    if access.endpoint:
        config["endpoint"] = access.bucket_endpoint
    provider: ChainCredentials | None = None
    if access.access_key:
        config["access_key_id"] = access.access_key
        config["secret_access_key"] = access.secret_key
        if access.session_token:
            config["session_token"] = access.session_token
    else:
        provider = ChainCredentials(access.region)
    return S3Store(
        access.bucket,
        config=config,
        client_options={
            "allow_http": access.endpoint.startswith("http://"),
            "timeout": REQUEST_TIMEOUT,
            "connect_timeout": CONNECT_TIMEOUT,
        },
        retry_config={"max_retries": retries, "retry_timeout": RETRY_TIMEOUT},
        credential_provider=provider,
    )


class _Sent:
    """Counts what the client takes of an upload."""

    def __init__(self, buffers: AsyncIterator[Buffer]) -> None:
        self._buffers = buffers
        self.size_bytes = 0
        self.is_all = False

    async def buffers(self) -> AsyncIterator[Buffer]:
        """Yield them."""
        async for buffer in self._buffers:
            self.size_bytes += len(buffer)
            yield buffer
        self.is_all = True


def _joined(parts: Iterable[Buffer]) -> Iterator[Buffer]:
    """Join small buffers to moderate ones; large ones pass as they are."""
    pending: list[Buffer] = []
    pending_bytes = 0
    for part in parts:
        pending.append(part)
        pending_bytes += len(part)
        if pending_bytes >= JOIN_BYTES:
            yield b"".join(pending) if len(pending) > 1 else part
            pending, pending_bytes = [], 0
    if pending:
        yield b"".join(pending)


async def _once(parts: Sequence[Buffer]) -> AsyncIterator[Sequence[Buffer]]:
    yield parts


async def _chained(begin: list[Buffer], rest: AsyncIterator[Buffer]) -> AsyncIterator[Buffer]:
    while begin:
        yield begin.pop(0)
    async for buffer in rest:
        yield buffer


async def _joined_chunks(chunks: AsyncIterable[Sequence[Buffer]]) -> AsyncIterator[Buffer]:
    async for parts in chunks:
        for buffer in _joined(parts):
            yield buffer


@contextmanager
def _translated(what: str, not_found: Callable[[str], Exception]) -> Iterator[None]:
    """Turn the client's errors into ours; `not_found` makes the one for a missing key."""
    try:
        yield
    except (FileNotFoundError, BaseError) as error:
        # The client has types for some answers to some requests only; the text tells them all.
        message = _message(what, error)
        kind = failure_kind(message)
        if kind is FailureKind.REFUSED:
            raise RefusedError(message) from error
        if kind in _PASSING:
            raise ObjectStoreError(message) from error
        if "InvalidRange" in message:
            raise CorruptObjectError(f"{what}: the object is too short") from error
        if isinstance(error, FileNotFoundError):
            raise not_found(message) from error
        raise ObjectStoreError(message) from error


def _text(error: BaseException | None) -> str:
    return str(error).partition("Debug source:")[0].strip()


def _message(what: str, error: Exception) -> str:
    text = _text(error)
    return f"{what}: {text}".replace("\n", " ")[:_MAX_MESSAGE_LENGTH]
