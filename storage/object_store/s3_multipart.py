"""Writes large objects of an S3 bucket: in one request, or in parts that are sent or copied there.

By boto3: it takes the body of a request step by step, and copies ranges of objects; obstore wants
all of a request at once, and copies whole objects only. What is copied never leaves the service.

Create, copy and upload parts, complete; what is copied is asked for its size then. An answer to
"complete" proves little: it can be 200 with an error inside, an error after success, or "no such
upload" because a repetition found the work done. So whatever it was, the object decides, here and
nowhere else (`_settle`): it is complete if it has the size and the end that it should have. Anything
else is aborted; an abort that is lost is made up for by the sweep of old uploads.
"""

import asyncio
import logging
from base64 import b64encode
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from hashlib import md5
from typing import Any, Final, TypeVar

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectStoreError,
    StorageError,
)
from headrace.storage.object_store.copy_parts import Part, Piece, UploadedPart, plan_parts, size_of
from headrace.storage.object_store.s3_client import S3Client
from headrace.storage.object_store.s3_conditions import Condition, Conditions, says_exists
from headrace.storage.object_store.s3_errors import Asked, failure_of
from headrace.storage.object_store.upload_parts import PartBody, cut
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed

logger = logging.getLogger("headrace.storage.object_store")

MAX_PARTS_INFLIGHT: Final = 4  # of one object
MAX_TAIL_BYTES: Final = 64 * 1024  # compared when an answer was lost

# Reads `[start, end)` of a key.
ReadRange = Callable[[str, int, int], Awaitable[memoryview]]
# A list is a part whose bytes are here.
AnyPart = Part | list[Buffer]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Upload:
    """An upload that was begun."""

    key: str
    upload_id: str
    asked: Asked  # what its requests mean


