"""`headrace metadata`: shows metadata without a controller, and makes it anew from a bucket."""

import click

from broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "info": LazyCommand(
        "broker.cli.metadata_show", "info", "Term, vote, members, and how much there is."
    ),
    "dump": LazyCommand("broker.cli.metadata_show", "dump", "Every record, as JSON lines."),
    "rebuild": LazyCommand(
        "broker.cli.metadata_rebuild",
        "rebuild",
        "After the loss of every controller: make one anew.",
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def metadata() -> None:
    """Show metadata without a controller, and make it anew from a bucket.

    PATH is a metadata directory, or log.dirs, which has it, or the file of a snapshot. A node may
    have it open meanwhile: nothing is locked or changed.
    """
