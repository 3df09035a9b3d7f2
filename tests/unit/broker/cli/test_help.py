"""The help of every command, as it is read."""

from functools import cache
from inspect import cleandoc

import click
from click.testing import CliRunner

from headrace.broker.cli.root import cli
from tests.unit.broker.cli.command_tree import command_at, command_lines

PATHS = list(command_lines())


@cache
def shown(path):
    result = CliRunner().invoke(cli, [*path, "--help"], terminal_width=80)
    assert result.exit_code == 0
    return result.output


def example_lines(text):
    """The lines of a docstring that are indented: commands to type, one a line."""
    lines = cleandoc(text).split("\n")
    return [line.strip() for line in lines if line.startswith(" ") and line.strip()]


def test_no_help_holds_an_escape():
    assert [path for path in PATHS if "\\" in shown(path)] == []
    assert [path for path in PATHS if not shown(path).replace("\n", "").isprintable()] == []


def test_each_example_has_a_line_of_its_own():
    for path in PATHS:
        examples = example_lines(command_at(path).help)
        lines = [line.strip() for line in shown(path).split("\n")]
        assert [line for line in examples if line not in lines] == [], path


def test_there_are_examples():
    assert len(example_lines(command_at(("produce",)).help)) == 3
    assert len(example_lines(command_at(("consume",)).help)) == 3


def test_no_line_holds_two_commands_to_type():
    """A paragraph of examples that is wrapped into one would."""
    for path in PATHS:
        lines = shown(path).partition("\nCommands:")[0].split("\n")
        lines = [line for line in lines if "`" not in line and "Usage:" not in line]
        assert [line for line in lines if line.count("headrace ") > 1] == [], path


def test_the_escape_that_a_raw_docstring_shows_is_found():
    """Click takes the character; a raw docstring has a backslash and a letter instead."""

    @click.command()
    def wrong():
        r"""Do it.

        \b
          headrace one
          headrace two
        """

    text = CliRunner().invoke(wrong, ["--help"]).output
    assert "\\" in text
    assert [line for line in text.split("\n") if line.count("headrace ") > 1] != []
