from pathlib import Path

from headrace.broker.node.lock_names import lock_name


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
