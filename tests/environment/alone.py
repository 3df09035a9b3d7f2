"""Tests that measure have the machine to themselves, while processes of pytest-xdist share the others.

A test that is marked `alone` waits until the tests that run in other processes have ended, and no other one begins
before its end. Such tests are the last of a run, so that few wait for each other.

Two locks: one that tests hold while they run, and one that each test takes before that. So a test that waits to be
alone is not overtaken by those that come after it.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MARKER = "alone"


class AlonePlugin:
    """A pytest plugin."""

    def __init__(self, config: pytest.Config) -> None:
        """Keep the locks below the base directory that the processes of a run share."""
        self._config = config

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put them last."""
        items.sort(key=is_alone)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Wait for the turn of a test; its time-out begins afterwards."""
        if not hasattr(self._config, "workerinput"):  # no other process runs tests of this run
            return (yield)
        with self._turn(fcntl.LOCK_EX if is_alone(item) else fcntl.LOCK_SH):
            return (yield)

    @contextmanager
    def _turn(self, kind: int) -> Iterator[None]:
        directory: Path = self._config._tmp_path_factory.getbasetemp().parent
        with (directory / "running.lock").open("w") as running:
            with (directory / "next.lock").open("w") as following:
                fcntl.flock(following, fcntl.LOCK_EX)
                fcntl.flock(running, kind)
            yield


def is_alone(item: pytest.Item) -> bool:
    """Whether a test is marked so."""
    return item.get_closest_marker(MARKER) is not None
