"""`s3://`: a bucket of AWS, MinIO, Ceph or whoever else speaks S3.

The data path is obstore (Rust; its own threads, no GIL while bytes move). An object up to
`part_bytes` is one PUT, a larger one a multipart upload with its parts in parallel. The client
retries the parts of a multipart upload; whole requests are retried by
`storage.object_store.retrying`, which counts them.

A failed multipart upload is aborted by the client. What a killed or cancelled upload leaves stays
until the bucket's lifecycle rule for incomplete uploads removes it.
"""

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

from storage.errors import CorruptObjectError, ObjectNotFoundError, ObjectStoreError
from storage.object_store.ranges import exactly, folder_of, require_valid_range
from storage.object_store.retrying import RefusedError
from storage.object_store.s3_access import ChainCredentials, S3Access, resolve_access
from storage.object_store.uri import S3Location
from storage.objects.keys import require_valid_key
from storage.ports import Buffer

if TYPE_CHECKING:
    from obstore.store import S3Config

PART_BYTES_MIN = 5 * 1024 * 1024  # S3's own limit
PARTS_IN_FLIGHT_MAX = 4  # of one upload
JOIN_BYTES = 4 * 1024 * 1024  # small buffers are joined to about this before the client gets them
PART_RETRIES_MAX = 4
REQUEST_TIMEOUT = timedelta(seconds=60)
CONNECT_TIMEOUT = timedelta(seconds=5)
RETRY_TIMEOUT = timedelta(seconds=120)
_MESSAGE_LENGTH_MAX = 500
# Refusals that pass by themselves: a clock that is being set, a token that is being renewed.
_TRANSIENT_REFUSALS = ("RequestTimeTooSkewed", "ExpiredToken", "SlowDown")
_REFUSALS = ("403 Forbidden", "401 Unauthorized", "<Code>NoSuchBucket</Code>")
_CONFLICT = "409 Conflict"


class S3ObjectStore:
    """Tries each request once; wrap it in `RetryingObjectStore`."""

    def __init__(
        self, location: S3Location, *, environment: Mapping[str, str], part_bytes: int
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Raises:
            ValueError: there are no credentials, or `part_bytes` is below S3's minimum.
        """
        if part_bytes < PART_BYTES_MIN:
            raise ValueError(f"parts of {part_bytes} bytes: S3 wants at least {PART_BYTES_MIN}")
        access = resolve_access(location, environment)
        self._prefix = location.prefix
        self._part_bytes = part_bytes
        self._single = _open(access, retries=0)
        self._multipart = _open(access, retries=PART_RETRIES_MAX)

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `storage.ports.ObjectStore`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        if sum(map(len, parts)) > self._part_bytes:
            await self._put_multipart(key, _joined_async(parts))
            return
        with _translated(key, ObjectStoreError):
            content = parts[0] if len(parts) == 1 else b"".join(parts)
            await obstore.put_async(self._single, self._prefix + key, content, use_multipart=False)

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `storage.ports.ObjectStore`: `If-None-Match: *`.

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
        """See `storage.ports.ObjectStore`."""
        require_valid_key(key)
        await self._put_multipart(key, _joined_chunks(chunks))

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `storage.ports.ObjectStore`."""
        require_valid_key(key)
        require_valid_range(start, end)
        with _translated(key, ObjectNotFoundError):
            content = await obstore.get_range_async(
                self._single, self._prefix + key, start=start, end=end
            )
        return exactly(memoryview(content), key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `storage.ports.ObjectStore`."""
        for key in keys:
            require_valid_key(key)
        if keys:
            with _translated("delete", ObjectStoreError):
                await obstore.delete_async(self._single, [self._prefix + key for key in keys])

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `storage.ports.ObjectStore`."""
        found: list[tuple[str, int]] = []
        cut = len(self._prefix)
        with _translated(f"list {prefix}", ObjectStoreError):
            async for page in obstore.list(self._single, prefix=self._prefix + folder_of(prefix)):
                found += ((entry["path"][cut:], entry["size"]) for entry in page)
        return sorted(found)

    async def close(self) -> None:
        """Nothing to do: connections close when the client is collected."""

    async def _put_multipart(self, key: str, buffers: AsyncIterator[Buffer]) -> None:
        with _translated(key, ObjectStoreError):
            await obstore.put_async(
                self._multipart,
                self._prefix + key,
                buffers,
                use_multipart=True,
                chunk_size=self._part_bytes,
                max_concurrency=PARTS_IN_FLIGHT_MAX,
            )


def _open(access: S3Access, *, retries: int) -> S3Store:
    config: S3Config = {
        "region": access.region,
        "virtual_hosted_style_request": not access.path_style,
    }
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


async def _joined_async(parts: Iterable[Buffer]) -> AsyncIterator[Buffer]:
    for buffer in _joined(parts):
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
        if any(reason in message for reason in _TRANSIENT_REFUSALS):
            raise ObjectStoreError(message) from error
        if any(reason in message for reason in _REFUSALS):
            raise RefusedError(message) from error
        if "InvalidRange" in message:
            raise CorruptObjectError(f"{what}: the object is too short") from error
        if isinstance(error, FileNotFoundError):
            raise not_found(message) from error
        raise ObjectStoreError(message) from error


def _message(what: str, error: Exception) -> str:
    text = str(error).partition("Debug source:")[0].strip()
    return f"{what}: {text}".replace("\n", " ")[:_MESSAGE_LENGTH_MAX]
