"""Requests as S3 charges for them: by operation, class and size, per GiB. Pure.

A request is charged by its class, not by its size: each part of a multipart upload, its creation
and its completion are PUT-class, as are copies and lists; GET and HEAD are GET-class;
deletions and aborts are free (https://aws.amazon.com/s3/pricing/).
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote, urlsplit

from headrace.storage.audit.cost import FREE_OPERATIONS, GET_OPERATIONS, Prices, request_price

GIB = 1 << 30
MIB = 1 << 20
# AutoMQ's kafka-provider-comparison: 31.25 PUT and 12.5 GET per GB, for all of its requests.
PUBLISHED_PUT_PER_GB = 31
PUBLISHED_GET_PER_GB = 12


@dataclass(frozen=True)
class Request:
    """One request as the server received it."""

    operation: str
    size_bytes: int  # of its body, or of the range that it reads or copies; 0: none


def parse_request(method: str, target: str, headers: Mapping[str, str]) -> Request:
    """Classify a request of a path-style client.

    Args:
        method: the HTTP method.
        target: path and query.
        headers: names in lower case.

    Raises:
        ValueError: it is not an S3 request of this project.
    """
    split = urlsplit(target)
    query = parse_qs(split.query, keep_blank_values=True)
    _, _, key = unquote(split.path).lstrip("/").partition("/")
    body_bytes = int(headers.get("content-length", 0))
    operation = _operation(method, key, query, headers)
    if operation == "get":
        return Request(operation, _range_bytes(headers.get("range", "")))
    if operation == "copy part":
        return Request(operation, _range_bytes(headers.get("x-amz-copy-source-range", "")))
    return Request(operation, body_bytes if operation in ("put", "upload part") else 0)


def _operation(
    method: str, key: str, query: Mapping[str, object], headers: Mapping[str, str]
) -> str:
    copies = "x-amz-copy-source" in headers
    match method:
        case "PUT" if not key:
            return "create bucket"
        case "PUT" if "partNumber" in query:
            return "copy part" if copies else "upload part"
        case "PUT":
            return "copy" if copies else "put"
        case "POST" if "uploads" in query:
            return "create upload"
        case "POST" if "uploadId" in query:
            return "complete upload"
        case "POST" if "delete" in query:
            return "delete"
        case "GET":
            return "get" if key else "list"
        case "HEAD":
            return "head"
        case "DELETE":
            return "abort" if "uploadId" in query else "delete"
    raise ValueError(f"unknown S3 request: {method} {key} {sorted(query)}")


def _range_bytes(text: str) -> int:
    """Length of `bytes=a-b` or `bytes=-n`; 0 if there is none."""
    first, _, last = text.removeprefix("bytes=").partition("-")
    if not last:
        return 0
    return int(last) - int(first) + 1 if first else int(last)


def parse_log(lines: Iterable[str]) -> list[Request]:
    """Parse the log of `bench.s3_proxy`: a method, a target and headers in each line."""
    return [parse_request(*json.loads(line)) for line in lines]


@dataclass
class Tally:
    """Requests of one phase."""

    requests: dict[str, int] = field(default_factory=dict)  # by operation
    bytes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, requests: Iterable[Request]) -> "Tally":
        """Count."""
        count: Counter[str] = Counter()
        size_bytes: Counter[str] = Counter()
        for request in requests:
            count[request.operation] += 1
            size_bytes[request.operation] += request.size_bytes
        return cls(dict(count), dict(size_bytes))

    @property
    def puts(self) -> int:
        """PUT-class requests."""
        return sum(
            count
            for operation, count in self.requests.items()
            if operation not in FREE_OPERATIONS | GET_OPERATIONS
        )

    @property
    def gets(self) -> int:
        """GET-class requests."""
        return sum(self.requests.get(operation, 0) for operation in GET_OPERATIONS)

    def mean_bytes(self, *operations: str) -> float:
        """Mean size of the requests of some operations; 0 if there are none."""
        count = sum(self.requests.get(it, 0) for it in operations)
        return sum(self.bytes.get(it, 0) for it in operations) / count if count else 0.0

    def price(self, prices: Prices) -> float:
        """The price of these requests."""
        return sum(request_price(it, count, prices) for it, count in self.requests.items())

    @property
    def calls(self) -> dict[str, int]:
        """The number of object store calls that these requests are, by the name of the store's counter.

        An upload is one call with any number of parts; a copied object likewise. If the client
        retries requests, this number is above the client's own.
        """
        copies = self.requests.get("copy part", 0) > 0
        multipart = self.requests.get("create upload", 0)
        return {
            "put_requests": self.requests.get("put", 0) + (0 if copies else multipart),
            "copy_requests": multipart if copies else 0,
            "get_requests": self.requests.get("get", 0),
            "list_requests": self.requests.get("list", 0),
        }


@dataclass(frozen=True)
class Mark:
    """A limit for a figure, and whether it is met."""

    text: str
    value: float
    limit: float
    at_least: bool = False  # False: at most

    @property
    def is_met(self) -> bool:
        """Whether the figure is within the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "at least" if self.at_least else "at most"
        verdict = "met" if self.is_met else "NOT MET"
        return f"{verdict}: {self.text}: {self.value:.2f} ({sign} {self.limit:g})"

    def as_json(self) -> dict[str, object]:
        """The JSON form."""
        return {
            "text": self.text,
            "value": self.value,
            "limit": self.limit,
            "at_least": self.at_least,
            "met": self.is_met,
        }


def request_marks(
    streams: int, upload: Tally, compaction: Tally, ingested_bytes: int
) -> list[Mark]:
    """The marks of one row: half of the published figures at one stream, otherwise all of them for uploads."""
    gib = ingested_bytes / GIB
    if streams == 1:
        what = "1 stream, upload and Stream Object compaction"
        puts, gets = upload.puts + compaction.puts, upload.gets + compaction.gets
        share = 0.5
    else:
        what = f"{streams:,} streams, upload"
        puts, gets = upload.puts, upload.gets
        share = 1.0
    return [
        Mark(f"{what}, PUT/GiB", puts / gib, PUBLISHED_PUT_PER_GB * share),
        Mark(f"{what}, GET/GiB", gets / gib, PUBLISHED_GET_PER_GB * share),
    ]
