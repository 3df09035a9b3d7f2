"""The tables of seeded bugs fit the code and the pages. Whether the bugs are caught: `make seeded`."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.seeded import pages
from tests.seeded.bug import ROOT, SeededBug, tables
from tests.seeded.runner import copied_project, mistake

BUGS = [bug for table in tables().values() for bug in table]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_a_mistake_fits_its_file_and_has_a_test(bug: SeededBug) -> None:
    text = (ROOT / bug.file).read_text()
    assert bug.apply(text) != text
    path, *_, name = bug.test.split("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / path).read_text()


def test_ids_tell_mistakes_apart() -> None:
    assert len({bug.id for bug in BUGS}) == len(BUGS)
    assert len({(bug.file, bug.old, bug.new) for bug in BUGS}) == len(BUGS)


@pytest.mark.parametrize("table", tables())
def test_the_page_lists_the_mistakes(table: str) -> None:
    text = (ROOT / pages.PAGES[table]).read_text()
    renewed = pages.updated(text, table, tables()[table])
    assert text == renewed, "run `python -m tests.seeded --docs`"


@pytest.mark.parametrize("old", ["no such text", "import"])
def test_a_table_that_does_not_fit_is_refused(old: str) -> None:
    bug = replace(tables()["wal"][0], old=old)
    with pytest.raises(ValueError, match=r"occurs \d+ times in wal/ring_writer.py"):
        bug.apply((ROOT / bug.file).read_text())


def test_a_mistake_that_is_no_code_is_refused() -> None:
    bug = replace(tables()["wal"][0], new="(")
    with pytest.raises(SyntaxError):
        bug.apply((ROOT / bug.file).read_text())


def test_the_project_itself_is_never_changed() -> None:
    bug = tables()["wal"][0]
    before = (ROOT / bug.file).read_text()
    with copied_project() as copy:
        original = (copy / bug.file).stat()
        with mistake(copy, bug):
            assert (copy / bug.file).read_text() == bug.apply(before)
            assert (ROOT / bug.file).read_text() == before
        after = (copy / bug.file).stat()
        assert (copy / bug.file).read_text() == before
        assert after.st_mtime_ns == original.st_mtime_ns, "byte code is valid again"
    assert not Path(copy).exists()
