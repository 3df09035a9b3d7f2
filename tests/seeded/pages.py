"""Writes the tables of seeded bugs into the pages about what they are seeded in: `python -m tests.seeded --docs`."""

from collections.abc import Sequence

from tests.seeded.bug import ROOT, SeededBug, tables

# A table whose page has no place for it yet is not written anywhere.
PAGES = {
    "wal": "docs/wal.md",
    "object_wal": "docs/wal.md",
    "storage": "docs/bucket.md",
    "lease": "docs/metadata.md",
    "raft": "docs/reliability.md",
    "quorum": "docs/metadata.md",
    "fencing": "docs/reliability.md",
}


def marks(table: str) -> tuple[str, str]:
    """Return what stands before and behind a table in its page."""
    return (
        f"<!-- seeded bugs of {table}: python -m tests.seeded --docs -->\n",
        f"<!-- end of {table} -->\n",
    )


def render(bugs: Sequence[SeededBug]) -> str:
    """Return a table as Markdown."""
    rows = ["| id | mistake | in | caught by |", "|---|---|---|---|"]
    rows += [f"| {bug.id} | {bug.title} | `{bug.file}` | `{bug.test}` |" for bug in bugs]
    return "\n" + "\n".join(rows) + "\n\n"


def updated(text: str, table: str, bugs: Sequence[SeededBug]) -> str:
    """Return a page with its table renewed.

    Raises:
        ValueError: the page has no place for it.
    """
    before, after = marks(table)
    head, found, rest = text.partition(before)
    _, closed, tail = rest.partition(after)
    if not found or not closed:
        msg = f"no place for the table: {before.strip()} ... {after.strip()}"
        raise ValueError(msg)
    return head + before + render(bugs) + after + tail


def write() -> None:
    """Renew every page."""
    for table, bugs in tables().items():
        path = ROOT / PAGES[table]
        path.write_text(updated(path.read_text(), table, bugs))
