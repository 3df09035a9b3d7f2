import os
import stat
from pathlib import Path

import pytest

from headrace.metadata.errors import MetadataLogCorruptError, MetadataLogFailedError
from headrace.metadata.log.contents import INSTALL_SUFFIX, SNAPSHOT_SUFFIX, has_log
from headrace.metadata.log.entry_format import (
    FRAME_HEADER_BYTES,
    SEGMENT_HEADER_BYTES,
)
from headrace.metadata.log.files import LogFiles
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.records.entry import LogEntry, SnapshotId


def entry(index, term=1):
    return LogEntry(index, term, b"payload %d" % index)


def opened(directory, sync=lambda _: None):
    files = LogFiles(OsDirectory(directory, sync))
    recovered = files.open(segment_id=77)
    return files, recovered


def written(directory, *groups):
    """Append groups of entries to the directory's log."""
    files, recovered = opened(directory)
    index = files.last_index
    for size in groups:
        files.append([entry(index + it) for it in range(1, size + 1)])
        index += size
    files.close()
    return recovered


def temporary(files, snapshot_id, suffix=SNAPSHOT_SUFFIX):
    return files._directory.path / files.snapshot_temporary(snapshot_id, suffix)


def snapshot(files, index, content=b"snapshot"):
    snapshot_id = SnapshotId(index, 1)
    temporary(files, snapshot_id).write_bytes(content)
    files.adopt_snapshot(snapshot_id)


def first_bytes(whole, entries):
    """So many entries from the beginning of a segment on."""
    end = SEGMENT_HEADER_BYTES
    for _ in range(entries):
        end += FRAME_HEADER_BYTES + int.from_bytes(whole[end + 8 : end + 12], "big")
    return whole[:end]


def names(directory, suffix):
    return sorted(int(it.name[:20]) for it in directory.glob("0*" + suffix))


def indexes(recovered):
    return [it.index for it in recovered.entries]


def test_an_empty_directory_begins_at_entry_one(tmp_path):
    files, recovered = opened(tmp_path)

    assert recovered == (None, [], 0)
    assert files.last_index == 0
    assert has_log(OsDirectory(tmp_path))
    files.close()


def test_what_was_appended_is_read_back(tmp_path):
    written(tmp_path, 1, 3)
    written(tmp_path, 2)

    files, recovered = opened(tmp_path)

    assert recovered.entries == [entry(it) for it in range(1, 7)]
    assert files.last_index == 6
    assert recovered.cut_off_bytes == 0
    files.close()


def test_an_append_is_synced_before_it_returns(tmp_path):
    synced = []
    files, _ = opened(tmp_path, lambda it: synced.append(os.fstat(it).st_size))
    synced.clear()

    files.append([entry(1)])

    assert synced == [files.log_bytes]
    files.close()


def test_a_log_cut_off_anywhere_loses_only_what_was_cut(tmp_path):
    """A crash in the middle of a write, at every byte; then life goes on."""
    source = tmp_path / "source"
    source.mkdir()
    written(source, 2, 2)
    whole = next(source.glob("*.log")).read_bytes()
    name = next(source.glob("*.log")).name

    for length in range(SEGMENT_HEADER_BYTES, len(whole) + 1):
        directory = tmp_path / str(length)
        directory.mkdir()
        (directory / name).write_bytes(whole[:length])
        files, recovered = opened(directory)
        kept = indexes(recovered)
        assert kept == list(range(1, len(kept) + 1))
        assert recovered.cut_off_bytes == length - len(first_bytes(whole, len(kept)))
        files.append([entry(len(kept) + 1)])
        files.close()
        files, recovered = opened(directory)
        assert indexes(recovered) == [*kept, len(kept) + 1]
        assert recovered.cut_off_bytes == 0
        files.close()


def test_damage_in_the_middle_is_refused_and_nothing_is_changed(tmp_path):
    written(tmp_path, 1, 1, 1)
    path = next(tmp_path.glob("*.log"))
    data = bytearray(path.read_bytes())
    data[SEGMENT_HEADER_BYTES + 40] ^= 1
    path.write_bytes(data)

    with pytest.raises(MetadataLogCorruptError, match=r"entry 1 .* damaged"):
        opened(tmp_path)

    assert path.read_bytes() == data


