"""Taste that no linter checks: sizes, names, docstrings, purity, and what must never lie where."""

import ast
import re
from pathlib import Path

from tests.tidy import classes, purity, rules
from tests.tidy.source import PACKAGES, ROOT, Source, sources

MAX_RECIPE_LINES = 3
MAX_EVASIVE_WORDS = 105
# Tests of drivers with real time live here; elsewhere no test waits on the real clock.
MAY_SLEEP = {"cluster", "e2e", "environment", "integration", "simulation"}
TIDY = "tests/tidy/"  # holds the bad examples


def offenders(files: tuple[Source, ...], *kept: rules.Rule) -> str:
    """What breaks these rules, a line each."""
    return "\n".join(
        f"{it.path}: {what}"
        for it in files
        for rule in kept
        for what in rule(it)
        if not it.path.startswith(TIDY)
    )


def test_modules_are_tidy() -> None:
    assert not (found := offenders(sources(), *rules.RULES)), found


def test_evasive_words_become_fewer() -> None:
    """Comments and docstrings that say nobody, told or place leave out who does what; the bound only goes down."""
    found = sum(map(rules.evasive_words, sources()))
    assert found <= MAX_EVASIVE_WORDS, "name who or what is meant: `git diff` shows the new ones"
    assert found > MAX_EVASIVE_WORDS - 25, f"lower the bound to {found + 5}"


def test_all_code_imports_and_refers_to_what_is_there() -> None:
    files = sources((*PACKAGES, "tests", "bench"))
    assert not (found := offenders(files, *rules.RULES_OF_ALL_CODE)), found


def test_tests_never_sleep() -> None:
    files = tuple(it for it in sources(("tests",)) if not MAY_SLEEP & {*it.path.split("/")})
    assert not (found := offenders(files, rules.never_sleeps)), found


def test_no_class_does_too_much() -> None:
    sizes = classes.Classes(sources()).sizes()
    found = "\n".join(classes.excesses(sizes, classes.LARGER))
    assert not found, f"split it by responsibility:\n{found}"


def test_what_is_declared_pure_is_pure() -> None:
    pure = purity.declared(sources())
    assert {"headrace.metadata.raft.core", "headrace.wal.ring.recovery"} <= pure
    found = "\n".join(purity.impurities(purity.import_graph(), pure))
    assert not found, f"pass it in, or do not call it pure:\n{found}"


def test_the_docker_directory_never_shadows_the_docker_sdk() -> None:
    assert not (ROOT / "docker" / "__init__.py").exists()


def test_recipes_are_short() -> None:
    targets = re.split(r"\n(?=\S)", (ROOT / "Makefile").read_text())
    recipes = {it: [line for line in it.splitlines() if line.startswith("\t")] for it in targets}
    long = [target for target, lines in recipes.items() if len(lines) > MAX_RECIPE_LINES]
    assert not long, f"move this out of the Makefile: {long}"


def test_the_namespace_links_to_the_seven_packages() -> None:
    links = {
        path.name: path.readlink() for path in (ROOT / "headrace").iterdir() if path.is_symlink()
    }
    assert links == {package: Path("..") / package for package in PACKAGES}


# One word for one thing: these are the names that two modules share, with different things. None may join them.
TWINS = {
    "CommitLimits", "Kind", "Member", "Membership", "ObjectType", "ObjectWriter", "PartitionRead", "Piece", "Plan",
    "Problem", "Progress", "Reader", "Segment", "Session", "SnapshotId", "Soundness", "TopicCreation", "Verification",
}  # fmt: skip


def test_no_two_classes_have_one_name() -> None:
    modules: dict[str, list[str]] = {}
    for it in sources():
        for node in it.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, []).append(it.path)
    twins = {name: paths for name, paths in modules.items() if len(paths) > 1}
    assert not twins.keys() - TWINS, "give one of them another name"
    assert not TWINS - twins.keys(), "take it off the list"
