"""The commands about write-ahead logs: what they print, their exit codes, and that they only look."""

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from headrace.broker.adapters.wal_bucket import WalBucket
from headrace.broker.cli.root import run
from headrace.broker.cli.wal import object_logs as wal_objects
from headrace.config.node import WalConfig
from headrace.storage.errors import ObjectStoreError
from headrace.storage.object_store.filesystem import FileObjectStore
from headrace.storage.record_batch import encode_header
from headrace.wal.device.file_device import open_file
from headrace.wal.layout import FORMATTING_SLOT, PAGE_BYTES, RING_POSITION
from headrace.wal.objects.log import ObjectWal
from tests.unit.wal.log_files import LOG, block, graceful, image, two_blocks, written
from tests.unit.wal.test_layout import of_version

BATCH = encode_header(7, 2, 100, 3, 5) + b"hello"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "wal"


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert run(["wal", *arguments]) == code
    return capsys.readouterr().out


def ext4() -> bytes:
    content = bytearray(1 << 20)
    content[0x438:0x43A] = b"\x53\xef"
    return bytes(content)


def damaged() -> bytes:
    content = two_blocks()
    content[RING_POSITION + 56 + 24] ^= 1
    return bytes(content)


# --- which log


def test_one_log_is_named_by_path_uri_or_configuration(path, tmp_path, capsys):
    written(path, two_blocks())
    properties = tmp_path / "server.properties"
    properties.write_text(f"s3.wal.path=0@file://{path}?capacity=33554432\n")
    for arguments in (
        [str(path)],
        [f"0@file://{path}?capacity=33554432"],
        ["-c", str(properties)],
    ):
        told = json.loads(output_of(capsys, "info", *arguments, "--json"))
        assert told["path"] == str(path)


@pytest.mark.parametrize("command", ["info", "verify", "dump", "format"])
def test_a_log_must_be_named_once_and_be_there(command, path, capsys):
    assert run(["wal", command]) == 2
    assert run(["wal", command, str(path), "-c", "server.properties"]) == 2
    assert run(["wal", command, str(path)]) != 0
    assert str(path) in capsys.readouterr().err
    assert not path.exists()


def test_a_wrong_configuration_is_explained(tmp_path, capsys):
    properties = tmp_path / "server.properties"
    properties.write_text("s3.wal.path=ftp://x\n")
    assert run(["wal", "info", "-c", str(properties)]) == 2
    assert "server.properties:1" in capsys.readouterr().err


# --- info


def test_info_tells_everything_a_log_says_of_itself(path, capsys):
    log = replace(LOG, trim_offset=55, confirmed_offset=PAGE_BYTES)
    told = json.loads(output_of(capsys, "info", written(path, two_blocks(log)), "--json"))
    assert told == {
        "path": str(path),
        "kind": "file",
        "size_bytes": LOG.capacity_bytes,
        "sector_bytes": None,
        "direct_io": told["direct_io"],
        "in_memory": told["in_memory"],
        "holds": "a WAL",
        "writer": "none seen",
        "cluster_id": "mkU3OEVBNTcwNTJENDM2Qg",
        "node_id": 3,
        "node_epoch": 9,
        "generation_id": "0102030405060708",
        "sequence": 5,
        "capacity_bytes": LOG.capacity_bytes,
        "ring_bytes": LOG.capacity_bytes - RING_POSITION,
        "window_bytes": 32768,
        "trim_offset": 55,
        "head_offset": 0,
        "confirmed_offset": 4096,
        "shutdown": "none or not graceful",
        "last_write": "2023-11-14T22:13:20.000Z",
        "slots": [
            {"position": 0, "state": "valid", "sequence": 4},
            {"position": 4096, "state": "valid", "sequence": 5},
        ],
    }
    table = output_of(capsys, "info", str(path))
    assert "superblock 1      position 4096 valid sequence 5" in table