def test_behind_a_cut_the_log_goes_on_in_another_segment(tmp_path):
    """The rest of the old tail can then never stand behind the new entries, nor between them."""
    written(tmp_path, 1)
    path = next(tmp_path.glob("*.log"))
    whole = path.read_bytes() + b"unfinished"
    path.write_bytes(whole)

    files, recovered = opened(tmp_path)

    assert recovered.cut_off_bytes == len(b"unfinished")
    assert names(tmp_path, ".log") == [1, 2]
    files.append([entry(2)])
    assert path.read_bytes() == whole
    files.close()
    assert indexes(opened(tmp_path)[1]) == [1, 2]


def test_a_tail_behind_no_entry_at_all_goes_away(tmp_path):
    written(tmp_path)
    path = next(tmp_path.glob("*.log"))
    path.write_bytes(path.read_bytes() + b"unfinished")

    files, recovered = opened(tmp_path)

    assert recovered == (None, [], len(b"unfinished"))
    assert path.stat().st_size == SEGMENT_HEADER_BYTES
    files.close()


def test_what_is_read_at_the_end_is_written_once_more_and_synced(tmp_path, monkeypatch):
    """After a kill before the sync, or a sync that failed, it may be in the memory only."""
    written(tmp_path, 1, 2)
    path = next(tmp_path.glob("*.log"))
    whole = path.read_bytes()
    done = []
    real = os.pwrite

    def pwrite(descriptor, data, position):
        done.append((bytes(data), position))
        return real(descriptor, data, position)

    monkeypatch.setattr(os, "pwrite", pwrite)
    files, _ = opened(tmp_path, lambda it: done.append(os.fstat(it).st_ino))
    files.close()

    last_group_at = len(first_bytes(whole, 1))
    assert done[-2:] == [(whole[last_group_at:], last_group_at), path.stat().st_ino]


@pytest.mark.parametrize("failing", ["write", "sync"])
def test_after_a_failure_nothing_is_accepted(tmp_path, failing, monkeypatch):
    """There is no second try of an fsync."""
    fail = False

    def sync(descriptor):
        if fail and failing == "sync":
            raise OSError(5, "Input/output error")
        os.fsync(descriptor)

    real = os.pwrite

    def pwrite(descriptor, data, position):
        if fail and failing == "write":
            raise OSError(28, "No space left on device")
        return real(descriptor, data, position)

    monkeypatch.setattr(os, "pwrite", pwrite)
    files, _ = opened(tmp_path, sync)
    files.append([entry(1)])
    fail = True
    with pytest.raises(MetadataLogFailedError):
        files.append([entry(2)])
    fail = False
    with pytest.raises(MetadataLogFailedError):
        files.append([entry(2)])
    with pytest.raises(MetadataLogFailedError):
        files.roll(1)
    files.close()

    files, recovered = opened(tmp_path)
    assert indexes(recovered)[:1] == [1]
    files.close()


def test_short_writes_are_continued(tmp_path, monkeypatch):
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, bytes(data)[:7], at))

    written(tmp_path, 2)
    monkeypatch.undo()

    files, recovered = opened(tmp_path)
    assert indexes(recovered) == [1, 2]
    files.close()


# Snapshots


def test_a_snapshot_takes_the_place_of_the_log_before_it(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(1), entry(2)])
    files.roll(1)
    files.append([entry(3)])
    snapshot(files, 2)
    assert names(tmp_path, ".log") == [3]
    files.roll(2)
    files.append([entry(4)])
    snapshot(files, 3)
    files.close()
    assert names(tmp_path, ".log") == [4]
    assert names(tmp_path, ".checkpoint") == [3]

    files, recovered = opened(tmp_path)
    assert recovered.snapshot == b"snapshot"
    assert indexes(recovered) == [4]
    assert files.last_index == 4
    files.close()


def test_entries_that_came_while_the_snapshot_was_written_are_kept(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(it) for it in range(1, 6)])
    files.roll(1)
    files.append([entry(6)])
    snapshot(files, 3)
    files.close()

    files, recovered = opened(tmp_path)
    assert indexes(recovered) == [4, 5, 6]
    files.close()


def test_rolling_an_empty_segment_does_nothing(tmp_path):
    files, _ = opened(tmp_path)
    files.roll(1)
    files.append([entry(1)])
    files.roll(2)
    files.roll(3)
    files.close()

    assert names(tmp_path, ".log") == [1, 2]


def test_parts_of_a_snapshot_are_read(tmp_path):
    files, _ = opened(tmp_path)
    assert files.read_snapshot(1, 0, 10) is None
    files.append([entry(1)])
    files.roll(1)
    snapshot(files, 1, b"0123456789")

    assert files.read_snapshot(1, 0, 4) == (10, b"0123")
    assert files.read_snapshot(1, 8, 4) == (10, b"89")
    assert files.read_snapshot(1, 99, 4) == (10, b"")
    files.close()


