"""Checks objects of a bucket in a task, by the code of `headrace bucket fsck`."""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from headrace.pipeline.source.bucket import Bucket, open_bucket
from headrace.pipeline.source.errors import CutOffError, ObjectGoneError
from headrace.storage.audit.comparison import Finding, KnownObject
from headrace.storage.audit.judgement import judge_object
from headrace.storage.audit.object_check import check_object
from headrace.storage.errors import CorruptObjectError, ObjectNotFoundError

TASK_BYTES: Final = 128 * 1024 * 1024
TASK_OBJECTS: Final = 1_000

Candidate = tuple[str, KnownObject]


class CheckTask(NamedTuple):
    """Objects that one task reads."""

    bucket: str
    blocks: bool
    objects: tuple[Candidate, ...]


class Checked(NamedTuple):
    """What a task found."""

    findings: list[Finding]
    gone: list[str]  # keys of objects that are not there (any more)
    blocks: int
    read_bytes: int


class CheckedBucket:
    """See `headrace.storage.audit.object_check.RangeReader`; it waits for nothing."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    async def get_range(self, key: str, start: int, end: int) -> memoryview:
        """Read `[start, end)`."""
        try:
            return self._bucket.read(key, start, end)
        except ObjectGoneError as error:
            raise ObjectNotFoundError(key) from error
        except CutOffError as error:
            raise CorruptObjectError(
                f"{key}: [{start}, {end}) gave {error.found_bytes} bytes: the object is too short"
            ) from error


def check_tasks(
    bucket: str, chosen: Iterable[Candidate], *, blocks: bool
) -> Iterator[tuple[CheckTask, int]]:
    """Divide objects into tasks, each with about the bytes that it reads; an object is read by one task."""
    some: list[Candidate] = []
    size_bytes = 0
    for it in chosen:
        if some and (size_bytes + it[1].size_bytes > TASK_BYTES or len(some) == TASK_OBJECTS):
            yield CheckTask(bucket, blocks, tuple(some)), size_bytes
            some, size_bytes = [], 0
        some.append(it)
        size_bytes += it[1].size_bytes
    if some:
        yield CheckTask(bucket, blocks, tuple(some)), size_bytes


def check(task: CheckTask) -> Checked:
    """Run a task.

    Raises:
        SourceError: the bucket cannot be read.
    """
    reader = CheckedBucket(open_bucket(task.bucket))
    found = Checked([], [], 0, 0)
    findings, gone, blocks, read_bytes = found
    for key, known in task.objects:
        try:
            report = asyncio.run(check_object(reader, key, known.size_bytes, blocks=task.blocks))
        except ObjectNotFoundError:
            gone.append(key)
            continue
        blocks += report.blocks
        read_bytes += report.size_bytes if task.blocks else 0
        if (finding := judge_object(known, report)) is not None:
            findings.append(finding)
    return Checked(findings, gone, blocks, read_bytes)
