"""`headrace bucket`: looks into a bucket, without a broker; and one command to a broker about it."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "verify": LazyCommand(
        "headrace.broker.cli.bucket.verify",
        "verify",
        "Try every operation; show which permission is missing.",
    ),
    "ls": LazyCommand("headrace.broker.cli.bucket.ls", "ls", "Clusters, objects and sizes."),
    "fsck": LazyCommand(
        "headrace.broker.cli.bucket.fsck",
        "fsck",
        "Compare the bucket with the metadata.",
    ),
    "gc": LazyCommand(
        "headrace.broker.cli.bucket.gc", "gc", "Remove objects that no metadata refers to."
    ),
    "compact": LazyCommand(
        "headrace.broker.cli.bucket.compact",
        "compact",
        "Make a running node merge its objects now.",
    ),
    "cost": LazyCommand("headrace.broker.cli.bucket.cost", "cost", "What it costs per month."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def bucket() -> None:
    """Inspect a bucket, without a broker.

    URL has the form of s3.data.buckets: s3://name?region=...&endpoint=..., or file:///directory.
    Credentials come from the AWS_* variables, profiles and roles, or from accessKey= and secretKey=
    in the URL. Only `verify`, with keys of its own, and `gc --yes` change anything. `compact` sends
    a request to a running node instead.
    """
