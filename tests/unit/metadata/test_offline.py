"""A metadata directory read from outside: beside its owner, and without touching it."""

from uuid import UUID

import pytest

from headrace.metadata.errors import MetadataIdentityError, MetadataLogCorruptError
from headrace.metadata.log.files import LogFiles
from headrace.metadata.log.hard_state import HardStateFile
from headrace.metadata.log.identity import LOCK_FILE, Identity, lock_directory, write_identity
from headrace.metadata.log.os_directory import OsDirectory
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.offline import directory as offline
from headrace.metadata.offline.directory import find_directory, is_locked, read_offline
from headrace.metadata.raft.effects import HardState
from headrace.metadata.records.entry import SnapshotId
from tests.unit.metadata.pure_controller import CLUSTER_ID, PureController


@pytest.fixture
def controller():
    """A controller that has a topic."""
    made = PureController()
    made.register()
    made.opened_stream("orders")
    return made


@pytest.fixture
def owner(tmp_path, controller):
    """The directory's owner, which has written the controller's log and has it open."""
    write_identity(OsDirectory(tmp_path), Identity(CLUSTER_ID, 3, UUID(int=7)))
    HardStateFile.create(OsDirectory(tmp_path), HardState(1, 1))
    files = LogFiles(OsDirectory(tmp_path))
    files.open(segment_id=77)
    files.append(controller.entries)
    yield files
    files.close()


def contents(directory):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in directory.iterdir()}


def take_snapshot(files, image):
    snapshot_id = SnapshotId(image.index, image.term)
    files.roll(segment_id=78)
    name = files.snapshot_temporary(snapshot_id)
    (files._directory.path / name).write_bytes(b"".join(encode_snapshot(image)))
    files.adopt_snapshot(snapshot_id)


def test_the_log_is_read_beside_its_owner_and_nothing_changes(tmp_path, controller, owner):
    before = contents(tmp_path)
    found = read_offline(tmp_path)
    assert found.image == controller.image
    assert (found.cluster_id, found.node_id, found.unfinished_bytes) == (CLUSTER_ID, 3, 0)
    assert contents(tmp_path) == before


def test_a_snapshot_and_what_came_after_it(tmp_path, controller, owner):
    take_snapshot(owner, controller.image)
    first_after = len(controller.entries)
    controller.topic_with_streams("later")
    owner.append(controller.entries[first_after:])
    assert read_offline(tmp_path).image == controller.image


def test_a_torn_end_is_told_and_not_cut_off(tmp_path, controller, owner):
    (segment,) = tmp_path.glob("*.log")
    whole = segment.read_bytes()
    segment.write_bytes(whole + b"HRME torn")
    found = read_offline(tmp_path)
    assert (found.image, found.unfinished_bytes) == (controller.image, 9)
    assert segment.read_bytes() == whole + b"HRME torn"


def test_a_snapshot_that_is_adopted_meanwhile(tmp_path, controller, owner, monkeypatch):
    read_contents = offline.read_contents
    taken = []

    def racing(directory, listing, proven_end):
        if not taken:
            taken.append(1)
            take_snapshot(owner, controller.image)  # deletes the segment that is about to be read
        return read_contents(directory, listing, proven_end)

    monkeypatch.setattr(offline, "read_contents", racing)
    assert read_offline(tmp_path).image == controller.image
    assert taken


def test_damage_is_told_not_retried_for_ever(tmp_path, controller, owner):
    (segment,) = tmp_path.glob("*.log")
    broken = bytearray(segment.read_bytes())
    broken[5] ^= 1
    segment.write_bytes(broken)
    with pytest.raises(MetadataLogCorruptError, match="checksum"):
        read_offline(tmp_path)


def test_the_directory_of_a_node_is_found(tmp_path, owner):
    assert find_directory(tmp_path) == tmp_path
    inner = tmp_path / "node" / "metadata"
    inner.mkdir(parents=True)
    (inner / "meta.properties").write_text("version=1\ncluster.id=c\nnode.id=1\n")
    assert find_directory(tmp_path / "node") == inner
    with pytest.raises(MetadataIdentityError, match="not a metadata directory"):
        find_directory(tmp_path / "nothing")


@pytest.mark.parametrize(
    "identity",
    [
        "",
        "version=2\ncluster.id=c\nnode.id=1\n",
        "version=2\ncluster.id=c\nnode.id=1\ndirectory.id=x\n",
        "version=3\ncluster.id=c\nnode.id=1\n",
        "version=1\nnode.id=1\n",
        "version=1\ncluster.id=c\n",
    ],
)
def test_a_directory_that_is_nobody_s(tmp_path, identity):
    (tmp_path / "meta.properties").write_text(identity)
    with pytest.raises(MetadataIdentityError):
        read_offline(tmp_path)


def test_a_lock_is_seen_without_being_taken(tmp_path):
    assert not is_locked(tmp_path)
    lock = lock_directory(OsDirectory(tmp_path))
    try:
        assert is_locked(tmp_path)
    finally:
        lock.close()
    assert not is_locked(tmp_path)
    assert (tmp_path / LOCK_FILE).exists()


def test_a_system_that_shows_no_locks(tmp_path):
    lock = lock_directory(OsDirectory(tmp_path))
    try:
        assert not is_locked(tmp_path, locks=tmp_path / "none")
    finally:
        lock.close()
