"""The jobs fsck and export by Spark: the words of the tools, kills of drivers and workers, S3."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pyarrow.parquet as pq
import pyspark
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import DataFrame, SparkSession

from headrace.broker.cli.root import run
from headrace.pipeline.jobs import export, fsck
from headrace.pipeline.jobs.exported import exported_paths, read_export
from headrace.pipeline.jobs.exporting import newest_manifest
from headrace.pipeline.jobs.target import open_target
from headrace.pipeline.jobs.told import Told
from headrace.storage.objects.footer import FOOTER_BYTES
from headrace.storage.objects.keys import object_key
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import published
from tests.e2e.spark_programs import (
    JOBS,
    environment_of,
    processes_of,
    quick_options,
    run_until,
    some_delay_s,
)
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer
from tests.unit.pipeline.source.stored_topics import CLUSTER, StoredTopics

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(400)]

START_MS = 1_790_000_000_000
RECORDS = 6_000
PARTITIONS = 3
# Small objects, blocks and files, so that there are many of them.
SETTINGS = {"s3.stream.object.split.size": "65536", "s3.object.block.size": "16384"}
FILE_BYTES = 1 << 20
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
PROGRESS = re.compile(r".*: [\d,]+ of [\d,]+ MiB$")
Printed = Callable[[], str]


def records(rng: random.Random) -> list[Record]:
    """Of two days, in order but for some; they do not compress."""
    return [
        Record(
            rng.randbytes(1_000),
            str(number).encode() if number % 3 else None,
            (("h", b"1"), ("h", None)) if number % 5 == 0 else (),
            partition=number % PARTITIONS,
            timestamp_ms=START_MS + 20_000 * (number if number % 11 else number // 2),
        )
        for number in range(RECORDS)
    ]


def fill(broker: HeadraceProcess, topic: str) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    for it in admin.create_topics([NewTopic(topic, PARTITIONS, 1)]).values():
        it.result(30)
    CONFLUENT.produce(broker.bootstrap, topic, records(random.Random(7)), compression="none")


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A bucket with a topic `orders`, whose broker has stopped."""
    directory = tmp_path_factory.mktemp("jobs")
    with HeadraceProcess(directory, overrides=SETTINGS) as broker:
        fill(broker, "orders")
    uri = f"file://{directory / 'data/bucket'}"
    assert sum(published(uri).values()) == RECORDS
    return uri


def source_rows(spark: SparkSession, bucket: str) -> list[tuple[Any, ...]]:
    reader = spark.read.format("headrace").option("bucket", bucket)
    return rows(reader.option("subscribe", "orders").option("includeHeaders", "true").load())


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    columns = ["topic", "partition", "offset", "timestamp", "timestampType", "key", "value"]
    found = frame.selectExpr(*columns, "to_json(headers)").collect()
    return sorted((tuple(it) for it in found), key=lambda it: it[:3])


# --- fsck ---


def of_tool(bucket: str, printed: Printed, *more: str) -> tuple[int, str]:
    code = run(["bucket", "fsck", bucket, "--metadata", "bucket", *more])
    return code, printed()


def of_job(bucket: str, printed: Printed, *more: str) -> tuple[int, str]:
    code = fsck.run(fsck.parser().parse_args([bucket, *more]), Told(events=False))
    return code, printed()


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Printed:
    def read() -> str:
        found = capsys.readouterr()
        told = [it for it in found.err.splitlines() if not PROGRESS.match(it)]
        return "\n".join([found.out, "--", *told, ""])

    return read


