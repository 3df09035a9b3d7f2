"""`headrace stream`: what is known of streams, from metadata or from a bucket alone."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "describe": LazyCommand(
        "headrace.broker.cli.bucket.stream_describe",
        "describe",
        "Offsets, objects, gaps and overlaps.",
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def stream() -> None:
    """Show streams, without a broker.

    A partition is two streams: its data, and a small one with checkpoints of its state.
    """
