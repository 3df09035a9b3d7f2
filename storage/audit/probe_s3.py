"""The S3 requests of a probe, one by one: a refusal shows which permission is missing."""

from typing import Any, Final

from headrace.storage.audit import rights
from headrace.storage.audit.rights import Refusal
from headrace.storage.errors import StorageError
from headrace.storage.object_store.s3_client import S3Client
from headrace.storage.object_store.s3_errors import Asked, failure_of

PART_BYTES: Final = 5 * 1024 * 1024  # the least that S3 takes for a part that is not the last
LAST_PART_BYTES: Final = 1_000
PAGE_KEYS: Final = 2


class RefusedRequestError(Exception):
    """The service did not do what it was asked."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class WrongAnswerError(Exception):
    """The service said that it did, and it did not."""


class S3Requests:
    """One bucket; keys are shown without the URI's prefix."""

    def __init__(self, client: S3Client, bucket: str, prefix: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self.uploads: set[tuple[str, str]] = set()  # (key, upload id) that are not finished

    async def head_bucket(self) -> str:
        """Ask whether the bucket is there."""
        await self._ask(rights.LIST_BUCKET, "head_bucket")
        return ""

    async def put(self, key: str, content: bytes) -> str:
        """Write an object in one request."""
        await self._ask(rights.PUT_OBJECT, "put_object", key, Body=content)
        return ""

    async def head(self, key: str, size_bytes: int) -> str:
        """Ask for the size of an object."""
        answer = await self._ask(rights.GET_OBJECT, "head_object", key)
        _require(answer["ContentLength"] == size_bytes, "the object has another size")
        return ""

    async def ranged_get(self, key: str, content: bytes) -> str:
        """Read the middle of an object."""
        start, end = len(content) // 4, len(content) // 2
        answer = await self._ask(
            rights.GET_OBJECT, "get_object", key, Range=f"bytes={start}-{end - 1}"
        )
        _require(answer["Body"] == content[start:end], "another range was answered")
        return ""

    async def list_pages(self, folder: str, keys: set[str]) -> str:
        """List the keys of a folder in pages that are too small for all."""
        found: set[str] = set()
        pages = 0
        more: dict[str, str] = {}
        while pages <= len(keys):
            answer = await self._ask(
                rights.LIST_BUCKET,
                "list_objects_v2",
                Prefix=self._prefix + folder,
                MaxKeys=PAGE_KEYS,
                **more,
            )
            pages += 1
            found |= {it["Key"].removeprefix(self._prefix) for it in answer.get("Contents", ())}
            if not answer.get("IsTruncated"):
                break
            more = {"ContinuationToken": answer["NextContinuationToken"]}
        _require(found == keys, f"{len(found)} of {len(keys)} keys were listed in {pages} pages")
        return f"{pages} pages"

    async def multipart(self, key: str, content: bytes) -> str:
        """Write an object in two parts."""
        upload_id = await self._create_upload(key)
        parts = [
            await self._upload_part(key, upload_id, 1, content[:PART_BYTES]),
            await self._upload_part(key, upload_id, 2, content[PART_BYTES:]),
        ]
        await self._complete(key, upload_id, parts)
        await self.head(key, len(content))
        return ""

    async def abort(self, key: str) -> str:
        """Begin an upload and abort it."""
        upload_id = await self._create_upload(key)
        await self._upload_part(key, upload_id, 1, b"never completed")
        await self.abort_upload(key, upload_id)
        return ""

    async def abort_upload(self, key: str, upload_id: str) -> None:
        """Abort an upload; one that is gone is no error."""
        try:
            await self._ask(rights.ABORT_UPLOAD, "abort_multipart_upload", key, UploadId=upload_id)
        except RefusedRequestError as error:
            if error.refusal.code != "NoSuchUpload":
                raise
        self.uploads.discard((key, upload_id))

    async def list_uploads(self, key: str) -> str:
        """Begin an upload, and look for it as the sweep does: in the bucket's list, from there on."""
        upload_id = await self._create_upload(key)
        answer = await self._ask(
            rights.LIST_BUCKET_UPLOADS,
            "list_multipart_uploads",
            KeyMarker=(self._prefix + key).rpartition("/")[0],
        )
        found = {(it["Key"], it["UploadId"]) for it in answer.get("Uploads", ())}
        _require((self._prefix + key, upload_id) in found, "an upload that was begun is not listed")
        await self.abort_upload(key, upload_id)
        return ""

    async def part_copy(self, key: str, source: str, content: bytes) -> str:
        """Write an object out of a range of another one and a part of its own."""
        upload_id = await self._create_upload(key)
        copied = await self._ask(
            rights.COPY_PART,
            "upload_part_copy",
            key,
            UploadId=upload_id,
            PartNumber=1,
            CopySource={"Bucket": self._bucket, "Key": self._prefix + source},
            CopySourceRange=f"bytes=0-{PART_BYTES - 1}",
        )
        first = {"PartNumber": 1, "ETag": copied["CopyPartResult"]["ETag"]}
        last = await self._upload_part(key, upload_id, 2, b"the end")
        await self._complete(key, upload_id, [first, last])
        wanted = content[PART_BYTES - 10 : PART_BYTES] + b"the end"
        place = f"bytes={PART_BYTES - 10}-{PART_BYTES + len(b'the end') - 1}"
        answer = await self._ask(rights.GET_OBJECT, "get_object", key, Range=place)
        _require(answer["Body"] == wanted, "the copy holds something else")
        return ""

    async def delete_many(self, keys: list[str]) -> str:
        """Delete in one request; a refusal of a single key is one."""
        entries = [{"Key": self._prefix + key} for key in keys]
        answer = await self._ask(
            rights.DELETE_OBJECT,
            "delete_objects",
            Delete={"Objects": entries, "Quiet": True},
        )
        for failed in answer.get("Errors", ()):
            code = failed.get("Code", "")
            status = 403 if code == "AccessDenied" else 500
            raise RefusedRequestError(Refusal(status, code, failed.get("Message", "")))
        return f"{len(keys)} keys"

    async def _create_upload(self, key: str) -> str:
        begun = await self._ask(rights.PUT_OBJECT, "create_multipart_upload", key)
        upload_id = str(begun["UploadId"])
        self.uploads.add((key, upload_id))
        return upload_id

    async def _upload_part(
        self, key: str, upload_id: str, number: int, body: bytes
    ) -> dict[str, Any]:
        answer = await self._ask(
            rights.PUT_OBJECT,
            "upload_part",
            key,
            UploadId=upload_id,
            PartNumber=number,
            Body=body,
        )
        return {"PartNumber": number, "ETag": answer["ETag"]}

    async def _complete(self, key: str, upload_id: str, parts: list[dict[str, Any]]) -> None:
        await self._ask(
            rights.PUT_OBJECT,
            "complete_multipart_upload",
            key,
            UploadId=upload_id,
            MultipartUpload={"Parts": parts},
        )
        self.uploads.discard((key, upload_id))

    async def _ask(
        self,
        actions: tuple[str, ...],
        operation: str,
        key: str | None = None,
        **arguments: Any,
    ) -> Any:
        """Send one request, which `actions` allow; return the answer, its body read.

        Raises:
            RefusedRequestError: it was refused, or there was no answer.
        """
        if key is not None:
            arguments["Key"] = self._prefix + key

        def act(client: Any) -> Any:
            answer = getattr(client, operation)(Bucket=self._bucket, **arguments)
            return answer | {"Body": answer["Body"].read()} if "Body" in answer else answer

        try:
            return await self._client.repeated(key or self._bucket, Asked.BUCKET, act)
        except StorageError as error:
            raise RefusedRequestError(_refusal(error, actions)) from error


def _refusal(error: StorageError, actions: tuple[str, ...]) -> Refusal:
    cause = error.__cause__ or error
    failure = failure_of(cause)
    answer = getattr(cause, "response", None) or {}
    message = answer.get("Error", {}).get("Message") or str(cause)
    return Refusal(failure.status, failure.code or type(cause).__name__, message, actions)


def _require(condition: bool, complaint: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not condition:
        raise WrongAnswerError(complaint)
