"""`headrace metadata`: shows metadata without a controller, and makes it anew from a bucket."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "info": LazyCommand(
        "headrace.broker.cli.metadata.show", "info", "Term, vote, members and counts."
    ),
    "dump": LazyCommand(
        "headrace.broker.cli.metadata.show", "dump", "Every record, as JSON lines."
    ),
    "rebuild": LazyCommand(
        "headrace.broker.cli.metadata.rebuild",
        "rebuild",
        "After the loss of every controller: rebuild one.",
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def metadata() -> None:
    """Show metadata without a controller, or rebuild it from a bucket.

    PATH is a metadata directory, log.dirs of a node, or the file of a snapshot. A node may have it
    open: nothing is locked or changed.
    """
