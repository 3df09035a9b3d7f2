"""Taste that no linter checks: sizes, names, docstrings, and what must never lie where."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("broker", "config", "metadata", "pipeline", "protocol", "storage", "wal")
MAX_FILE_LINES = 500
MAX_CLASS_LINES = 300
MAX_FUNCTION_LINES = 70
MAX_RECIPE_LINES = 3
VAGUE_NAMES = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
# Tests of drivers with real time live here; elsewhere a test that sleeps is a test that hopes.
MAY_SLEEP = {"cluster", "e2e", "environment", "integration", "simulation"}


def modules() -> list[Path]:
    """All modules of the product."""
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def name(path: Path) -> str:
    """A path as the test report shows it."""
    return str(path.relative_to(ROOT))


def code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """Lines of a function or class, its docstring not counted."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if is_docstring else 0
    return node.end_lineno - node.lineno + 1 - docstring


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_is_tidy(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= MAX_FILE_LINES, "split this module by responsibility"
    assert path.stem not in VAGUE_NAMES, "name the module after what it holds"
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "say what this module holds"
    if path.name == "__init__.py":
        allowed = (ast.Import, ast.ImportFrom, ast.Assign)  # a facade names what it re-exports
        assert all(isinstance(node, allowed) for node in tree.body[1:]), "a package holds no code"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert code_lines(node) <= MAX_FUNCTION_LINES, f"{node.name} is too long"
        if isinstance(node, ast.ClassDef):
            assert code_lines(node) <= MAX_CLASS_LINES, f"{node.name} holds too much"


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_leaves_nothing_to_do(path: Path) -> None:
    assert not re.search(r"\b(TODO|FIXME|XXX)\b", path.read_text())


def sleeping_calls(path: Path) -> list[int]:
    """Line numbers of uses of `time.sleep`. (`asyncio.sleep` passes time in a simulated loop.)"""
    names = [
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)
    ]
    return [
        name.lineno
        for name in names
        if name.attr == "sleep" and isinstance(name.value, ast.Name) and name.value.id == "time"
    ]


def test_tests_never_sleep() -> None:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if not MAY_SLEEP & set(path.relative_to(ROOT).parts):
            assert not sleeping_calls(path), f"{name(path)} sleeps on the real clock"


def test_the_docker_directory_never_shadows_the_docker_sdk() -> None:
    assert not (ROOT / "docker" / "__init__.py").exists()


def test_recipes_are_short() -> None:
    for rule in re.split(r"\n(?=\S)", (ROOT / "Makefile").read_text()):
        recipe = [line for line in rule.splitlines() if line.startswith("\t")]
        assert len(recipe) <= MAX_RECIPE_LINES, f"move this out of the Makefile: {rule}"


def test_the_namespace_links_to_the_seven_packages() -> None:
    links = {
        path.name: path.readlink() for path in (ROOT / "headrace").iterdir() if path.is_symlink()
    }
    assert links == {package: Path("..") / package for package in PACKAGES}


def bare_imports(text: str) -> list[str]:
    """Return what a module imports of ours by another name than `headrace.<package>`."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return [module for module in found if module.partition(".")[0] in PACKAGES]


def test_nothing_is_imported_by_a_bare_name() -> None:
    assert bare_imports("import config\nfrom storage.engine import x\nimport headrace.wal.log") == [
        "config",
        "storage.engine",
    ]
    folders = (*PACKAGES, "tests", "bench")
    offenders = {
        name(path): bare
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if (bare := bare_imports(path.read_text()))
    }
    assert not offenders, "import headrace.<package>: a user's own config.py may come first"
