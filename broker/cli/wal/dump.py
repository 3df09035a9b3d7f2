"""`headrace wal dump`: what lies in the ring."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headrace.broker.cli.failures import CommandFailedError
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
@click.option("--from", "start", type=click.IntRange(0), metavar="OFFSET", help="Begin here.")
@click.option("-n", "--limit", type=click.IntRange(1), help="Stop after so many lines.")
@click.option(
    "--bodies",
    type=click.Choice(["none", "hex"]),
    default="none",
    show_default=True,
    help="What to show of the records' bodies.",
)
@click.option("--raw", is_flag=True, help="Every page of the ring, whatever it is.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object per line instead.")
def dump(
    path: str | None,
    file: Path | None,
    start: int | None,
    limit: int | None,
    bodies: str,
    raw: bool,
    as_json: bool,
) -> None:
    """Show the blocks and records that recovery sees, and what lies between them.

    Damage is shown, and the rest behind it. Offsets are logical, positions are bytes of the device.
    Released records lie below the trim offset and are in the bucket.
    """
    from headrace.broker.cli.wal.report import report_line  # noqa: PLC0415 - not for help
    from headrace.wal.content import Kind  # noqa: PLC0415 - not for help
    from headrace.wal.superblock_store import require_log, require_whole  # noqa: PLC0415 - not for help
    from headrace.wal.tools.inspection import OfflineDevice  # noqa: PLC0415 - not for help

    path = wal_path(path, file)
    if is_bucket(path):
        from headrace.broker.cli.wal.object_logs import show_dump  # noqa: PLC0415 - not for help

        wants_bodies = bodies == "hex"
        show_dump(path, start=start, limit=limit, bodies=wants_bodies, raw=raw, as_json=as_json)
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
                click.echo(json.dumps(report) if as_json else report_line(report))
                shown += 1
                if shown == limit:
                    return
        except OSError:
            require_whole(superblock, size_bytes, path)  # else a device that has failed
            raise
        require_whole(superblock, size_bytes, path)
        if not shown and not raw:
            talk("nothing is to be recovered; --raw shows what lies in the ring")


def _reports(
    device: "OfflineDevice", superblock: "Superblock", start: int | None, *, raw: bool, bodies: bool
) -> "Iterator[Report]":
    from headrace.broker.cli.wal.report import block_report, pages_report, record_report  # noqa: PLC0415
    from headrace.wal.layout import ShutdownType  # noqa: PLC0415 - not for help
    from headrace.wal.tools.ring_walk import PagesSeen, RingWalk  # noqa: PLC0415 - not for help

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
