"""A WAL that is not where it was is missed: nothing begins in its place by itself."""

import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import boto3
import pytest

from headrace.wal.layout import RING_POSITION, newest_superblock
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer, minio_program
from tests.simulation.wal_run import recover_image

MIB = 1 << 20
BUCKET = "headrace"
ACCEPT = re.compile(r"headrace\.wal\.accept\.loss=([0-9a-f]{16})")


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[HeadraceProcess]:
    with HeadraceProcess(tmp_path / "node") as node:
        yield node


@pytest.fixture
def uploader(tmp_path: Path) -> Iterator[HeadraceProcess]:
    """A broker that uploads all the time, with a small WAL."""
    wal = tmp_path / "node" / "data" / "wal"
    settings = {
        "s3.wal.path": f"0@file://{wal}?capacity={32 * MIB}",
        "s3.wal.upload.threshold": str(4 * MIB),
        "s3.wal.upload.interval.ms": "200",
    }
    with HeadraceProcess(tmp_path / "node", overrides=settings) as node:
        yield node


def produce(broker: HeadraceProcess, count: int) -> None:
    acks = CONFLUENT.produce(broker.bootstrap, "kept", [Record(b"%d" % n) for n in range(count)])
    assert [ack.error for ack in acks] == [0] * count


def values(broker: HeadraceProcess, count: int) -> list[bytes]:
    return [item.value for item in CONFLUENT.consume(broker.bootstrap, "kept", count)]


def refusal(broker: HeadraceProcess, where: str) -> str:
    """Start in vain; return the generation whose loss would have to be accepted."""
    said = last_words(broker)
    assert f"the WAL of this node is not at {where}" in said
    assert "s3.wal.path" in said
    return ACCEPT.findall(said)[-1]


def outdated(broker: HeadraceProcess, wal: Path) -> str:
    """Start in vain on an old copy; return the generation whose loss would have to be accepted."""
    said = last_words(broker)
    assert f"the WAL at {wal} is an old copy" in said
    assert "Bring the WAL back that this node used last" in said
    return ACCEPT.findall(said)[-1]


def last_words(broker: HeadraceProcess) -> str:
    """Start in vain; return what the process said."""
    begun = len(broker.process.log.read_text()) if broker.process.log.exists() else 0
    broker.begin()
    assert broker.process.wait_for_end(timeout_s=60) == 1
    said = broker.process.log.read_text()[begun:]
    assert "Traceback" not in said
    return said


def copy_of(wal: Path) -> tuple[Path, int]:
    """Copy a WAL beside its broker; return the copy and the offset of its end."""
    copy = wal.with_name("copy")
    shutil.copyfile(wal, copy)
    _, _, summary = recover_image(copy.read_bytes())
    return copy, summary.known_offset


def until_uploaded(wal: Path, offset: int) -> None:
    """Wait until everything up to a WAL offset, and something behind it, is uploaded and released."""
    deadline_s = time.monotonic() + 60
    while True:
        with wal.open("rb") as file:
            superblock = newest_superblock(file.read(RING_POSITION))
        if superblock is not None and superblock.trim_offset >= offset:
            return
        assert time.monotonic() < deadline_s
        time.sleep(0.02)


def test_a_wal_that_was_moved_away_is_missed_until_it_is_back(broker: HeadraceProcess) -> None:
    produce(broker, 50)
    broker.kill()
    wal = broker.directory / "data" / "wal"
    wal.rename(wal.with_name("elsewhere"))
    generation = refusal(broker, str(wal))
    assert wal.stat().st_blocks == 0, "a disk that was not mounted is not what is filled here"
    assert refusal(broker, str(wal)) == generation, (
        "the first start has left nothing that passes for it"
    )
    wal.with_name("elsewhere").rename(wal)
    broker.start()
    assert values(broker, 50) == [b"%d" % n for n in range(50)]


