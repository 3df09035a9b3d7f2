"""A benchmark that no target runs is not kept: nobody would notice that it has come to nothing."""

import ast
import re

from tests.environment.paths import ROOT

MODULES = {it.stem: it for it in (ROOT / "bench").glob("*.py") if it.stem != "__init__"}


def mentioned(module: str) -> set[str]:
    """Modules of the benchmarks that one imports, or names as a part to be run."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "bench":
            names |= {it.name for it in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.removeprefix("bench."))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names & MODULES.keys()


def test_every_module_is_reached_from_a_target() -> None:
    targets = re.findall(r"-m bench(?:\.(\w+))? ", (ROOT / "Makefile").read_text())
    reached: set[str] = set()
    new = {it or "__main__" for it in targets}
    while new:
        reached |= new
        new = {it for module in new for it in mentioned(module)} - reached

    assert reached == MODULES.keys()
