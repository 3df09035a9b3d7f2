"""`headrace spark session`: the settings with which spark-submit and pyspark read and write topics."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import bootstrap_option, form_option
from headrace.broker.cli.output import emit_object, talk

CONNECTOR = "spark-sql-kafka-0-10"
_SCALA = "2.13"  # what Spark 4 is built for
_VERSION = re.compile(r"\d+\.\d+\.\d+\S*")


class _Spark(NamedTuple):
    """What of an installation decides which connector fits."""

    version: str
    scala: str

    @property
    def connector(self) -> str:
        """The connector's artifact."""
        return f"{CONNECTOR}_{self.scala}"


@click.command()
@bootstrap_option
@click.option(
    "--jars",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory with the connector and what it requires; without it Spark fetches them from Maven.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="Python of driver and executors, the same on every machine.  [default: this one, if it has pyspark]",
)
@click.option("--spark-version", metavar="VERSION", help="Of a Spark that is not on this machine.")
@form_option(
    type=click.Choice(["conf", "properties", "json"]),
    default="conf",
    help="Arguments of spark-submit and pyspark, lines of a --properties-file, or JSON.",
)
def session(
    *,
    bootstrap: str,
    jars: Path | None,
    python: str | None,
    spark_version: str | None,
    output: str,
) -> None:
    """Print the settings of a Spark session that reads and writes topics.

    They go to standard output, for spark-submit and for pyspark alike:

        spark-submit $(headrace spark session) job.py

    What a session cannot set is said on standard error: options of the reader.
    """
    from headrace.config.spark_reader import reader_options

    spark = _given(spark_version) if spark_version else _installed()
    settings = _connector(spark, jars)
    python = python or _own_python()
    if python:
        settings["spark.pyspark.python"] = python
    options = reader_options(bootstrap)
    if output == "json":
        emit_object({"conf": settings, "reader_options": options}, output=output)
        return
    for name, value in settings.items():
        click.echo(
            f"--conf {shlex.quote(f'{name}={value}')}" if output == "conf" else f"{name} {value}"
        )
    if not python:
        talk("Executors take the first python3 of their PATH; --python names another one.")
    talk("Options of the reader, which no --conf sets:")
    for name, value in options.items():
        talk(f'  .option("{name}", "{value}")')


def _installed() -> _Spark:
    from headrace.broker.cli.spark.installation import find_spark

    found = find_spark()
    return _Spark(found.version, found.scala)


def _given(version: str) -> _Spark:
    if not _VERSION.fullmatch(version):
        raise click.BadParameter(
            f"{version!r} is not a version, such as 4.0.0.", param_hint="--spark-version"
        )
    return _Spark(version, _SCALA)


def _connector(spark: _Spark, jars: Path | None) -> dict[str, str]:
    """Say where Spark gets the connector.

    Raises:
        CommandFailedError: the directory has no connector, or that of another Spark.
    """
    if jars is None:
        return {"spark.jars.packages": f"org.apache.spark:{spark.connector}:{spark.version}"}
    found = sorted(it.name for it in jars.glob(f"{CONNECTOR}*.jar"))
    wanted = f"{spark.connector}-{spark.version}.jar"
    if wanted not in found:
        has = ", ".join(found) or f"no {CONNECTOR}"
        raise CommandFailedError(
            f"{jars} has {has}; Spark {spark.version} needs {wanted}",
            hint="Leave out --jars, and Spark fetches it from Maven with what it requires.",
        )
    return {"spark.jars": ",".join(str(it.resolve()) for it in sorted(jars.glob("*.jar")))}


def _own_python() -> str | None:
    """Return the Python that runs this, if Spark's workers can run in it."""
    import importlib.util
    import sys

    return sys.executable if importlib.util.find_spec("pyspark") else None