def test_info_names_the_writer(path, capsys):
    writer = open_file(written(path, two_blocks()), writable=True)
    told = json.loads(output_of(capsys, "info", str(path), "--json"))
    writer.close()
    assert told["writer"].startswith("process ")


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        (bytes(1 << 20), "blank: no WAL was ever written to it"),
        (ext4(), "an ext2, ext3 or ext4 file system (at byte 1080)"),
        (FORMATTING_SLOT + bytes(1 << 20), "formatting was begun and not finished"),
        (of_version(2) + bytes(1 << 20), "a WAL of format version 2"),
        (bytes(8192) + two_blocks()[8192:], "a WAL without a valid superblock"),
    ],
    ids=["blank", "ext4", "formatting", "version", "damaged"],
)
def test_info_says_what_else_a_device_holds(content, holds, path, capsys):
    told = json.loads(output_of(capsys, "info", written(path, content), "--json"))
    assert told["holds"] == holds
    assert "node_id" not in told


def test_a_clock_that_makes_no_sense_does_not_hide_the_rest(path, capsys):
    log = replace(LOG, last_write_ms=2**62)
    told = json.loads(output_of(capsys, "info", written(path, image(log=log)), "--json"))
    assert told["last_write"] is None


# --- verify


def test_verify_counts_a_sound_log(path, capsys):
    told = json.loads(output_of(capsys, "verify", written(path, two_blocks()), "--json"))
    assert told == {
        "path": str(path),
        "result": "sound",
        "generation_id": "0102030405060708",
        "head_offset": 0,
        "confirmed_offset": 4096,
        "end_offset": 8192,
        "records": 3,
        "bytes": 8192,
        "blocks": 2,
        "gaps": 0,
        "earlier_lap_pages": 0,
        "other_generation_pages": 0,
        "attempts": 1,
    }


def test_verify_tells_damage_with_its_place_and_advice(path, capsys):
    assert run(["wal", "verify", written(path, damaged()), "--json"]) == 1
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert (told["result"], told["damaged_offset"], told["damaged_position"]) == (
        "damaged",
        56,
        8248,
    )
    assert "is damaged at offset 56, device position 8248" in shown.err
    assert "do not format it" in shown.err


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        (bytes(1 << 20), 0, "blank"),
        (bytes(image(log=graceful())), 0, "sound"),
        (ext4(), 2, "ext4"),
        (of_version(2) + bytes(1 << 20), 2, "format version 2"),
        (bytes(8192) + two_blocks()[8192:], 1, "no valid superblock"),
    ],
    ids=["blank", "graceful", "ext4", "version", "superblocks"],
)
def test_verify_says_by_its_code_what_it_found(content, code, words, path, capsys):
    assert run(["wal", "verify", written(path, content)]) == code
    shown = capsys.readouterr()
    assert words in shown.out + shown.err


# --- dump


def test_dump_shows_blocks_and_the_batches_in_their_records(path, capsys):
    written(path, image((0, block([BATCH, b"no batch"], 0))))
    lines = [
        json.loads(line) for line in output_of(capsys, "dump", str(path), "--json").split("\n")[:-1]
    ]
    assert lines == [
        {
            "what": "block",
            "offset": 0,
            "position": 8192,
            "length": 56 + 24 + 38 + 24 + 8,
            "records": 2,
            "previous_end": 0,
            "confirmed_offset": 0,
            "superblock_sequence": 5,
        },
        {
            "what": "record",
            "offset": 56,
            "position": 8248,
            "length": 38,
            "state": "intact",
            "stream_id": 7,
            "epoch": 2,
            "base_offset": 100,
            "count": 3,
        },
        {"what": "record", "offset": 118, "position": 8310, "length": 8, "state": "intact"},
    ]
    table = output_of(capsys, "dump", str(path), "--bodies", "hex")
    assert "stream 7 epoch 2 base 100 count 3" in table
    assert b"hello".hex() in table


