"""`s3://`: a bucket of AWS, MinIO, Ceph or another service that speaks S3.

Reads, small objects, conditional creation and deletion are obstore's (Rust; its own threads, no GIL
while bytes move). It wants the whole of a request at once, in one copy; so large objects, copies and
lists are boto3's (`S3Multipart`, `pages_of`): docs/adr/0008-one-way-to-s3.md. An object up to
`part_bytes` is one PUT, a larger one has parts that are sent side by side. When a large PUT fails,
the object is sent in small parts from then on, each of which is retried by itself. A key that exists is
never written again, where the service knows that (`headrace.storage.object_store.s3_conditions`).

No client repeats anything: `headrace.storage.object_store.retrying` does, and counts it. A failed
upload is aborted; what a killed or cancelled one leaves is for the sweep.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

import obstore

from headrace.storage.errors import FailureKind, NotDeletedError, ObjectStoreError
from headrace.storage.object_store.failures import keys_left, kind_of
from headrace.storage.object_store.ranges import exactly, folder_of, require_valid_range
from headrace.storage.object_store.retrying import RequestRefusedError, Retries, RetryPolicy
from headrace.storage.object_store.s3_access import ChainCredentials, resolve_access
from headrace.storage.object_store.s3_client import S3Client, make_client
from headrace.storage.object_store.s3_conditions import (
    IF_ABSENT,
    Condition,
    Conditions,
    says_exists,
)
from headrace.storage.object_store.s3_errors import Asked, text_of, translating_obstore
from headrace.storage.object_store.s3_listing import OBJECTS, Entry, pages_of
from headrace.storage.object_store.s3_multipart import S3Multipart
from headrace.storage.object_store.s3_store import open_store
from headrace.storage.object_store.upload_parts import cut_stream, part_bytes_for
from headrace.storage.object_store.uri import S3Location
from headrace.storage.objects.keys import require_valid_key
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed

MIN_PART_BYTES = 5 * 1024 * 1024  # S3's own limit
# Of an object that comes in chunks: its parts are in memory, as many as are inflight and one more.
MAX_STREAMED_PART_BYTES = 32 * 1024 * 1024
MAX_STREAMED_PARTS_INFLIGHT = 2
MIN_LARGE_BYTES = 4 * 1024 * 1024  # objects of this size on are sent by boto3, step by step
# Of an object whose first attempt has failed: no more than a part is repeated from then on.
REPEATED_PART_BYTES = 32 * 1024 * 1024
MAX_BROKEN_OFF = 256  # objects of which that is known; one that is forgotten is sent in one again
MAX_DELETED_KEYS = 1_000  # by one request
# Requests of boto3 that are inflight at once, over all objects, and how long the service may say
# nothing meanwhile. Each kind of work has threads of its own, so that none waits for another.
UPLOAD_THREADS: Final = 8  # each has a step in memory
UPLOAD_TIMEOUT_S: Final = 60
COMPACTION_THREADS: Final = 6  # for what is streamed and composed
COMPACTION_TIMEOUT_S: Final = 300  # the service copies up to a gigabyte by one request
LIST_THREADS: Final = 2
LIST_TIMEOUT_S: Final = 30


class S3ObjectStore:
    """Tries each call once; wrap it in `RetryingObjectStore`."""

    def __init__(
        self,
        location: S3Location,
        *,
        environment: Mapping[str, str],
        part_bytes: int,
        retries: Retries | None = None,
    ) -> None:
        """Prepare the clients; nothing is sent yet.

        Args:
            location: of the bucket.
            environment: where `AWS_*` variables are looked up.
            part_bytes: size of the parts of uploads.
            retries: of single parts, and of the other requests of an upload or a copy.

        Raises:
            ValueError: there are no credentials, or `part_bytes` is below S3's minimum.
        """
        if part_bytes < MIN_PART_BYTES:
            raise ValueError(f"parts of {part_bytes} bytes: S3 wants at least {MIN_PART_BYTES}")
        access = resolve_access(location, environment)
        self._bucket = access.bucket
        self._prefix = location.prefix
        self._part_bytes = part_bytes
        self._streamed_part_bytes = min(part_bytes, MAX_STREAMED_PART_BYTES)
        self._retries = retries or Retries(RetryPolicy())
        self._store = open_store(access, lambda: ChainCredentials(access.region))

        def client(name: str, threads: int, timeout_s: int) -> S3Client:
            make = partial(make_client, access, timeout_s)
            return S3Client(make, threads=threads, name=name, retries=self._retries)

        uploads = client("bucket-upload", UPLOAD_THREADS, UPLOAD_TIMEOUT_S)
        compaction = client("bucket-compaction", COMPACTION_THREADS, COMPACTION_TIMEOUT_S)
        self._lists = client("bucket-list", LIST_THREADS, LIST_TIMEOUT_S)
        self._clients = (uploads, compaction, self._lists)
        self._conditions = Conditions()
        self._uploads, self._compaction = (
            S3Multipart(
                it,
                access.bucket,
                location.prefix,
                self.get_range,
                conditions=self._conditions,
                checksum=access.checksum,
            )
            for it in (uploads, compaction)
        )
        # Keys of large objects that an attempt has left unfinished; the values mean nothing.
        self._broken_off: dict[str, None] = {}

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        size_bytes = sum(map(len, parts))
        if size_bytes < MIN_LARGE_BYTES:
            await self._put_small(key, parts)
            return
        try:
            await self._put_large(key, parts, size_bytes)
        except RequestRefusedError:
            raise
        except ObjectStoreError as error:
            # Who is asked to slow down has sent little, and parts are more requests.
            if kind_of(error) is not FailureKind.THROTTLED:
                self._note_broken_off(key)
            raise
        except asyncio.CancelledError:
            self._note_broken_off(key)
            raise
        self._broken_off.pop(key, None)

    async def create(self, key: str, parts: Sequence[Buffer]) -> bool:
        """See `headrace.storage.ports.ObjectStore`: `If-None-Match: *`.

        Cancellation: the object may still appear.
        """
        require_valid_key(key)
        try:
            # An iterator's buffers are sent as they are; a list would have to be joined.
            await self._send_small(key, iter(parts), IF_ABSENT)
        except ObjectStoreError as error:
            # Not when another request for the key is inflight (409): that one may come to nothing.
            if says_exists(error):
                return False
            raise
        return True

    async def put_stream(self, key: str, chunks: AsyncIterable[Sequence[Buffer]]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        begin: list[Buffer] = []
        begin_bytes = 0
        source = aiter(chunks)
        async for buffers in source:
            begin += buffers
            begin_bytes += sum(map(len, buffers))
            if begin_bytes > self._streamed_part_bytes:
                parts = cut_stream(_chained(begin, source), self._streamed_part_bytes)
                await self._compaction.upload(key, parts, max_inflight=MAX_STREAMED_PARTS_INFLIGHT)
                return
        put = self._put_small if begin_bytes < MIN_LARGE_BYTES else self._compaction.put
        await self._retries.run(lambda: put(key, begin), begin_bytes)

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
        await self._compaction.compose(key, pieces, progress)

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """See `headrace.storage.ports.ObjectStore`."""
        require_valid_key(key)
        require_valid_range(start, end)
        with translating_obstore(key, Asked.READ):
            content = await obstore.get_range_async(
                self._store, self._prefix + key, start=start, end=end
            )
        return exactly(memoryview(content), key, start, end)

    async def delete(self, keys: Sequence[str]) -> None:
        """See `headrace.storage.ports.ObjectStore`."""
        for key in keys:
            require_valid_key(key)
        if not keys:
            return
        try:
            with translating_obstore("delete", Asked.WRITE):
                await obstore.delete_async(self._store, [self._prefix + key for key in keys])
        except ObjectStoreError as error:
            left = keys_left(text_of(error.__cause__), self._prefix)
            # What is longer takes several requests, of which this may be the first.
            if left and len(keys) <= MAX_DELETED_KEYS and set(left) <= set(keys):
                message = f"{len(left)} keys not deleted: {error}"
                raise NotDeletedError(message, left, error.kind) from error
            raise

    async def list(self, prefix: str) -> Sequence[tuple[str, int]]:
        """See `headrace.storage.ports.ObjectStore`."""
        place = {"Bucket": self._bucket, "Prefix": self._prefix + folder_of(prefix)}
        # Whole lists are repeated, by who asks for them.
        pages = pages_of(self._lists, OBJECTS, place, self._listed, is_repeated=False)
        return sorted([entry async for page in pages for entry in page])

    async def close(self) -> None:
        """End the threads; connections close when the clients are collected."""
        await asyncio.gather(*(it.close() for it in self._clients))

    async def _put_small(self, key: str, parts: Sequence[Buffer]) -> None:
        content = parts[0] if len(parts) == 1 else b"".join(parts)
        try:
            await self._conditions.publish(
                lambda condition: self._send_small(key, content, condition)
            )
        except ObjectStoreError as error:
            if not says_exists(error):
                raise
            await self._uploads.require_same(key, parts)

    async def _send_small(
        self, key: str, content: Buffer | Iterator[Buffer], condition: Condition
    ) -> None:
        with translating_obstore(key, Asked.WRITE):
            await obstore.put_async(
                self._store,
                self._prefix + key,
                content,
                use_multipart=False,
                mode="create" if condition else "overwrite",
            )

    async def _put_large(self, key: str, parts: Sequence[Buffer], size_bytes: int) -> None:
        part_bytes = part_bytes_for(size_bytes, self._part_bytes)
        if key in self._broken_off:
            part_bytes = min(REPEATED_PART_BYTES, self._part_bytes)
        if size_bytes <= part_bytes:
            await self._uploads.put(key, parts)
        else:
            await self._uploads.put_parts(key, parts, part_bytes)

    def _note_broken_off(self, key: str) -> None:
        self._broken_off[key] = None
        if len(self._broken_off) > MAX_BROKEN_OFF:
            del self._broken_off[next(iter(self._broken_off))]

    def _listed(self, entry: Entry) -> tuple[str, int]:
        return entry["Key"].removeprefix(self._prefix), entry["Size"]


async def _chained(
    begin: list[Buffer], rest: AsyncIterator[Sequence[Buffer]]
) -> AsyncIterator[Sequence[Buffer]]:
    while begin:
        yield [begin.pop(0)]
    async for buffers in rest:
        yield buffers
