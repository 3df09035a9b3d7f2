"""`headrace spark`: what Spark needs for a cluster, and jobs that run on it."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "backfill": LazyCommand(
        "headrace.broker.cli.spark.jobs", "backfill", "Copy topics into a topic or a table."
    ),
    "export": LazyCommand(
        "headrace.broker.cli.spark.jobs", "export", "Export topics from the bucket to Parquet."
    ),
    "fsck": LazyCommand(
        "headrace.broker.cli.spark.jobs", "fsck", "Check every object beside the metadata."
    ),
    "session": LazyCommand(
        "headrace.broker.cli.spark.session", "session", "Print the settings of a Spark session."
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def spark() -> None:
    """Settings for Spark, and jobs that run on it.

    Spark is that of SPARK_HOME, or the pyspark that is installed beside this program.
    """
