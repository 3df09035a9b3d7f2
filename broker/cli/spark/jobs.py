"""`headrace spark fsck | export | backfill`: jobs of the pipeline, run by spark-submit in processes of their own.

The jobs say what they do by events, lines of JSON after the control character RS (`pipeline/jobs/told.py`): results go
to standard output, progress and talk to standard error, and so does all else that Spark and libraries print.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

from headrace.broker.cli.options import output_option
from headrace.broker.cli.output import emit_object, talk
from headrace.broker.cli.progress import Advance, bars

MARK: Final = "\x1e"
JOBS: Final = Path(__file__).resolve().parents[3] / "pipeline" / "jobs"
END_S: Final = 10.0  # that a job which was interrupted may take; then it is killed
LOOPBACK: Final = "127.0.0.1"
_PASSED_ON = {"ignore_unknown_options": True}
_QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "WARN"}


class JobCommand(click.Command):
    """A command whose help ends with that of its job."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Add the options that are the job's own."""
        super().format_help(ctx, formatter)
        command = [sys.executable, str(JOBS / f"{self.name}.py"), "--help"]
        told = subprocess.run(  # noqa: S603 - a file of ours
            command, capture_output=True, text=True, check=False
        )
        formatter.write(f"\n{told.stdout or told.stderr}")


def job_command(
    name: str, summary: str, settings: Mapping[str, str] | None = None
) -> click.Command:
    """Make the command of a job.

    Args:
        name: of its file in `pipeline/jobs/`.
        summary: first line of its help.
        settings: of Spark that it needs, unless the user gives others.
    """

    @click.command(name, cls=JobCommand, help=summary, context_settings=_PASSED_ON)
    @click.option("--master", help="Of Spark, such as local[4] or spark://HOST:7077.")
    @click.option(
        "--submit",
        multiple=True,
        metavar="TEXT",
        help="More arguments of spark-submit, such as '--conf spark.executor.memory=2g'. Repeat for more.",
    )
    @output_option
    @click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="URL [JOB OPTIONS]...")
    def run(
        *, master: str | None, submit: tuple[str, ...], output: str, words: tuple[str, ...]
    ) -> int:
        from headrace.broker.cli.spark.installation import find_spark

        options = [word for it in submit for word in shlex.split(it)]
        spark = find_spark()
        command = [str(spark.submit)]
        command += ["--master", master] if master else []
        for key, value in {**_QUIET, **(settings or {})}.items():
            command += ["--conf", f"{key}={value}"]
        job = [str(JOBS / f"{name}.py"), "--events", *words]
        job += [] if output == "table" else ["--json"]
        return _relay(
            [*command, *options, *job], _environment(os.environ, spark.home, master), output
        )

    return run


def _environment(given: Mapping[str, str], home: Path, master: str | None) -> dict[str, str]:
    """Environment of a job: this Python, and loopback for a Spark on this machine, unless it is set already."""
    found = {"PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_HOME": str(home), **given}
    if master is None or master.startswith("local"):
        found.setdefault("PYSPARK_PYTHON", sys.executable)
        found.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    return found


def _relay(command: Sequence[str], environment: Mapping[str, str], output: str) -> int:
    """Run a job to its end; returns its exit code."""
    with subprocess.Popen(  # noqa: S603 - what the user wants to run
        command, stdout=subprocess.PIPE, text=True, errors="replace", env=environment
    ) as process:
        assert process.stdout is not None
        try:
            with bars() as advance:
                for line in process.stdout:
                    _tell(line, advance, output)
            return process.wait()
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """See to it that a job does not go on without this command."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _tell(line: str, advance: Advance, output: str) -> None:
    before, mark, text = line.partition(MARK)
    event: dict[str, Any] = {}
    if mark:
        with suppress(ValueError):
            event = json.loads(text)
    if not event:
        talk(line.rstrip("\n"))
        return
    if before.strip():
        talk(before)
    if "document" in event:
        emit_object(event["document"], output=output)
    elif "result" in event:
        click.echo(event["result"])
    elif "talk" in event:
        talk(event["talk"])
    elif "progress" in event:
        advance(event["progress"], event["done"], event["total"])


fsck = job_command(
    "fsck",
    "Check every object beside the metadata, by many tasks: `headrace bucket fsck --blocks` for large buckets.",
)
export = job_command("export", "Export topics from the bucket to Parquet, each record once.")
backfill = job_command(
    "backfill",
    "Copy records of topics from the bucket into a topic or a table.",
    # A task that runs again sends its records again: a run that failed is to be started again instead.
    {"spark.task.maxFailures": "1", "spark.speculation": "false"},
)
