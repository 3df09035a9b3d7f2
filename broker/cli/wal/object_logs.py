"""What `headrace wal info`, `verify` and `dump` say of logs in a bucket."""

import asyncio
import json
import os
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import click

from headrace.broker.adapters.wal_bucket import WAL_POLICY, WalBucket
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.output import emit_rows, talk
from headrace.broker.cli.wal.log_argument import EXIT_USAGE
from headrace.broker.cli.wal.report import Report, batch_report, report_line
from headrace.config.uris import redacted
from headrace.storage.errors import StorageError
from headrace.storage.object_store.factory import open_object_store
from headrace.wal.errors import WalError
from headrace.wal.objects.layout import HEADER_BYTES, LogKeys
from headrace.wal.objects.port import BucketError, LogBucket
from headrace.wal.tools.object_logs import (
    LogSeen,
    ObjectSeen,
    Soundness,
    Verification,
    find_logs,
    inspect_log,
    read_objects,
    verify_log,
)

_T = TypeVar("_T")

_EXIT_CODES = {Soundness.SOUND: 0, Soundness.DAMAGED: 1, Soundness.IN_USE: 3}
_INFO_COLUMNS = (
    *("cluster_id", "node_id", "node_epoch", "objects", "bytes"),
    *("released", "confirmed", "last_number"),
)
_VERIFY_COLUMNS = ("cluster_id", "node_id", "result", "objects", "records", "bytes", "attempts")


def show_info(uri: str, *, output: str) -> None:
    """Show the logs in a bucket.

    Raises:
        CommandFailedError: it does not answer, or has none.
    """

    async def look(bucket: LogBucket) -> list[Report]:
        return [log_report(await inspect_log(bucket, keys)) for keys in await _logs(bucket, uri)]

    emit_rows(_run(uri, look), output=output, columns=_INFO_COLUMNS)


def show_verification(uri: str, *, output: str) -> int:
    """Verify the logs in a bucket; return the exit code.

    Raises:
        CommandFailedError: it does not answer, or has none.
    """

    async def look(bucket: LogBucket) -> list[tuple[LogKeys, Verification]]:
        rng = random.SystemRandom()
        logs = await _logs(bucket, uri)
        return [(keys, await verify_log(bucket, keys, rng=rng)) for keys in logs]

    found = _run(uri, look, exit_code=EXIT_USAGE)
    rows = [verification_report(keys, verification) for keys, verification in found]
    emit_rows(rows, output=output, columns=_VERIFY_COLUMNS)
    for _, verification in found:
        if verification.error is not None:
            talk(f"error: {verification.error}")
    codes = {_EXIT_CODES[verification.soundness] for _, verification in found}
    return 1 if 1 in codes else max(codes)


def show_dump(
    uri: str, *, start: int | None, limit: int | None, bodies: bool, raw: bool, output: str
) -> None:
    """Show objects and records.

    Raises:
        CommandFailedError: the bucket does not answer, or has no log.
    """

    async def look(bucket: LogBucket) -> None:
        shown = 0
        for keys in await _logs(bucket, uri):
            seen = await inspect_log(bucket, keys)
            async for found in read_objects(bucket, seen, first=0 if raw else seen.claims.released):
                for report in object_reports(found, start=start or 0, bodies=bodies):
                    click.echo(_line(report) if output == "table" else json.dumps(report))
                    shown += 1
                    if shown == limit:
                        return

    _run(uri, look)


def log_report(seen: LogSeen) -> Report:
    """Describe one log."""
    header, claims = seen.newest, seen.claims
    return {
        "cluster_id": seen.keys.cluster_id,
        "node_id": seen.keys.node_id,
        "node_epoch": None if header is None else header.node_epoch,
        "generation_id": None if header is None else f"{header.generation_id:016x}",
        "objects": len(seen.sizes),
        "bytes": sum(seen.sizes.values()),
        "first_number": min(seen.sizes, default=None),
        "last_number": max(seen.sizes, default=None),
        "released": claims.released,
        "confirmed": claims.confirmed,
        "trim_offset": claims.trim_offset,
        "end_offset": claims.end_offset,
        "capacity_bytes": claims.capacity_bytes,
    }


def verification_report(keys: LogKeys, found: Verification) -> Report:
    """Describe what recovery would find of one log."""
    return {
        "cluster_id": keys.cluster_id,
        "node_id": keys.node_id,
        "result": found.soundness.value,
        "objects": found.summary.objects,
        "records": found.summary.records,
        "bytes": found.body_bytes,
        "void_objects": found.summary.void_objects,
        "damaged_number": None if found.error is None else found.error.number,
        "attempts": found.attempts,
    }


def object_reports(seen: ObjectSeen, *, start: int, bodies: bool) -> list[Report]:
    """Describe an object and its records at and after `start`."""
    header = seen.header
    if header is None:
        return [{"what": "object", "number": seen.number, "key": seen.key, "state": "damaged"}]
    if header.end_offset < start:
        return []
    reports: list[Report] = [
        {
            "what": "object",
            "number": seen.number,
            "key": seen.key,
            "state": "damaged" if seen.records is None else header.kind.name.lower(),
            "node_epoch": header.node_epoch,
            "generation_id": f"{header.generation_id:016x}",
            "offset": header.base_offset,
            "length": header.length,
            "records": header.records,
            "released": header.released,
            "confirmed": header.confirmed,
            "trim_offset": header.trim_offset,
        }
    ]
    for record in seen.records or ():
        if record.offset >= start:
            report: Report = {
                "what": "record",
                "offset": record.offset,
                "position": HEADER_BYTES + record.offset - header.base_offset,
                "length": len(record.body),
                "state": "intact",
            } | batch_report(record.body)
            reports.append(report | ({"body": record.body.hex()} if bodies else {}))
    return reports


def _line(report: Report) -> str:
    if report["what"] != "object":
        return report_line(report)
    line = f"object  {report['key']}  {report['state']}"
    if "offset" in report:
        line += (
            f"  offset {report['offset']}  {report['records']} records  epoch {report['node_epoch']}"
            f"  released {report['released']}  confirmed {report['confirmed']}"
        )
    return line


async def _logs(bucket: LogBucket, uri: str) -> list[LogKeys]:
    found = await find_logs(bucket)
    if not found:
        raise CommandFailedError(
            f"there is no WAL in {redacted(uri)}",
            hint="`headrace bucket ls` shows what is in it.",
            exit_code=EXIT_USAGE,
        )
    return found


def _run(uri: str, look: Callable[[LogBucket], Awaitable[_T]], *, exit_code: int = 1) -> _T:
    async def main() -> _T:
        async with _opened(uri) as bucket:
            return await look(bucket)

    with _explained(uri, exit_code):
        return asyncio.run(main())


@asynccontextmanager
async def _opened(uri: str) -> AsyncIterator[LogBucket]:
    store = open_object_store(
        uri, rng=random.SystemRandom(), environment=os.environ, policy=WAL_POLICY
    )
    try:
        yield WalBucket(store)
    finally:
        await store.close()


@contextmanager
def _explained(uri: str, exit_code: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise CommandFailedError(f"{redacted(uri)}: {error}", exit_code=EXIT_USAGE) from error
    except (BucketError, StorageError, WalError) as error:
        raise CommandFailedError(
            f"{redacted(uri)}: {error}",
            hint=f"`headrace bucket verify '{redacted(uri)}'` says whether it can be used.",
            exit_code=exit_code,
        ) from error
