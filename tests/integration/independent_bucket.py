"""A bucket as somebody sees it who knows nothing of our code, against the metadata's own image.

Nothing of `storage/` is used here, neither its clients and lists nor what it makes of keys and of
metadata: an error that the broker and its tools share is found. S3 is asked by plain boto3, page by
page; a directory is walked. Of the keys no more is taken for granted than what docs/bucket.md says:
`<two hexadecimal digits>/<cluster id>/<object id>`.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import boto3
from botocore.config import Config

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.objects import ObjectState

_OBJECT = re.compile(r"[0-9a-f]{2}/([^/]+)/(0|[1-9][0-9]*)")
_MAX_PAGES = 10_000


@dataclass
class Contents:
    """Everything that a bucket has."""

    objects: dict[str, int] = field(default_factory=dict)  # key -> bytes; without the URI's prefix
    uploads: list[str] = field(default_factory=list)  # keys of uploads that are not completed


def contents_of(uri: str) -> Contents:
    """List a bucket. Blocking.

    Args:
        uri: `file:///directory`, or `s3://bucket[/prefix]?endpoint=...&accessKey=...&secretKey=...`.
    """
    parts = urlsplit(uri)
    if parts.scheme == "file":
        return _directory(Path(parts.path))
    options = {name: value for name, (value,) in parse_qs(parts.query).items()}
    s3 = boto3.client(
        "s3",
        endpoint_url=options["endpoint"],
        region_name=options.get("region", "us-east-1"),
        aws_access_key_id=options["accessKey"],
        aws_secret_access_key=options["secretKey"],
        config=Config(s3={"addressing_style": "path"}),
    )
    try:
        prefix = parts.path.strip("/")
        return _bucket(s3, parts.netloc, f"{prefix}/" if prefix else "")
    finally:
        s3.close()


def _bucket(s3, bucket: str, prefix: str) -> Contents:
    """Take in the whole bucket: what lies beside the prefix must be somebody else's."""
    found = Contents()
    more: dict[str, str] = {}
    for _ in range(_MAX_PAGES):
        page = s3.list_objects_v2(Bucket=bucket, **more)
        for entry in page.get("Contents", ()):
            if entry["Key"].startswith(prefix):
                found.objects[entry["Key"][len(prefix) :]] = entry["Size"]
        if not page["IsTruncated"]:
            break
        more = {"ContinuationToken": page["NextContinuationToken"]}
    else:
        raise AssertionError("a list without an end")
    uploads = s3.list_multipart_uploads(Bucket=bucket)
    assert not uploads["IsTruncated"], "more uploads than a test has"
    found.uploads = [
        it["Key"][len(prefix) :]
        for it in uploads.get("Uploads", ())
        if it["Key"].startswith(prefix)
    ]
    return found


def _directory(root: Path) -> Contents:
    found = Contents()
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            if key.startswith(".tmp/"):
                found.uploads.append(key)
            else:
                found.objects[key] = path.stat().st_size
    return found


def objects_of(contents: Contents, cluster_id: str) -> dict[int, int]:
    """Object id -> bytes, of one cluster."""
    found: dict[int, int] = {}
    for key, size_bytes in contents.objects.items():
        match = _OBJECT.fullmatch(key)
        if match is not None and match[1] == cluster_id:
            object_id = int(match[2])
            assert object_id not in found, f"object {object_id} lies under two keys"
            found[object_id] = size_bytes
    return found


def committed_in(image: MetadataImage) -> dict[int, int]:
    """Object id -> bytes, of what the metadata says to be in the bucket for good."""
    return {
        object_id: found.size_bytes
        for object_id, found in image.objects.by_id.items()
        if found.state == ObjectState.COMMITTED
    }


def differences(contents: Contents, image: MetadataImage, cluster_id: str) -> list[str]:
    """Say where the bucket is not exactly what is committed: object by object, in ids and sizes."""
    found, known = objects_of(contents, cluster_id), committed_in(image)
    told = [f"{it} is lost" for it in sorted(known.keys() - found.keys())]
    for object_id in sorted(found.keys() - known.keys()):
        entry = image.objects.by_id.get(object_id)
        told.append(f"{object_id} is left, {entry.state.name if entry else 'forgotten'}")
    told += [
        f"{it} has {found[it]} bytes, committed with {known[it]}"
        for it in sorted(found.keys() & known.keys())
        if found[it] != known[it]
    ]
    return told
