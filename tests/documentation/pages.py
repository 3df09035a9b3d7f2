"""Reads the project's Markdown: fenced blocks, pieces of code, links and anchors."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.environment.paths import ROOT

_OUTPUT = "<!-- output -->"
_NOT_RUN = re.compile(r"<!-- not run: (.+?) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block."""

    page: str
    line: int
    language: str
    text: str
    not_run: str | None = None  # the reason, from the comment directly above it
    output: str | None = None  # what it writes, from the block after it that says so

    @property
    def place(self) -> str:
        """Where it is, as editors have it."""
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of code or a link within a line of text."""

    page: str
    line: int
    text: str

    @property
    def place(self) -> str:
        """Where it is, as editors have it."""
        return f"{self.page}:{self.line}"


class Page:
    """One page."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path.relative_to(ROOT))
        self.text = path.read_text()
        self._tokens = MarkdownIt("commonmark").enable("table").parse(self.text)

    @property
    def blocks(self) -> list[Block]:
        """All fenced blocks, in order."""
        found: list[Block] = []
        above: Token | None = None
        for token in self._tokens:
            if token.type == "fence":
                comment = above.content if above is not None and touches(above, token) else ""
                reason = _NOT_RUN.search(comment)
                if _OUTPUT in comment:
                    found[-1] = replace(found[-1], output=token.content)
                block = Block(self.name, first_line(token), token.info.strip(), token.content)
                found.append(replace(block, not_run=reason[1] if reason else None))
            above = token if token.type == "html_block" else None
        return found

    @property
    def comments(self) -> list[str]:
        """The reasons of all comments that say `not run`, wherever they are."""
        return re.findall(rf"^\s*{_NOT_RUN.pattern}", self.text, re.MULTILINE)

    @property
    def code(self) -> list[Piece]:
        """All pieces of code in the text."""
        return [
            Piece(self.name, line, token.content.replace("\n", " "))
            for line, token in self._inline()
            if token.type == "code_inline"
        ]

    @property
    def links(self) -> list[Piece]:
        """The targets of all links."""
        return [
            Piece(self.name, line, str(token.attrGet("href")))
            for line, token in self._inline()
            if token.type == "link_open"
        ]

    @property
    def anchors(self) -> set[str]:
        """The anchors of the headings, as GitHub makes them."""
        headings = [
            following.content
            for token, following in pairwise(self._tokens)
            if token.type == "heading_open"
        ]
        return {anchor(heading) for heading in headings}

    def _inline(self) -> Iterator[tuple[int, Token]]:
        for token in self._tokens:
            for child in token.children or ():
                yield first_line(token), child


def first_line(token: Token) -> int:
    """The line that a block begins in."""
    return token.map[0] + 1 if token.map else 0


def touches(above: Token, below: Token) -> bool:
    """Whether one block ends where the other begins."""
    return above.map is not None and below.map is not None and above.map[1] == below.map[0]


def anchor(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def pages() -> tuple[Page, ...]:
    """Every Markdown file of the project."""
    paths = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    return tuple(Page(path) for path in paths)


def page(name: str) -> Page:
    """One page by its path in the repository."""
    return next(found for found in pages() if found.name == name)
