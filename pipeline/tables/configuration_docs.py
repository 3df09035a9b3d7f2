"""The list of keys in docs/tables.md: `python -m headrace.pipeline.tables.configuration_docs` writes it."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from headrace.pipeline.tables.configuration_keys import (
    PIPELINE,
    REQUIRED,
    SECTIONS,
    TABLE,
    PipelineKey,
)

HEADING: Final = "## Keys\n"


def keys_text() -> str:
    """The list."""
    sections = {
        "": PIPELINE,
        **{f"[{name}]": keys for name, keys in SECTIONS.items()},
        "[[tables]]": TABLE,
    }
    return (
        "\n".join(line for name, keys in sections.items() for line in _section(name, keys)) + "\n"
    )


def _section(name: str, keys: Mapping[str, PipelineKey]) -> Iterator[str]:
    yield f"\n`{name}`\n" if name else ""
    for key, it in keys.items():
        yield f"- `{key}`: {it.doc}{_default(it.default)}"


def _default(default: object) -> str:
    if default is REQUIRED:
        return " Required."
    if default in ("", (), {}) or default is False:
        return ""
    return (
        f" Default: `{default}`."
        if not isinstance(default, bool)
        else f" Default: `{str(default).lower()}`."
    )


def main() -> int:
    """Write the list into the page."""
    page = Path("docs/tables.md")
    text, heading, _ = page.read_text().partition(HEADING)
    page.write_text(f"{text}{heading}{keys_text()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
