"""State is as safe under `python -O`, which leaves out every `assert` of the product."""

import os
import subprocess
import sys

import pytest

from tests.environment.paths import ROOT

# Replays, orders and bounds that must be refused; pytest keeps the assertions of the tests themselves.
SUITES = (
    "tests/unit/metadata/images/test_streams.py::test_impossible_trims",
    "tests/unit/metadata/images",
    "tests/unit/metadata/test_replay.py",
    "tests/unit/metadata/log/test_hard_state.py",
    "tests/unit/metadata/log/test_files.py",
    "tests/unit/wal/test_superblock_updates.py",
    "tests/unit/storage/cache/test_log_cache.py",
)


@pytest.mark.parametrize("suite", SUITES)
def test_what_must_not_be_replayed_is_refused(suite: str) -> None:
    """The first is a trim beyond the end of a stream."""
    ran = subprocess.run(
        [sys.executable, "-O", "-m", "pytest", "-q", "-p", "no:cacheprovider", suite],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
