"""The tables of seeded bugs fit the code. Whether the bugs are caught: `make seeded`."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import groupby
from pathlib import Path
from textwrap import dedent

import pytest

from tests.seeded import pages
from tests.seeded.bug import ROOT, SeededBug, tables
from tests.seeded.fitting import NAMES, DoesNotFitError, found, is_fixed, parsed
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


def by_file() -> Iterator[tuple[str, list[SeededBug]]]:
    for file, bugs in groupby(sorted(BUGS, key=lambda it: it.file), key=lambda it: it.file):
        yield file, list(bugs)


def test_the_tests_are_there_with_their_parameters(request: pytest.FixtureRequest) -> None:
    """Whatever this run has not collected is collected in a process of its own."""
    here = {name for it in request.session.items for name in (it.nodeid, it.nodeid.split("[")[0])}
    others = sorted({bug.test for bug in BUGS if bug.test} - here)
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *others]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    missing = [it for it in done.stderr.splitlines() if "not found" in it]
    assert (done.returncode, missing) == (0, []), done.stdout[-1000:]


def test_every_mistake_fits_its_file_and_is_noticed() -> None:
    offenders = []
    for _, bugs in by_file():
        for bug in bugs:
            assert bug.test or bug.simulated, f"{bug.id}: nothing notices"
            try:
                if bug.apply(text_of(bug)) == text_of(bug):
                    offenders.append(f"{bug.id} changes nothing")
            except (DoesNotFitError, SyntaxError) as error:
                offenders.append(str(error))
    assert not offenders, "\n".join(offenders)


@cache
def of_the_day(file: str) -> set[str]:
    """Names that a module gives to what is another thing each day."""
    text = (ROOT / file).read_text()
    names: set[str] = {"turn_of_today"}
    if not any(it in text for it in names):
        return names
    statements = ast.parse(text).body
    while (
        more := {it for node in statements if read_by(node) & names for it in made_by(node)} - names
    ):
        names |= more
    return names


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


class Module:
    """A file that mistakes are made in, and what it is when its names are others."""

    def __init__(self, file: str) -> None:
        self.tree = parsed((ROOT / file).read_text())
        self._named: dict[str, list[tuple[ast.AST, str]]] = {}
        for node in ast.walk(self.tree):
            for field in node._fields:
                if (type(node), field) in NAMES and (value := getattr(node, field)) is not None:
                    for name in value if isinstance(value, list) else [value]:
                        self._named.setdefault(name, []).append((node, field))

    @contextmanager
    def renamed(self, *names: str) -> Iterator[None]:
        """Give these names another one, or all that have one to give, for a while."""
        places = {it for name in names or self._named for it in self._named.get(name, ())}
        before = [(node, field, getattr(node, field)) for node, field in places]
        others = {name: _other(name) for name in names or self._named}
        for node, field, value in before:
            is_list = isinstance(value, list)
            setattr(node, field, [others.get(it, it) for it in value] if is_list else others[value])
        yield
        for node, field, value in before:
            setattr(node, field, value)

    def mistake(self, bug: SeededBug, function: str) -> tuple[ast.AST, list[str]]:
        """Return where the mistake is made, and what stands there then, under the names it had."""
        place, nodes = found(self.tree, function, bug.old, bug.new)
        return place.first, [ast.dump(it).replace(_RENAMED, "") for it in nodes]


def _other(name: str) -> str:
    return name if is_fixed(name) else name + _RENAMED


def test_no_mistake_depends_on_a_name() -> None:
    offenders = []
    for file, bugs in by_file():
        module = Module(file)
        for bug in bugs:
            place, nodes = module.mistake(bug, bug.function)
            last = bug.function.rpartition(".")[2]
            function = ".".join(map(_other, bug.function.split(".")))
            # Everything, the table knowing of its function only, and then the function alone.
            for what, names, known in ("all names", (), function), (last, (last,), bug.function):
                with module.renamed(*names):
                    try:
                        other, others = module.mistake(bug, known)
                    except DoesNotFitError as error:
                        offenders.append(f"{what} renamed: {bug.id} {error} of {file}")
                        continue
                if other is not place or others != nodes:
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
