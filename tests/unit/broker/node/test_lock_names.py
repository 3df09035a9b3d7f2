import fcntl
from pathlib import Path

from headrace.broker.node.lock_names import free_lock, lock_name


def test_a_lock_is_named_by_its_file(tmp_path: Path) -> None:
    path, other = tmp_path / "lock", tmp_path / "other"
    path.touch()
    other.touch()
    name = lock_name(path)
    assert name
    assert name == lock_name(path)
    assert name != lock_name(other)

    other.replace(path)
    assert lock_name(path) != name, "another file at the same path"


def test_where_nothing_is_known_there_is_no_name(tmp_path: Path) -> None:
    assert lock_name(tmp_path / "none") == ""


def test_a_lock_is_free_once_its_holder_has_closed_the_file(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    with path.open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        assert free_lock(path) == ""

    assert free_lock(path) == lock_name(path) != ""
    with path.open("wb") as taken:
        fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)  # who looked keeps nothing


def test_what_cannot_be_opened_is_not_known_to_be_free(tmp_path: Path) -> None:
    assert free_lock(tmp_path / "none") == ""
