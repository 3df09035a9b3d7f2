"""The wheel for Spark has what it imports, requires the rest, and changes nothing but imports."""

import ast
import re
import sys
import tomllib

import pytest

from pyspark_headrace.hatch_build import PREFIX, files, imports, modules, renamed
from tests.tidy.source import ROOT

SPARK = tomllib.loads((ROOT / "pyspark_headrace/pyproject.toml").read_text())["project"]
BROKER = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OF_THE_CLUSTER = {"pyspark"}
# Distributions that are imported under another name, and one that pyspark imports.
IMPORTED_AS = {
    "confluent-kafka": "confluent_kafka",
    "grpcio-tools": "grpc_tools",
    "protobuf": "google",
}
OF_PYSPARK = {"pandas"}


def names(requirements: list[str]) -> set[str]:
    """What is imported of distributions."""
    found = {re.split(r"[^A-Za-z0-9_-]", it)[0] for it in requirements} - OF_PYSPARK
    return {IMPORTED_AS.get(it, it) for it in found}


def external(text: str) -> set[str]:
    """Packages that a module imports, but for annotations."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found |= {it.name.split(".")[0] for it in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
        todo += ast.iter_child_nodes(node)
    return found - set(sys.stdlib_module_names)


def test_what_is_imported_is_there_or_required() -> None:
    required = names(SPARK["dependencies"])
    texts = dict(files())
    optional = names([it for extra in SPARK["optional-dependencies"].values() for it in extra])
    found = set().union(*(external(text) for place, text in texts.items() if place.endswith(".py")))
    assert found - {"pyspark_headrace"} == required | optional | OF_THE_CLUSTER
    own = {place.removesuffix(".py").removesuffix("/__init__") for place in texts}
    for text in texts.values():
        at_run_time = re.sub(r"(?m)^if TYPE_CHECKING:\n(?:    .*\n|\n)+", "", text)
        wanted = re.findall(r"(?m)^ *from (pyspark_headrace[\w.]+) import", at_run_time)
        assert {it.replace(".", "/") for it in wanted} <= own


def test_versions_are_those_of_the_broker() -> None:
    extras = BROKER["optional-dependencies"]
    both = BROKER["dependencies"] + extras["spark"] + extras["tables"] + extras["registry"]
    own = [it for extra in SPARK["optional-dependencies"].values() for it in extra]
    assert not {*SPARK["dependencies"], *own} - set(both)
    assert SPARK["requires-python"] == BROKER["requires-python"]


def test_nothing_of_the_broker_is_in_it() -> None:
    found = modules()
    assert {"headrace.pipeline.source.data_source", "headrace.metadata.snapshot"} <= found
    unwanted = ("headrace.broker", "headrace.wal", "headrace.pipeline.demo")
    assert not [it for it in found if it.startswith(unwanted)]


def test_only_imports_change() -> None:
    known = modules()
    for name in sorted(known):
        path = ROOT / name.replace(".", "/")
        text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
        assert renamed(text).replace(f"from {PREFIX}headrace", "from headrace") == text
        strings = [it.value for it in ast.walk(ast.parse(text)) if isinstance(it, ast.Constant)]
        assert not set(strings) & known - {"headrace"}, f"{name} names a module by a string"


def test_imports_of_all_forms() -> None:
    text = '''"""headrace.x: from headrace.x import y"""
from headrace import x
from headrace.x import (
    y,
)
from headraced import z

def f():
    from headrace.x.y import z  # from headrace
'''
    assert (
        renamed(text)
        == '''"""headrace.x: from headrace.x import y"""
from pyspark_headrace.headrace import x
from pyspark_headrace.headrace.x import (
    y,
)
from headraced import z

def f():
    from pyspark_headrace.headrace.x.y import z  # from headrace
'''
    )
    with pytest.raises(ValueError, match="is to be written with `from`"):
        list(imports("import headrace.x as y"))
