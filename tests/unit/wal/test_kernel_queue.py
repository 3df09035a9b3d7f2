"""What sysfs says of the device under a path."""

import os
from pathlib import Path

import pytest

from headrace.wal.device.kernel_queue import WriteCounters, max_write_bytes, write_counters


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    """A sysfs in which the device of `tmp_path` is `disk`."""
    number = tmp_path.stat().st_dev
    (tmp_path / "sys" / "disk").mkdir(parents=True)
    link = tmp_path / "sys" / f"{os.major(number)}:{os.minor(number)}"
    link.symlink_to("disk")
    return tmp_path / "sys"


def limits(directory: Path, sectors_kib: str, segments: str) -> None:
    (directory / "queue").mkdir(parents=True)
    (directory / "queue" / "max_sectors_kb").write_text(sectors_kib)
    (directory / "queue" / "max_segments").write_text(segments)


@pytest.mark.parametrize(
    ("sectors_kib", "segments", "expected"),
    [
        ("1280\n", "128\n", 512 * 1024),
        ("128\n", "254\n", 128 * 1024),
        ("1\n", "1\n", 4096),
        ("?", "1", None),
    ],
)
def test_both_bounds_of_a_request_count(
    sysfs: Path, sectors_kib: str, segments: str, expected: int | None
) -> None:
    limits(sysfs / "disk", sectors_kib, segments)
    assert max_write_bytes(str(sysfs.parent), sysfs=sysfs) == expected


def test_a_partition_has_the_bounds_of_its_disk(sysfs: Path) -> None:
    (sysfs / "disk").rename(sysfs / "whole")
    (sysfs / "whole" / "part1").mkdir()
    (sysfs / "disk").symlink_to("whole/part1")
    limits(sysfs / "whole", "64", "128")
    assert max_write_bytes(str(sysfs.parent), sysfs=sysfs) == 64 * 1024


def test_the_counters_are_of_completed_writes(sysfs: Path) -> None:
    (sysfs / "disk" / "stat").write_text(" 11 12 13 14 15 16 17 18 19 20 21 22 23\n")
    assert write_counters(str(sysfs.parent), sysfs=sysfs) == WriteCounters(15, 17 * 512)


def test_nothing_is_known_of_what_is_not_there(sysfs: Path) -> None:
    for path in (str(sysfs.parent / "missing"), str(sysfs.parent)):
        assert max_write_bytes(path, sysfs=sysfs) is None
        assert write_counters(path, sysfs=sysfs) is None
