"""The list of faults in docs/bucket.md names tests that exist, and leaves none of the faults out."""

import re
from pathlib import Path

from tests.integration.test_s3_engine_faults import FAULTS, OUTAGES

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(test_\w+)::(test_\w+)(?:\[([^]]+)\])?`")


def entries() -> list[str]:
    """The faults, each with what clients see, what is in the bucket, and its tests."""
    text = (ROOT / "docs" / "bucket.md").read_text()
    section = text.partition("\n## Faults\n")[2].partition("\n## ")[0]
    return [f"- **{entry}" for entry in section.split("\n- **")[1:]]


def test_every_entry_names_tests_that_exist() -> None:
    files: dict[str, str] = {}  # of those with the same name, all
    for path in (ROOT / "tests").rglob("test_*.py"):
        files[path.stem] = files.get(path.stem, "") + path.read_text()
    assert len(entries()) > 30
    for entry in entries():
        parts = re.findall(r"^  - (\w+):", entry, re.MULTILINE)
        assert parts == ["clients", "bucket", "tests"], entry
        named = NAMED.findall(entry)
        assert named, f"no test: {entry}"
        for file, function, case in named:
            assert f"def {function}(" in files[file], f"{file}::{function}"
            assert f'"{case}"' in files[file] if case else True, f"{function}[{case}]"


def test_every_fault_of_the_engine_s_tests_has_an_entry() -> None:
    cases = {case for entry in entries() for _, _, case in NAMED.findall(entry)}
    missing = (FAULTS.keys() | OUTAGES.keys()) - cases
    assert missing == {"silence"}, "which is the fault `no answer`, standing"
