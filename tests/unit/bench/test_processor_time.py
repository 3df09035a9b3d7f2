"""Which rows have become dearer, and what is kept of them."""

import csv
import subprocess
from pathlib import Path

from bench.processor_time import FIELDS, compare, keep

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
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(tmp_path), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "one")
    commit = git("rev-parse", "--short=9", "HEAD")
    kept = tmp_path / "kept.csv"
    keep(compare(FIGURES, ["a"]), tmp_path, tmp_path, kept=kept)
    (tmp_path / "file").write_text("two")
    keep(compare(FIGURES, ["b"]), tmp_path, tmp_path, kept=kept)
    rows = list(csv.reader(kept.open()))
    assert rows == [
        list(FIELDS),
        [commit, commit, "a", "1.200", "3.00", "1.200"],
        [f"{commit}+", f"{commit}+", "b", "1.040", "4.00", "1.040"],
    ]
