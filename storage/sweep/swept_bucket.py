"""What a sweep needs of the bucket that a URI names."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from headrace.storage.audit.lister import BucketLister, DirectoryLister, S3Lister
from headrace.storage.object_store.s3_access import resolve_access
from headrace.storage.object_store.uri import (
    FileLocation,
    MemoryLocation,
    S3Location,
    parse_bucket_uri,
)
from headrace.storage.sweep.uploads import DirectoryUploads, IncompleteUploads, S3Uploads


class SweptBucket(msgspec.Struct, frozen=True):
    """The lists of a bucket: of its objects and of its incomplete uploads."""

    lister: BucketLister
    uploads: IncompleteUploads


def open_swept_bucket(uri: str, environment: Mapping[str, str]) -> SweptBucket | None:
    """Prepare the lists of a bucket; None: `mem://`, which ends with its process.

    Raises:
        ValueError: the URI is invalid.
    """
    match parse_bucket_uri(uri):
        case MemoryLocation():
            return None
        case FileLocation(path):
            root = Path(path).absolute()
            return SweptBucket(DirectoryLister(root), DirectoryUploads(root))
        case S3Location() as location:
            access = resolve_access(location, environment)
            prefix = location.prefix
            return SweptBucket(S3Lister(access, prefix), S3Uploads(access, prefix))
