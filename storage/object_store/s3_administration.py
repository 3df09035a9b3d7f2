"""Administration of an S3 bucket."""

from functools import partial
from typing import Any, Final

from headrace.storage.object_store.s3_access import S3Access
from headrace.storage.object_store.s3_client import one_thread
from headrace.storage.object_store.s3_errors import Asked, failure_of

# No object is in these requests. A start waits for them, also that of a broker which was fenced: one
# that the service has lost is sent again soon.
READ_TIMEOUT_S: Final = 5


async def ensure_s3_bucket(access: S3Access) -> bool:
    """Create the bucket unless it exists.

    Returns:
        Whether it was created.

    Raises:
        RefusedError: the credentials do not allow it, or another account has that name.
        ObjectStoreError: the service did not answer.
    """
    create = partial(_create_unless_there, access)
    name = "bucket-administration"
    with one_thread(access, name, read_timeout_s=READ_TIMEOUT_S) as client:
        return await client.repeated(f"bucket {access.bucket}", Asked.BUCKET, create)


def _create_unless_there(access: S3Access, client: Any) -> bool:
    try:
        client.head_bucket(Bucket=access.bucket)
    except Exception as error:
        if failure_of(error).status != 404:
            raise
    else:
        return False
    constraint = {"LocationConstraint": access.region}
    extra = {} if access.region == "us-east-1" else {"CreateBucketConfiguration": constraint}
    try:
        client.create_bucket(Bucket=access.bucket, **extra)
    except Exception as error:
        if failure_of(error).code != "BucketAlreadyOwnedByYou":
            raise
        return False  # another node was faster
    return True
