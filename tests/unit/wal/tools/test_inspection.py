"""Looking at a device from outside."""

import fcntl
import os
from pathlib import Path

import pytest

from headrace.wal.device import holders
from headrace.wal.device.file_device import open_file
from headrace.wal.device.holders import exclusive_lock, find_writer
from headrace.wal.errors import WalLockedError, WalVersionError
from headrace.wal.layout import FORMATTING_SLOT, PAGE_BYTES
from headrace.wal.ring.content import Content, Kind
from headrace.wal.tools.inspection import inspect
from tests.unit.wal.log_files import LOG, image, two_blocks, written
from tests.unit.wal.test_layout import of_version

# --- inspect


def test_a_log_is_described(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", two_blocks())
    found = inspect(path)
    assert isinstance(found.content, Content)
    assert found.content.superblock == LOG
    assert (found.is_file, found.size_bytes, found.sector_bytes) == (True, LOG.capacity_bytes, 0)
    assert [slot.state for slot in found.slots] == ["valid", "valid"]
    assert found.writer is None


@pytest.mark.parametrize(
    ("slot", "state"),
    [
        (bytes(PAGE_BYTES), "zeros"),
        (FORMATTING_SLOT, "being formatted"),
        (b"\x01" * PAGE_BYTES, "invalid"),
        (LOG.encode(), "invalid"),  # sequence 5 does not belong here
        (of_version(9), "format version 9"),
    ],
)
def test_each_slot_is_told(slot: bytes, state: str, tmp_path: Path) -> None:
    content = image()
    content[:PAGE_BYTES] = slot
    found = inspect(written(tmp_path / "wal", content))
    assert [it.state for it in found.slots] == [state, "valid"]


def test_another_version_is_told_and_no_error(tmp_path: Path) -> None:
    found = inspect(written(tmp_path / "wal", of_version(2) + bytes(1 << 20)))
    assert isinstance(found.content, WalVersionError)


@pytest.mark.parametrize("size", [0, 100, PAGE_BYTES, 3 * PAGE_BYTES + 7])
def test_a_file_of_any_size_can_be_looked_at(size: int, tmp_path: Path) -> None:
    found = inspect(written(tmp_path / "wal", b"x" * size))
    assert isinstance(found.content, Content)
    assert found.content.kind is (Kind.FOREIGN if size else Kind.BLANK)


def test_looking_leaves_no_trace(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", two_blocks())
    before = Path(path).stat()
    inspect(path)
    after = Path(path).stat()
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    assert Path(path).read_bytes() == two_blocks()


# --- who writes


def test_the_writer_is_named_while_it_holds_the_lock(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", two_blocks())
    writer = open_file(path, writable=True)
    found = inspect(path)
    assert found.writer is not None
    assert found.writer.pid == os.getpid()
    assert str(found.writer).startswith(f"process {os.getpid()} (")
    writer.close()
    assert inspect(path).writer is None


def test_another_files_lock_and_a_shared_one_are_not_the_writers(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", two_blocks())
    other = open_file(str(tmp_path / "other"), writable=True)
    with Path(path).open("rb") as shared:
        fcntl.flock(shared, fcntl.LOCK_SH)
        assert find_writer(shared.fileno()) is None
    other.close()


def test_lines_of_locks_are_read() -> None:
    place = "fe:00:131074"
    line = "7: FLOCK  ADVISORY  WRITE 4242 fe:00:131074 0 EOF"
    assert exclusive_lock(line, place) == 4242
    for other in (
        line.replace("WRITE", "READ"),
        line.replace("131074", "13107"),
        line.replace("FLOCK", "POSIX"),
        line.replace("7:", "7: ->"),  # waits for the lock
        "",
    ):
        assert exclusive_lock(other, place) is None


def test_where_nobody_tells_the_writer_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "wal", two_blocks())
    monkeypatch.setattr(holders, "_PROC", tmp_path / "no proc")
    found = inspect(path)
    assert (found.writer, found.tells_writer) == (None, False)
    writer = open_file(path, writable=True)
    with pytest.raises(WalLockedError, match="another process writes to the WAL"):
        open_file(path, writable=True)
    writer.close()
