"""`headrace pipeline`: each command starts a process, for the broker's program has neither Spark nor Iceberg in it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_rows, talk

_PROGRAM = ("-m", "headrace.pipeline.tables")
_FILE = click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.group()
def pipeline() -> None:
    """Topics to Iceberg tables, exactly once, by Spark (docs/tables.md)."""


@pipeline.command(context_settings={"ignore_unknown_options": True})
@_FILE
@click.option("--master", metavar="URL", help="Spark's master, such as local[4] or yarn.")
@click.option(
    "--jars", metavar="JARS", help="Jars or a directory of them, instead of what Spark downloads."
)
@click.argument("submit", nargs=-1, type=click.UNPROCESSED)
def run(*, file: Path, master: str | None, jars: str | None, submit: tuple[str, ...]) -> None:
    """Run a pipeline by spark-submit, until it ends or is stopped.

    Arguments behind `--` are spark-submit's: `headrace pipeline run shop.toml -- --conf spark.executor.memory=4g`.
    """
    command = [sys.executable, *_PROGRAM, "run", str(file)]
    command += ["--master", master] if master else []
    command += ["--jars", jars] if jars else []
    arguments = [*command, "--", *submit] if submit else command
    os.execv(sys.executable, arguments)  # noqa: S606 - no shell, and signals go to Spark


@pipeline.command()
@_FILE
@output_option
def check(*, file: Path, output: str) -> None:
    """Check a configuration with its schemas and its catalog; nothing is changed.

    Shows each table. All problems are listed at once.
    """
    emit_rows(_told("check", file), output=output)
    talk("The configuration is valid.")


@pipeline.command()
@_FILE
@output_option
def status(*, file: Path, output: str) -> None:
    """Show how far tables are, for each partition of their topics: offsets, lag, dead letters, last commit."""
    emit_rows(_told("status", file), output=output)


@pipeline.command()
@_FILE
@click.option(
    "--topic", metavar="TOPIC", help="Begin this topic again, which was deleted and created again."
)
@click.option("--yes", is_flag=True, help="Change the tables; without it, nothing is changed.")
@output_option
def mend(*, file: Path, topic: str | None, yes: bool, output: str) -> None:
    """Mend tables that are stopped: show what there is to do, and do it with `--yes`.

    Columns that no data file can have are dropped. With `--topic`, the records of a new topic of an earlier one's name
    are added to the table, from the first one.
    """
    arguments = [*(["--topic", topic] if topic else []), *(["--yes"] if yes else [])]
    emit_rows(_told("mend", file, *arguments), output=output)


def _told(command: str, file: Path, *arguments: str) -> list[dict[str, object]]:
    """Run a command of the pipeline, and return its rows.

    Raises:
        CommandFailedError: it failed; what it said is on standard error.
    """
    done = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, *_PROGRAM, command, str(file), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        emit_rows(rows, output="table")
        raise CommandFailedError(
            f"`headrace pipeline {command}` failed, as said above", exit_code=done.returncode
        )
    return rows
