"""Markdown that people read in terminals and diffs: line lengths, languages of blocks, plain words."""

import re

from tests.documentation.pages import pages

MAX_LINE_CHARACTERS = 149
LANGUAGES = {"sh", "text", "properties", "python", "toml", "yaml"}


def test_lines_are_short() -> None:
    long = [
        f"{page.name}:{number} {len(line)}"
        for page in pages()
        for number, line in enumerate(page.text.splitlines(), 1)
        if len(line) > MAX_LINE_CHARACTERS
    ]
    assert not long, "wrap prose at 120; a wide table is a list: " + ", ".join(long)


def test_every_block_says_what_it_is() -> None:
    """`sh` is run by a test; everything else is not."""
    unknown = [
        block.place for page in pages() for block in page.blocks if block.language not in LANGUAGES
    ]
    assert not unknown, unknown


def test_a_comment_that_excuses_a_block_stands_directly_above_it() -> None:
    for page in pages():
        reasons = [block.not_run for block in page.blocks if block.not_run]
        assert sorted(reasons) == sorted(page.comments), page.name


# Words that only this project used for what has a name, and turns that nobody writes today.
STALE = re.compile(
    r"\b(caretaker|whoever|whosoever|nobody foresaw|anew|likewise|made up for)\b",
    re.IGNORECASE,
)


def test_the_prose_is_plain() -> None:
    found = [
        f"{page.name}:{number} {match[0]}"
        for page in pages()
        for number, line in enumerate(page.text.splitlines(), 1)
        for match in STALE.finditer(line)
    ]
    assert not found, ", ".join(found)
