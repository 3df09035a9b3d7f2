"""`headrace metadata`: what it shows, and a controller's directory made anew from a bucket."""

import json
import time

import pytest

from headrace.broker.cli.root import run
from headrace.metadata.log.snapshot_format import decode_snapshot, encode_snapshot
from headrace.metadata.offline.directory import read_offline
from headrace.metadata.offline.rebuilding import NEVER_MS
from headrace.metadata.published import published_key
from headrace.metadata.records.entry import SnapshotId
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.retrying import RetryingObjectStore
from tests.unit.metadata.pure_controller import CLUSTER_ID
from tests.unit.storage.samples import batches, joined, write

DAY_MS = 24 * 3_600_000


def publish(scene, image=None):
    """Put a snapshot into the bucket as a leading controller does; return its file."""
    image = image or scene.controller.image
    path = scene.bucket / published_key(CLUSTER_ID, SnapshotId(image.index, image.term))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(encode_snapshot(image)))
    return path


def rebuild(outcome, scene, directory, *options, cluster_id=CLUSTER_ID):
    return outcome(
        "metadata",
        "rebuild",
        directory,
        "--bucket",
        scene.url,
        "--cluster-id",
        cluster_id,
        "--node-id",
        9,
        "--controller",
        "controller-9:9093",
        *options,
    )


def content(directory):
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_info_of_a_directory_and_of_a_snapshot(scene, outcome):
    code, found = outcome("metadata", "info", scene.metadata)
    image = scene.controller.image
    assert code == 0
    assert (found["cluster_id"], found["node_id"]) == (CLUSTER_ID, 1)
    assert (found["term"], found["voted_for"], found["last_index"]) == (1, 1, image.index)
    assert (found["topics"], found["objects_committed"], found["entries"]) == (1, 2, image.index)
    code, told = outcome("metadata", "info", publish(scene))
    assert code == 0
    assert told == {key: found[key] for key in told}


def test_info_tells_the_logs_with_owner_state_and_place(scene, outcome):
    generation = scene.controller.begin_log(1)
    code, told = outcome("metadata", "info", publish(scene))
    assert code == 0
    assert told["logs"] == [f"1 of broker 1 (active): active, generation {generation} at /wals/1"]


def test_info_tells_since_when_partitions_wait_for_a_log(scene, outcome):
    generation = scene.controller.begin_log(1)
    scene.controller.now_ms = 1_767_225_600_000
    scene.controller.fence(1)
    _, told = outcome("metadata", "info", publish(scene))
    waiting = sum(len(it.partitions) for it in scene.controller.image.topics.values())
    assert told["logs"] == [
        f"1 of broker 1 (expired since 2026-01-01T00:00:00.000Z): active, generation {generation} at /wals/1, "
        f"{waiting} partitions wait"
    ]


def test_dump_prints_every_record(scene, capsys):
    assert run(["metadata", "dump", str(scene.metadata)]) == 0
    lines = [json.loads(it) for it in capsys.readouterr().out.splitlines()]
    assert [it["index"] for it in lines] == sorted(it["index"] for it in lines)
    (topic,) = (it for it in lines if it["type"] == "TopicRecord")
    assert (topic["name"], topic["snapshot"], topic["term"]) == ("orders", False, 1)
    assert any(it["type"] == "StreamObjectRecord" and it["range"]["end_offset"] for it in lines)

    assert run(["metadata", "dump", str(publish(scene))]) == 0
    lines = [json.loads(it) for it in capsys.readouterr().out.splitlines()]
    assert all(it["snapshot"] for it in lines)
    assert {it["state"] for it in lines if it["type"] == "StreamStateRecord"} == {"OPENED"}


def test_what_is_no_metadata_is_told(scene, tmp_path, capsys):
    path = publish(scene)
    path.write_bytes(path.read_bytes()[:-1])
    for what in ("info", "dump"):
        assert run(["metadata", what, str(path)]) == 1
        assert "cannot be read as a snapshot" in capsys.readouterr().err
        assert run(["metadata", what, str(scene.bucket)]) == 2
        assert "not a metadata directory" in capsys.readouterr().err


def test_a_directory_is_made_that_a_controller_starts_on(scene, outcome, tmp_path):
    publish(scene)
    before = content(scene.bucket)
    directory = tmp_path / "deep" / "metadata"
    code, report = rebuild(outcome, scene, directory)
    assert code == 0
    image = scene.controller.image
    assert (report["snapshot_index"], report["topics"], report["brokers"]) == (image.index, 1, [1])
    assert (report["missing_objects"], report["unreferenced_objects"]) == (0, 0)
    now = content(scene.bucket)
    assert now.items() > before.items(), "nothing is changed"
    ((_, new),) = now.items() - before.items()
    assert decode_snapshot(new) == read_offline(directory).image

    found = read_offline(directory)
    assert (found.cluster_id, found.node_id) == (CLUSTER_ID, 9)
    (member,) = found.image.members
    assert (member.node_id, member.host, member.port) == (9, "controller-9", 9093)
    assert member.directory_id == found.directory_id
    assert member.voter
    assert found.hard_state.term == found.image.term > image.term
    assert found.hard_state.voted_for == -1
    assert found.image.topic_ids == image.topic_ids


