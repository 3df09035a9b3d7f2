"""`headrace wal dump`: what lies in the ring."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import talk
from headrace.broker.cli.wal.log_argument import (
    EXIT_USAGE,
    explained,
    is_bucket,
    location_options,
    wal_path,
)

if TYPE_CHECKING:
    from headrace.broker.cli.wal.report import Report
    from headrace.wal.layout import Superblock
    from headrace.wal.tools.inspection import OfflineDevice


@click.command()
@location_options
@click.option(
    "--from", "start", type=click.IntRange(0), metavar="OFFSET", help="Start at this offset."
)
@click.option("-n", "--limit", type=click.IntRange(1), help="Stop after this many lines.")
@click.option(
    "--bodies",
    type=click.Choice(["none", "hex"]),
    default="none",
    show_default=True,
    help="What to show of the records' bodies.",
)
@click.option("--raw", is_flag=True, help="Every page of the ring, whatever it is.")
@output_option
def dump(
    path: str | None,
    file: Path | None,
    start: int | None,
    limit: int | None,
    bodies: str,
    raw: bool,
    output: str,
) -> None:
    """Show the blocks and records that recovery sees, and what is between them.

    Damage is shown, and so is everything after it. Offsets are logical, positions are bytes of the
    device. Released records are below the trim offset, and in the bucket. JSON is one object per
    line.
    """
    from headrace.broker.cli.wal.report import report_line
    from headrace.wal.ring.content import Kind
    from headrace.wal.ring.superblock_store import require_log, require_whole
    from headrace.wal.tools.inspection import OfflineDevice

    path = wal_path(path, file)
    if is_bucket(path):
        from headrace.broker.cli.wal.object_logs import show_dump

        wants_bodies = bodies == "hex"
        show_dump(path, start=start, limit=limit, bodies=wants_bodies, raw=raw, output=output)
        return
    with explained(path), OfflineDevice.open(path) as device:
        content = device.content()
        if content.kind is Kind.BLANK:
            talk(f"{path} is {Kind.BLANK.value}")
            return
        superblock = require_log(content, path)
        size_bytes = device.file.size_bytes
        shown = 0
        try:
            for report in _reports(device, superblock, start, raw=raw, bodies=bodies == "hex"):
                click.echo(report_line(report) if output == "table" else json.dumps(report))
                shown += 1
                if shown == limit:
                    return
        except OSError:
            require_whole(superblock, size_bytes, path)  # else a device that has failed
            raise
        require_whole(superblock, size_bytes, path)
        if not shown and not raw:
            talk("there is nothing to recover; --raw shows what is in the ring")


def _reports(
    device: "OfflineDevice", superblock: "Superblock", start: int | None, *, raw: bool, bodies: bool
) -> "Iterator[Report]":
    from headrace.broker.cli.wal.report import block_report, pages_report, record_report
    from headrace.wal.layout import ShutdownType
    from headrace.wal.tools.ring_walk import PagesSeen, RingWalk

    head = superblock.head_offset
    start = head if start is None else start
    if not head <= start < head + superblock.ring.size_bytes:
        raise CommandFailedError(
            f"offset {start} is not in this lap, which begins at {head} and has "
            f"{superblock.ring.size_bytes} bytes",
            exit_code=EXIT_USAGE,
        )
    if superblock.shutdown is ShutdownType.GRACEFUL and not raw:
        return
    for seen in device.walk(RingWalk(superblock, whole_lap=raw)):
        if seen.end <= start:
            continue
        if isinstance(seen, PagesSeen):
            yield pages_report(seen)
            continue
        yield block_report(seen)
        for record in seen.records:
            if record.offset >= start:
                yield record_report(record, bodies=bodies)
