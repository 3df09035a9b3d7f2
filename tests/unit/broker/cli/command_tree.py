"""Every command and group of the program, for tests of what they have in common."""

import click

from headrace.broker.cli.root import cli


def command_lines(command=cli, path=()):
    """Yield the words that lead to each command and group."""
    yield path
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from command_lines(command.get_command(None, name), (*path, name))


def command_at(path):
    """Find a command by its words."""
    command = cli
    for name in path:
        command = command.get_command(None, name)
    return command


def results():
    """Yield those that do something themselves, and are no mere group of others."""
    for path in command_lines():
        command = command_at(path)
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield path