def crash_states(directory):
    """What a crash may leave of the steps of a snapshot: each is a list of changes to the files."""

    def unfinished(target):
        (target / "00000000000000000009-00000000000000000001.checkpoint.tmp").write_bytes(b"half")

    def older_snapshot_left(target):
        (target / "00000000000000000001-00000000000000000001.checkpoint").write_bytes(b"old")

    def older_segment_left(target):
        (target / "00000000000000000001.log").write_bytes(b"whatever")

    def unfinished_segment(target):
        (target / "00000000000000000009.log.tmp").write_bytes(b"HRML")

    return [unfinished, older_snapshot_left, older_segment_left, unfinished_segment]


@pytest.mark.parametrize("leave", crash_states(None), ids=lambda it: it.__name__)
def test_what_a_crash_leaves_is_cleared_away(tmp_path, leave):
    files, _ = opened(tmp_path)
    files.append([entry(1), entry(2)])
    files.roll(1)
    files.append([entry(3)])
    snapshot(files, 2)
    files.close()
    before = sorted(it.name for it in tmp_path.iterdir())
    leave(tmp_path)

    files, recovered = opened(tmp_path)

    assert recovered.snapshot == b"snapshot"
    assert indexes(recovered) == [3]
    assert sorted(it.name for it in tmp_path.iterdir()) == before
    files.close()


def test_a_crash_right_after_rolling(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(1)])
    files.roll(1)
    files.close()

    files, recovered = opened(tmp_path)
    assert indexes(recovered) == [1]
    files.append([entry(2)])
    files.close()
    assert indexes(opened(tmp_path)[1]) == [1, 2]


@pytest.mark.parametrize("lost", [1, 3, 5])
def test_a_missing_segment_is_refused(tmp_path, lost):
    files, _ = opened(tmp_path)
    for index in (1, 3, 5):
        files.append([entry(index), entry(index + 1)])
        files.roll(index)
    files.close()
    (tmp_path / f"{lost:020d}.log").unlink()

    with pytest.raises(MetadataLogCorruptError):
        opened(tmp_path)


def test_a_snapshot_without_any_segment_is_refused(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(1)])
    files.roll(1)
    snapshot(files, 1)
    files.close()
    for path in tmp_path.glob("*.log"):
        path.unlink()

    with pytest.raises(MetadataLogCorruptError):
        opened(tmp_path)


def test_a_log_that_ends_before_its_snapshot_is_refused(tmp_path):
    written(tmp_path, 1, 1)
    (tmp_path / "00000000000000000005-00000000000000000001.checkpoint").write_bytes(b"")

    with pytest.raises(MetadataLogCorruptError):
        opened(tmp_path)


def test_an_invalid_tail_before_another_segment_is_refused(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(1)])
    files.append([entry(2)])
    files.roll(1)
    files.close()
    path = tmp_path / f"{1:020d}.log"
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(MetadataLogCorruptError):
        opened(tmp_path)


def test_a_segment_under_a_wrong_name_is_refused(tmp_path):
    written(tmp_path, 1)
    (tmp_path / f"{1:020d}.log").rename(tmp_path / f"{2:020d}.log")

    with pytest.raises(MetadataLogCorruptError):
        opened(tmp_path)


def test_foreign_files_are_left_alone(tmp_path):
    for name in ("lost+found", "notes.log", "x.checkpoint", "12.log"):
        (tmp_path / name).write_bytes(b"mine")
    files, recovered = opened(tmp_path)

    assert recovered.entries == []
    assert (tmp_path / "notes.log").read_bytes() == b"mine"
    files.close()


def test_a_roll_that_failed_half_way_accepts_nothing_more(tmp_path):
    """The new segment may be there after a restart: an entry must not go into the old one then."""
    fail_directory_sync = False

    def sync(descriptor):
        if fail_directory_sync and stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(5, "Input/output error")
        os.fsync(descriptor)

    files, _ = opened(tmp_path, sync)
    files.append([entry(1)])
    fail_directory_sync = True
    with pytest.raises(OSError, match="Input/output"):
        files.roll(1)
    with pytest.raises(MetadataLogFailedError):
        files.append([entry(2)])
    files.close()

    files, recovered = opened(tmp_path)
    assert indexes(recovered) == [1]
    files.append([entry(2)])
    files.close()