def test_dump_shows_damage_and_goes_on(path, capsys):
    shown = output_of(capsys, "dump", written(path, damaged()))
    assert "body damaged" in shown
    assert shown.count("intact") == 2


def test_dump_can_begin_anywhere_and_end_early(path, capsys):
    written(path, two_blocks())
    assert output_of(capsys, "dump", str(path), "-n", "2").count("\n") == 2
    late = output_of(capsys, "dump", str(path), "--from", "57")
    assert "offset 56 " not in late
    assert late.count("record ") == 2, "the other of the block that it begins in, and the next"
    assert run(["wal", "dump", str(path), "--from", str(LOG.capacity_bytes)]) == 2


def test_raw_shows_every_page(path, capsys):
    shown = output_of(capsys, "dump", written(path, two_blocks()), "--raw")
    assert "pages   offset 8192  position 16384  62 pages: zeros" in shown


def test_dump_of_an_empty_log_says_so(path, capsys):
    assert run(["wal", "dump", written(path, two_blocks(graceful()))]) == 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "--raw" in shown.err
    assert "two" not in output_of(capsys, "dump", str(path), "--raw", "-n", "1")
    assert run(["wal", "dump", written(path, bytes(1 << 20))]) == 0
    assert "blank" in capsys.readouterr().err


# --- format


def test_format_makes_a_new_file_of_the_capacity(path, capsys):
    assert run(["wal", "format", str(path), "--capacity", "1MiB"]) == 0
    assert "is blank: a WAL of up to 1MiB fits" in capsys.readouterr().err
    assert path.read_bytes() == bytes(1 << 20)


@pytest.mark.parametrize("form", [["--json"], ["-o", "json"]])
def test_format_tells_programs_what_fits(path, capsys, form):
    assert run(["wal", "format", str(path), "--capacity", "1MiB", *form]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out) == {"path": str(path), "result": "blank", "capacity_bytes": 1 << 20}
    assert "is blank" in told.err


def test_format_refuses_what_may_be_needed_and_names_the_way(path, capsys):
    for content, words in ((ext4(), "ext4"), (bytes(two_blocks()), "may not be in the bucket")):
        assert run(["wal", "format", written(path, content)]) == 1
        error = capsys.readouterr().err
        assert words in error
        assert "--force" in error
        assert path.read_bytes() == content
    assert run(["wal", "format", str(path), "--force"]) == 0
    assert not path.read_bytes().strip(b"\0")


def test_format_never_takes_a_log_from_its_writer(path, capsys):
    writer = open_file(written(path, two_blocks()), writable=True)
    assert run(["wal", "format", str(path), "--force"]) == 1
    writer.close()
    assert "writes to the WAL" in capsys.readouterr().err
    assert path.read_bytes() == two_blocks()


# --- logs in a bucket


@pytest.fixture
def bucket(tmp_path, monkeypatch):
    """A bucket that every URI names, with a log of three records."""

    def opened(*args, **kwargs):
        return FileObjectStore(tmp_path / "bucket")

    monkeypatch.setattr(wal_objects, "open_object_store", opened)

    async def fill():
        log = ObjectWal(
            WalConfig(path="s3://bucket"),
            WalBucket(opened()),
            node_id=1,
            node_epoch=4,
            cluster_id="c",
            rng=random.Random(1),
            on_confirmed=lambda offset: None,
            on_failed=lambda error: None,
        )
        await log.start()
        async for _ in log.recover():
            pass
        await log.reset()
        for body in (BATCH, b"two", b"three"):
            log.append(b"", body)
        await log.shutdown()

    asyncio.run(fill())
    return tmp_path / "bucket"


