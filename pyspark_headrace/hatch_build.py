"""Chooses the files of the wheel for Spark: the pipeline, what it imports of this repository, under one name.

`headrace.x` becomes `pyspark_headrace.headrace.x`, so that no file is in the wheel of the broker too, and both can be
installed in one environment, even of different versions.
"""

import ast
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parents[1]
OURS = "headrace"
PREFIX = "pyspark_headrace."
DEMO = ROOT / "pipeline" / "demo"  # starts a broker


def modules() -> set[str]:
    """The modules of the repository that are in the wheel: the pipeline's without the demo, and what they import."""
    paths = (it for it in (ROOT / "pipeline").rglob("*.py") if DEMO not in it.parents)
    todo = {_name(it) for it in paths}
    found: set[str] = set()
    while todo:
        name = todo.pop()
        found.add(name)
        text = _path(name).read_text()
        named = {it for node in imports(text, typing=False) for it in _imported(node)}
        named |= {name.rpartition(".")[0]}
        todo |= {it for it in named if it and it not in found and _path(it).is_file()}
    return found


def imports(text: str, *, typing: bool = True) -> Iterator[ast.ImportFrom]:
    """Yield the imports of our own modules, with or without those for type checkers alone.

    Raises:
        ValueError: one has a form that `renamed` does not change.
    """
    tree = ast.parse(text)
    if not typing:
        tree.body = [it for it in tree.body if not _is_for_type_checkers(it)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == OURS:
            yield node
        if isinstance(node, ast.Import) and any(it.name.split(".")[0] == OURS for it in node.names):
            raise ValueError(f"`{ast.unparse(node)}` is to be written with `from`")


def renamed(text: str) -> str:
    """Return a module's text with our own modules imported under the name that they have in the wheel."""
    lines = text.splitlines(keepends=True)
    for node in imports(text):
        start = f"from {OURS}"
        line = lines[node.lineno - 1]
        head, tail = line[: node.col_offset], line[node.col_offset :]
        lines[node.lineno - 1] = f"{head}from {PREFIX}{OURS}{tail.removeprefix(start)}"
    return "".join(lines)


def files() -> Iterator[tuple[str, str]]:
    """Yield path and text of each file of the wheel."""
    here = Path(__file__).with_name("__init__.py")
    yield "pyspark_headrace/__init__.py", renamed(here.read_text())
    for name in sorted(modules()):
        path = _path(name)
        yield f"pyspark_headrace/{_place(path)}", renamed(path.read_text())
    for path in sorted((ROOT / "pipeline").glob("*.properties")):
        yield f"pyspark_headrace/{_place(path)}", path.read_text()


class WheelHook(BuildHookInterface[BuilderConfig]):
    """Hands the files to hatchling."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write them.

        Raises:
            ValueError: an editable installation was asked for.
        """
        if version == "editable":
            raise ValueError("in a checkout, `pip install --editable .` brings pyspark_headrace")
        self._written = Path(tempfile.mkdtemp(prefix="pyspark-headrace-"))
        for place, text in files():
            path = self._written / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            build_data["force_include"][str(path)] = place

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was written."""
        shutil.rmtree(self._written)


def _is_for_type_checkers(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _imported(node: ast.ImportFrom) -> Iterator[str]:
    """What an import may mean: the module, and those of its members that are modules."""
    yield str(node.module)
    for it in node.names:
        yield f"{node.module}.{it.name}"


def _path(name: str) -> Path:
    path = ROOT / name.replace(".", "/")
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _place(path: Path) -> str:
    """Where a file is below a directory that holds the package `headrace`."""
    place = path.relative_to(ROOT).as_posix()
    return place if place.startswith(f"{OURS}/") else f"{OURS}/{place}"


def _name(path: Path) -> str:
    return _place(path).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
