"""Sizes, times and tables as people read them. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

Row = Mapping[str, object]


def size_text(size_bytes: float) -> str:
    """Write a number of bytes as people read it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size_bytes < 1024:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:,.1f} TiB"


def format_time(timestamp_ms: int) -> str:
    """Write milliseconds since the epoch as ISO 8601 in UTC."""
    moment = datetime.fromtimestamp(timestamp_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def table_lines(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return the lines of a table of aligned columns, the titles first.

    Args:
        rows: one mapping per line, at least one.
        columns: keys of those that are shown.
    """
    cells = [[cell_text(row.get(column)) for column in columns] for row in rows]
    titles = [column.replace("_", " ").upper() for column in columns]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    numeric = [all(_is_number(row.get(column)) for row in rows) for column in columns]
    return [_aligned(line, widths, numeric) for line in (titles, *cells)]


def cell_text(value: object) -> str:
    """Write one value of a table."""
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


def _aligned(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    parts = [
        cell.rjust(width) if right else cell.ljust(width)
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    ]
    return "  ".join(parts).rstrip()


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