def test_a_wal_whose_beginning_was_wiped_is_missed_and_may_be_given_up(
    broker: HeadraceProcess,
) -> None:
    produce(broker, 50)
    broker.kill()
    wal = broker.directory / "data" / "wal"
    with wal.open("r+b") as file:
        file.write(bytes(MIB))
    generation = refusal(broker, str(wal))
    assert refusal(broker, str(wal)) == generation
    broker.set("headrace.wal.accept.loss", f"{int(generation, 16) ^ 1:016x}")
    assert refusal(broker, str(wal)) == generation, "another loss was accepted"
    broker.set("headrace.wal.accept.loss", generation)
    broker.start()
    assert any(event["level"] == "CRITICAL" for event in broker.log_events())
    produce(broker, 3)
    assert values(broker, 3) == [b"0", b"1", b"2"]
    broker.kill()
    wal.unlink()
    assert refusal(broker, str(wal)) != generation, "what was accepted once is not accepted again"


def test_an_older_wal_of_the_same_node_is_not_taken_for_the_newest(
    broker: HeadraceProcess,
) -> None:
    broker.stop()
    wal = broker.directory / "data" / "wal"
    wal.rename(wal.with_name("older"))
    broker.start()
    produce(broker, 50)
    broker.kill()
    wal.rename(wal.with_name("newest"))
    wal.with_name("older").rename(wal)
    refusal(broker, str(wal))
    wal.with_name("newest").rename(wal)
    broker.start()
    assert values(broker, 50) == [b"%d" % n for n in range(50)]


def test_a_copy_of_a_running_brokers_wal_is_refused_once_more_was_uploaded(
    uploader: HeadraceProcess,
) -> None:
    wal = uploader.directory / "data" / "wal"
    produce(uploader, 20)
    copy, end_offset = copy_of(wal)
    produce(uploader, 20)
    until_uploaded(wal, end_offset)
    produce(uploader, 5)
    uploader.kill()
    newest = wal.rename(wal.with_name("newest"))
    shutil.copyfile(copy, wal)
    generation = outdated(uploader, wal)
    assert outdated(uploader, wal) == generation, "the first start has left nothing"
    assert wal.read_bytes() == copy.read_bytes()
    newest.rename(wal)
    uploader.start()
    assert values(uploader, 45) == [b"%d" % n for n in (*range(20), *range(20), *range(5))]
    uploader.kill()
    wal.rename(newest)
    copy.rename(wal)
    refusal(uploader, str(wal))  # of an earlier start


def test_what_an_old_copy_lacks_may_be_given_up(uploader: HeadraceProcess) -> None:
    wal = uploader.directory / "data" / "wal"
    produce(uploader, 20)
    copy, end_offset = copy_of(wal)
    produce(uploader, 20)
    until_uploaded(wal, end_offset)
    uploader.kill()
    copy.rename(wal)
    uploader.set("headrace.wal.accept.loss", outdated(uploader, wal))
    uploader.start()
    assert any(event["level"] == "CRITICAL" for event in uploader.log_events())
    produce(uploader, 3)
    assert values(uploader, 20) == [b"%d" % n for n in range(20)], "what was uploaded stays"


def test_after_a_graceful_stop_the_wal_may_go(broker: HeadraceProcess) -> None:
    produce(broker, 50)
    for _ in range(2):
        broker.stop()
        (broker.directory / "data" / "wal").unlink()
        broker.start()
        assert values(broker, 50) == [b"%d" % n for n in range(50)]


@pytest.mark.s3
def test_a_wal_of_objects_is_missed_as_well(
    component: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    component(minio_program)
    with MinioServer(tmp_path / "minio") as minio:
        options = f"region=us-east-1&endpoint={minio.endpoint}&pathStyle=true"
        settings = {"s3.wal.path": f"0@s3://{BUCKET}?{options}&batchInterval=50"}
        keys = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
        broker = HeadraceProcess(tmp_path / "node", overrides=settings, environment=keys)
        with broker:
            produce(broker, 50)
            broker.kill()
            client = boto3.client(
                "s3",
                endpoint_url=minio.endpoint,
                region_name="us-east-1",
                aws_access_key_id=ACCESS_KEY,
                aws_secret_access_key=SECRET_KEY,
            )
            for each in client.list_objects_v2(Bucket=BUCKET, Prefix="wal/")["Contents"]:
                client.delete_object(Bucket=BUCKET, Key=each["Key"])
            generation = refusal(broker, f"s3://{BUCKET}?{options}")
            assert refusal(broker, f"s3://{BUCKET}?{options}") == generation
            broker.set("headrace.wal.accept.loss", generation)
            broker.start()
            produce(broker, 1)
            broker.restart()
            assert values(broker, 1) == [b"0"]
