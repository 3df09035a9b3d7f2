import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from headrace.metadata.log.os_directory import OsDirectory
from headrace.wal.device.file_device import open_file
from headrace.wal.device.lock_names import free_lock, lock_name


def of_wal(path: Path) -> tuple[str, Callable[[], None]]:
    """Hold the lock of a WAL; return its name, and what releases it."""
    held = open_file(str(path), writable=True)
    return held.lock_name, held.close


def of_metadata_log(path: Path) -> tuple[str, Callable[[], None]]:
    held = OsDirectory(path.parent).lock(path.name)
    return held.lock_name(), held.close


holders = pytest.mark.parametrize("hold", [of_wal, of_metadata_log])


@holders
def test_a_lock_is_free_once_its_holder_has_closed_the_file(
    tmp_path: Path, hold: Callable[[Path], tuple[str, Callable[[], None]]]
) -> None:
    path = tmp_path / "locked"
    name, close = hold(path)
    assert free_lock(path) == ""
    close()
    assert free_lock(path) == name != ""
    with path.open("wb") as taken:
        fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)  # who looked keeps nothing


def test_a_lock_is_named_by_what_is_open_and_not_by_what_lies_at_its_path(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    held = open_file(str(path), writable=True)
    path.rename(tmp_path / "away")
    path.touch()
    assert held.lock_name != free_lock(path)
    held.close()
    assert held.lock_name == "", "nothing is held any more"


def test_where_nothing_is_known_there_is_no_name(tmp_path: Path) -> None:
    assert lock_name(-1) == ""
    assert free_lock(tmp_path / "none") == ""
