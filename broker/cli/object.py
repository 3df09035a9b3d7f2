"""`headrace object`: shows and checks single objects of a bucket, without a broker."""

import click

from broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "dump": LazyCommand("broker.cli.object_dump", "dump", "Show footer, index, and records."),
    "verify": LazyCommand(
        "broker.cli.object_verify", "verify", "Check every checksum; name damage with its place."
    ),
}


@click.group("object", cls=LazyGroup, table=_COMMANDS)
def object_() -> None:
    """Show and check single objects of a bucket, without a broker.

    URL is written as for `headrace bucket`. An object is named by its key, or by its id. Objects
    are read in ranges, whatever their size, and never changed.
    """
