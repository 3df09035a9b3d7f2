"""State is as safe under `python -O`, which leaves out every `assert` of the product."""

import os
import subprocess
import sys

from tests.environment.paths import ROOT

# Replays, orders and bounds that must be refused; pytest keeps the assertions of the tests themselves.
SUITES = (
    "tests/unit/metadata/images",
    "tests/unit/metadata/test_replay.py",
    "tests/unit/metadata/log/test_hard_state.py",
    "tests/unit/metadata/log/test_files.py",
    "tests/unit/wal/test_superblock_updates.py",
    "tests/unit/storage/cache/test_log_cache.py",
)


def test_what_must_not_be_replayed_is_refused() -> None:
    """Among the first are trims beyond the end of a stream."""
    ran = subprocess.run(
        [sys.executable, "-O", "-m", "pytest", "-q", *SUITES],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
