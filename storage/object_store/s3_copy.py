"""Composes objects of an S3 bucket by multipart copy: what is copied never leaves the service.

By boto3, since the data path's client copies whole objects only. Requests block, so they run in a
few threads of their own, which are started when the first object is composed. Large objects that
are here are written by it as well: the data path's client wants the whole of a part at once, boto3
takes it step by step.

Create, copy and upload parts, complete; then the size is asked for. An answer to "complete" proves
little: it can be 200 with an error inside, an error after success, or "no such upload" because a
repetition found the work done. So whatever it was, the object decides: it is complete if it has the
size and the end that it should have. Anything else is aborted; an abort that is lost is made up for
by the sweep of old uploads.
"""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from hashlib import md5
from typing import Any, Final

from headrace.storage.errors import (
    CopyUnsupportedError,
    CorruptObjectError,
    ObjectNotFoundError,
    ObjectStoreError,
)
from headrace.storage.object_store.copy_parts import Part, Piece, UploadedPart, plan_parts, size_of
from headrace.storage.object_store.s3_calls import S3Calls
from headrace.storage.object_store.s3_errors import is_answer, status_of
from headrace.storage.object_store.upload_parts import PartBody, cut
from headrace.storage.ports import Buffer, CopiedRange, Progress, unnoticed

logger = logging.getLogger("headrace.storage.object_store")

MAX_PARTS_INFLIGHT: Final = 4  # of one object
MAX_TAIL_BYTES: Final = 64 * 1024  # compared when an answer was lost

# Reads `[start, end)` of a key.
ReadRange = Callable[[str, int, int], Awaitable[memoryview]]


