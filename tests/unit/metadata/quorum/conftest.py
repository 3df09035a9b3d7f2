import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # where an fsync costs nothing: time in these tests is virtual


@pytest.fixture
def tmp_path(tmp_path):
    """A directory in memory, if there is such a place."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=MEMORY, prefix="headrace-") as directory:
        yield Path(directory)
