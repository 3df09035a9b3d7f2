"""Administration of an S3 bucket, by boto3: what the data path's client does not offer."""

import asyncio
from typing import Any

from headrace.storage.object_store.daemon_threads import DaemonThreads
from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_errors import (
    code_of,
    status_of,
    translated_of_bucket,
    translating,
)

CONNECT_TIMEOUT_S = 5
READ_TIMEOUT_S = 30
MAX_ATTEMPTS = 4


async def ensure_s3_bucket(access: S3Access) -> bool:
    """Create the bucket unless it exists.

    Returns:
        Whether it was created.

    Raises:
        RefusedError: the credentials do not allow it, or somebody else has that name.
        ObjectStoreError: the service did not answer.
    """
    executor = DaemonThreads(1, "bucket-administration")
    try:
        return await asyncio.get_running_loop().run_in_executor(executor, _ensure, access)
    finally:
        executor.shutdown(wait=False)


def _ensure(access: S3Access) -> bool:
    with translating(f"bucket {access.bucket}", translated_of_bucket):
        client = s3_client(access)
        try:
            return _create_unless_there(client, access)
        finally:
            client.close()


def _create_unless_there(client: Any, access: S3Access) -> bool:
    try:
        client.head_bucket(Bucket=access.bucket)
    except Exception as error:
        if status_of(error) != 404:
            raise
    else:
        return False
    constraint = {"LocationConstraint": access.region}
    extra = {} if access.region == "us-east-1" else {"CreateBucketConfiguration": constraint}
    try:
        client.create_bucket(Bucket=access.bucket, **extra)
    except Exception as error:
        if code_of(error) != "BucketAlreadyOwnedByYou":
            raise
        return False  # another node was faster
    return True


def s3_client(
    access: S3Access, *, max_attempts: int = MAX_ATTEMPTS, read_timeout_s: int = READ_TIMEOUT_S
) -> Any:
    """Make a client of boto3; the caller closes it. Blocking, as all of its requests are.

    It follows no bucket to another region: the data path's client does not, and a service that
    redirects whatever it is asked has boto3 ask without an end.
    """
    import boto3  # noqa: PLC0415 - 180 ms
    from botocore.config import Config  # noqa: PLC0415

    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"total_max_attempts": max_attempts, "mode": "standard"},
        s3={"addressing_style": "path" if access.path_style else "virtual"},
        # Not every S3-compatible service knows the checksums that boto3 adds by default.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    client = boto3.client(
        "s3",
        region_name=access.region,
        endpoint_url=access.endpoint or None,
        aws_access_key_id=access.access_key or None,
        aws_secret_access_key=access.secret_key or None,
        aws_session_token=access.session_token or None,
        config=config,
    )
    # Behind boto3's own handler, which prepares to redirect once.
    client.meta.events.register_last("before-parameter-build.s3", _stay)
    return client


def _stay(context: dict[str, Any], **_: Any) -> None:
    """Let boto3 believe that a request has been redirected."""
    context["s3_redirect"] = {**context.get("s3_redirect", {}), "redirected": True}