def test_a_roll_that_failed_early_leaves_the_log_working(tmp_path):
    fail = False

    def sync(descriptor):
        if fail:
            raise OSError(28, "No space left on device")
        os.fsync(descriptor)

    files, _ = opened(tmp_path, sync)
    files.append([entry(1)])
    fail = True
    with pytest.raises(OSError, match="No space"):
        files.roll(1)
    fail = False
    files.append([entry(2)])
    files.close()

    assert indexes(opened(tmp_path)[1]) == [1, 2]


def append(files, *entries):
    files.append(entries)


# Cuts


def test_a_cut_removes_an_entry_and_all_behind_it(tmp_path):
    files, _ = opened(tmp_path)
    append(files, *(entry(it) for it in range(1, 6)))

    files.truncate(3, 78)
    assert files.last_index == 2
    append(files, entry(3, 2), entry(4, 2))
    files.close()

    files, recovered = opened(tmp_path)
    assert recovered.entries == [entry(1), entry(2), entry(3, 2), entry(4, 2)]
    assert recovered.cut_off_bytes == 0
    append(files, entry(5, 2))
    files.close()
    assert indexes(opened(tmp_path)[1]) == [1, 2, 3, 4, 5]


def test_cuts_over_segments_in_any_order(tmp_path):
    """Each again and again below, at and above the ones before."""
    files, _ = opened(tmp_path)
    expected = []
    for term, (cut, number) in enumerate(
        [(1, 6), (4, 3), (5, 1), (5, 2), (2, 5), (7, 0), (1, 0), (1, 4), (3, 3)], start=1
    ):
        files.truncate(cut, term)
        expected = expected[: cut - 1]
        new = [entry(cut + it, term) for it in range(number)]
        if new:
            files.append(new)
        expected += new
        if term % 2:
            files.roll(100 + term)
        files.close()
        files, recovered = opened(tmp_path)
        assert recovered.entries == expected
    files.close()


def test_a_cut_behind_the_end_does_nothing(tmp_path):
    files, _ = opened(tmp_path)
    append(files, entry(1))
    files.truncate(2, 78)
    files.close()
    assert names(tmp_path, ".log") == [1]


def test_a_cut_into_the_snapshot_is_a_mistake(tmp_path):
    files, _ = opened(tmp_path)
    append(files, entry(1), entry(2))
    files.roll(1)
    snapshot(files, 2)
    with pytest.raises(AssertionError):
        files.truncate(2, 78)
    files.close()


def test_a_segment_that_was_cut_is_not_written_again(tmp_path):
    """A frame of before at the place of one of after would be believed."""
    files, _ = opened(tmp_path)
    append(files, entry(1), entry(2))
    first = next(tmp_path.glob("*.log"))
    before = first.read_bytes()
    files.truncate(2, 78)
    append(files, entry(2, 2))
    files.close()
    assert first.read_bytes() == before

    first.write_bytes(before[:-1])  # what does not count may be damaged
    assert opened(tmp_path)[1].entries == [entry(1), entry(2, 2)]


def test_an_old_segment_behind_a_cut_does_not_count(tmp_path):
    """Whose deletion was lost in a crash, whatever is in it."""
    files, _ = opened(tmp_path)
    append(files, entry(1), entry(2))
    files.roll(1)
    append(files, entry(3))
    second = tmp_path / f"{3:020d}.log"
    old = second.read_bytes()
    files.truncate(2, 78)
    assert not second.exists()
    files.close()
    second.write_bytes(old)

    files, recovered = opened(tmp_path)
    assert indexes(recovered) == [1]
    assert not second.exists()
    append(files, entry(2, 2), entry(3, 2))
    files.roll(2)
    append(files, entry(4, 2))
    files.close()
    assert indexes(opened(tmp_path)[1]) == [1, 2, 3, 4]


def test_a_cut_that_fails_ends_all_writing(tmp_path):
    fail = False

    def sync(descriptor):
        if fail:
            raise OSError(28, "No space left on device")
        os.fsync(descriptor)

    files, _ = opened(tmp_path, sync)
    append(files, entry(1), entry(2))
    fail = True
    with pytest.raises(MetadataLogFailedError, match=r"No space left.*restart the node"):
        files.truncate(2, 78)
    fail = False
    with pytest.raises(MetadataLogFailedError):
        append(files, entry(3))
    files.close()
    assert indexes(opened(tmp_path)[1]) == [1, 2]


# Snapshots of the leader


def install(files, index, term=2, content=b"theirs"):
    snapshot_id = SnapshotId(index, term)
    temporary(files, snapshot_id, INSTALL_SUFFIX).write_bytes(content)
    files.install_snapshot(snapshot_id, 99)


