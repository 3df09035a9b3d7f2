"""`headrace object` and `headrace stream`: what lies in objects, and where streams have holes."""

import pytest

from headrace.broker.cli.root import run
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.storage.record_batch import StreamRecordBatch
from tests.unit.storage.samples import batches, joined, write


def spoil(path, position):
    broken = bytearray(path.read_bytes())
    broken[position] ^= 1
    path.write_bytes(broken)


def test_the_index_of_an_object(scene, outcome):
    code, found = outcome("object", "dump", scene.url, "1")
    assert code == 0
    assert found["key"] == scene.path(1).relative_to(scene.bucket).as_posix()
    assert (found["blocks"], found["streams"], found["damage"]) == (1, 1, [])
    (entry,) = found["index"]
    assert (entry["stream"], entry["start_offset"], entry["end_offset"], entry["batches"]) == (
        scene.stream_id,
        3,
        6,
        3,
    )


def test_an_object_is_named_by_key_as_well(scene, outcome):
    key = scene.path(1).relative_to(scene.bucket).as_posix()
    assert outcome("object", "dump", scene.url, key) == outcome("object", "dump", scene.url, "1")


def test_an_id_that_several_clusters_have(scene, outcome):
    scene.put(1, joined(write([batches(9, 0, 1)])), cluster="other")
    code, told = outcome("object", "dump", scene.url, "1")
    assert code == 2
    assert "2 clusters: cluster, other" in told
    _, found = outcome("object", "dump", scene.url, "1", "--cluster", "other")
    assert found["index"][0]["stream"] == 9


def test_only_one_stream_is_shown(scene, outcome):
    scene.put(50, joined(write([batches(1, 0, 2), batches(2, 5, 1)])))
    _, found = outcome("object", "dump", scene.url, "50", "--stream", "2")
    assert [it["stream"] for it in found["index"]] == [2]
    assert found["streams"] == 2


def test_records_of_kafka_batches_are_decoded(scene, outcome):
    records = [Record(7, 1_000, b"k", b"v"), Record(8, 2_000, None, b"\xff")]
    payload = memoryview(encode_batch(records, BatchOptions()))
    content = joined(write([[StreamRecordBatch(3, 1, 7, 2, payload)]]))
    scene.put(50, content)
    code, batch = outcome("object", "dump", scene.url, "50", "--records")
    assert code == 0
    assert (batch["stream"], batch["base_offset"], batch["end_offset"]) == (3, 7, 9)
    assert [(it["offset"], it["key"], it["value"]) for it in batch["records"]] == [
        (7, "k", "v"),
        (8, None, {"base64": "/w=="}),
    ]


def test_what_is_damaged_is_named_and_the_rest_is_shown(scene, capsys):
    scene.put(50, joined(write([batches(1, 0, 1), batches(2, 5, 1)])))
    spoil(scene.path(50), 100)
    assert run(["object", "dump", scene.url, "50", "--records"]) == 1
    shown = capsys.readouterr()
    assert "stream 2  offsets 5 to 6" in shown.out
    assert "stream 1" not in shown.out
    assert "damaged at byte 0: data block checksum" in shown.err


def test_whole_objects_are_verified(scene, outcome):
    code, found = outcome("object", "verify", scene.url, "--all")
    assert (code, found["objects"], found["batches"], found["damaged"]) == (0, 2, 6, 0)


def test_damage_is_named_with_its_place(scene, outcome):
    spoil(scene.path(1), 60)
    code, found = outcome("object", "verify", scene.url, "0", "1")
    assert (code, found["objects"], found["damaged"]) == (1, 2, 1)
    (damage,) = found["damage"]
    assert damage["key"].endswith("/1")
    assert damage["position"] == 0
    assert "block of stream 0 offsets 3 to 6: checksum" in damage["what"]
    assert outcome("object", "verify", scene.url, "--all", "--index-only")[0] == 0