class S3Copier:
    """Composes objects; see `headrace.storage.ports.ObjectStore.compose`."""

    def __init__(
        self,
        make_client: Callable[[], Any],
        bucket: str,
        prefix: str,
        read: ReadRange,
        *,
        threads: int,
        checksum: str = "",
    ) -> None:
        """Prepare; nothing is loaded yet.

        Args:
            make_client: makes a client of boto3, in one of our threads.
            bucket: name of the bucket.
            prefix: what is put in front of every key.
            read: for what is too small to be copied.
            threads: parts under way at once.
            checksum: S3's name of the algorithm whose sums uploads carry; empty: none. What is uploaded
                of a composed object carries an MD5 then.
        """
        self._calls = S3Calls(make_client, threads=threads, name="bucket-copy")
        self._bucket = bucket
        self._prefix = prefix
        self._read = read
        self._checksum = {"ChecksumAlgorithm": checksum} if checksum else {}
        self._checksum_field = f"Checksum{checksum}"

    async def compose(
        self, key: str, pieces: Sequence[Piece], progress: Progress = unnoticed
    ) -> None:
        """See `headrace.storage.ports.ObjectStore`.

        Cancellation: the object may still appear; parts may stay until the sweep.
        """
        parts = plan_parts(pieces)
        size_bytes = sum(map(size_of, pieces))
        last = pieces[-1]
        tail = b"" if isinstance(last, CopiedRange) else bytes(last[-MAX_TAIL_BYTES:])
        await self._assemble(key, parts, size_bytes, tail, progress=progress)

    async def upload(self, key: str, buffers: Sequence[Buffer], part_bytes: int) -> None:
        """Write an object that is here: by one request, or in parts if it is beyond `part_bytes`.

        Its last buffer should differ from those of other objects: by it an upload is recognised as
        done when the answer was lost.

        Cancellation: the object may still appear; parts may stay until the sweep.
        """
        size_bytes = sum(map(len, buffers))
        bodies = [PartBody(it) for it in cut(buffers, part_bytes)]
        tail = bytes(buffers[-1][-MAX_TAIL_BYTES:])
        try:
            if len(bodies) == 1:
                _told(key, await self._send(key, "put_object", bodies[0]), "ETag")
                return
            await self._assemble(key, bodies, size_bytes, tail, check=False)
        except (CopyUnsupportedError, CorruptObjectError, ObjectNotFoundError) as error:
            # Of a PUT they mean nothing, and to try it again is always right.
            raise ObjectStoreError(str(error)) from error

    async def _assemble(
        self,
        key: str,
        parts: Sequence[Part | PartBody],
        size_bytes: int,
        tail: bytes,
        *,
        check: bool = True,
        progress: Progress = unnoticed,
    ) -> None:
        # Services want a sum of every part or of none, and not all make one of what they copy.
        algorithm = {} if check else self._checksum
        created = await self._call("create_multipart_upload", key, **algorithm)
        upload_id = _told(key, created, "UploadId")
        try:
            done = await self._write_parts(key, upload_id, parts, progress)
        except asyncio.CancelledError:
            with suppress(RuntimeError):  # the threads are shut down: it is for the sweep
                self._submit_abort(key, upload_id)
            raise
        except Exception:
            await self._abort(key, upload_id)
            raise
        failure = await self._complete(key, upload_id, done)
        if check or failure is not None:
            await self._check(key, upload_id, size_bytes, tail, failure)

    async def close(self) -> None:
        """Accept nothing more; give what is under way, an abort perhaps, a moment to end."""
        await self._calls.close()

    async def _write_parts(
        self, key: str, upload_id: str, parts: Sequence[Part | PartBody], progress: Progress
    ) -> list[dict[str, Any]]:
        """Write all parts. After a failure those under way are waited for, so that an abort finds them."""
        turns = asyncio.Semaphore(MAX_PARTS_INFLIGHT)
        failures: list[Exception] = []

        async def write(number: int, part: Part | PartBody) -> dict[str, Any]:
            async with turns:
                if failures:
                    return {}
                try:
                    sums = await self._write_part(key, upload_id, number, part)
                except Exception as error:  # noqa: BLE001 - raised below
                    failures.append(error)
                    return {}
                progress(_part_bytes(part))
                return {"PartNumber": number, **sums}

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(write(n, part)) for n, part in enumerate(parts, 1)]
        if failures:
            raise failures[0]
        return [task.result() for task in tasks]

    async def _write_part(
        self, key: str, upload_id: str, number: int, part: Part | PartBody
    ) -> dict[str, str]:
        """Write one; return what to complete it with."""
        place = {"UploadId": upload_id, "PartNumber": number}
        if isinstance(part, PartBody):
            return self._sums(key, await self._send(key, "upload_part", part, **place))
        if isinstance(part, UploadedPart):
            body = b"".join([await self._content(piece) for piece in part.pieces])
            digest = {"ContentMD5": _md5(body)} if self._checksum else {}
            return self._sums(
                key, await self._call("upload_part", key, Body=body, **place, **digest)
            )
        answer = await self._call(
            "upload_part_copy",
            key,
            CopySource={"Bucket": self._bucket, "Key": self._prefix + part.key},
            CopySourceRange=f"bytes={part.start}-{part.end - 1}",
            **place,
        )
        return self._sums(key, _told(key, answer, "CopyPartResult"))

    async def _send(self, key: str, operation: str, body: PartBody, **place: Any) -> Any:
        try:
            return await self._call(operation, key, Body=body, **place, **self._checksum)
        finally:
            body.abandon()  # a thread may still be at it

    def _sums(self, key: str, answer: dict[str, Any]) -> dict[str, str]:
        _told(key, answer, "ETag")
        names = ("ETag", self._checksum_field)
        return {name: str(answer[name]) for name in names if name in answer}

    async def _content(self, piece: Piece) -> bytes | memoryview:
        return await self._read(*piece) if isinstance(piece, CopiedRange) else piece

    async def _complete(
        self, key: str, upload_id: str, parts: Sequence[dict[str, Any]]
    ) -> Exception | None:
        """Complete; return what was answered instead of success."""
        try:
            answer = await self._call(
                "complete_multipart_upload",
                key,
                UploadId=upload_id,
                MultipartUpload={"Parts": list(parts)},
            )
            _told(key, answer, "ETag")
        except (ObjectStoreError, CorruptObjectError) as error:
            return error
        return None

    async def _check(
        self, key: str, upload_id: str, size_bytes: int, tail: bytes, failure: Exception | None
    ) -> None:
        found = await self._size(key)
        if found == size_bytes and (failure is None or await self._ends_with(key, found, tail)):
            if failure is not None:
                logger.info("composed after all", extra={"key": key, "answer": str(failure)})
            return
        await self._abort(key, upload_id)
        if failure is None and found >= 0:
            # Some service that takes ranges of copies for whole objects, or cuts them off.
            await self._call("delete_object", key)
            raise CopyUnsupportedError(f"{key}: composed {found} bytes instead of {size_bytes}")
        raise ObjectStoreError(f"{key}: not composed: {failure}") from failure

    async def _size(self, key: str) -> int:
        """Size of an object; -1 if there is none."""

        def head(client: Any) -> int:
            try:
                answer = client.head_object(Bucket=self._bucket, Key=self._prefix + key)
            except Exception as error:
                if is_answer(error) and status_of(error) == 404:
                    return -1
                raise
            return int(answer.get("ContentLength", -1))

        return int(await self._calls.call(key, head))

    async def _ends_with(self, key: str, size_bytes: int, tail: bytes) -> bool:
        if not tail:
            return False
        return bytes(await self._read(key, size_bytes - len(tail), size_bytes)) == tail

    async def _call(self, operation: str, key: str, **arguments: Any) -> Any:
        place = {"Bucket": self._bucket, "Key": self._prefix + key}
        return await self._calls.call(
            key, lambda client: getattr(client, operation)(**place, **arguments)
        )

    async def _abort(self, key: str, upload_id: str) -> None:
        try:
            await asyncio.wrap_future(self._submit_abort(key, upload_id))
        except RuntimeError as error:
            raise ObjectStoreError(f"{key}: {error}") from error

    def _submit_abort(self, key: str, upload_id: str) -> "Future[None]":
        def abort(client: Any) -> None:
            try:
                client.abort_multipart_upload(
                    Bucket=self._bucket, Key=self._prefix + key, UploadId=upload_id
                )
            except Exception as error:  # noqa: BLE001 - what is raised already matters more
                if status_of(error) != 404:
                    logger.warning(
                        "upload left for the sweep", extra={"key": key, "reason": repr(error)}
                    )

        return self._calls.submit(abort)


def _md5(body: bytes) -> str:
    """Return S3's oldest checksum, which every service knows and compares."""
    return b64encode(md5(body, usedforsecurity=False).digest()).decode()


def _part_bytes(part: Part | PartBody) -> int:
    if isinstance(part, UploadedPart):
        return sum(map(size_of, part.pieces))
    return part.size_bytes if isinstance(part, CopiedRange) else len(part)


def _told(key: str, answer: dict[str, Any], field: str) -> Any:
    """Return what every answer of S3 has: a proxy's page with status 200 is no success.

    Raises:
        ObjectStoreError: the answer lacks it.
    """
    if not answer.get(field):
        raise ObjectStoreError(f"{key}: the answer has no {field}, it is not the service's")
    return answer[field]