class S3Multipart:
    """Writes objects; see `headrace.storage.ports.ObjectStore`."""

    def __init__(
        self,
        client: S3Client,
        bucket: str,
        prefix: str,
        read: ReadRange,
        *,
        conditions: Conditions,
        checksum: str = "",
    ) -> None:
        """Prepare; nothing is sent yet.

        Args:
            client: sends the requests; its threads bound the parts that are inflight, over all objects.
            bucket: name of the bucket.
            prefix: what is put in front of every key.
            read: for what is too small to be copied, and to look at the end of an object.
            conditions: whether the service refuses to write a key again.
            checksum: S3's name of the algorithm whose sums uploads carry; empty: none. What is uploaded
                of a composed object carries an MD5 then.
        """
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self._read = read
        self._conditions = conditions
        self._checksum = {"ChecksumAlgorithm": checksum} if checksum else {}
        self._checksum_field = f"Checksum{checksum}"

    async def compose(
        self, key: str, pieces: Sequence[Piece], progress: Progress = unnoticed
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Cancellation: the object may still appear; parts may stay until the sweep.
        """
        # Services want a sum of every part or of none, and not all make one of what they copy.
        upload = await self._begin(key, Asked.COPY, {})
        done, written = await self._write_parts(upload, _each(plan_parts(pieces)), progress)
        failure = await self._complete(upload, done, written.size_bytes)
        await self._settle(upload, written, failure, is_copy=True)

    async def put(self, key: str, buffers: Sequence[Buffer]) -> None:
        """Write an object by one request, which is not repeated.

        Cancellation: the object may still appear.
        """
        what = {"Bucket": self._bucket, "Key": self._prefix + key, **self._checksum}

        async def send(condition: Condition) -> Any:
            body = PartBody(buffers)
            try:
                return await self._client.once(
                    key,
                    Asked.WRITE,
                    lambda client: client.put_object(Body=body, **what, **condition),
                )
            finally:
                body.abandon()  # a thread may still be at it

        try:
            answer = await self._conditions.publish(send)
        except ObjectStoreError as error:
            if not says_exists(error):
                raise
            await self.require_same(key, buffers)
        else:
            _told(key, answer, "ETag")

    async def require_same(self, key: str, buffers: Sequence[Buffer]) -> None:
        """Take an object that is there already for what an earlier attempt has published, by its size and its end.

        Raises:
            ObjectStoreError: it is another one, or cannot be looked at.
        """
        written = _Written()
        written.add(list(buffers))
        size_bytes = written.size_bytes
        try:
            is_same = await self._size(key, Asked.WRITE) == size_bytes and (
                not size_bytes or await self._ends_with(key, size_bytes, written.tail)
            )
        except (CorruptObjectError, ObjectNotFoundError) as error:
            raise ObjectStoreError(str(error)) from error  # of a PUT it means nothing
        if not is_same:
            raise ObjectStoreError(f"{key} exists and has another content")

    async def put_parts(self, key: str, buffers: Sequence[Buffer], part_bytes: int) -> None:
        """Write an object that is here in parts; see `upload`."""
        await self.upload(key, _each(cut(buffers, part_bytes)))

    async def upload(
        self,
        key: str,
        parts: AsyncIterable[list[Buffer]],
        *,
        max_inflight: int = MAX_PARTS_INFLIGHT,
    ) -> None:
        """Write an object in parts, as they come.

        Its end should differ from those of other objects: by it an upload is recognised as done
        when the answer was lost.

        Raises:
            ObjectStoreError: it failed.
            Exception: what `parts` raises.

        Cancellation: the object may still appear; parts may stay until the sweep.
        """
        upload = await self._begin(key, Asked.WRITE, self._checksum)
        done, written = await self._write_parts(upload, parts, unnoticed, max_inflight)
        failure = await self._complete(upload, done, written.size_bytes)
        if failure is not None:
            await self._settle(upload, written, failure, is_copy=False)

    async def _begin(self, key: str, asked: Asked, arguments: dict[str, Any]) -> _Upload:
        begun = await self._ask(key, asked, "create_multipart_upload", **arguments)
        return _Upload(key, str(_told(key, begun, "UploadId")), asked)

    async def _write_parts(
        self,
        upload: _Upload,
        parts: AsyncIterable[AnyPart],
        progress: Progress,
        max_inflight: int = MAX_PARTS_INFLIGHT,
    ) -> "tuple[list[dict[str, Any]], _Written]":
        """Write all parts, or abort. After a failure those that are inflight are waited for first."""
        written = _Written()
        turns = asyncio.Semaphore(max_inflight)
        tasks: list[asyncio.Task[dict[str, Any]]] = []
        failures: list[Exception] = []

        async def write(number: int, part: AnyPart) -> dict[str, Any]:
            try:
                sums = await self._write_part(upload, number, part)
                progress(_part_bytes(part))
            except Exception as error:  # noqa: BLE001 - raised below
                failures.append(error)
                return {}
            finally:
                turns.release()
            return {"PartNumber": number, **sums}

        try:
            async with asyncio.TaskGroup() as group:
                try:
                    async for part in parts:
                        await turns.acquire()
                        if failures:
                            break
                        written.add(part)
                        tasks.append(group.create_task(write(len(tasks) + 1, part)))
                except Exception as error:  # noqa: BLE001 - raised below
                    failures.append(error)
        except asyncio.CancelledError:
            with suppress(RuntimeError):  # the threads are shut down: it is for the sweep
                self._abort_later(upload)
            raise
        if failures:
            await self._abort(upload)
            raise failures[0]
        return [task.result() for task in tasks], written

    async def _write_part(self, upload: _Upload, number: int, part: AnyPart) -> dict[str, str]:
        """Write one; return what to complete it with."""
        key, asked = upload.key, upload.asked
        place = {"UploadId": upload.upload_id, "PartNumber": number}
        if isinstance(part, list):
            return self._sums(key, await self._send(upload, part, place))
        if isinstance(part, UploadedPart):
            body = b"".join([await self._content(piece) for piece in part.pieces])
            digest = {"ContentMD5": _md5(body)} if self._checksum else {}
            answer = await self._ask(
                key, asked, "upload_part", size_bytes=len(body), Body=body, **place, **digest
            )
            return self._sums(key, answer)
        answer = await self._ask(
            key,
            asked,
            "upload_part_copy",
            size_bytes=part.size_bytes,
            CopySource={"Bucket": self._bucket, "Key": self._prefix + part.key},
            CopySourceRange=f"bytes={part.start}-{part.end - 1}",
            **place,
        )
        return self._sums(key, _told(key, answer, "CopyPartResult"))

    async def _send(self, upload: _Upload, part: list[Buffer], place: dict[str, Any]) -> Any:
        bodies: list[PartBody] = []
        arguments = {"Bucket": self._bucket, "Key": self._prefix + upload.key, **place}

        def send(client: Any) -> Any:
            bodies.append(PartBody(part))  # from its beginning, each time
            return client.upload_part(Body=bodies[-1], **arguments, **self._checksum)

        try:
            return await self._client.repeated(
                upload.key, upload.asked, send, size_bytes=_part_bytes(part)
            )
        finally:
            for body in bodies:
                body.abandon()  # a thread may still be at it

    def _sums(self, key: str, answer: dict[str, Any]) -> dict[str, str]:
        _told(key, answer, "ETag")
        names = ("ETag", self._checksum_field)
        return {name: str(answer[name]) for name in names if name in answer}

    async def _content(self, piece: Piece) -> bytes | memoryview:
        return await self._read(*piece) if isinstance(piece, CopiedRange) else piece

    async def _complete(
        self, upload: _Upload, parts: Sequence[dict[str, Any]], size_bytes: int
    ) -> StorageError | None:
        """Complete; return what was answered instead of success."""

        def complete(condition: Condition) -> Awaitable[Any]:
            return self._ask(
                upload.key,
                upload.asked,
                "complete_multipart_upload",
                size_bytes=size_bytes,
                UploadId=upload.upload_id,
                MultipartUpload={"Parts": list(parts)},
                **condition,
            )

        try:
            answer = await self._conditions.publish(complete)
            _told(upload.key, answer, "ETag")
        except (ObjectStoreError, CorruptObjectError) as error:
            return error
        return None

    async def _settle(
        self,
        upload: _Upload,
        written: "_Written",
        failure: StorageError | None,
        *,
        is_copy: bool,
    ) -> None:
        """Let the object decide whether a completion has taken effect; abort if it has not."""
        key, size_bytes = upload.key, written.size_bytes
        try:
            found = await self._size(key, upload.asked)
            is_ours = found == size_bytes and (
                failure is None or await self._ends_with(key, found, written.tail)
            )
        except (CorruptObjectError, ObjectNotFoundError) as error:
            if is_copy:
                raise
            raise ObjectStoreError(str(error)) from error  # of a PUT it means nothing
        if is_ours:
            if failure is not None:
                logger.info(
                    "the bucket answered that a completion failed, but the object is complete",
                    extra={"key": key, "answer": str(failure)},
                )
                if says_exists(failure):
                    await self._abort(upload)  # another attempt has published it
            return
        await self._abort(upload)
        if failure is None and found >= 0:
            # Some service that takes ranges of copies for whole objects, or cuts them off.
            await self._ask(key, upload.asked, "delete_object")
            raise CopyUnsupportedError(f"{key}: composed {found} bytes instead of {size_bytes}")
        kind = failure.kind if isinstance(failure, ObjectStoreError) else None
        raise ObjectStoreError(f"{key}: not composed: {failure}", kind) from failure

    async def _size(self, key: str, asked: Asked) -> int:
        """Size of an object; -1 if there is none."""

        def head(client: Any) -> int:
            try:
                answer = client.head_object(Bucket=self._bucket, Key=self._prefix + key)
            except Exception as error:
                if failure_of(error).status == 404:
                    return -1
                raise
            return int(answer.get("ContentLength", -1))

        return await self._client.repeated(key, asked, head)

    async def _ends_with(self, key: str, size_bytes: int, tail: bytes) -> bool:
        if not tail:
            return False
        return bytes(await self._read(key, size_bytes - len(tail), size_bytes)) == tail

    async def _ask(
        self, key: str, asked: Asked, operation: str, *, size_bytes: int = 0, **arguments: Any
    ) -> Any:
        """Send a request, again if need be; `size_bytes` that the service works on have time of their own."""
        place = {"Bucket": self._bucket, "Key": self._prefix + key}
        return await self._client.repeated(
            key,
            asked,
            lambda client: getattr(client, operation)(**place, **arguments),
            size_bytes=size_bytes,
        )

    async def _abort(self, upload: _Upload) -> None:
        try:
            await self._client.repeated(upload.key, Asked.WRITE, self._aborting(upload))
        except StorageError as error:  # what is raised already matters more
            _note_left(upload, error)

    def _abort_later(self, upload: _Upload) -> "Future[None]":
        aborting = self._aborting(upload)

        def abort(client: Any) -> None:
            try:
                aborting(client)
            except Exception as error:  # noqa: BLE001 - no caller waits for it
                _note_left(upload, error)

        return self._client.submit(abort)

    def _aborting(self, upload: _Upload) -> Callable[[Any], None]:
        def abort(client: Any) -> None:
            try:
                client.abort_multipart_upload(
                    Bucket=self._bucket,
                    Key=self._prefix + upload.key,
                    UploadId=upload.upload_id,
                )
            except Exception as error:
                if failure_of(error).status != 404:
                    raise

        return abort


class _Written:
    """What the parts of an object come to."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self.tail = b""  # what its end is known to be

    def add(self, part: AnyPart) -> None:
        """Note the part that comes next."""
        self.size_bytes += _part_bytes(part)
        if isinstance(part, CopiedRange):
            self.tail = b""
            return
        end = b""
        for piece in reversed(part.pieces if isinstance(part, UploadedPart) else part):
            if isinstance(piece, CopiedRange):
                self.tail = end
                return
            end = bytes(piece[-MAX_TAIL_BYTES:]) + end
            if len(end) >= MAX_TAIL_BYTES:
                break
        self.tail = (self.tail + end)[-MAX_TAIL_BYTES:]


async def _each(items: Iterable[_T]) -> AsyncIterator[_T]:
    for item in items:
        yield item


def _note_left(upload: _Upload, error: Exception) -> None:
    logger.warning(
        "could not abort a multipart upload; the hourly sweep removes it",
        extra={"key": upload.key, "reason": repr(error)},
    )


def _md5(body: bytes) -> str:
    """Return S3's oldest checksum, which every service knows and compares."""
    return b64encode(md5(body, usedforsecurity=False).digest()).decode()


def _part_bytes(part: AnyPart) -> int:
    if isinstance(part, UploadedPart):
        return sum(map(size_of, part.pieces))
    return part.size_bytes if isinstance(part, CopiedRange) else sum(map(len, part))


def _told(key: str, answer: dict[str, Any], field: str) -> Any:
    """Return what every answer of S3 has: a proxy's page with status 200 is no success.

    Raises:
        ObjectStoreError: the answer lacks it.
    """
    if not answer.get(field):
        raise ObjectStoreError(f"{key}: the answer has no {field}, it is not the service's")
    return answer[field]
