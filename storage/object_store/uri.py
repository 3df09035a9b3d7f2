"""Bucket URIs: what `s3.data.buckets` and the command line accept.

`[<n>@]s3://bucket[/prefix][?endpoint=URL&region=R&pathStyle=BOOL&checksum=SHA256
&accessKey=K&secretKey=S]`,
`file:///directory`, `file://relative/directory`, `mem://`. The `0@` in front is AutoMQ's bucket id;
it has no meaning here. `checksum` (AutoMQ's `checksumAlgorithm` means the same) has every PUT carry
one, SHA256; without it none is sent, since not every service knows them.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

_BUCKET_ID = re.compile(r"^\d+@")
_BUCKET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,62}")
_S3_OPTIONS = frozenset(
    {"endpoint", "region", "pathStyle", "checksum", "checksumAlgorithm", "accessKey", "secretKey"}
)
_CHECKSUMS = frozenset({"SHA256"})
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Location:
    """A bucket of an S3-compatible service."""

    bucket: str
    prefix: str = ""  # put in front of every key; "" or ending in "/"
    endpoint: str = ""  # empty: AWS
    region: str = ""
    path_style: bool | None = None  # None: true with an endpoint, false on AWS
    checksum: str = ""  # empty: none
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A directory."""

    path: str


@dataclass(frozen=True, slots=True)
class MemoryLocation:
    """This process."""


Location = S3Location | FileLocation | MemoryLocation


def parse_bucket_uri(uri: str) -> Location:
    """Parse a bucket URI.

    Raises:
        ValueError: it is none. The message never repeats the URI, which may hold a secret.
    """
    parts = urlsplit(_BUCKET_ID.sub("", uri.strip()))
    if parts.fragment:
        raise ValueError("bucket URI: '#' is not allowed")
    match parts.scheme:
        case "s3":
            return _s3_location(parts.netloc, parts.path, parts.query)
        case "file":
            path = unquote(parts.netloc + parts.path)
            if not path or parts.query:
                raise ValueError("bucket URI: file:// takes a directory and no options")
            return FileLocation(path)
        case "mem":
            if parts.netloc or parts.path.strip("/") or parts.query:
                raise ValueError("bucket URI: mem:// takes nothing else")
            return MemoryLocation()
        case scheme:
            raise ValueError(f"bucket URI: scheme {scheme!r} is none of s3, file, mem")


def _s3_location(bucket: str, path: str, query: str) -> S3Location:
    if not _BUCKET_NAME.fullmatch(bucket):
        raise ValueError(f"bucket URI: {bucket!r} is not a bucket name")
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(options.keys() - _S3_OPTIONS)
    if unknown:
        raise ValueError(f"bucket URI: unknown options {unknown}; known: {sorted(_S3_OPTIONS)}")
    path_style = options.get("pathStyle", "").lower()
    if path_style and path_style not in _BOOLEANS:
        raise ValueError("bucket URI: pathStyle is true or false")
    checksum = options.get("checksum", options.get("checksumAlgorithm", "")).upper()
    if checksum and checksum not in _CHECKSUMS:
        raise ValueError(f"bucket URI: checksum is one of {sorted(_CHECKSUMS)}")
    access_key, secret_key = options.get("accessKey", ""), options.get("secretKey", "")
    if bool(access_key) != bool(secret_key):
        raise ValueError("bucket URI: accessKey and secretKey go together")
    endpoint = options.get("endpoint", "").rstrip("/")
    if endpoint and urlsplit(endpoint).scheme not in ("http", "https"):
        raise ValueError("bucket URI: endpoint begins with http:// or https://")
    prefix = unquote(path).strip("/")
    return S3Location(
        bucket=bucket,
        prefix=f"{prefix}/" if prefix else "",
        endpoint=endpoint,
        region=options.get("region", ""),
        path_style=_BOOLEANS.get(path_style),
        checksum=checksum,
        access_key=access_key,
        secret_key=secret_key,
    )
