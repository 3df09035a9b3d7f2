"""The tables of seeded bugs fit the code. Whether the bugs are caught: `make seeded`."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tests.seeded import pages
from tests.seeded.bug import ROOT, SeededBug, tables
from tests.seeded.fitting import NAMES, DoesNotFitError, is_fixed
from tests.seeded.runner import PACKAGES, copied_project, mistake

BUGS = [bug for table in tables().values() for bug in table]
_RENAMED = "_renamed"
_OF_PYTHON = {"CLOCK_REALTIME", "LOCK_SH", "__setattr__", "appendleft"}  # used by mistakes only


def text_of(bug: SeededBug) -> str:
    return (ROOT / bug.file).read_text()


def path_of(test: str) -> str:
    return test.partition("::")[0]


def function_of(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0]


@cache
def functions_of(file: str) -> set[str]:
    nodes = ast.walk(ast.parse((ROOT / file).read_text()))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_the_tests_are_there_with_their_parameters() -> None:
    command = ["pytest", "-q", "--collect-only", *sorted({bug.test for bug in BUGS if bug.test})]
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    missing = [it for it in done.stderr.splitlines() if "not found" in it]
    assert (done.returncode, missing) == (0, []), done.stdout[-1000:]


def test_every_mistake_fits_its_file_and_has_a_test() -> None:
    offenders = []
    for bug in BUGS:
        if bug.test is None:
            assert bug.simulated, f"{bug.id}: nothing notices"
        elif function_of(bug.test) not in functions_of(path_of(bug.test)):
            offenders.append(f"{bug.id}: there is no {bug.test}")
        try:
            if bug.apply(text_of(bug)) == text_of(bug):
                offenders.append(f"{bug.id} changes nothing")
        except (DoesNotFitError, SyntaxError) as error:
            offenders.append(str(error))
    assert not offenders, "\n".join(offenders)


@cache
def of_the_day(file: str) -> set[str]:
    """Names that a module gives to what is another thing each day."""
    statements = ast.parse((ROOT / file).read_text()).body
    found: set[str] = {"turn_of_today"}
    while (
        more := {it for node in statements if read_by(node) & found for it in made_by(node)} - found
    ):
        found |= more
    return found


def read_by(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def made_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def test_no_mistake_is_noticed_on_some_days_only() -> None:
    """Nor does it depend on its place in the tables, which says on which days it is tried."""
    tests = {bug.test for bug in BUGS if bug.test}
    assert {it for it in tests if function_of(it) in of_the_day(path_of(it))} == set()
    assert of_the_day("tests/property/test_cluster_simulation.py") >= {
        "SEED_OF_TODAY",
        "test_clusters_with_one_kind_of_fault",
    }


@cache
def renamed(file: str) -> str:
    """Return a module in which everything has another name."""
    tree = ast.parse((ROOT / file).read_text())
    for node in ast.walk(tree):
        for field in node._fields:
            if (type(node), field) in NAMES and (value := getattr(node, field)) is not None:
                new = [_other(it) for it in value] if isinstance(value, list) else _other(value)
                setattr(node, field, new)
    return ast.unparse(tree)


def _other(name: str) -> str:
    return name if is_fixed(name) else name + _RENAMED


def renamings(bug: SeededBug) -> Iterator[tuple[str, SeededBug, str]]:
    """Rename everything, the table knowing of its function only, and then the function alone."""
    function = ".".join(map(_other, bug.function.split(".")))
    yield "all names", replace(bug, function=function), renamed(bug.file)
    last = bug.function.rpartition(".")[2]
    yield last, bug, re.sub(rf"\b{last}\b", last + _RENAMED, text_of(bug))


def tree_of(text: str) -> str:
    return ast.dump(ast.parse(text))


def test_no_mistake_depends_on_a_name() -> None:
    offenders = []
    for bug in BUGS:
        expected = bug.apply(text_of(bug))
        for what, entry, text in renamings(bug):
            try:
                changed = entry.apply(text).replace(_RENAMED, "")
            except DoesNotFitError as error:
                offenders.append(f"{what} renamed: {error}")
                continue
            if changed != expected and tree_of(changed) != tree_of(expected):
                offenders.append(f"{what} renamed: {bug.id} is another mistake then")
    assert not offenders, "make the snippet larger:\n" + "\n".join(offenders)


def new_names(bug: SeededBug) -> set[str]:
    """Names of the product that a mistake brings in: its table has to follow when they change."""
    old, new = ([*ast.walk(ast.parse(dedent(it).strip()))] for it in (bug.old, bug.new))
    made = {it.id for it in new if isinstance(it, ast.Name) and isinstance(it.ctx, ast.Store)}
    made |= {it.arg for it in new if isinstance(it, ast.arg)}
    return names_in(new) - names_in(old) - made


def names_in(nodes: list[ast.AST]) -> set[str]:
    return {
        name
        for node in nodes
        for name in (getattr(node, "id", None), getattr(node, "attr", None))
        if isinstance(name, str) and not is_fixed(name)
    }


def test_what_a_mistake_brings_in_is_there() -> None:
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    words = _OF_PYTHON | {word for path in files for word in re.findall(r"\w+", path.read_text())}
    offenders = {bug.id: unknown for bug in BUGS if (unknown := new_names(bug) - words)}
    assert not offenders, "was this renamed?"
    renamed_since = replace(BUGS[0], new="self.no_such_name(kept := dict())")
    assert new_names(renamed_since) == {"no_such_name"}


def test_ids_tell_mistakes_apart() -> None:
    assert len({bug.id for bug in BUGS}) == len(BUGS)
    assert len({(bug.file, bug.function, bug.old, bug.new) for bug in BUGS}) == len(BUGS)


def test_every_table_has_a_title_and_is_listed() -> None:
    assert set(pages.TITLES) == set(tables())
    for table, bugs in tables().items():
        text = pages.listed(table, bugs)
        assert [it for it in bugs if f"- **{it.id}**: {it.title}" not in text] == []


def test_the_page_tells_how_soon_clusters_notice() -> None:
    text = (ROOT / pages.RATE_PAGE).read_text()
    assert text == pages.with_rate(text), "run `python -m tests.seeded --docs`"


@pytest.mark.parametrize("old", ["no.such(snippet)", "self"])
def test_a_table_that_does_not_fit_is_refused(old: str) -> None:
    bug = replace(BUGS[0], old=old)
    with pytest.raises(DoesNotFitError, match=rf"{bug.id} .* \d+ times in .* of {bug.file}"):
        bug.apply(text_of(bug))


def test_a_mistake_that_is_no_code_is_refused() -> None:
    bug = replace(BUGS[0], new="(")
    with pytest.raises(SyntaxError):
        bug.apply(text_of(bug))


def test_the_project_itself_is_never_changed() -> None:
    bug = BUGS[0]
    before = text_of(bug)
    with copied_project() as copy:
        original = (copy / bug.file).stat()
        with mistake(copy, bug):
            assert (copy / bug.file).read_text() == bug.apply(before)
            assert text_of(bug) == before
        after = (copy / bug.file).stat()
        assert (copy / bug.file).read_text() == before
        assert after.st_mtime_ns == original.st_mtime_ns, "byte code is valid again"
    assert not Path(copy).exists()
