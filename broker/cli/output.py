"""Results on standard output: tables for people, JSON for programs; talk on standard error.

The keys of JSON objects are stable. Tables are plain aligned columns, so that `grep` and `awk` work
on them; on a terminal the heading is bold unless NO_COLOR is set.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence

import click

Row = Mapping[str, object]


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
            click.echo(f"{_heading(key.replace('_', ' ').ljust(width))}  {_cell(value)}")


def emit_for_programs(result: Row, *, output: str) -> None:
    """Print the result of a command that tells people in a sentence; a table has nothing to add."""
    if output != "table":
        emit_object(result, output=output)


def heading(text: str) -> None:
    """Print a line above a table."""
    click.echo(_heading(text))


def talk(message: str) -> None:
    """Tell the user something that is not a result."""
    click.echo(message, err=True)


def wants_colour() -> bool:
    """Tell whether standard output may be coloured (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _print_table(rows: Sequence[Row], columns: list[str]) -> None:
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    titles = [column.replace("_", " ").upper() for column in columns]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    numeric = [all(_is_number(row.get(column)) for row in rows) for column in columns]
    click.echo(_heading(_aligned(titles, widths, numeric)))
    for line in cells:
        click.echo(_aligned(line, widths, numeric))


def _aligned(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    parts = [
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    ]
    return "  ".join(parts).rstrip()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: object) -> str:
    match value:
        case None | "":
            return "-"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ",".join(map(str, value)) or "-"
        case Mapping():
            return " ".join(f"{key}={part}" for key, part in value.items()) or "-"
        case _:
            return str(value)


def _heading(text: str) -> str:
    return click.style(text, bold=True) if wants_colour() else text