def test_an_object_that_vanishes_between_listing_and_reading(scene, outcome):
    scene.path(50).parent.mkdir(parents=True)
    scene.path(50).symlink_to("nowhere" * 20)  # is listed with that size
    code, found = outcome("object", "verify", scene.url, "--all")
    assert (code, found["objects"], len(found["gone"])) == (0, 2, 1)
    assert outcome("object", "verify", scene.url, "50")[0] == 1


@pytest.mark.parametrize(
    ("names", "code", "text"),
    [
        (["77"], 1, "there is no object 77"),
        (["9e/cluster/77"], 1, "there is no object 9e/cluster/77"),
        ([], 2, "--all"),
        (["1", "--all"], 2, "--all"),
    ],
)
def test_objects_that_cannot_be_verified(scene, names, code, text, capsys):
    assert run(["object", "verify", scene.url, *names]) == code
    assert text in capsys.readouterr().err


def stream_of(document, stream_id):
    return next(it for it in document["streams"] if it["stream"] == stream_id)


def test_a_stream_as_the_metadata_know_it(scene, outcome):
    code, found = outcome("stream", "describe", "--metadata", scene.metadata)
    assert code == 0
    described = stream_of(found, scene.stream_id)
    assert (described["topic"], described["partition"], described["kind"]) == ("orders", 0, "data")
    assert (described["start_offset"], described["end_offset"]) == (0, 6)
    assert [
        (it["start_offset"], it["end_offset"], it["object_id"]) for it in described["pieces"]
    ] == [
        (0, 3, 0),
        (3, 6, 1),
    ]
    assert {it["kind"] for it in described["pieces"]} == {"stream"}
    assert (described["gaps"], described["overlaps"]) == ([], [])
    assert {it["kind"] for it in found["streams"]} == {"data", "meta"}


def test_a_stream_as_the_bucket_has_it(scene, outcome):
    code, found = outcome("stream", "describe", scene.url)
    assert code == 0
    (described,) = found["streams"]
    assert (described["start_offset"], described["end_offset"], described["objects"]) == (0, 6, 2)


def test_a_gap_in_the_bucket(scene, outcome):
    scene.commit()
    scene.path(1).unlink()
    code, found = outcome("stream", "describe", scene.url, "--stream", scene.stream_id)
    assert code == 1
    assert found["streams"][0]["gaps"] == [[3, 6]]


def test_what_compaction_has_not_deleted_yet_is_an_overlap_and_no_error(scene, outcome):
    scene.put(90, joined(write([batches(scene.stream_id, 0, 6)])))
    code, found = outcome("stream", "describe", scene.url)
    assert code == 0
    assert found["streams"][0]["overlaps"] == [[0, 3], [3, 6]]


def test_metadata_that_the_bucket_does_not_bear_out(scene, outcome):
    scene.path(0).unlink()
    spoil(scene.path(1), -60)
    command = ("stream", "describe", scene.url, "--metadata", scene.metadata, "--topic", "orders")
    code, found = outcome(*command)
    assert code == 1
    complaints = {it["object_id"]: it["what"] for it in stream_of(found, 0)["contradictions"]}
    assert complaints[0] == "missing"
    assert "damaged" in complaints[1]


def test_people_see_the_same(scene, capsys):
    command = ["stream", "describe", scene.url, "--metadata", str(scene.metadata), "--stream", "0"]
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert "topic: orders" in shown
    assert "START OFFSET  END OFFSET  OBJECT ID  KIND" in shown


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        ([], 2, "Name a bucket by URL"),
        (["URL", "--topic", "x"], 2, "add --metadata"),
        (["URL", "--partition", "1"], 2, "--partition needs --topic"),
        (["URL", "--stream", "77"], 1, "there is no such stream"),
        (["URL", "--metadata", "METADATA", "--topic", "nope"], 1, "there is no such stream"),
    ],
)
def test_streams_that_cannot_be_described(scene, options, code, text, capsys):
    places = {"URL": scene.url, "METADATA": str(scene.metadata)}
    assert run(["stream", "describe", *(places.get(it, it) for it in options)]) == code
    assert text in capsys.readouterr().err
