"""Fails a run in which an event loop, or a node in a process of its own, met an exception that nobody expected.

The loop's own handler only logs: a test would pass though a task of the broker has died. It is told at the end of the
run, with the test during which it came: a task that nobody read is reported when it is collected, perhaps later.
Of a process, its log tells when it ends. A test that brings some about on purpose is marked `unexpected_errors`. Of
threads, pytest tells by itself.
"""

import gc
import logging
import re
import traceback
from collections.abc import Iterator

import pytest

from tests.environment import processes

MARKER = "unexpected_errors"
MAX_KEPT = 20  # texts; more are counted
_KEY = "headrace_unexpected_errors"
# A task of a test itself, which did not care how it ended.
_OF_A_TEST = re.compile(r"never retrieved\n.* defined at \S*/tests/")
# What a node reports as such, and what was not even reported; a bucket's client may raise anything.
_OF_A_NODE = re.compile(
    r'^.*"msg": "unexpected error(?! in the client of the bucket).*|^Traceback .*(?:\n.*){0,40}|^Exception ignored.*',
    re.MULTILINE,
)
MAX_LINE_CHARACTERS = 4_000


class UnexpectedErrorsPlugin(logging.Handler):
    """A pytest plugin; as a handler it takes what the loop's own exception handler logs."""

    def __init__(self, config: pytest.Config, *, watched: tuple[str, ...] = ("",)) -> None:
        """Watch the tests whose ids begin with one of these."""
        super().__init__(logging.ERROR)
        self._watched = watched
        self._config = config
        self._test = "before the first test"
        self._is_ignored = False
        self._count = 0
        self._kept: list[str] = []

    def pytest_sessionstart(self) -> None:
        """Listen from now on."""
        logging.getLogger("asyncio").addHandler(self)
        processes.log_readers.append(self._read_log)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Remember which test runs."""
        self._test = item.nodeid
        is_watched = item.nodeid.startswith(self._watched)
        if self._is_ignored and is_watched:
            gc.collect()  # what is reported only then is of tests before this one
        self._is_ignored = not is_watched or item.get_closest_marker(MARKER) is not None
        return (yield)

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or self._is_ignored or _OF_A_TEST.search(record.getMessage()):
            return
        trace = "".join(traceback.format_exception(error)[-3:])
        self._keep(f"{record.getMessage()}\n{trace}")

    def _read_log(self, written: str) -> None:
        if not self._is_ignored:
            for found in _OF_A_NODE.finditer(written):
                self._keep(found[0][:MAX_LINE_CHARACTERS])

    def _keep(self, text: str) -> None:
        self._count += 1
        if len(self._kept) < MAX_KEPT:
            self._kept.append(f"{self._test}\n{text}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run; a process of pytest-xdist hands what it has to the one that prints."""
        logging.getLogger("asyncio").removeHandler(self)
        processes.log_readers.remove(self._read_log)
        if hasattr(self._config, "workeroutput"):
            self._config.workeroutput[_KEY] = (self._count, self._kept)
        elif self._count and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: object) -> None:
        """Take in what a process of pytest-xdist hands over."""
        count, kept = getattr(node, "workeroutput", {}).get(_KEY, (0, []))
        self._count += count
        self._kept += kept

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell what has come."""
        if self._count:
            terminalreporter.section(f"{self._count} exceptions that nobody expected", red=True)
            for text in self._kept:
                terminalreporter.line(text)
