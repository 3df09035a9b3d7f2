"""`headrace object`: shows and checks single objects of a bucket, without a broker."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "dump": LazyCommand(
        "headrace.broker.cli.bucket.object_dump", "dump", "Show footer, index, and records."
    ),
    "verify": LazyCommand(
        "headrace.broker.cli.bucket.object_verify",
        "verify",
        "Check every checksum; show where damage is.",
    ),
}


@click.group("object", cls=LazyGroup, table=_COMMANDS)
def object_() -> None:
    """Show and check single objects of a bucket, without a broker.

    URL has the form that `headrace bucket` takes. An object is named by its key, or by its id.
    Objects are read in ranges, whatever their size, and never changed.
    """
