"""Options that many commands share."""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

Command = TypeVar("Command", bound=Callable[..., object])

BOOTSTRAP_DEFAULT = "127.0.0.1:9092"
ADMIN_DEFAULT = "127.0.0.1:9644"


def bootstrap_option(command: Command) -> Command:
    """Add -b/--bootstrap-server, as `bootstrap`."""
    return click.option(
        "-b",
        "--bootstrap-server",
        "bootstrap",
        metavar="HOST:PORT",
        default=BOOTSTRAP_DEFAULT,
        envvar="HEADRACE_BOOTSTRAP_SERVER",
        show_default=True,
        show_envvar=True,
        help="Broker to connect to; separate several with commas.",
    )(command)


def admin_option(command: Command) -> Command:
    """Add --admin, as `admin`."""
    return click.option(
        "--admin",
        metavar="HOST:PORT",
        default=ADMIN_DEFAULT,
        envvar="HEADRACE_ADMIN_SERVER",
        show_default=True,
        show_envvar=True,
        help="Admin listener of the node (headrace.admin.listener).",
    )(command)


def output_option(command: Command) -> Command:
    """Add -o/--output and --json, as `output`: table, json or jsonl."""
    return form_option(
        type=click.Choice(["table", "json", "jsonl"]),
        default="table",
        help="Form of the output: a table, one JSON document, or a JSON object per line.",
    )(command)


def form_option(**settings: Any) -> Callable[[Command], Command]:
    """Add -o/--output with forms of a command's own, and --json, which is `-o json` everywhere."""

    def add(command: Command) -> Command:
        command = click.option(
            "--json", "as_json", is_flag=True, is_eager=True, help="Short for --output json."
        )(command)
        return click.option("-o", "--output", show_default=True, callback=_chosen_form, **settings)(
            command
        )

    return add


def _chosen_form(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """Merge --json, which is eager and so read before, into --output.

    Raises:
        click.UsageError: the two contradict each other.
    """
    if not context.params.pop("as_json"):
        return value
    source = context.get_parameter_source(str(parameter.name))
    if source is ParameterSource.COMMANDLINE and value != "json":
        raise click.UsageError(f"--json is --output json: leave out --output {value}, or --json.")
    return "json"


def yes_option(command: Command) -> Command:
    """Add -y/--yes, as `yes`."""
    return click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")(command)


def confirm(question: str, *, yes: bool) -> None:
    """Ask before something that cannot be undone.

    Raises:
        click.Abort: the answer is no.
        click.UsageError: there is no terminal to ask, and --yes was not given.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("This cannot be undone: confirm it with --yes.")
    click.confirm(question, abort=True, err=True)


def parse_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """Read `key=value` texts.

    Raises:
        click.BadParameter: one is not of that form.
    """
    settings = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator or not key.strip():
            raise click.BadParameter(f"{text!r} is not KEY=VALUE, such as retention.ms=3600000.")
        settings[key.strip()] = value.strip()
    return settings
