"""Options that commands share."""

import click
import pytest
from click.testing import CliRunner

from headrace.broker.cli.options import (
    bootstrap_option,
    confirm,
    output_option,
    parse_settings,
    yes_option,
)


@click.command()
@bootstrap_option
@output_option
def show(bootstrap, output):
    """Show."""
    click.echo(f"{bootstrap} {output}")


@click.command()
@yes_option
def destroy(yes):
    """Destroy."""
    confirm("Really?", yes=yes)
    click.echo("destroyed")


def test_the_defaults_are_this_machine_and_a_table():
    assert CliRunner().invoke(show, []).output == "127.0.0.1:9092 table\n"


def test_an_option_beats_the_environment():
    runner = CliRunner(env={"HEADRACE_BOOTSTRAP_SERVER": "env:1"})
    assert runner.invoke(show, ["-o", "json"]).output == "env:1 json\n"
    assert runner.invoke(show, ["-b", "option:2"]).output == "option:2 table\n"


def test_what_cannot_be_undone_needs_a_yes():
    assert CliRunner().invoke(destroy, ["-y"]).output == "destroyed\n"
    refused = CliRunner().invoke(destroy, [])
    assert refused.exit_code == 2
    assert "--yes" in refused.output


def test_settings_are_read():
    assert parse_settings(("a=b", " c = d=e ")) == {"a": "b", "c": "d=e"}
    assert parse_settings(("a=",)) == {"a": ""}
    for text in ("a", "=b"):
        with pytest.raises(click.BadParameter, match="KEY=VALUE"):
            parse_settings((text,))
