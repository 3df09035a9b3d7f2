"""The table of faults in docs/bucket.md names tests that exist, and leaves none of the faults out."""

import re
from pathlib import Path

from tests.integration.test_s3_engine_faults import FAULTS, OUTAGES

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(test_\w+)::(test_\w+)(?:\[([^]]+)\])?`")


def rows() -> list[str]:
    text = (ROOT / "docs" / "bucket.md").read_text()
    section = text.partition("\n## Faults\n")[2].partition("\n## ")[0]
    table = section.partition("| fault |")[2]
    return [line for line in table.splitlines()[2:] if line.startswith("|")]


def test_every_row_names_tests_that_exist() -> None:
    files: dict[str, str] = {}  # of those with the same name, all
    for path in (ROOT / "tests").rglob("test_*.py"):
        files[path.stem] = files.get(path.stem, "") + path.read_text()
    assert len(rows()) > 30
    for row in rows():
        assert row.count("|") == 6, row
        named = NAMED.findall(row)
        assert named, f"no test: {row}"
        for file, function, case in named:
            assert f"def {function}(" in files[file], f"{file}::{function}"
            assert f'"{case}"' in files[file] if case else True, f"{function}[{case}]"


def test_every_fault_of_the_engine_s_tests_has_a_row() -> None:
    cases = {case for row in rows() for _, _, case in NAMED.findall(row)}
    missing = (FAULTS.keys() | OUTAGES.keys()) - cases
    assert missing == {"silence"}, "which is the fault `no answer`, standing"