def files(bucket):
    return [
        (path, path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(bucket.rglob("*"))
        if path.is_file()
    ]


def test_info_lists_the_logs_of_a_bucket(bucket, capsys):
    (told,) = json.loads(output_of(capsys, "info", "0@s3://bucket?region=x", "--json"))
    assert (told["cluster_id"], told["node_id"], told["node_epoch"]) == ("c", 1, 4)
    assert told["first_number"] == 0
    assert told["last_number"] >= 16
    assert "c                 1           4" in output_of(capsys, "info", "s3://bucket")


def test_verify_runs_recovery_on_a_bucket_and_changes_nothing(bucket, capsys):
    before = files(bucket)
    (told,) = json.loads(output_of(capsys, "verify", "s3://bucket", "--json"))
    assert (told["result"], told["records"], told["bytes"]) == ("sound", 3, len(BATCH) + 8)
    assert files(bucket) == before


def test_verify_tells_what_is_damaged_in_a_bucket(bucket, capsys):
    (path,) = (path for path, _, content in files(bucket) if b"hello" in content)
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert run(["wal", "verify", "s3://bucket", "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)[0]["result"] == "damaged"
    assert f"{path.name} is damaged" in shown.err
    assert "damaged" in output_of(capsys, "dump", "s3://bucket")


def test_dump_shows_the_objects_and_records_of_a_bucket(bucket, capsys):
    shown = [
        json.loads(line) for line in output_of(capsys, "dump", "s3://bucket", "--json").splitlines()
    ]
    (at,) = [number for number, line in enumerate(shown) if line.get("state") == "data"]
    assert shown[at]["records"] == 3
    assert [line["length"] for line in shown[at + 1 : at + 4]] == [len(BATCH), 3, 5]
    assert shown[at + 1]["stream_id"] == 7
    assert "stream 7 epoch 2" in output_of(capsys, "dump", "s3://bucket", "--bodies", "hex")
    assert output_of(capsys, "dump", "s3://bucket", "--raw", "-n", "2").count("\n") == 2


def test_a_bucket_without_a_log_is_told(bucket, capsys):
    for path in sorted(bucket.rglob("wal/**/*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    for command in ("info", "verify", "dump"):
        assert run(["wal", command, "s3://bucket"]) == 2
        assert "there is no WAL in s3://bucket" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"),
    [(ValueError("there are no credentials"), 2), (ObjectStoreError("does not answer"), 1)],
)
def test_a_bucket_that_cannot_be_used_is_told(error, code, capsys, monkeypatch):
    def refuse(*args, **kwargs):
        raise error

    monkeypatch.setattr(wal_objects, "open_object_store", refuse)
    assert run(["wal", "info", "s3://bucket"]) == code
    assert run(["wal", "verify", "s3://bucket"]) == 2
    assert f"s3://bucket: {error}" in capsys.readouterr().err


def test_a_log_of_objects_is_not_formatted(capsys):
    assert run(["wal", "format", "s3://bucket"]) == 2
    assert "needs no formatting" in capsys.readouterr().err


# --- what is not whole


@pytest.mark.parametrize("size_bytes", [40 * PAGE_BYTES, RING_POSITION, PAGE_BYTES])
def test_a_log_that_was_truncated_is_told_as_such(size_bytes, path, capsys):
    capacity = LOG.capacity_bytes
    written(path, two_blocks()[:size_bytes])
    reason = f"{path} has {size_bytes} bytes, but the WAL on it uses {capacity}"
    assert reason in json.loads(output_of(capsys, "info", str(path), "--json"))["holds"]
    assert run(["wal", "dump", str(path)]) == 1
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("capacity", ["1KiB", "1023TiB"])
def test_a_new_file_that_cannot_be_formatted_is_not_left_behind(capacity, path, capsys):
    assert run(["wal", "format", str(path), "--capacity", capacity]) == 1
    assert "error" in capsys.readouterr().err
    assert not path.exists()
    written(path, b"")
    assert run(["wal", "format", str(path), "--capacity", capacity]) == 1
    assert path.exists(), "it was there before"
