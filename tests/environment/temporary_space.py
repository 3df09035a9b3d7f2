"""The disk space that a run of the tests takes: 4 GiB at most while it goes on, 100 MB after it.

Temporary files of the tests, and of the processes that they start, are put below pytest's base directory.
What a test leaves there goes when it has passed, and the base directory goes when all have passed.
What failed tests left stays until the next run.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MAX_LEFT_BYTES = 100 * 1000 * 1000

# Where files are put by what does not look at TMPDIR: Java, and tests that need a certain file system.
SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))


def used_bytes(path: Path) -> int:
    """Return what a file or directory takes on its disk.

    A hole in a file takes nothing. Other file systems that are mounted below `path` are not counted.
    """
    try:
        top = path.lstat()
    except OSError:
        return 0
    used = top.st_blocks * 512
    links: set[int] = set()  # files with several names, which take their space once
    directories = [path] if path.is_dir() and not path.is_symlink() else []
    while directories:
        try:
            entries = list(os.scandir(directories.pop()))
        except OSError:  # it has gone meanwhile
            continue
        for entry in entries:
            if entry.is_symlink():  # pytest makes thousands
                continue
            try:
                found = entry.stat()
            except OSError:
                continue
            if found.st_dev != top.st_dev or found.st_ino in links:
                continue
            if entry.is_dir():
                directories.append(Path(entry.path))
            elif found.st_nlink > 1:
                links.add(found.st_ino)
            used += found.st_blocks * 512
    return used


class TemporarySpace:
    """A pytest plugin that keeps temporary files together, and fails a run that takes too much.

    Space is measured when each test ends, before its own files go. In the shared temporary directories
    it is measured at the end, and fails the run under CI only: elsewhere others write there, too.
    """

    def __init__(
        self,
        config: pytest.Config,
        *,
        max_peak_bytes: int,
        max_left_bytes: int = MAX_LEFT_BYTES,
        shared: tuple[Path, ...] = SHARED,
    ) -> None:
        self._config = config
        self._max_peak_bytes = max_peak_bytes
        self._max_left_bytes = max_left_bytes
        self._shared = {directory.resolve() for directory in shared if directory.is_dir()}
        self._is_worker = hasattr(config, "workerinput")  # a process of pytest-xdist
        self._foreign: set[Path] = set()
        self._peak_bytes = 0
        self._base = Path()

    def pytest_sessionstart(self) -> None:
        """Lead everything to the base directory."""
        self._foreign = set(self._in_shared_directories())
        self._base = self._config._tmp_path_factory.getbasetemp()
        if self._config.option.basetemp is None:
            _remove_former_runs(self._base)
        files = self._base / "tmp"
        files.mkdir()
        changes = pytest.MonkeyPatch()
        self._config.add_cleanup(changes.undo)
        changes.setenv("TMPDIR", str(files))
        changes.setenv("SPARK_LOCAL_DIRS", str(files))
        changes.setenv("SPARK_SUBMIT_OPTS", f"-Djava.io.tmpdir={files}")
        changes.setattr(tempfile, "tempdir", str(files))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        """Measure, and fail the test that goes beyond the limit."""
        used = used_bytes(self._base)
        is_new = used > max(self._peak_bytes, self._max_peak_bytes)
        self._peak_bytes = max(self._peak_bytes, used)
        try:
            return (yield)
        finally:
            if is_new:
                limit = _shown(self._max_peak_bytes)
                pytest.fail(
                    f"temporary files take {_shown(used)} at the end of this test; at most {limit}",
                    pytrace=False,
                )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the most that was measured."""
        if self._peak_bytes:
            terminalreporter.write_line(f"temporary files: {_shown(self._peak_bytes)} at most")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        """Measure what is left when everything has been removed, and fail the run if that is too much."""
        result = yield
        if self._is_worker or session.exitstatus != pytest.ExitCode.OK:
            return result
        left = {it: used_bytes(it) for it in [self._base, *self._new_in_shared_directories()]}
        if sum(left.values()) > self._max_left_bytes:
            writer = self._config.get_terminal_writer()
            writer.line(f"The run leaves more than {_shown(self._max_left_bytes)} on the disk:")
            for path, size in sorted(left.items(), key=lambda it: -it[1])[:10]:
                writer.line(f"  {_shown(size):>8}  {path}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return result

    def _new_in_shared_directories(self) -> list[Path]:
        if not os.environ.get("CI"):
            return []
        return [it for it in self._in_shared_directories() if it not in self._foreign]

    def _in_shared_directories(self) -> Iterator[Path]:
        for directory in self._shared:
            for path in directory.iterdir():
                if path not in self._base.parents and not path.name.startswith("pytest-of-"):
                    yield path


def _remove_former_runs(base: Path) -> None:
    """Remove what failed runs have left; what still goes on holds a lock with its process id."""
    for directory in base.parent.glob("pytest-[0-9]*"):
        if int(directory.name.removeprefix("pytest-")) >= int(base.name.removeprefix("pytest-")):
            continue
        try:
            holder = (directory / ".lock").read_text()
        except OSError:
            holder = ""
        if not (holder and Path("/proc", holder).exists()):
            shutil.rmtree(directory, ignore_errors=True)


def _shown(count: int) -> str:
    return f"{count / 1_000_000:.0f} MB"
