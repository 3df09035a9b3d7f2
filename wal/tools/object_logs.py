"""Inspects logs in a bucket: only lists and reads, and fences no writer.

Recovery creates fences. Here it runs on a bucket that keeps new objects in memory, so that it reports
what a new owner would find, and the current owner continues undisturbed.
"""

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from headrace.config.node import WalConfig
from headrace.wal.objects.errors import WalFencedError, WalObjectCorruptError
from headrace.wal.objects.layout import (
    HEADER_BYTES,
    LogKeys,
    ObjectHeader,
    decode_header,
    read_records,
)
from headrace.wal.objects.log import ObjectWal
from headrace.wal.objects.port import LogBucket, Part
from headrace.wal.objects.walk import Claims, WalkSummary, newest_numbers
from headrace.wal.port import RecoveredRecord

MAX_ATTEMPTS = 8
_MAX_EPOCH = 2**62  # newer than any registration, as that of a new owner


class DryBucket:
    """A `LogBucket` that reads from another one, and keeps new objects in memory."""

    def __init__(self, bucket: LogBucket) -> None:
        self._bucket = bucket
        self._created: dict[str, bytes] = {}

    async def create(self, key: str, parts: Sequence[Part]) -> bool:
        """See `headrace.wal.objects.port.Bucket`; the key may be created there later without being noticed."""
        if key in self._created or await self._bucket.read(key, 0, 1) is not None:
            return False
        self._created[key] = b"".join(parts)
        return True

    async def read(self, key: str, start: int, end: int) -> memoryview | None:
        """See `headrace.wal.objects.port.Bucket`."""
        created = self._created.get(key)
        if created is None:
            return await self._bucket.read(key, start, end)
        return memoryview(created[start:end] if end <= len(created) else b"")

    async def list(self, folder: str) -> Sequence[tuple[str, int]]:
        """See `headrace.wal.objects.port.Bucket`."""
        own = {
            key: len(content)
            for key, content in self._created.items()
            if key.startswith(f"{folder}/")
        }
        return list((dict(await self._bucket.list(folder)) | own).items())

    async def delete(self, keys: Sequence[str]) -> None:
        """Delete nothing."""


@dataclass(frozen=True, slots=True)
class LogSeen:
    """What the names and the newest headers of a log show."""

    keys: LogKeys
    sizes: dict[int, int]  # bytes by number
    newest: ObjectHeader | None  # None: no header among the newest is valid
    claims: Claims


@dataclass(frozen=True, slots=True)
class ObjectSeen:
    """An object, and its records if it is intact."""

    number: int
    key: str
    header: ObjectHeader | None  # None: not a valid one
    records: tuple[RecoveredRecord, ...] | None  # None: damaged


class Soundness(Enum):
    """The result of a verification."""

    SOUND = "sound"
    DAMAGED = "damaged"
    IN_USE = "in use"


@dataclass(frozen=True, slots=True)
class Verification:
    """What recovery would find."""

    soundness: Soundness
    attempts: int
    summary: WalkSummary = field(default_factory=WalkSummary)
    body_bytes: int = 0
    error: WalObjectCorruptError | None = None


async def find_logs(bucket: LogBucket) -> list[LogKeys]:
    """Return the logs of all nodes of all clusters.

    Raises:
        BucketError: it does not answer.
    """
    found = set()
    for key, _ in await bucket.list("wal"):
        parts = key.split("/")
        if len(parts) == 4 and parts[2].isascii() and parts[2].isdigit():
            found.add((parts[1], int(parts[2])))
    return [LogKeys(*owner) for owner in sorted(found)]


async def inspect_log(bucket: LogBucket, keys: LogKeys) -> LogSeen:
    """Read the headers of the newest objects.

    Raises:
        BucketError: it does not answer.
        WalVersionError: a format of another version.
    """
    sizes = {
        number: size
        for key, size in await bucket.list(keys.folder)
        if (number := keys.number(key)) is not None
    }
    claims = Claims()
    for number in newest_numbers(sizes):
        content = await bucket.read(keys.key(number), 0, HEADER_BYTES)
        header = None if content is None else decode_header(content)
        if header is not None:
            claims.absorb(header)
    return LogSeen(keys, sizes, claims.newest, claims)


async def read_objects(
    bucket: LogBucket, seen: LogSeen, *, first: int
) -> AsyncIterator[ObjectSeen]:
    """Yield the objects from a number on, in order; those that were deleted meanwhile are left out.

    Raises:
        BucketError: it does not answer.
        WalVersionError: a format of another version.
    """
    for number in sorted(number for number in seen.sizes if number >= first):
        key = seen.keys.key(number)
        content = await bucket.read(key, 0, seen.sizes[number])
        if content is None:
            continue
        header = decode_header(content)
        records = None if header is None else read_records(content, header)
        yield ObjectSeen(number, key, header, None if records is None else tuple(records))


async def verify_log(
    bucket: LogBucket, keys: LogKeys, *, rng: random.Random, max_attempts: int = MAX_ATTEMPTS
) -> Verification:
    """Recover without changing anything.

    Damage counts when a second attempt finds it at the same number: an active owner releases objects,
    and confirms what was to be fenced, meanwhile.

    Raises:
        WalDeviceError: the bucket does not answer.
    """
    damaged = -1
    attempt = 1
    while True:
        found = await _dry_run(bucket, keys, rng, attempt)
        if found.soundness is Soundness.SOUND:
            return found
        if found.error is not None:
            if found.error.number == damaged:
                return found
            damaged = found.error.number
        if attempt == max_attempts:
            return Verification(Soundness.IN_USE, attempt)
        attempt += 1


def _ignore(_: object) -> None:
    """Ignore a callback that a log which only recovers never calls."""


async def _dry_run(
    bucket: LogBucket, keys: LogKeys, rng: random.Random, attempt: int
) -> Verification:
    log = ObjectWal(
        WalConfig(path=keys.folder),
        DryBucket(bucket),
        node_id=keys.node_id,
        node_epoch=_MAX_EPOCH,
        cluster_id=keys.cluster_id,
        rng=rng,
        on_confirmed=_ignore,
        on_failed=_ignore,
    )
    body_bytes = 0
    summary = WalkSummary()
    try:
        await log.start()
        async for record in log.recover():
            body_bytes += len(record.body)
            summary = log.recovery_summary
        return Verification(Soundness.SOUND, attempt, log.recovery_summary, body_bytes)
    except WalFencedError:
        return Verification(Soundness.IN_USE, attempt)
    except WalObjectCorruptError as error:
        return Verification(Soundness.DAMAGED, attempt, summary, body_bytes, error)
    finally:
        await log.shutdown()
