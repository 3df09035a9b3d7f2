"""Where a demonstration puts its results."""

import tempfile
from pathlib import Path


def fresh_output(name: str) -> Path:
    """Make a new directory `build/NAME-*` below the current one."""
    parent = Path("build")
    parent.mkdir(exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))
