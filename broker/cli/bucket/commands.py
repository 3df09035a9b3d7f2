"""`headrace bucket`: looks into a bucket, without a broker; and one command to a broker about it."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "verify": LazyCommand(
        "headrace.broker.cli.bucket.verify",
        "verify",
        "Try every operation; say which right is missing.",
    ),
    "ls": LazyCommand("headrace.broker.cli.bucket.ls", "ls", "Clusters, objects and sizes."),
    "fsck": LazyCommand(
        "headrace.broker.cli.bucket.fsck",
        "fsck",
        "Compare the bucket with what the metadata knows.",
    ),
    "gc": LazyCommand(
        "headrace.broker.cli.bucket.gc", "gc", "Remove objects that no metadata knows."
    ),
    "compact": LazyCommand(
        "headrace.broker.cli.bucket.compact",
        "compact",
        "Have a running node merge its objects now.",
    ),
    "cost": LazyCommand("headrace.broker.cli.bucket.cost", "cost", "What it costs, by the month."),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def bucket() -> None:
    """Look into a bucket, without a broker.

    URL is written as in s3.data.buckets: s3://name?region=...&endpoint=..., or file:///directory.
    Credentials come from the AWS_* variables, profiles and roles, or from accessKey= and secretKey=
    in the URL. Nothing is changed, but for the keys of `verify` itself and by `gc --yes`. `compact`
    asks a running node instead.
    """