def flip(path: Path, position: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 4
    path.write_bytes(content)


def damaged_bucket(directory: Path) -> str:
    """A bucket in which each object has something else wrong with it, but for the last."""
    topics = StoredTopics()
    layout = {it: [(0, 100 * it, 100 * it + 100)] for it in range(8) if it != 6}
    layout[7] = [(0, 600, 800), (2, 0, 50)]
    layout[9] = [(2, 50, 100)]
    topics.publish(layout, (0, 0))
    uri = topics.write_to(directory)
    paths = {it: directory / object_key(CLUSTER, it) for it in range(12)}
    flip(paths[0], 60)  # in a block
    flip(paths[1], -FOOTER_BYTES - 20)  # in the index
    flip(paths[2], -5)  # in the footer
    paths[3].unlink()
    paths[4].write_bytes(paths[4].read_bytes()[:-100])
    swapped = paths[5].read_bytes()
    paths[5].write_bytes(paths[0].read_bytes()[: len(swapped)].ljust(len(swapped), b"\0"))
    for orphan in (6, 8, 11):  # forgotten, and beyond the metadata
        paths[orphan].parent.mkdir(parents=True, exist_ok=True)
        paths[orphan].write_bytes(b"orphan")
    os.utime(paths[11], (1_000, 1_000))
    newer = directory / object_key(CLUSTER, 12)
    newer.parent.mkdir(parents=True, exist_ok=True)
    newer.write_bytes(b"of an upload since")
    flip(paths[7], 300)
    return uri


def test_fsck_says_what_the_tool_says_of_each_damage(
    spark: SparkSession, tmp_path: Path, printed: Printed
) -> None:
    bucket = damaged_bucket(tmp_path)
    code, told = of_tool(bucket, printed, "--blocks", "--json")
    assert (code, told) == of_job(bucket, printed, "--json")
    document = json.loads(told.partition("\n--\n")[0])
    found = {it["object_id"]: it["problem"] for it in document["findings"]}
    assert found.pop(4) == "wrong size"
    assert found.pop(3) == "missing"
    assert {found.pop(it) for it in (6, 8)} == {"unknown"}  # orphans
    assert found.pop(11) == "beyond metadata"
    assert set(found) == {0, 1, 2, 5, 7}
    assert set(found.values()) <= {"damaged", "other ranges"}
    assert (code, document["newer"], document["errors"]) == (1, 1, 8)
    assert of_tool(bucket, printed, "--blocks") == of_job(bucket, printed)
    assert of_tool(bucket, printed, "--deep") == of_job(bucket, printed, "--deep")


def test_fsck_of_a_bucket_that_is_in_order(
    spark: SparkSession, bucket: str, printed: Printed
) -> None:
    code, told = of_tool(bucket, printed, "--blocks", "--json")
    assert (code, told) == of_job(bucket, printed, "--json")
    assert code == 0
    assert json.loads(told.partition("\n--\n")[0])["errors"] == 0


# --- export ---


def export_arguments(bucket: str, out: str) -> list[str]:
    return [bucket, "--to", out, "--topics", "orders", "--file-bytes", str(FILE_BYTES), "--json"]


def export_here(bucket: str, out: str, printed: Printed) -> dict[str, Any]:
    arguments = export.parser().parse_args(export_arguments(bucket, out))
    assert export.run(arguments, Told(events=False)) == 0
    found: dict[str, Any] = json.loads(printed().partition("\n--\n")[0])
    return found


def test_an_export_has_the_rows_of_the_source(
    spark: SparkSession, bucket: str, tmp_path: Path, printed: Printed
) -> None:
    out = f"file://{tmp_path / 'out'}"
    told = export_here(bucket, out, printed)
    expected = source_rows(spark, bucket)
    assert rows(spark.read.parquet(out)) == rows(read_export(spark, out)) == expected
    assert told["rows"] == len(expected) == RECORDS
    days = spark.read.parquet(out).selectExpr("date = to_date(timestamp) as is_so").distinct()
    assert [it.is_so for it in days.collect()] == [True]
    sizes = [Path(it.removeprefix("file://")).stat().st_size for it in exported_paths(out)]
    assert max(sizes) <= 2 * FILE_BYTES
    assert export_here(bucket, out, printed)["files"] == 0


def test_a_driver_that_is_killed_at_any_time(
    spark: SparkSession, bucket: str, tmp_path: Path, printed: Printed
) -> None:
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    out = tmp_path / "out"
    job = [JOBS / "export.py", *export_arguments(bucket, f"file://{out}")]
    command = ["spark-submit", "--master", "local[1]", *quick_options(), *job]
    killed = 0
    staged = out / "_headrace/staging"
    for _ in range(2):
        was_running = run_until(command, uuid.uuid4().hex, staged.exists, delay_s=some_delay_s(rng))
        killed += was_running
        if list(out.glob("topic=*/*/*.parquet")):
            frame = spark.read.parquet(f"file://{out}")
            places = [tuple(it) for it in frame.select("partition", "offset").collect()]
            assert len(places) == len(set(places)), f"random.Random({seed})"
    told = export_here(bucket, f"file://{out}", printed)
    expected = source_rows(spark, bucket)
    assert rows(spark.read.parquet(f"file://{out}")) == expected, f"random.Random({seed})"
    assert rows(read_export(spark, f"file://{out}")) == expected
    assert not (out / "_headrace/staging").exists()
    assert killed, told


@dataclass
class S3World:
    """A bucket with a topic in MinIO, and a place for an export."""

    bucket: str
    out: str


@pytest.fixture(scope="module")
def s3_world(minio: MinioServer, tmp_path_factory: pytest.TempPathFactory) -> S3World:
    keys = {name.lower(): value for name, value in KEYS.items()}
    client = boto3.client("s3", endpoint_url=minio.endpoint, region_name="us-east-1", **keys)
    for name in ("headrace", "exports"):
        client.create_bucket(Bucket=name)
    options = f"?region=us-east-1&endpoint={minio.endpoint}&pathStyle=true"
    settings = {**SETTINGS, "s3.data.buckets": f"0@s3://headrace{options}"}
    node = tmp_path_factory.mktemp("node")
    with HeadraceProcess(node, overrides=settings, environment=KEYS) as broker:
        fill(broker, "orders")
    secret = f"&accessKey={ACCESS_KEY}&secretKey={SECRET_KEY}"
    return S3World(f"s3://headrace{options}{secret}", f"s3://exports/all{options}{secret}")


@pytest.mark.s3
def test_a_worker_that_is_killed_on_a_cluster_with_s3(s3_world: S3World, tmp_path: Path) -> None:
    """Bucket and export are on an S3 server; one of two workers is killed while it writes."""
    mark = uuid.uuid4().hex
    home = spark_home(tmp_path)
    job = [JOBS / "export.py", *export_arguments(s3_world.bucket, s3_world.out)]
    command = [home / "bin/spark-submit", "--master", "local-cluster[2,1,512]"]
    command += ["--conf", "spark.executor.memory=512m", *quick_options(), *job]
    target = open_target(s3_world.out)
    killed: list[int] = []

    def kill_a_worker() -> None:
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline and not target.keys("_headrace/staging"):
            time.sleep(0.05)
        for process, line in processes_of(mark).items():
            if "CoarseGrainedExecutorBackend" in line:
                os.kill(process, signal.SIGKILL)
                killed.append(process)
                return

    killer = threading.Thread(target=kill_a_worker)
    killer.start()
    done = subprocess.run(
        [str(it) for it in command],
        env=environment_of(mark, {"SPARK_HOME": str(home)}),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    killer.join()
    assert done.returncode == 0, done.stderr[-5_000:]
    assert killed
    manifest = newest_manifest(target)
    assert manifest is not None
    places = []
    for path in manifest.paths:
        (tmp_path / "file").write_bytes(target.whole(path))
        table = pq.ParquetFile(tmp_path / "file").read(["partition", "offset"])
        places += list(zip(*(table[it].to_pylist() for it in ("partition", "offset")), strict=True))
    assert sorted(places) == [
        (p, o) for p in range(PARTITIONS) for o in range(RECORDS // PARTITIONS)
    ]
    listed = {it.key for page in target.pages() for it in page}
    assert {it for it in listed if it.endswith(".parquet")} == set(manifest.paths)


def spark_home(directory: Path) -> Path:
    """A home of Spark that workers write into."""
    home = directory / "spark"
    home.mkdir()
    for path in Path(pyspark.__file__).parent.iterdir():
        (home / path.name).symlink_to(path)
    return home


def test_the_commands_run_jobs_by_spark_submit(
    bucket: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment_of("commands").items():
        monkeypatch.setenv(name, value)
    place = [bucket, "--to", f"file://{tmp_path / 'out'}", "--topics", "orders"]
    submit = " ".join(f"'{it}'" for it in quick_options())
    common = ["--master", "local[1]", "--submit", submit]
    assert run(["spark", "export", *place, *common, "--json", "--dry-run"]) == 0
    planned = json.loads(capfd.readouterr().out)
    ranges = [it.partition(":")[2].split("-") for task in planned["tasks"] for it in task["ranges"]]
    assert sum(int(end) - int(start) for start, end in ranges) == RECORDS
    assert run(["spark", "export", *place, *common, "--since", "never"]) == 2
    assert "error: --since is a date or a time" in capfd.readouterr().err
    broken = tmp_path / "bucket"
    shutil.copytree(bucket.removeprefix("file://"), broken)
    first = next(it for it in sorted(broken.glob("*/*/*")) if it.parts[-3] != "metadata")
    flip(first, 40)
    kept = tmp_path / "nightly.prom"
    metrics = ["--metrics-file", str(kept)]
    assert run(["spark", "fsck", f"file://{broken}", *common, *metrics]) == 1
    told = capfd.readouterr()
    labels = '{job="fsck",name="nightly"}'
    lines = kept.read_text().splitlines()
    assert f"headrace_job_exit_code{labels} 1" in lines
    assert f"headrace_job_findings{labels} 1" in lines
    assert "damaged" in told.out
    assert "objects, indexes and blocks compared: 1 errors" in told.err
