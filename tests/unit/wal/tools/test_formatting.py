"""Formatting: what it refuses, and what is left when it dies at any moment."""

import os
import random
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.wal.device.file_device import open_file
from headrace.wal.errors import WalDeviceError, WalLockedError, WalVersionError
from headrace.wal.layout import PAGE_BYTES, RING_POSITION, align_down
from headrace.wal.ring.content import END_BYTES, Content, Kind, examine
from headrace.wal.tools.formatting import Formatter, WalNotEmptyError
from headrace.wal.tools.inspection import OfflineDevice
from tests.unit.wal.log_files import LOG, graceful, image, two_blocks, written
from tests.unit.wal.test_layout import of_version

MIB = 1024 * 1024


def judged(content: bytes | bytearray) -> Content:
    view = memoryview(content)
    end = align_down(len(view))
    return examine(view[: min(end, END_BYTES)], view[max(0, end - END_BYTES) : end], len(view))


def format_file(path: str, capacity: int | None = None, *, force: bool = False) -> list[int]:
    """Format as the command does; return what was told of the progress."""
    told: list[int] = []
    with closing(Formatter(path)) as formatter:
        plan = formatter.plan(capacity, force=force)
        formatter.run(plan, told.append)
    assert sum(told) == plan.total_bytes
    return told


def ext4_image(size: int = 4 * MIB) -> bytes:
    content = bytearray(b"\xaa" * size)
    content[:0x438] = bytes(0x438)
    content[0x438:0x43A] = b"\x53\xef"
    return bytes(content)


def with_zeros(position: int, size: int, content: bytes | bytearray) -> bytearray:
    changed = bytearray(content)
    changed[position : position + size] = bytes(size)
    return changed


# --- what it does


def test_a_new_file_is_allocated_and_zeroed(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    format_file(str(path), 3 * MIB)
    assert path.read_bytes() == bytes(3 * MIB)
    assert path.stat().st_blocks * 512 >= 3 * MIB
    with path.open("rb") as file:
        assert os.lseek(file.fileno(), 0, os.SEEK_HOLE) == 3 * MIB, "written, not only reserved"


@pytest.mark.parametrize(
    ("size", "capacity", "left"),
    [
        (4 * MIB, None, 4 * MIB),
        (4 * MIB, 2 * MIB, 2 * MIB),
        (4 * MIB, 6 * MIB, 6 * MIB),
        (4 * MIB, 3 * MIB + 100, 3 * MIB + 100),
    ],
)
def test_a_file_gets_the_size_asked_for(
    size: int, capacity: int | None, left: int, tmp_path: Path
) -> None:
    path = tmp_path / "wal"
    format_file(written(path, ext4_image(size)), capacity, force=True)
    content = path.read_bytes()
    assert len(content) == left
    assert not content[: align_down(left)].strip(b"\0")
    assert judged(content).kind is Kind.BLANK


def test_of_a_larger_device_the_log_and_the_end_are_zeroed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other formats keep copies at the end; the middle is nobody's."""
    path = written(tmp_path / "disk", ext4_image(8 * MIB))
    with closing(Formatter(path)) as formatter:
        monkeypatch.setattr(formatter._file, "is_file", False)
        formatter.run(formatter.plan(2 * MIB, force=True), lambda done: None)
        formatter._file.is_file = True
    content = Path(path).read_bytes()
    assert content == bytes(2 * MIB) + b"\xaa" * (5 * MIB) + bytes(MIB)
    assert judged(content).kind is Kind.BLANK


@pytest.mark.parametrize("prepare", [lambda c: c, lambda c: with_zeros(0, RING_POSITION, c)])
def test_what_is_blank_may_be_formatted_again(
    prepare: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    format_file(written(tmp_path / "wal", bytes(prepare(bytes(2 * MIB)))))


# --- what it refuses


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (ext4_image(), r"ext4 file system \(at byte 1080\)"),
        (b"a note", "a file of 6 bytes"),
        (bytes(two_blocks()), "node 3 of cluster 'mkU3OEVBNTcwNTJENDM2Qg'"),
        (bytes(with_zeros(0, RING_POSITION, two_blocks())), "without a valid superblock"),
        (bytes(with_zeros(RING_POSITION, 100, two_blocks())), "may not be in the bucket"),
        (of_version(2) + bytes(2 * MIB), "format version 2"),
    ],
    ids=["ext4", "note", "records", "no superblock", "damage", "version"],
)
def test_without_force_nothing_that_may_be_needed_is_touched(
    content: bytes, match: str, tmp_path: Path
) -> None:
    path = tmp_path / "wal"
    with pytest.raises(WalNotEmptyError, match=match):
        format_file(written(path, content), max(2 * MIB, len(content)))
    assert path.read_bytes() == content
    format_file(str(path), 2 * MIB, force=True)
    assert judged(path.read_bytes()).kind is Kind.BLANK


