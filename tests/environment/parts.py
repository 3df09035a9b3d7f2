"""Divides the modules of a run among processes that know nothing of each other: `--part 1/2`, `--part 2/2`.

Each imports only its own, and no result goes from one process to another: with ten thousand short tests, both take
more time than many a test. Tests that take long are better divided by pytest-xdist, while they run.
"""

import zlib
from pathlib import Path
from typing import NamedTuple

import pytest


class Part(NamedTuple):
    """One of so many parts, the first of which is 1."""

    number: int
    count: int

    def has(self, module: str) -> bool:
        """Whether a module is in this part; its name decides, so that each is in one of them."""
        return zlib.crc32(module.encode()) % self.count == self.number - 1


def parsed_part(text: str) -> Part:
    """Read `1/2`.

    Raises:
        ValueError: it is no part.
    """
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise ValueError(text)
    return Part(number, count)


class PartPlugin:
    """A pytest plugin."""

    def __init__(self, part: Part, root: Path) -> None:
        """Take the modules below `root` that are in this part."""
        self._part = part
        self._root = root

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Pass over the modules of others."""
        if not collection_path.name.startswith("test_") or collection_path.is_dir():
            return None
        name = collection_path.relative_to(self._root).as_posix()
        return None if self._part.has(name) else True

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Succeed with nothing to do: what was picked is in another part."""
        if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK
