"""Where components lie, and how one is put there so that an interruption leaves none half done."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"


class MissingComponentError(Exception):
    """A component is missing and cannot be installed from here; the message says what helps."""


def build_once(name: str, build: Callable[[Path], None]) -> Path:
    """Return `.cache/<name>`, a directory that `build` has filled, building it if it is not there.

    The directory is filled under another name and renamed when it is whole.
    """
    target = CACHE / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="partial-", dir=CACHE) as partial:
            content = Path(partial) / "content"
            content.mkdir()
            build(content)
            try:
                content.rename(target)
            except OSError:
                if not target.exists():  # else another process was faster, and its copy is as good
                    raise
    return target


def find_program(name: str) -> Path | None:
    """Return the program of that name on the PATH, if any."""
    found = shutil.which(name)
    return Path(found) if found else None