def test_what_came_after_the_snapshot_is_told_and_nothing_of_it_is_removed(
    scene, outcome, tmp_path
):
    """Neither by the tools, nor by a sweep, which decides by the same rule."""
    path = publish(scene)
    prepared = scene.controller.prepare()
    scene.save()
    later = [scene.commit(), scene.commit()]
    beyond = later[-1] + 5
    old_ms = time.time_ns() // 1_000_000 - 10 * DAY_MS
    scene.put(prepared, b"12345", modified_ms=old_ms)
    scene.put(beyond, scene.path(1).read_bytes(), modified_ms=old_ms)
    assert path.exists()
    lost = 0
    scene.path(lost).unlink()

    keys = tmp_path / "keys"
    directory = tmp_path / "new"
    code, report = rebuild(outcome, scene, directory, "--unreferenced-to", keys)
    assert code == 0
    assert report["adopted_objects"] == 2
    assert report["adopted_bytes"] == sum(scene.path(it).stat().st_size for it in later)
    assert report["unreferenced_objects"] == 2
    sizes = sum(scene.path(it).stat().st_size for it in (prepared, beyond))
    assert report["unreferenced_bytes"] == sizes
    assert report["missing_objects"] == 1
    assert sorted(keys.read_text().split()) == sorted(
        str(scene.path(it).relative_to(scene.bucket)) for it in (prepared, beyond)
    )

    image = read_offline(directory).image
    assert (
        image.streams[scene.stream_id].end_offset
        == scene.controller.stream(scene.stream_id).end_offset
    )
    by_id = image.objects.by_id
    assert {by_id[it].expires_ms for it in (prepared, beyond)} == {NEVER_MS}
    scene.path(lost).write_bytes(bytes(by_id[lost].size_bytes))  # else nothing is removed anyway
    before = content(scene.bucket)
    arguments = ("bucket", "gc", scene.url, "--metadata", directory, "--older-than", "0s", "--yes")
    assert outcome(*arguments)[1]["removed"] == 0
    code, found = outcome("bucket", "fsck", scene.url, "--metadata", directory)
    assert (code, found["errors"], found["leftovers"]) == (0, 0, 0)
    assert content(scene.bucket) == before


class TestEpochs:
    """What is read of the objects that the snapshot does not know."""

    @staticmethod
    def put(scene, object_id, start, number, epoch):
        """Write an object that is not committed; return its key."""
        pieces = batches(scene.stream_id, start, number, epoch=epoch)
        path = scene.put(object_id, joined(write([pieces])))
        return str(path.relative_to(scene.bucket))

    def test_a_stopped_owners_late_object_is_named_and_not_used(self, scene, outcome, tmp_path):
        publish(scene)
        first = scene.controller.image.objects.next_object_id
        self.put(scene, first, 6, 4, epoch=1)
        self.put(scene, first + 1, 10, 3, epoch=2)
        late = self.put(scene, first + 2, 6, 5, epoch=1)
        behind = self.put(scene, first + 3, 13, 1, epoch=1)
        code, report = rebuild(outcome, scene, tmp_path / "new")
        assert (code, report["adopted_objects"], report["unreferenced_objects"]) == (0, 2, 2)
        assert report["outdated_objects"] == [late, behind]
        assert report["damaged_objects"] == []
        stream = read_offline(tmp_path / "new").image.streams[scene.stream_id]
        assert [(it.object_id, it.end_offset) for it in stream.objects[-2:]] == [
            (first, 10),
            (first + 1, 13),
        ]
        code, found = outcome("bucket", "fsck", scene.url, "--metadata", tmp_path / "new")
        assert (code, found["errors"], found["leftovers"]) == (0, 0, 0)

    @pytest.mark.parametrize("position", [20, -10])  # in a batch's header; in the footer
    def test_one_whose_epochs_cannot_be_read_is_named_and_not_used(
        self, scene, outcome, tmp_path, position
    ):
        publish(scene)
        first = scene.controller.image.objects.next_object_id
        self.put(scene, first, 6, 4, epoch=1)
        damaged = self.put(scene, first + 1, 6, 5, epoch=2)
        content = bytearray(scene.path(first + 1).read_bytes())
        content[position] ^= 1
        scene.path(first + 1).write_bytes(content)
        code, report = rebuild(outcome, scene, tmp_path / "new")
        assert (code, report["adopted_objects"], report["unreferenced_objects"]) == (0, 1, 1)
        assert report["damaged_objects"] == [damaged]
        assert report["outdated_objects"] == []

    def test_what_the_snapshot_has_already_is_not_read(self, scene, outcome, tmp_path):
        """Copies that a compaction made of it may be large."""
        publish(scene)
        first = scene.controller.image.objects.next_object_id
        self.put(scene, first, 0, 6, epoch=1)
        content = bytearray(scene.path(first).read_bytes())
        content[20] ^= 1  # of the data
        scene.path(first).write_bytes(content)
        code, report = rebuild(outcome, scene, tmp_path / "new")
        assert (code, report["unreferenced_objects"]) == (0, 1)
        assert report["damaged_objects"] == []

    def test_people_are_told(self, scene, tmp_path, capsys):
        publish(scene)
        first = scene.controller.image.objects.next_object_id
        self.put(scene, first, 6, 2, epoch=2)
        self.put(scene, first + 1, 6, 1, epoch=1)
        scene.put(first + 2)
        options = ["--bucket", scene.url, "--cluster-id", CLUSTER_ID, "--node-id", "1"]
        directory = str(tmp_path / "new")
        assert run(["metadata", "rebuild", directory, *options, "--controller", "a:1"]) == 0
        told = capsys.readouterr().err
        assert "2 other objects" in told
        assert "1 of these hold records of an epoch that had ended" in told
        assert f"/{first + 2} is damaged at byte 0 and not used: 7 bytes are too few" in told


