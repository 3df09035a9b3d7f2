"""The Python files that rules look at, read once."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
GENERATED = "protocol/generated/"  # by `headrace.protocol.generator`, for which rules hold
PACKAGES = ("broker", "config", "metadata", "pipeline", "protocol", "storage", "wal")


class Source(NamedTuple):
    """One file."""

    path: str  # in the repository
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]  # all of the tree

    @property
    def module(self) -> str:
        """Its name as a module of the product."""
        path = self.path.removeprefix("headrace/").removesuffix(".py").removesuffix("/__init__")
        return "headrace." + path.replace("/", ".")


def source(path: str, text: str) -> Source:
    """Read a file's text."""
    tree = ast.parse(text)
    return Source(path, text, tree, tuple(ast.walk(tree)))


def sources(folders: Iterable[str] = (*PACKAGES, "headrace")) -> tuple[Source, ...]:
    """Return all Python files in these folders: the product's, unless others are named."""
    return tuple(it for folder in folders for it in _in_folder(folder))


@cache
def _in_folder(folder: str) -> tuple[Source, ...]:
    paths = ((it, str(it.relative_to(ROOT))) for it in sorted((ROOT / folder).rglob("*.py")))
    return tuple(
        source(name, path.read_text()) for path, name in paths if not name.startswith(GENERATED)
    )
