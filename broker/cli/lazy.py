"""A Click group whose commands are imported when they are used, not when help is shown.

Help of the whole program then costs one import (Click) instead of a client library's, and stays
under 150 ms.
"""

import importlib
from collections.abc import Mapping
from typing import NamedTuple

import click

from headrace.broker.cli.spelling import nearest_word


class LazyCommand(NamedTuple):
    """Where a command is, and the one line that the list of commands shows."""

    module: str
    attribute: str
    summary: str


class LazyGroup(click.Group):
    """A group whose commands are named in a table."""

    def __init__(self, *args: object, table: Mapping[str, LazyCommand], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's signature
        """List the commands in the order of the table."""
        return list(self._table)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - as above
        cmd_name: str,
    ) -> click.Command | None:
        """Import a command."""
        entry = self._table.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - as above
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in self._table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments begin with; name the nearest when there is none."""
        if args and args[0] not in self._table and not args[0].startswith("-"):
            close = nearest_word(args[0], self._table)
            hint = f" Did you mean {close}?" if close else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)
