"""`headrace bucket` beside a node's directories: what it finds, what it removes, what it leaves alone."""

import json
import os
import time
from pathlib import Path

import pytest

from headrace.broker.cli.root import run
from tests.unit.broker.cli.bucket_scene import BucketScene

DAY_MS = 24 * 3_600_000


def now_ms():
    return time.time_ns() // 1_000_000


def fsck(outcome, scene, *options):
    return outcome("bucket", "fsck", scene.url, "--metadata", scene.metadata, *options)


def gc(outcome, scene, *options):
    return outcome("bucket", "gc", scene.url, "--metadata", scene.metadata, *options)


def problems(document):
    return {(it["problem"], it["object_id"]) for it in document["findings"]}


def snapshot(directory):
    return {
        str(path): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_a_bucket_that_is_in_order(scene, outcome, tmp_path):
    before = snapshot(tmp_path)
    code, found = fsck(outcome, scene, "--deep")
    assert (code, found["errors"], found["leftovers"], found["findings"]) == (0, 0, 0, [])
    assert found["exact"]
    assert found["settled"]
    assert found["states"][1] == {
        "state": "committed",
        "known": 2,
        "in_bucket": 2,
        "bytes": sum(scene.path(n).stat().st_size for n in (0, 1)),
    }
    assert snapshot(tmp_path) == before


def test_a_lost_object_is_an_error(scene, outcome):
    scene.path(1).unlink()
    code, found = fsck(outcome, scene)
    assert code == 1
    assert problems(found) == {("missing", 1)}
    assert "stream 0 offsets 3 to 6" in found["findings"][0]["detail"]


def test_everything_at_once(scene, outcome):
    leaked = scene.forgotten()
    expired = scene.controller.prepare(ttl_ms=1)
    scene.save()
    scene.path(0).write_bytes(scene.path(0).read_bytes() + b"x")
    scene.put(expired)
    scene.put(leaked)
    beyond = scene.controller.image.objects.next_object_id
    scene.put(beyond)
    scene.put(1, cluster="other")
    (scene.bucket / "notes.txt").write_text("not ours")
    code, found = fsck(outcome, scene)
    assert code == 1
    assert problems(found) == {
        ("wrong size", 0),
        ("expired", expired),
        ("unknown", leaked),
        ("beyond metadata", beyond),
    }
    assert found["other_clusters"] == {"other": 1}
    assert found["not_judged"] == {"other": 1}


def test_leftovers_are_no_errors_unless_told_so(scene, outcome):
    leaked = scene.forgotten()
    scene.save()
    scene.put(leaked)
    code, found = fsck(outcome, scene)
    assert (code, found["leftovers"], found["exact"]) == (0, 1, False)
    assert fsck(outcome, scene, "--strict")[0] == 1


def test_a_deep_look_finds_damage_and_other_contents(scene, outcome):
    swapped = scene.path(1).read_bytes()
    broken = bytearray(scene.path(0).read_bytes())
    broken[-60] ^= 1  # in the index
    scene.path(0).write_bytes(swapped)
    scene.path(1).write_bytes(broken)
    assert fsck(outcome, scene)[0] == 0  # sizes are right
    code, found = fsck(outcome, scene, "--deep")
    assert code == 1
    assert problems(found) == {("other ranges", 0), ("damaged", 1)}
    details = {it["object_id"]: it["detail"] for it in found["findings"]}
    assert details[0] == "the index lacks offsets 0 to 3 of stream 0"
    assert "index checksum" in details[1]


def concerned(document):
    return [
        (it["topic"], it["partition"], it["holds"], it["start_offset"], it["end_offset"])
        for it in document["concerned"]
    ]


def test_fsck_names_the_partitions_and_offsets_that_a_lost_object_concerns(scene, outcome):
    assert fsck(outcome, scene)[1]["concerned"] == []
    scene.path(1).unlink()
    assert concerned(fsck(outcome, scene)[1]) == [("orders", 0, "records", 3, 6)]


def test_fsck_reads_the_blocks_when_told_to_and_names_the_damaged_ones(scene, outcome):
    content = bytearray(scene.path(0).read_bytes())
    content[40] ^= 1
    scene.path(0).write_bytes(content)
    assert fsck(outcome, scene, "--deep")[0] == 0
    code, found = fsck(outcome, scene, "--blocks")
    assert code == 1
    assert problems(found) == {("damaged", 0)}
    assert concerned(found) == [("orders", 0, "records", 0, 3)]


def test_fsck_says_what_can_be_done(scene, capsys):
    scene.path(1).unlink()
    assert run(["bucket", "fsck", scene.url, "--metadata", str(scene.metadata)]) == 1
    said = capsys.readouterr()
    assert "headrace topic delete-records" in said.err + said.out


def by_snapshot(outcome, scene, command="fsck", *options):
    return outcome("bucket", command, scene.url, "--metadata", "bucket", *options)


def test_the_snapshot_in_the_bucket_tells_what_the_directory_does(scene, outcome):
    leaked = scene.forgotten()
    scene.save()
    scene.put(leaked)
    scene.path(1).unlink()
    scene.publish()
    code, by_directory = fsck(outcome, scene, "--blocks")
    again, found = by_snapshot(outcome, scene, "fsck", "--blocks")
    assert code == again == 1
    assert problems(found) == {("missing", 1), ("unknown", leaked)}
    of_snapshot = {"node": None, "metadata_time": found["metadata_time"]}
    assert by_directory | of_snapshot == found
    assert found["metadata_time"] > "2026"


def test_what_came_after_the_snapshot_is_not_judged(scene, outcome):
    path = scene.publish()
    taken_ms = path.stat().st_mtime_ns // 1_000_000
    first = scene.controller.image.objects.next_object_id
    scene.put(first)
    scene.put(first + 1, modified_ms=taken_ms - 60_000)  # while the snapshot was being put
    code, found = by_snapshot(outcome, scene)
    assert (code, found["newer"], found["findings"]) == (0, 2, [])
    scene.put(first + 2, modified_ms=taken_ms - 600_000)
    code, found = by_snapshot(outcome, scene)
    assert (code, found["newer"]) == (1, 2)
    assert problems(found) == {("beyond metadata", first + 2)}


def test_times_are_counted_to_the_snapshot(scene, outcome):
    """What was prepared then may have been committed since."""
    prepared = scene.controller.prepare(ttl_ms=60_000)
    scene.put(prepared)
    os.utime(scene.publish(), (0, 0))
    code, found = by_snapshot(outcome, scene)
    assert (code, found["findings"]) == (0, [])


def test_gc_by_the_snapshot_wants_to_be_told_that_nodes_may_run(scene, outcome):
    leaked = scene.forgotten()
    path = scene.put(leaked, modified_ms=now_ms() - 2 * DAY_MS)
    scene.publish()
    code, told = by_snapshot(outcome, scene, "gc", "--yes")
    assert code == 2
    assert "add --live" in told
    assert path.exists()
    assert by_snapshot(outcome, scene, "gc", "--yes", "--live")[1]["removed"] == 1
    assert not path.exists()


def test_streams_by_the_snapshot(scene, outcome):
    scene.publish()
    by_directory = outcome("stream", "describe", scene.url, "--metadata", scene.metadata)
    assert outcome("stream", "describe", scene.url, "--metadata", "bucket") == by_directory
    code, told = outcome("stream", "describe", "--metadata", "bucket")
    assert code == 2
    assert "Name a bucket by URL" in told


def test_a_snapshot_that_is_not_there_or_not_clear_or_damaged(scene, outcome):
    code, told = by_snapshot(outcome, scene)
    assert code == 1
    assert "no snapshot of metadata" in told
    scene.publish("other")
    path = scene.publish()
    code, told = by_snapshot(outcome, scene)
    assert code == 2
    assert "Name one with --cluster" in told
    assert by_snapshot(outcome, scene, "fsck", "--cluster", "cluster")[0] == 0
    path.write_bytes(path.read_bytes()[:-1])
    code, told = by_snapshot(outcome, scene, "fsck", "--cluster", "cluster")
    assert code == 1
    assert "cannot be read" in told


def test_fsck_reads_beside_a_running_node(scene, outcome):
    scene.lock()
    code, found = fsck(outcome, scene)
    assert (code, found["metadata_in_use"]) == (0, True)


def test_gc_removes_nothing_unless_told_to(scene, outcome, tmp_path):
    leaked = scene.forgotten()
    scene.save()
    scene.put(leaked, modified_ms=now_ms() - DAY_MS - 60_000)
    before = snapshot(tmp_path)
    for options in ((), ("--dry-run",)):
        code, found = gc(outcome, scene, *options)
        assert (code, found["dry_run"], found["removed"]) == (0, True, 0)
        assert [it["object_id"] for it in found["objects"]] == [leaked]
    assert {path: it for path, it in snapshot(tmp_path).items() if "lock" not in path} == before


def test_gc_removes_what_is_old_and_forgotten_and_nothing_else(scene, outcome):
    old, young = scene.forgotten(), scene.forgotten()
    prepared = scene.controller.prepare(ttl_ms=1)
    scene.save()
    long_ago = now_ms() - 2 * DAY_MS
    scene.put(old, modified_ms=long_ago)
    scene.put(young)
    scene.put(prepared, modified_ms=long_ago)
    scene.put(old, cluster="other", modified_ms=long_ago)
    strangers = [
        scene.bucket / name for name in ("notes.txt", "wal/cluster/1/00000000000000000001")
    ]
    for path in strangers:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("keep")
        os.utime(path, ns=(long_ago * 1_000_000,) * 2)
    os.utime(scene.path(0), ns=(long_ago * 1_000_000,) * 2)
    code, found = gc(outcome, scene, "--yes")
    assert (code, found["removed"], found["too_young"]) == (0, 1, 1)
    assert not scene.path(old).exists()
    kept = [*map(scene.path, (0, 1, young, prepared)), scene.path(old, "other"), *strangers]
    assert all(path.exists() for path in kept)
    assert gc(outcome, scene, "--yes", "--older-than", "0s")[1]["removed"] == 1
    assert not scene.path(young).exists()


def test_gc_leaves_a_live_node_alone_unless_told_otherwise(scene, outcome):
    leaked = scene.forgotten()
    scene.save()
    path = scene.put(leaked, modified_ms=now_ms() - 2 * DAY_MS)
    scene.lock()
    code, told = gc(outcome, scene, "--yes")
    assert code == 1
    assert "another process has the metadata directory" in told
    assert "--live" in told
    assert path.exists()
    assert gc(outcome, scene)[1]["metadata_in_use"]
    assert gc(outcome, scene, "--yes", "--live")[1]["removed"] == 1
    assert not path.exists()


def test_gc_refuses_while_metadata_and_bucket_contradict_each_other(scene, outcome, capsys):
    leaked = scene.forgotten()
    scene.save()
    path = scene.put(leaked, modified_ms=now_ms() - 2 * DAY_MS)
    scene.put(scene.controller.image.objects.next_object_id)
    command = ["bucket", "gc", scene.url, "--metadata", str(scene.metadata), "--yes"]
    assert run(command) == 1
    assert "never given out" in capsys.readouterr().err
    assert path.exists()


def test_gc_with_the_metadata_of_a_new_cluster_removes_nothing(scene, outcome, tmp_path, capsys):
    other = tmp_path / "new"
    other.mkdir()
    empty = BucketScene(other)
    empty.save()
    empty.close()
    command = [
        "bucket",
        "gc",
        scene.url,
        "--metadata",
        str(empty.metadata),
        "--yes",
        "--older-than",
        "0s",
    ]
    assert run(command) == 1
    assert scene.path(0).exists()
    assert scene.path(1).exists()


def test_listing(scene, outcome, capsys):
    scene.put(7, b"12345", cluster="other")
    (scene.bucket / "notes.txt").write_text("not ours")
    code, found = outcome("bucket", "ls", scene.url)
    assert code == 0
    assert [(it["cluster"], it["kind"], it["objects"]) for it in found["totals"]] == [
        ("", "other", 1),
        ("cluster", "objects", 2),
        ("other", "objects", 1),
    ]
    _, found = outcome("bucket", "ls", scene.url, "--cluster", "other")
    assert (found["objects"], found["bytes"]) == (1, 5)
    assert run(["bucket", "ls", scene.url, "--long", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {(it["kind"], it["cluster"], it["object_id"]) for it in rows} == {
        ("objects", "cluster", 0),
        ("objects", "cluster", 1),
        ("objects", "other", 7),
        ("other", "", None),
    }


@pytest.mark.parametrize(
    "command",
    [
        ("bucket", "ls"),
        ("bucket", "ls", "--long"),
        ("bucket", "cost"),
        ("object", "verify", "--all"),
        ("stream", "describe"),
    ],
)
def test_a_cluster_that_is_not_there_is_told_with_those_that_are(scene, outcome, command):
    about = [*command, scene.url, "--cluster"]
    scene.put(7, cluster="other")
    code, told = outcome(*about, "typo")
    assert code == 1
    assert "nothing of a cluster typo" in told
    assert "It has cluster, other." in told
    assert run([*about, "cluster"]) == 0


def test_a_cluster_whose_objects_are_all_gone_is_still_there(scene, outcome):
    for number in (0, 1):
        scene.path(number).unlink()
    snapshot_of_metadata = scene.bucket / "metadata/cluster" / f"{1:020d}-{1:020d}.checkpoint"
    snapshot_of_metadata.parent.mkdir(parents=True)
    snapshot_of_metadata.write_bytes(b"image")
    code, found = outcome("object", "verify", scene.url, "--all", "--cluster", "cluster")
    assert (code, found["objects"]) == (0, 0)


def test_a_cluster_of_an_empty_bucket(tmp_path, outcome):
    code, told = outcome("object", "verify", f"file://{tmp_path}", "--all", "--cluster", "typo")
    assert code == 1
    assert "It has nothing of any cluster." in told


def test_cost(scene, outcome):
    code, found = outcome("bucket", "cost", scene.url, "--gb-month", str(1 << 30))
    stored = sum(scene.path(n).stat().st_size for n in (0, 1))
    assert code == 0
    assert found["storage"][-1]["bytes"] == stored
    assert found["storage"][-1]["price_per_month"] == stored
    assert found["prices"]["gb_month"] == 1 << 30
    assert "requests" not in found


def test_a_bucket_is_verified_and_left_as_it_was(scene, outcome):
    before = snapshot(scene.bucket)
    code, found = outcome("bucket", "verify", scene.url)
    assert (code, found["ok"], found["left_behind"]) == (0, True, [])
    assert {it["status"] for it in found["operations"]} == {"ok"}
    assert snapshot(scene.bucket) == before
    assert not (scene.bucket / "headrace-probe").exists()


def test_what_a_probe_that_was_killed_has_left_goes_when_it_is_old(scene, outcome):
    probes = scene.bucket / "headrace-probe"
    first, second = probes / "0123456789abcdef", probes / "4567456745674567"
    left = [first / "client/large", first / "put", first / "list/12", second / "raced-0"]
    young, near = second / "created", scene.bucket / "headrace-probe-notes/put"
    others = [probes / ".DS_Store", probes / "copy of x", second / "Put", probes / "4567/put"]
    for path in (*left, young, near, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"left")
        os.utime(path, ns=((now_ms() - 61 * 60_000) * 1_000_000,) * 2)
    os.utime(young, ns=((now_ms() - 50 * 60_000) * 1_000_000,) * 2)
    before = {path: it for path, it in snapshot(scene.bucket).items() if Path(path) not in left}
    code, found = outcome("bucket", "verify", scene.url)
    assert (code, found["ok"], found["leftovers_removed"]) == (0, True, 4)
    assert snapshot(scene.bucket) == before
    assert not first.exists()
    assert outcome("bucket", "verify", scene.url)[1]["leftovers_removed"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["bucket", "ls", "file:///no/such/directory"], 1, "not a directory"),
        (["bucket", "verify", "file:///no/such/directory"], 1, "not a directory"),
        (["bucket", "ls", "mem://"], 2, "exists only inside its broker"),
        (
            ["bucket", "verify", "s3://a?secretKey=b&accessKey=c,1@s3://d"],
            2,
            "give the URI of one bucket",
        ),
        (["bucket", "ls", "ftp://x"], 2, "use s3://, file:// or mem://"),
        (["bucket", "fsck", "file:///tmp", "--metadata", "/no/such"], 2, "does not exist"),
        (["bucket", "fsck", "file:///tmp", "--metadata", "/tmp"], 2, "not a metadata directory"),
        (["bucket", "fsck", "file:///tmp"], 2, "--metadata"),
        (
            ["bucket", "gc", "file:///tmp", "--metadata", "/tmp", "--yes", "--dry-run"],
            2,
            "--dry-run or --yes, not both",
        ),
        (
            ["bucket", "gc", "file:///tmp", "--metadata", "/tmp", "--older-than", "x"],
            2,
            "not a time",
        ),
        (["bucket", "cost", "file:///tmp", "--admin", "127.0.0.1:1"], 1, "no broker answers"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_next_step(arguments, code, text, capsys):
    assert run(arguments) == code
    assert text in capsys.readouterr().err


def test_nothing_is_created_by_a_mistyped_url(tmp_path):
    assert run(["bucket", "ls", f"file://{tmp_path}/missing"]) == 1
    assert list(tmp_path.iterdir()) == []


def test_secrets_are_not_shown(capsys):
    url = "s3://bucket?accessKey=AKIA&secretKey=hidden&endpoint=http://127.0.0.1:1&nope=1"
    assert run(["bucket", "ls", url]) == 2
    assert "hidden" not in capsys.readouterr().err


def test_metadata_that_are_damaged_are_told(scene, outcome):
    (segment,) = scene.metadata.glob("*.log")
    broken = bytearray(segment.read_bytes())
    broken[5] ^= 1
    segment.write_bytes(broken)
    code, told = fsck(outcome, scene)
    assert code == 1
    assert "cannot be read" in told
