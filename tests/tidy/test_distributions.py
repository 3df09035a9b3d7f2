"""The distribution of pure code holds what it imports, and the two distributions share no file."""

import re
import sys
import tomllib
from pathlib import Path

import grimp

from tests.tidy.source import ROOT

CORE = tomllib.loads((ROOT / "distributions/core/pyproject.toml").read_text())
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text())
INCLUDED = CORE["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]
# Distributions are not always named as what is imported.
REQUIRED = {re.split("[<>=]", it)[0] for it in CORE["project"]["dependencies"]}


def files(path: Path) -> set[Path]:
    """A file, or those in a folder."""
    return {path} if path.is_file() else set(path.rglob("*.py"))


def modules() -> set[str]:
    """The modules of the distribution."""
    found = {path.relative_to(ROOT) for it in INCLUDED for path in files(ROOT / it.lstrip("/"))}
    return {".".join(it.with_suffix("").parts).removesuffix(".__init__") for it in found}


def test_what_is_listed_is_there() -> None:
    assert (ROOT / "distributions/core/headrace").resolve() == ROOT / "headrace"
    assert not [it for it in INCLUDED if not files(ROOT / it.lstrip("/"))]


def test_pure_code_imports_pure_code_and_what_it_requires() -> None:
    graph = grimp.build_graph(
        "headrace",
        include_external_packages=True,
        exclude_type_checking_imports=True,
        cache_dir=None,
    )
    allowed = modules() | REQUIRED | set(sys.stdlib_module_names)
    found = [
        f"{module} imports {imported}"
        for module in sorted(modules())
        for imported in graph.find_modules_directly_imported_by(module)
        if imported not in allowed
    ]
    parents = [it for it in modules() if "." in it and it.rpartition(".")[0] not in modules()]
    assert not found, "add it to distributions/core/pyproject.toml, or do not import it"
    assert not parents, "add the packages that they are in"


def test_the_distributions_share_the_version_and_no_file() -> None:
    excluded = WHOLE["tool"]["hatch"]["build"]["targets"]["wheel"]["exclude"]
    assert excluded == INCLUDED
    project = WHOLE["project"]
    assert f"headrace-core=={project['version']}" in project["dependencies"]
    both = {re.split("[<>=]", it)[0] for it in project["dependencies"]} & REQUIRED
    assert not both, "they come with headrace-core"
