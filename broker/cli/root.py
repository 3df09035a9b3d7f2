"""The command `headrace`: its groups of commands, and what every command does about failure.

Exit codes: 0 done, 1 failed, 2 wrong usage or configuration. Data goes to standard output, talk to
standard error. A reader that goes away (`headrace consume ... | head`) ends a command quietly, and
Ctrl-C ends it with the code of a command that was interrupted.
"""

import os
import sys
from collections.abc import Sequence

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.interrupts import Interrupts
from headrace.broker.cli.lazy import LazyCommand, LazyGroup

INTERRUPTED = 130  # 128 + SIGINT, as shells have it

_COMMANDS = {
    "dev": LazyCommand(
        "headrace.broker.cli.node.dev", "dev", "Run a broker on this machine, no set-up needed."
    ),
    "server": LazyCommand(
        "headrace.broker.cli.node.server", "server", "Run a node from a properties file."
    ),
    "topic": LazyCommand(
        "headrace.broker.cli.client.topic", "topic", "Create, list, describe, alter and delete."
    ),
    "partition": LazyCommand(
        "headrace.broker.cli.client.partition", "partition", "Move partitions between brokers."
    ),
    "produce": LazyCommand(
        "headrace.broker.cli.client.produce", "produce", "Send lines as records to a topic."
    ),
    "consume": LazyCommand(
        "headrace.broker.cli.client.consume", "consume", "Print the records of a topic."
    ),
    "group": LazyCommand(
        "headrace.broker.cli.client.group", "group", "Consumer groups and their offsets."
    ),
    "cluster": LazyCommand(
        "headrace.broker.cli.client.cluster", "cluster", "Nodes and settings of a cluster."
    ),
    "bucket": LazyCommand(
        "headrace.broker.cli.bucket.commands", "bucket", "Inspect a bucket, without a broker."
    ),
    "object": LazyCommand(
        "headrace.broker.cli.bucket.object_commands", "object_", "Show and check single objects."
    ),
    "stream": LazyCommand(
        "headrace.broker.cli.bucket.stream_commands", "stream", "Show streams: offsets and objects."
    ),
    "metadata": LazyCommand(
        "headrace.broker.cli.metadata.commands",
        "metadata",
        "Show metadata, or rebuild it from a bucket.",
    ),
    "wal": LazyCommand(
        "headrace.broker.cli.wal.commands", "wal", "Show, check and prepare write-ahead logs."
    ),
    "spark": LazyCommand(
        "headrace.broker.cli.spark.commands", "spark", "Settings for Spark, and jobs on it."
    ),
    "pipeline": LazyCommand(
        "headrace.broker.cli.pipeline.commands", "pipeline", "Topics to Iceberg tables, by Spark."
    ),
    "config": LazyCommand(
        "headrace.broker.cli.node.config", "config", "Check and explain configuration."
    ),
    "version": LazyCommand("headrace.broker.cli.version", "version", "Version of this program."),
}


class _Root(LazyGroup):
    """The outermost group; a reader that goes away ends any command quietly."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command."""
        try:
            result: object = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # What is still buffered must not fail once more when the interpreter flushes it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise click.exceptions.Exit(0) from None
        return result


def _show_version(context: click.Context, _: click.Parameter, is_asked: bool) -> None:
    if is_asked:
        from headrace.broker.cli.version import program_version

        click.echo(f"headrace {program_version()}")
        context.exit()


@click.group(cls=_Root, table=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """A Kafka-compatible broker that keeps its data in object storage.

    Begin with `headrace dev`. The other commands talk to any Kafka cluster: name it with
    -b/--bootstrap-server or HEADRACE_BOOTSTRAP_SERVER.
    """


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    interrupts = Interrupts()
    try:
        result = cli.main(args=list(arguments), prog_name="headrace", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except CommandFailedError as error:
        if interrupts.seen:  # it failed because it was interrupted
            click.echo(err=True)
            return INTERRUPTED
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    finally:
        interrupts.end()
    return result if isinstance(result, int) else 0
