"""`headrace spark`: what Spark needs for a cluster, and jobs that run on it."""

import click

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

_COMMANDS = {
    "session": LazyCommand(
        "headrace.broker.cli.spark.session", "session", "Print the settings of a Spark session."
    ),
}


@click.group(cls=LazyGroup, table=_COMMANDS)
def spark() -> None:
    """Settings for Spark, and jobs that run on it.

    Spark is that of SPARK_HOME, or the pyspark that is installed beside this program.
    """
