"""The metadata log after a power cut at any moment: everything acknowledged, nothing invented."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from metadata.errors import MetadataLogCorruptError
from metadata.log.entry_format import SEGMENT_HEADER_BYTES
from metadata.log.files import LogFiles
from metadata.records.entry import LogEntry, SnapshotId

SECTOR = 512

groups = st.lists(st.integers(0, 3 * SECTOR), min_size=1, max_size=4)


class Disk:
    """A directory, and what of its last segment is durable: all but the write under way."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="metadata-log-"))
        self.acknowledged = []
        self.maybe = []  # written when the power went: may be there, in part or whole

    def remove(self):
        shutil.rmtree(self.directory)

    def open(self):
        files = LogFiles(self.directory, os.fsync)
        return files, files.open(life_id=len(self.acknowledged) + 1)

    def append(self, files, sizes):
        """Append a group; it is acknowledged."""
        entries = self._entries(files.last_index, sizes)
        files.append(entries)
        self.acknowledged += entries

    def append_and_cut(self, files, sizes, present, rest):
        """Cut the power during a write: of its sectors only some have reached the disk."""
        path = max(self.directory.glob("*.log"))
        before = path.read_bytes()
        entries = self._entries(files.last_index, sizes)
        files.append(entries)
        files.close()
        after = bytearray(path.read_bytes())
        first = len(before) // SECTOR
        for sector in range(first, -(-len(after) // SECTOR)):
            start = max(sector * SECTOR, len(before))
            end = min((sector + 1) * SECTOR, len(after))
            if not present[(sector - first) % len(present)]:
                after[start:end] = bytes(end - start)
        if rest == "shorter":
            after = after[: len(before) + (len(after) - len(before)) // 2]
        elif rest == "longer":
            after += bytes(SECTOR)
        path.write_bytes(after)
        self.maybe = entries

    def check(self, recovered):
        """All that was acknowledged, then a part of the last write from its beginning."""
        found = recovered.entries
        known = len(self.acknowledged)
        assert found[:known] == self.acknowledged
        assert found[known:] == self.maybe[: len(found) - known]
        self.acknowledged, self.maybe = list(found), []

    def _entries(self, last_index, sizes):
        # The content tells one attempt at an index from another.
        return [
            LogEntry(last_index + 1 + it, 1, os.urandom(4) + bytes(size))
            for it, size in enumerate(sizes)
        ]


@settings(max_examples=150, deadline=None)
@given(
    lives=st.lists(
        st.tuples(
            st.lists(groups, max_size=3),
            groups,
            st.lists(st.booleans(), min_size=1, max_size=5),
            st.sampled_from(["as written", "shorter", "longer"]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_sectors_of_the_last_write_may_be_missing_again_and_again(lives):
    disk = Disk()
    try:
        for whole, cut, present, rest in lives:
            files, recovered = disk.open()
            disk.check(recovered)
            for sizes in whole:
                disk.append(files, sizes)
            disk.append_and_cut(files, cut, present, rest)
        files, recovered = disk.open()
        disk.check(recovered)
        files.close()
        files, recovered = disk.open()
        assert recovered.cut_off_bytes == 0, "repaired once"
        disk.check(recovered)
        files.close()
    finally:
        disk.remove()


@settings(max_examples=100, deadline=None)
@given(sizes=st.lists(groups, min_size=2, max_size=4), data=st.data())
def test_one_flipped_bit_is_never_believed(sizes, data):
    """Refused, or (in what no later write proves) cut off; never other bytes than were written."""
    disk = Disk()
    try:
        files, _ = disk.open()
        for group in sizes:
            disk.append(files, group)
        files.close()
        path = next(disk.directory.glob("*.log"))
        content = bytearray(path.read_bytes())
        position = data.draw(st.integers(SEGMENT_HEADER_BYTES, len(content) - 1))
        content[position] ^= 1 << data.draw(st.integers(0, 7))
        path.write_bytes(content)
        try:
            files, recovered = disk.open()
        except MetadataLogCorruptError:
            assert path.read_bytes() == content, "nothing is changed"
            return
        files.close()
        kept = len(disk.acknowledged) - len(sizes[-1])
        assert recovered.entries == disk.acknowledged[: len(recovered.entries)]
        assert len(recovered.entries) >= kept
    finally:
        disk.remove()


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(
        st.one_of(
            groups.map(lambda it: ("append", it)),
            st.integers(0, 3).map(lambda it: ("snapshot", it)),
            st.just(("reopen", 0)),
        ),
        max_size=12,
    )
)
def test_snapshots_and_restarts_in_any_order_lose_nothing(steps):
    disk = Disk()
    try:
        files, _ = disk.open()
        snapshot_index = 0
        for what, argument in steps:
            if what == "append":
                disk.append(files, argument)
            elif what == "snapshot":
                index = max(snapshot_index, files.last_index - argument)
                if index == 0:
                    continue
                files.roll(index)
                files.snapshot_temporary(SnapshotId(index, 1)).write_bytes(b"%d" % index)
                files.adopt_snapshot(SnapshotId(index, 1))
                snapshot_index = index
            else:
                files.close()
                files, recovered = disk.open()
                assert recovered.entries == disk.acknowledged[snapshot_index:]
                expected = b"%d" % snapshot_index if snapshot_index else None
                assert recovered.snapshot == expected
        files.close()
    finally:
        disk.remove()
