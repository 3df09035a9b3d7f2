"""Results on standard output: tables for people, JSON for programs; talk on standard error.

The keys of JSON objects are stable. Tables are plain aligned columns, so that `grep` and `awk` work
on them; on a terminal the heading is bold unless NO_COLOR is set.
"""

import json
import os
import sys
from collections.abc import Sequence

import click

from headrace.readable import Row, cell_text, table_lines


def emit_rows(rows: Sequence[Row], *, output: str, columns: Sequence[str] | None = None) -> None:
    """Print a list of results.

    Args:
        rows: one mapping per result, all with the same keys.
        output: table, json or jsonl.
        columns: keys that the table shows; all by default. JSON always has every key.
    """
    if output == "json":
        click.echo(json.dumps(list(rows), indent=2, default=str))
    elif output == "jsonl":
        for row in rows:
            click.echo(json.dumps(row, default=str))
    elif rows:
        _print_table(rows, list(columns or rows[0]))


def emit_object(result: Row, *, output: str) -> None:
    """Print one result; as a table, one line per key."""
    if output == "json":
        click.echo(json.dumps(result, indent=2, default=str))
    elif output == "jsonl":
        click.echo(json.dumps(result, default=str))
    else:
        width = max(map(len, result), default=0)
        for key, value in result.items():
            click.echo(f"{_heading(key.replace('_', ' ').ljust(width))}  {cell_text(value)}")


def emit_for_programs(result: Row, *, output: str) -> None:
    """Print the result of a command as a sentence; as a table it would say no more."""
    if output != "table":
        emit_object(result, output=output)


def heading(text: str) -> None:
    """Print a line above a table."""
    click.echo(_heading(text))


def talk(message: str) -> None:
    """Print something that is not a result."""
    click.echo(message, err=True)


def wants_colour() -> bool:
    """Whether standard output may be coloured (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _print_table(rows: Sequence[Row], columns: list[str]) -> None:
    titles, *lines = table_lines(rows, columns)
    click.echo(_heading(titles))
    for line in lines:
        click.echo(line)


def _heading(text: str) -> str:
    return click.style(text, bold=True) if wants_colour() else text