@pytest.mark.parametrize("index", [2, 3, 5, 9])
def test_an_installed_snapshot_takes_the_place_of_the_whole_log(tmp_path, index):
    """Also of what lies behind it: scylladb #9551."""
    files, _ = opened(tmp_path)
    append(files, entry(1))
    files.roll(1)
    snapshot(files, 1)
    append(files, *(entry(it) for it in range(2, 5)))
    files.roll(2)
    append(files, entry(5))
    install(files, index)
    assert (files.last_index, files.snapshot_id) == (index, SnapshotId(index, 2))
    append(files, entry(index + 1, 2))
    files.close()

    assert names(tmp_path, "") == [index, index + 1]
    files, recovered = opened(tmp_path)
    assert recovered == (b"theirs", [entry(index + 1, 2)], 0)
    assert files.read_snapshot(index, 0, 10) == (6, b"theirs")
    files.close()


def test_two_snapshots_in_a_row(tmp_path):
    files, _ = opened(tmp_path)
    install(files, 4)
    install(files, 9, content=b"newer")
    files.close()
    files, recovered = opened(tmp_path)
    assert recovered == (b"newer", [], 0)
    assert files.last_index == 9
    files.close()


def test_a_snapshot_of_our_own_that_another_has_overtaken(tmp_path):
    files, _ = opened(tmp_path)
    append(files, entry(1), entry(2))
    files.roll(1)
    temporary(files, SnapshotId(2, 1)).write_bytes(b"ours")
    install(files, 9)
    files.adopt_snapshot(SnapshotId(2, 1))
    files.close()
    assert names(tmp_path, "") == [9, 10]
    assert opened(tmp_path)[1].snapshot == b"theirs"


def test_an_installation_that_fails_early_leaves_the_log_working(tmp_path):
    files, _ = opened(tmp_path)
    append(files, entry(1))
    with pytest.raises(FileNotFoundError):
        files.install_snapshot(SnapshotId(9, 2), 99)
    append(files, entry(2))
    files.close()
    assert indexes(opened(tmp_path)[1]) == [1, 2]


def test_an_installation_that_fails_half_way_is_finished_by_the_next_start(tmp_path):
    calls = 0

    def sync(descriptor):
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(5, "Input/output error")
        os.fsync(descriptor)

    for failing in range(1, 5):
        directory = tmp_path / str(failing)
        directory.mkdir()
        calls = -99
        files, _ = opened(directory, sync)
        append(files, entry(1))
        calls = 0
        with pytest.raises(MetadataLogFailedError):
            install(files, 9)
        with pytest.raises(MetadataLogFailedError):
            append(files, entry(2))
        files.close()
        files, recovered = opened(directory)
        assert recovered == (b"theirs", [], 0)
        append(files, entry(10, 2))
        files.close()


def open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_snapshot_that_is_being_read_outlives_the_next_one(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(it) for it in (1, 2, 3)])
    before = open_files()
    snapshot(files, 1, b"0123456789")
    assert files.read_snapshot(1, 0, 4) == (10, b"0123")

    snapshot(files, 2, b"abcdef")
    assert names(tmp_path, ".checkpoint") == [2]
    assert files.read_snapshot(1, 4, 6) == (10, b"456789")
    assert files.read_snapshot(2, 0, 9) == (6, b"abcdef")

    snapshot(files, 3, b"xyz")
    assert files.read_snapshot(1, 4, 6) is None, "at most one is kept besides the newest"
    assert files.read_snapshot(2, 3, 9) == (6, b"def")
    for _ in range(3):
        assert files.read_snapshot(3, 0, 9) == (3, b"xyz")
    assert open_files() == before + 2
    files.close()
    assert open_files() == before - 1, "the segment's, too"


def test_a_snapshot_that_nobody_reads_is_not_kept(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(it) for it in (1, 2)])
    before = open_files()
    snapshot(files, 1)
    snapshot(files, 2)
    assert files.read_snapshot(1, 0, 9) is None
    assert open_files() == before
    files.close()


def test_a_snapshot_that_is_being_read_outlives_one_that_replaces_the_log(tmp_path):
    files, _ = opened(tmp_path)
    files.append([entry(1)])
    snapshot(files, 1, b"ours")
    assert files.read_snapshot(1, 0, 2) == (4, b"ou")
    theirs = SnapshotId(9, 1)
    temporary(files, theirs, INSTALL_SUFFIX).write_bytes(b"theirs")
    files.install_snapshot(theirs, segment_id=5)
    assert files.read_snapshot(1, 2, 2) == (4, b"rs")
    assert files.read_snapshot(9, 0, 9) == (6, b"theirs")
    files.close()
