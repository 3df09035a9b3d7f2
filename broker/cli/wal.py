"""`headrace wal`: looks at, checks and prepares write-ahead logs."""

import click

from broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "info": LazyCommand("broker.cli.wal_info", "info", "Whose it is, its size and state."),
    "dump": LazyCommand("broker.cli.wal_dump", "dump", "Blocks and records, or every page."),
    "verify": LazyCommand("broker.cli.wal_verify", "verify", "Scan it as recovery does."),
    "format": LazyCommand("broker.cli.wal_format", "format_", "Erase it, and fill it with zeros."),
    "bench": LazyCommand("broker.cli.wal_bench", "bench", "Measure one, beside fio; overwrites."),
    "resize": LazyCommand(
        "broker.cli.wal_resize", "resize", "Give that of a running node another capacity."
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def wal() -> None:
    """Write-ahead logs.

    PATH is a file, a block device, or a bucket as in s3.wal.path; -c takes it from the configuration
    of a node. `info`, `dump` and `verify` only read: they take no lock, fence nobody, and disturb no
    broker that writes to the log meanwhile.
    """
