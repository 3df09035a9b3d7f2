"""The texts that name an address: listeners, quorum voters, buckets and the WAL. Pure.

Buckets and the WAL are written as AutoMQ writes them, `<id>@<scheme>://<place>?<options>`; the id
is optional. Parsing only: nothing is opened or resolved.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from headrace.config.bucket_uris import (
    BUCKET_OPTIONS,
    SECRET_OPTIONS,
    check_options,
    check_path,
    parse_location,
    split_uri,
    without_id,
)
from headrace.config.node import Endpoint, Voter
from headrace.config.quorum import EVERY_HOST

_SECRET_VALUE = re.compile(rf"({'|'.join(SECRET_OPTIONS)})=[^&\s]*", re.IGNORECASE)
# Options without a scheme, or one slash too few: as a path it would become a file of that name.
_LIKE_A_URI = re.compile(r"[^?]*\?[A-Za-z]+=|[A-Za-z][A-Za-z0-9+.-]*:/|[0-9]+@")
_WAL_BUCKET_OPTIONS = ("capacity", "batchInterval", "maxBytesInBatch", "maxInflightUploadCount")
_WAL_FILE_OPTIONS = ("capacity", "iops", "iobandwidth", "iodepth")
MIN_WAL_CAPACITY_BYTES = 16 * 1024 * 1024
# Below these a block of 1 MiB and the superblocks that go with it take seconds, and a shutdown minutes.
MIN_WAL_BANDWIDTH_BYTES = 1024 * 1024
MIN_WAL_IOPS = 10
_MAX_WAL_IO_DEPTH = 256
_MAX_WAL_UPLOADS = 16  # `headrace.wal.objects.layout.REACH`: what a successor must fence
_LONG_MAX = 10**18 - 1


@dataclass(frozen=True, slots=True)
class WalLocation:
    """Where the WAL lies; None where the text does not say."""

    path: str  # a file or a device; the whole URI of a bucket for a WAL made of objects
    capacity_bytes: int | None = None
    max_iops: int | None = None
    max_bandwidth_bytes: int | None = None
    io_depth: int | None = None
    batch_interval_ms: int | None = None
    batch_bytes: int | None = None


def parse_listeners(text: str) -> tuple[Endpoint, ...]:
    """Read `NAME://host:port,...`; an empty host means every address.

    Raises:
        ValueError: a part is not of that form, or a name or an address is used twice.
    """
    endpoints = [_parse_listener(part.strip()) for part in text.split(",") if part.strip()]
    if not endpoints:
        raise ValueError("must name at least one listener")
    names = [endpoint.name for endpoint in endpoints]
    if len(set(names)) != len(names):
        raise ValueError("must not use a listener name twice")
    places = [(endpoint.host, endpoint.port) for endpoint in endpoints if endpoint.port]
    if len(set(places)) != len(places):
        raise ValueError("must not use an address twice")
    return tuple(endpoints)


def _parse_listener(text: str) -> Endpoint:
    name, separator, address = text.partition("://")
    if not separator or not name:
        raise ValueError(f"has {text!r}, which is not NAME://host:port")
    host, port = split_address(address)
    return Endpoint(name.upper(), host, port)


def parse_advertised(text: str) -> tuple[Endpoint, ...]:
    """Read advertised listeners: like listeners, but an address that clients can use.

    Raises:
        ValueError: as `parse_listeners`, or an address that no client can connect to.
    """
    endpoints = parse_listeners(text) if text.strip() else ()
    for endpoint in endpoints:
        if endpoint.host in EVERY_HOST:
            raise ValueError(
                f"advertises {endpoint.host or 'no host'} for {endpoint.name}, "
                "which no client can connect to; leave the key out to tell each client the "
                "address that it used"
            )
        if endpoint.port == 0:
            raise ValueError(f"advertises port 0 for {endpoint.name}")
    return endpoints


def split_address(text: str) -> tuple[str, int]:
    """Split `host:port` or `[v6]:port`.

    Raises:
        ValueError: there is no port, or it is not between 0 and 65535.
    """
    host, separator, port = text.rpartition(":")
    if not separator or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"has {text!r}, which is not host:port with a port up to 65535")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(f"has {text!r}; write an IPv6 address in brackets, [::1]:9092")
    return host, int(port)


def parse_voters(text: str) -> tuple[Voter, ...]:
    """Read `id@host:port,...`.

    Raises:
        ValueError: a part is not of that form, or an id comes twice.
    """
    voters = []
    for part in (part.strip() for part in text.split(",") if part.strip()):
        node_id, separator, address = part.partition("@")
        if not separator or not node_id.isascii() or not node_id.isdigit():
            raise ValueError(f"has {part!r}, which is not id@host:port")
        voters.append(Voter(int(node_id), *split_address(address)))
    if len({voter.node_id for voter in voters}) != len(voters):
        raise ValueError("must not name a node twice")
    return tuple(voters)


def parse_bootstrap(text: str) -> tuple[tuple[str, int], ...]:
    """Read `host:port,...`.

    Raises:
        ValueError: a part is not of that form, or no client can connect to it.
    """
    addresses = [split_address(part.strip()) for part in text.split(",") if part.strip()]
    for host, port in addresses:
        if host in EVERY_HOST or port == 0:
            raise ValueError(f"has {host}:{port}, which no node can connect to")
        if "@" in host:
            raise ValueError(f"has {host}:{port}; only voters have ids, write host:port")
    return tuple(dict.fromkeys(addresses))


def parse_host_counts(text: str) -> tuple[tuple[str, int], ...]:
    """Read `host:count,...`; an IPv6 address may be in brackets.

    Raises:
        ValueError: a part is not of that form.
    """
    counts: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        host, _, count = part.rpartition(":")
        if not host or not (count.isascii() and count.isdigit()):
            raise ValueError(f"has {part!r}; write host:count")
        counts[host.removeprefix("[").removesuffix("]")] = int(count)
    return tuple(counts.items())


def parse_bucket(text: str) -> str:
    """Check a bucket URI and return it without its id.

    Raises:
        ValueError: it is not a bucket that we can use, or it carries credentials.
    """
    parse_location(text, takes_keys=False)
    return without_id(text)


def parse_wal_location(text: str) -> WalLocation:
    """Read where the WAL lies: a path, `file://` with options, or a bucket for an object WAL.

    Raises:
        ValueError: an option is unknown or not a number, the scheme is not one of ours, or it is missing where
            there are options.
    """
    uri = without_id(text)
    if "://" not in uri:
        if not uri:
            raise ValueError("must not be empty")
        if _LIKE_A_URI.match(uri):
            raise ValueError(
                f"has {uri!r}, which is neither a path nor a URI; write file://{quote(uri.partition('?')[0])}?... "
                "for a device or file with options, s3://bucket?... for a bucket"
            )
        check_path(uri)
        return WalLocation(uri)
    scheme, place, options = split_uri(uri)
    if scheme in ("s3", "mem"):
        known = (*(BUCKET_OPTIONS if scheme == "s3" else ()), *_WAL_BUCKET_OPTIONS)
        check_options(options, known)
        return _wal_bucket(uri, options)
    if scheme != "file":
        raise ValueError(f"has the scheme {scheme!r}; use file:// for a device or file, or s3://")
    if not place.strip("/"):
        raise ValueError("names no file or device")
    check_path(place)
    check_options(options, _WAL_FILE_OPTIONS)
    return WalLocation(
        unquote(place),
        capacity_bytes=_wal_capacity(options),
        max_iops=_positive(options, "iops", low=MIN_WAL_IOPS),
        max_bandwidth_bytes=_positive(options, "iobandwidth", low=MIN_WAL_BANDWIDTH_BYTES),
        io_depth=_positive(options, "iodepth", high=_MAX_WAL_IO_DEPTH),
    )


def _wal_bucket(uri: str, options: dict[str, str]) -> WalLocation:
    """Read a bucket with the options of a WAL among its own."""
    address, _, query = uri.partition("?")
    own = [each for each in query.split("&") if each.partition("=")[0] not in _WAL_BUCKET_OPTIONS]
    return WalLocation(
        parse_bucket("?".join([address, "&".join(own)]) if query and any(own) else address),
        capacity_bytes=_wal_capacity(options),
        io_depth=_positive(options, "maxInflightUploadCount", high=_MAX_WAL_UPLOADS),
        batch_interval_ms=_positive(options, "batchInterval"),
        batch_bytes=_positive(options, "maxBytesInBatch"),
    )


def _wal_capacity(options: dict[str, str]) -> int | None:
    capacity = _positive(options, "capacity")
    if capacity is not None and capacity < MIN_WAL_CAPACITY_BYTES:
        raise ValueError(f"has a capacity below {MIN_WAL_CAPACITY_BYTES} bytes (16 MiB)")
    return capacity


def with_wal_capacity(text: str, capacity_bytes: int) -> str:
    """Return the address of a WAL on a device or in a file with another capacity, and all else as it was."""
    uri = without_id(text)
    prefix = text.strip().removesuffix(uri)
    if "://" not in uri:
        uri = f"file://{quote(uri)}"
    place, _, options = uri.partition("?")
    kept = [
        option for option in options.split("&") if option and not option.startswith("capacity=")
    ]
    return f"{prefix}{place}?{'&'.join([f'capacity={capacity_bytes}', *kept])}"


def _positive(
    options: dict[str, str], name: str, *, low: int = 1, high: int = _LONG_MAX
) -> int | None:
    text = options.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or int(text) == 0 or len(text) > 18:
        raise ValueError(f"has {name}={text}, which is not a whole number above 0 (no unit)")
    if not low <= int(text) <= high:
        limit = f"less than {low}" if int(text) < low else f"more than {high}"
        raise ValueError(f"has {name}={text}, {limit}")
    return int(text)


def redacted(text: str) -> str:
    """Hide the values of options that carry credentials, for messages and DescribeConfigs."""
    return _SECRET_VALUE.sub(r"\1=***", text)
