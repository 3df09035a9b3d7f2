"""Commands that are imported when they are used."""

import sys

import click
import pytest
from click.testing import CliRunner

from headrace.broker.cli.lazy import LazyCommand, LazyGroup

TABLE = {
    "version": LazyCommand("headrace.broker.cli.version", "version", "Tell the version."),
    "broken": LazyCommand("broker.cli.does_not_exist", "broken", "Not there."),
}


@pytest.fixture
def group():
    return LazyGroup("program", table=TABLE)


def test_help_imports_no_command(group):
    result = CliRunner().invoke(group, ["--help"])
    assert result.exit_code == 0
    assert "Tell the version." in result.output
    assert "Not there." in result.output
    assert "broker.cli.does_not_exist" not in sys.modules


def test_commands_are_listed_in_the_order_of_the_table(group):
    assert group.list_commands(click.Context(group)) == ["version", "broken"]


def test_a_command_is_imported_when_it_is_used(group):
    result = CliRunner().invoke(group, ["version", "-o", "json"])
    assert result.exit_code == 0
    assert '"headrace"' in result.output


@pytest.mark.parametrize(
    ("word", "answer"),
    [("verson", "Did you mean version?"), ("quit", "There is no command 'quit'.")],
)
def test_an_unknown_command_is_wrong_usage(group, word, answer):
    result = CliRunner().invoke(group, [word])
    assert result.exit_code == 2
    assert answer in result.output
