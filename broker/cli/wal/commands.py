"""`headrace wal`: looks at, checks and prepares write-ahead logs."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "info": LazyCommand("headrace.broker.cli.wal.info", "info", "Owner, size and state."),
    "dump": LazyCommand(
        "headrace.broker.cli.wal.dump", "dump", "Blocks and records, or every page."
    ),
    "verify": LazyCommand("headrace.broker.cli.wal.verify", "verify", "Scan it as recovery does."),
    "format": LazyCommand(
        "headrace.broker.cli.wal.format", "format_", "Erase it, and fill it with zeros."
    ),
    "bench": LazyCommand(
        "headrace.broker.cli.wal.bench", "bench", "Measure a file or device; overwrites it."
    ),
    "resize": LazyCommand(
        "headrace.broker.cli.wal.resize", "resize", "Change the capacity in a running node."
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def wal() -> None:
    """Write-ahead logs.

    PATH is a file, a block device, or a bucket as in s3.wal.path; -c takes it from the
    configuration of a node. `info`, `dump` and `verify` only read: they take no lock, fence no
    broker, and do not disturb a broker that writes to the log.
    """