@pytest.mark.parametrize(
    "content",
    [
        bytes(image(log=graceful())),
        bytes(two_blocks(graceful())),
        bytes(two_blocks(replace(LOG, trim_offset=8000, confirmed_offset=8192))),
        bytes(image()),
    ],
    ids=["graceful", "graceful after records", "released", "never appended to"],
)
def test_a_log_without_records_that_are_needed_needs_no_force(
    content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "wal"
    format_file(written(path, content))
    assert judged(path.read_bytes()).kind is Kind.BLANK


def test_a_log_in_use_is_refused_even_with_force(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", bytes(two_blocks()))
    with closing(open_file(path, writable=True)), pytest.raises(WalLockedError):
        format_file(path, force=True)


def test_everything_is_read_before_it_is_called_blank(tmp_path: Path) -> None:
    """A start looks at samples; this would erase what is none."""
    path = tmp_path / "wal"
    content = bytes(3 * MIB - 1) + b"x" + bytes(3 * MIB)
    with OfflineDevice.open(written(path, content)) as device:
        assert device.content().kind is Kind.BLANK
    told: list[int] = []
    with (
        closing(Formatter(str(path))) as formatter,
        pytest.raises(WalNotEmptyError, match=f"unknown kind .at byte {3 * MIB - 1}"),
    ):
        formatter.plan(None, force=False, on_read=told.append)
    assert path.read_bytes() == content
    assert told == [MIB], "until then"
    format_file(str(path), force=True)
    assert path.read_bytes() == bytes(6 * MIB)


@pytest.mark.parametrize("capacity", [None, 8 * PAGE_BYTES])
def test_a_size_that_makes_no_log_is_refused(capacity: int | None, tmp_path: Path) -> None:
    with pytest.raises(WalDeviceError, match=r"a capacity is needed|too small"):
        format_file(str(tmp_path / "wal"), capacity)


# --- what is left when it dies


def writes_of(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, force: bool
) -> list[tuple[int, bytes]]:
    """Format, and return every write in order."""
    writes: list[tuple[int, bytes]] = []
    real_write = os.pwritev

    def noting(fd: int, buffers: list[memoryview], position: int) -> int:
        writes.append((position, b"".join(buffers)))
        return real_write(fd, buffers, position)

    monkeypatch.setattr(os, "pwritev", noting)
    format_file(str(path), force=force)
    monkeypatch.undo()
    return writes


def torn(write: bytes, before: bytes, rng: random.Random) -> bytes:
    """Of a write under way any set of sectors may be on the device."""
    sectors = [
        (write if rng.random() < 0.5 else before)[at : at + 512] for at in range(0, len(write), 512)
    ]
    return b"".join(sectors)


@pytest.mark.parametrize("sequence", [LOG.sequence, LOG.sequence + 1])
def test_at_any_moment_it_is_the_whole_log_or_refused_or_blank(
    sequence: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the slots holds the newest superblock."""
    log = replace(LOG, sequence=sequence, capacity_bytes=3 * MIB)
    before = bytes(two_blocks(log))
    writes = writes_of(Path(written(tmp_path / "wal", before)), monkeypatch, force=True)
    rng = random.Random(sequence)
    now = bytearray(before)
    stages = [Kind.LOG, Kind.FORMATTING, Kind.BLANK]
    reached = {Kind.LOG}
    for position, data in writes:
        end = position + len(data)
        least = stages.index(judged(now).kind)
        for _ in range(20):
            crashed = now.copy()
            crashed[position:end] = torn(data, bytes(now[position:end]), rng)
            found = judged(crashed)
            reached.add(found.kind)
            assert stages.index(found.kind) >= least, "it goes back"
            if found.kind is Kind.LOG:
                assert found.superblock == log, "an older superblock is in force"
                assert crashed[RING_POSITION:] == before[RING_POSITION:], "the log has lost records"
            elif found.kind is Kind.BLANK:
                assert not bytes(crashed).strip(b"\0")
        now[position:end] = data
    assert judged(now).kind is Kind.BLANK
    assert reached == set(stages)


def test_what_was_interrupted_is_finished_without_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "wal"
    written(path, ext4_image())

    def failing(done: int) -> None:
        raise KeyboardInterrupt

    with closing(Formatter(str(path))) as formatter, pytest.raises(KeyboardInterrupt):
        formatter.run(formatter.plan(None, force=True), failing)
    assert judged(path.read_bytes()).kind is Kind.FORMATTING
    format_file(str(path))
    assert path.read_bytes() == bytes(4 * MIB)


def test_no_space_leaves_everything_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    content = bytes(image(log=graceful()))
    with pytest.raises(WalDeviceError, match="cannot allocate"):
        format_file(written(path, content), 1 << 60)
    assert path.read_bytes() == content


def test_another_version_is_told_with_its_path(tmp_path: Path) -> None:
    path = written(tmp_path / "wal", of_version(3) + bytes(2 * MIB))
    with pytest.raises(WalNotEmptyError, match=f"the WAL on {path} has format version 3") as error:
        format_file(path)
    assert isinstance(error.value.__cause__, WalVersionError)
