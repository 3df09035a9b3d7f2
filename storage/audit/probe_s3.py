"""The S3 requests of a probe, one by one, by boto3: a refusal tells which right is missing. Blocking."""

from collections.abc import Callable
from typing import Any, Final

from headrace.storage.audit import rights
from headrace.storage.audit.rights import Refusal
from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_administration import s3_client

MAX_ATTEMPTS: Final = 2
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
    """One bucket; keys are told without the URI's prefix."""

    def __init__(self, access: S3Access, prefix: str) -> None:
        self._bucket = access.bucket
        self._prefix = prefix
        self._client = s3_client(access, max_attempts=MAX_ATTEMPTS)
        self.uploads: set[tuple[str, str]] = set()  # (key, upload id) that are not finished

    def close(self) -> None:
        """Close connections."""
        self._client.close()

    def head_bucket(self) -> str:
        """Ask whether the bucket is there."""
        self._ask(rights.LIST_BUCKET, self._client.head_bucket)
        return ""

    def put(self, key: str, content: bytes) -> str:
        """Write an object in one request."""
        self._ask(rights.PUT_OBJECT, self._client.put_object, key, Body=content)
        return ""

    def head(self, key: str, size_bytes: int) -> str:
        """Ask for the size of an object."""
        answer = self._ask(rights.GET_OBJECT, self._client.head_object, key)
        _require(answer["ContentLength"] == size_bytes, "the object has another size")
        return ""

    def ranged_get(self, key: str, content: bytes) -> str:
        """Read the middle of an object."""
        start, end = len(content) // 4, len(content) // 2
        answer = self._ask(
            rights.GET_OBJECT, self._client.get_object, key, Range=f"bytes={start}-{end - 1}"
        )
        _require(answer["Body"].read() == content[start:end], "another range was answered")
        return ""

    def list_pages(self, folder: str, keys: set[str]) -> str:
        """List the keys of a folder in pages that are too small for all."""
        found: set[str] = set()
        pages = 0
        more: dict[str, str] = {}
        while pages <= len(keys):
            answer = self._ask(
                rights.LIST_BUCKET,
                self._client.list_objects_v2,
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

    def multipart(self, key: str, content: bytes) -> str:
        """Write an object in two parts."""
        upload_id = self._create_upload(key)
        parts = [
            self._upload_part(key, upload_id, 1, content[:PART_BYTES]),
            self._upload_part(key, upload_id, 2, content[PART_BYTES:]),
        ]
        self._complete(key, upload_id, parts)
        self.head(key, len(content))
        return ""

    def abort(self, key: str) -> str:
        """Begin an upload and abort it."""
        upload_id = self._create_upload(key)
        self._upload_part(key, upload_id, 1, b"never completed")
        self.abort_upload(key, upload_id)
        return ""

    def abort_upload(self, key: str, upload_id: str) -> None:
        """Abort an upload; one that is gone is no error."""
        try:
            self._ask(
                rights.ABORT_UPLOAD, self._client.abort_multipart_upload, key, UploadId=upload_id
            )
        except RefusedRequestError as error:
            if error.refusal.code != "NoSuchUpload":
                raise
        self.uploads.discard((key, upload_id))

    def list_uploads(self, key: str) -> str:
        """Begin an upload, and look for it as the sweep does: in the bucket's list, from there on."""
        upload_id = self._create_upload(key)
        answer = self._ask(
            rights.LIST_BUCKET_UPLOADS,
            self._client.list_multipart_uploads,
            KeyMarker=(self._prefix + key).rpartition("/")[0],
        )
        found = {(it["Key"], it["UploadId"]) for it in answer.get("Uploads", ())}
        _require((self._prefix + key, upload_id) in found, "an upload that was begun is not listed")
        self.abort_upload(key, upload_id)
        return ""

    def part_copy(self, key: str, source: str, content: bytes) -> str:
        """Write an object out of a range of another one and a part of its own."""
        upload_id = self._create_upload(key)
        copied = self._ask(
            rights.COPY_PART,
            self._client.upload_part_copy,
            key,
            UploadId=upload_id,
            PartNumber=1,
            CopySource={"Bucket": self._bucket, "Key": self._prefix + source},
            CopySourceRange=f"bytes=0-{PART_BYTES - 1}",
        )
        first = {"PartNumber": 1, "ETag": copied["CopyPartResult"]["ETag"]}
        last = self._upload_part(key, upload_id, 2, b"the end")
        self._complete(key, upload_id, [first, last])
        wanted = content[PART_BYTES - 10 : PART_BYTES] + b"the end"
        place = f"bytes={PART_BYTES - 10}-{PART_BYTES + len(b'the end') - 1}"
        answer = self._ask(rights.GET_OBJECT, self._client.get_object, key, Range=place)
        _require(answer["Body"].read() == wanted, "the copy holds something else")
        return ""

    def delete_many(self, keys: list[str]) -> str:
        """Delete in one request; a refusal of a single key is one."""
        entries = [{"Key": self._prefix + key} for key in keys]
        answer = self._ask(
            rights.DELETE_OBJECT,
            self._client.delete_objects,
            Delete={"Objects": entries, "Quiet": True},
        )
        for failed in answer.get("Errors", ()):
            code = failed.get("Code", "")
            status = 403 if code == "AccessDenied" else 500
            raise RefusedRequestError(Refusal(status, code, failed.get("Message", "")))
        return f"{len(keys)} keys"

    def _create_upload(self, key: str) -> str:
        upload_id: str = self._ask(rights.PUT_OBJECT, self._client.create_multipart_upload, key)[
            "UploadId"
        ]
        self.uploads.add((key, upload_id))
        return upload_id

    def _upload_part(self, key: str, upload_id: str, number: int, body: bytes) -> dict[str, Any]:
        answer = self._ask(
            rights.PUT_OBJECT,
            self._client.upload_part,
            key,
            UploadId=upload_id,
            PartNumber=number,
            Body=body,
        )
        return {"PartNumber": number, "ETag": answer["ETag"]}

    def _complete(self, key: str, upload_id: str, parts: list[dict[str, Any]]) -> None:
        self._ask(
            rights.PUT_OBJECT,
            self._client.complete_multipart_upload,
            key,
            UploadId=upload_id,
            MultipartUpload={"Parts": parts},
        )
        self.uploads.discard((key, upload_id))

    def _ask(
        self,
        actions: tuple[str, ...],
        request: Callable[..., Any],
        key: str | None = None,
        **arguments: Any,
    ) -> Any:
        """Send one request, which `actions` allow.

        Raises:
            RefusedRequestError: it was refused, or nobody answered.
        """
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - slow to load

        if key is not None:
            arguments["Key"] = self._prefix + key
        try:
            return request(Bucket=self._bucket, **arguments)
        except ClientError as error:
            told = error.response.get("Error", {})
            status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
            refusal = Refusal(int(status), told.get("Code", ""), told.get("Message", ""), actions)
            raise RefusedRequestError(refusal) from error
        except BotoCoreError as error:
            raise RefusedRequestError(Refusal(0, type(error).__name__, str(error))) from error


def _require(condition: bool, complaint: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not condition:
        raise WrongAnswerError(complaint)
