"""Which rows have become dearer, and what is kept of them."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.processor_time import FIELDS, commit_of, compare, keep

FIGURES = {
    ("a", "headrace", "CPU ms/MB"): [1.0, 1.2, 9.0],
    ("a", "before", "CPU ms/MB"): [1.0, 1.0, 1.0],
    ("a", "headrace", "CPU us/record"): [3.0],
    ("b", "headrace", "CPU ms/MB"): [1.04],
    ("b", "before", "CPU ms/MB"): [1.0],
    ("b", "headrace", "CPU us/record"): [4.0],
}


def test_a_row_is_worse_by_its_medians_and_by_more_than_runs_differ() -> None:
    compared = compare(FIGURES, ["a", "b"])
    assert [(it.row, it.is_worse) for it in compared] == [("a", True), ("b", False)]
    assert str(compared[0]) == "a takes 1.20 times the processor time, 3.00 us a record"


def test_lines_are_added_with_the_commits_of_both(tmp_path: Path) -> None:
    kept = tmp_path / "kept.csv"
    keep(compare(FIGURES, ["a"]), ("new", "old"), kept=kept)
    keep(compare(FIGURES, ["b"]), ("newer", "new"), kept=kept)
    assert list(csv.reader(kept.open())) == [
        list(FIELDS),
        ["new", "old", "a", "1.200", "3.00", "1.200"],
        ["newer", "new", "b", "1.040", "4.00", "1.040"],
    ]


def test_only_code_that_can_be_checked_out_is_named(tmp_path: Path) -> None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "one")
    assert commit_of(tmp_path) == git("rev-parse", "--short=9", "HEAD")
    (tmp_path / "file").write_text("two")
    with pytest.raises(ValueError, match="has changes"):
        commit_of(tmp_path)


@pytest.mark.parametrize("options", [[], ["--before", ".", "--quick"]], ids=" ".join)
def test_what_is_not_to_be_quoted_is_not_kept(
    options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--keep", *options])
    with pytest.raises(SystemExit):
        main()
