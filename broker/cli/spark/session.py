"""`headrace spark session`: the settings with which spark-submit and pyspark read and write topics."""

from collections.abc import Mapping

import click

from headrace.broker.cli.options import form_option
from headrace.broker.cli.output import emit_object

CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10"


@click.command()
@click.option("--spark-version", metavar="VERSION", help="Of Spark, if it is not installed here.")
@form_option(
    type=click.Choice(["conf", "properties", "json"]),
    default="conf",
    help="Arguments of spark-submit and pyspark, lines of a --properties-file, or JSON.",
)
def session(*, spark_version: str | None, output: str) -> None:
    """Print the settings of a Spark session."""
    from headrace.broker.cli.spark.installation import find_spark

    version, scala = spark_version, "2.13"
    if version is None:
        found = find_spark()
        version, scala = found.version, found.scala
    emit_settings({"spark.jars.packages": f"{CONNECTOR}_{scala}:{version}"}, output=output)


def emit_settings(settings: Mapping[str, str], *, output: str) -> None:
    """Print settings of Spark in one of the forms."""
    if output == "json":
        emit_object(settings, output=output)
        return
    for name, value in settings.items():
        click.echo(f"--conf {name}={value}" if output == "conf" else f"{name} {value}")
