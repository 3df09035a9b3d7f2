"""Bucket URIs: what `s3.data.buckets`, `s3.wal.path` and the command line accept. Pure.

`[<n>@]s3://bucket[/prefix][?endpoint=URL&region=R&pathStyle=BOOL&checksum=SHA256]`,
`file:///directory`, `file://relative/directory`, `mem://`. The `0@` in front is AutoMQ's bucket id;
it has no meaning here. `checksum` (AutoMQ's `checksumAlgorithm` means the same) has every PUT carry
one, SHA256; without it none is sent, since not every service knows them.

The command line takes `accessKey` and `secretKey` as well. A configuration does not: it is shown to
clients, and kept in files.

What a client could only fail at, or worse, is refused here: an object's key must be one below any
prefix, and a bucket has no host name of its own below an address. Parsing only: nothing is opened
or resolved.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

BUCKET_OPTIONS: Final = ("region", "endpoint", "pathStyle", "checksum", "checksumAlgorithm")
KEY_OPTIONS: Final = ("accessKey", "secretKey")
SECRET_OPTIONS: Final = ("accesskey", "secretkey", "sessiontoken", "password")  # in lower case
# S3's limit for a key is 1,024 bytes; the rest is for ours.
MAX_PREFIX_BYTES: Final = 768
_CHECKSUMS: Final = ("SHA256",)
_BOOLEANS: Final = {"true": True, "false": False}
# AutoMQ's brokers take a list; ours, and the tools, look at one bucket.
_NEXT_OF_A_LIST = re.compile(r",\s*(?:[0-9]+@)?(?:s3|file|mem)://")
_BUCKET_ID = re.compile(r"[0-9]+@")
_BUCKET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{2,62}")
_HOST_LABELS = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")
_REGION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_HOST = re.compile(r"[A-Za-z0-9._-]+")
# As a path these would be the names of directories, wherever the process was started.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_FOR_A_SHELL = re.compile(r"~|.*\$\{")


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


def parse_location(text: str, *, takes_keys: bool) -> Location:
    """Parse a bucket URI.

    Args:
        text: with its id or without.
        takes_keys: whether credentials may be among the options.

    Raises:
        ValueError: it is none. The message never repeats the URI, which may hold a secret; it goes
            on from a name of what was parsed.
    """
    if _NEXT_OF_A_LIST.search(text):
        raise ValueError("names several buckets, separated by commas; give the URI of one bucket")
    scheme, place, options = split_uri(without_id(text))
    match scheme:
        case "s3":
            known = (*BUCKET_OPTIONS, *KEY_OPTIONS) if takes_keys else BUCKET_OPTIONS
            check_options(options, known)
            return _s3_location(place, options)
        case "file":
            if not place.strip("/"):
                raise ValueError("names no directory")
            check_path(place)
            check_options(options, ())
            return FileLocation(unquote(place))
        case "mem":
            if place.strip("/") or options:
                raise ValueError("has something after mem://, which takes nothing else")
            return MemoryLocation()
        case _:
            raise ValueError(f"has the scheme {scheme!r}; use s3://, file:// or mem://")


def without_id(text: str) -> str:
    """Return a URI without its `0@`."""
    text = text.strip()
    found = _BUCKET_ID.match(text)
    return text[found.end() :] if found else text


def split_uri(uri: str) -> tuple[str, str, dict[str, str]]:
    """Split into scheme, path and options.

    Raises:
        ValueError: it has no scheme, a fragment, or an option twice.
    """
    # The standard parser drops line breaks without a word.
    if any(ord(character) < 0x20 or ord(character) == 0x7F for character in uri):
        raise ValueError("has a control character, such as a line break")
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise ValueError("has no valid host or bucket between // and /") from None
    if not parts.scheme:
        raise ValueError("is not scheme://place?option=value")
    if parts.fragment:
        raise ValueError("has a '#'; write %23 if the name has one")
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted(name for name in options if names.count(name) > 1)
        raise ValueError(f"has options twice: {', '.join(twice)}")
    return parts.scheme, parts.netloc + parts.path, options


def check_path(path: str) -> None:
    """Refuse what would become a file or directory of another name than was meant.

    Raises:
        ValueError: it is a URI, or an example should be replaced by a value.
    """
    if _SCHEME.match(path):
        raise ValueError("is a URI; this key takes a path")
    if _FOR_A_SHELL.match(path):
        raise ValueError("begins with '~' or has '${': neither is replaced here; write the path")


def check_options(options: Mapping[str, str], known: tuple[str, ...]) -> None:
    """Refuse options that are not among `known`.

    Raises:
        ValueError: there are some.
    """
    unknown = [name for name in options if name not in known]
    secrets = [name for name in unknown if name.lower() in SECRET_OPTIONS]
    if secrets:
        raise ValueError(
            f"carries credentials ({', '.join(secrets)}), which would show up in logs; "
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or an instance role instead"
        )
    if unknown:
        allowed = ", ".join(known) if known else "none"
        raise ValueError(f"has unknown options: {', '.join(unknown)} (known: {allowed})")


def check_endpoint(endpoint: str, *, in_host_name: str | None) -> None:
    """Refuse what is no address of a service.

    Args:
        endpoint: a URL.
        in_host_name: the bucket, where it is to be a part of the host name.

    Raises:
        ValueError: it is none, or has no host name that the bucket could be a part of.
    """
    parts = urlsplit(endpoint)
    try:
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        # Whose message would repeat it, and it may be the secret of `key:secret@host`.
        raise ValueError("has an endpoint with a wrong port") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("has an endpoint that is not http://host:port or https://host:port")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("has an endpoint with more than scheme, host, port and path")
    is_address = _is_address(host)
    if not is_address and not _HOST.fullmatch(host):
        raise ValueError(f"has an endpoint with the host {host!r}, which is not a host name")
    if in_host_name is None:
        return
    if is_address:
        raise ValueError(
            f"has pathStyle=false, and an endpoint with the address {host}: a bucket cannot be "
            "part of an address; write pathStyle=true, or the endpoint's host name"
        )
    if not _HOST_LABELS.fullmatch(in_host_name):
        raise ValueError(
            f"has pathStyle=false, and a bucket {in_host_name!r} that cannot be part of a host name"
        )


def _is_address(host: str) -> bool:
    # What ends in a number is an address to clients, a whole one or not.
    if host.rpartition(".")[2].isdigit():
        return True
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _s3_location(place: str, options: dict[str, str]) -> S3Location:
    bucket, _, path = place.partition("/")
    if not bucket:
        raise ValueError("names no bucket")
    if "@" in bucket or ":" in bucket:
        raise ValueError(
            "has '@' or ':' in the name of its bucket; if these are credentials, they do not "
            "belong there: "
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or an instance role instead"
        )
    if not _BUCKET_NAME.fullmatch(bucket):
        raise ValueError(
            f"has {bucket!r}, which is not a bucket name: 3 to 63 letters, digits, '.', '-', '_'"
        )
    path_style = options.get("pathStyle", "").lower()
    if path_style and path_style not in _BOOLEANS:
        raise ValueError(f"has pathStyle={options['pathStyle']}, which is not true or false")
    if "checksum" in options and "checksumAlgorithm" in options:
        raise ValueError("has checksum and checksumAlgorithm, which mean the same")
    checksum = options.get("checksum", options.get("checksumAlgorithm", "")).upper()
    if checksum and checksum not in _CHECKSUMS:
        raise ValueError(f"has checksum={checksum}, which is not {' or '.join(_CHECKSUMS)}")
    region = options.get("region", "")
    if region and (not _REGION.fullmatch(region) or region.isdigit()):
        raise ValueError(f"has region={region}, which is not the name of a region")
    endpoint = options.get("endpoint", "").rstrip("/")
    if endpoint:
        check_endpoint(endpoint, in_host_name=bucket if path_style == "false" else None)
    access_key, secret_key = (options.get(name, "") for name in KEY_OPTIONS)
    if bool(access_key) != bool(secret_key):
        raise ValueError("has only one of accessKey and secretKey; give both or none")
    return S3Location(
        bucket=bucket,
        prefix=_prefix(path),
        endpoint=endpoint,
        region=region,
        path_style=_BOOLEANS.get(path_style),
        checksum=checksum,
        access_key=access_key,
        secret_key=secret_key,
    )


def _prefix(path: str) -> str:
    """Read what is put in front of every key: whole segments, each of which a key may have."""
    prefix = unquote(path).removesuffix("/")
    if not prefix:
        return ""
    if len(prefix.encode()) > MAX_PREFIX_BYTES:
        raise ValueError(f"has a prefix of more than {MAX_PREFIX_BYTES} bytes")
    for segment in prefix.split("/"):
        if segment in ("", ".", "..") or not segment.isprintable():
            raise ValueError(
                f"has {segment!r} between two slashes of its prefix, which no key can have"
            )
    return f"{prefix}/"