def test_a_damaged_snapshot_is_passed_over(scene, outcome, tmp_path):
    first = publish(scene)
    index = scene.controller.image.index
    scene.commit()
    newest = publish(scene)
    newest.write_bytes(newest.read_bytes()[:-1])
    code, report = rebuild(outcome, scene, tmp_path / "new")
    assert (code, report["snapshot_index"]) == (0, index)
    assert report["damaged_snapshots"] == [str(newest.relative_to(scene.bucket))]
    for path in first.parent.iterdir():
        path.write_bytes(b"")
    code, told = rebuild(outcome, scene, tmp_path / "newer")
    assert code == 1
    assert "no whole snapshot" in told
    assert not (tmp_path / "newer").exists()


def test_another_directory_goes_on_above_the_one_before(scene, outcome, tmp_path):
    """Although nothing was ever done with that one: nobody can know."""
    publish(scene)
    indexes = [
        rebuild(outcome, scene, tmp_path / name)[1]["index"] for name in ("one", "two", "three")
    ]
    assert indexes == sorted(set(indexes))
    images = [read_offline(tmp_path / name).image for name in ("one", "two")]
    assert images[1].next_stream_id > images[0].next_stream_id


def test_a_bucket_that_cannot_be_written_leaves_no_directory(scene, outcome, tmp_path, monkeypatch):
    publish(scene)

    async def refuse(store, key, parts):
        raise ObjectStoreError("injected")

    monkeypatch.setattr(RetryingObjectStore, "put", refuse)
    code, told = rebuild(outcome, scene, tmp_path / "new")
    assert code == 1
    assert "injected" in told
    assert not list(tmp_path.glob("new*"))


def test_a_snapshot_of_another_cluster_is_not_taken(scene, outcome, tmp_path):
    publish(scene)
    code, told = rebuild(outcome, scene, tmp_path / "new", cluster_id="another")
    assert code == 1
    assert "no whole snapshot of the metadata of cluster another" in told


def test_a_directory_that_holds_anything_is_refused(scene, outcome, tmp_path):
    publish(scene)
    before = content(scene.metadata)
    for directory in (scene.metadata, scene.metadata / "meta.properties"):
        code, told = rebuild(outcome, scene, directory)
        assert code == 1
        assert "is not empty" in told
    assert content(scene.metadata) == before
    empty = tmp_path / "empty"
    empty.mkdir()
    assert rebuild(outcome, scene, empty)[0] == 0


@pytest.mark.parametrize("address", ["host", ":9093", "host:", "host:x", "host:99999"])
def test_an_address_that_is_none(scene, tmp_path, address, capsys):
    options = ["--bucket", scene.url, "--cluster-id", "c", "--node-id", "1"]
    arguments = ["metadata", "rebuild", str(tmp_path / "new"), *options, "--controller", address]
    assert run(arguments) == 2
    assert "HOST:PORT" in capsys.readouterr().err


def test_people_are_told_what_is_not_known(scene, tmp_path, capsys):
    publish(scene)
    scene.put(scene.commit() + 1)
    scene.path(0).unlink()
    options = ["--bucket", scene.url, "--cluster-id", CLUSTER_ID, "--node-id", "1"]
    directory = str(tmp_path / "new")
    assert run(["metadata", "rebuild", directory, *options, "--controller", "a:1"]) == 0
    told = capsys.readouterr().err
    for part in (
        "are not known:",
        "1 objects",
        "1 other objects",
        "never removed",
        "reading them fails",
        "its WAL",
    ):
        assert part in told
