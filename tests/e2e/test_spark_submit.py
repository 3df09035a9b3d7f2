"""A stranger's spark-submit on a cluster of two workers, with the wheel for Spark and nothing else of ours."""

import json
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import boto3
import pyarrow.parquet as pq
import pytest

from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.errors import SourceError
from headrace.pipeline.source.snapshots import newest_catalog
from tests.documentation.pages import page
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.environment.java import java_home
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer
from tests.environment.spark import connector_jars
from tests.environment.wheels import build_wheels, install

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.s3, pytest.mark.timeout(300)]

MASTER = "local-cluster[2,1,1024]"
SNIPPET_ENDPOINT = "http://127.0.0.1:9000"
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
RECORDS = 300
END_S = 15.0  # after which no process of a cluster may be left
# What the snippet leaves open: whether all rows are there, in whichever process they were read.
LOOK = """
import json
rows = sorted((row.offset, bytes(row.value).decode()) for row in orders.collect())
print(json.dumps([spark.sparkContext.master, rows]))
spark.stop()
"""


@dataclass
class World:
    """A broker with topics, and their bucket."""

    bootstrap: str
    endpoint: str


@pytest.fixture(scope="module")
def world(minio: MinioServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    keys = {name.lower(): value for name, value in KEYS.items()}
    client = boto3.client("s3", endpoint_url=minio.endpoint, region_name="us-east-1", **keys)
    client.create_bucket(Bucket="headrace")
    uri = f"s3://headrace?endpoint={minio.endpoint}&pathStyle=true"
    settings = {
        "s3.data.buckets": f"0@{uri}",
        "s3.wal.upload.interval.ms": "500",
        "headrace.metadata.snapshot.publish.interval.ms": "1000",
    }
    directory = tmp_path_factory.mktemp("node")
    with HeadraceProcess(directory, overrides=settings, environment=KEYS) as broker:
        sent = [Record(str(number).encode()) for number in range(RECORDS)]
        CONFLUENT.produce(broker.bootstrap, "orders", sent, compression="zstd")
        bucket = f"{uri}&accessKey={ACCESS_KEY}&secretKey={SECRET_KEY}"

        def is_published() -> bool:
            with suppress(SourceError):
                stored = newest_catalog(open_bucket(bucket)).stored(TopicPartition("orders", 0))
                return stored is not None and stored.end_offset == RECORDS
            return False

        broker.process.wait_until(is_published, "all in the bucket", timeout_s=60)
        yield World(broker.bootstrap, minio.endpoint)


@pytest.fixture(scope="module")
def python(
    component: Callable[[Callable[[], object]], None], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    component(java_home)
    _, wheel = build_wheels(tmp_path_factory.mktemp("wheels"))
    return install(wheel, tmp_path_factory.mktemp("environment"), "pyspark")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where a stranger works, with modules that have the names of our folders."""
    path = tmp_path / "job"
    path.mkdir()
    for name in ("config", "storage", "pipeline"):
        (path / f"{name}.py").write_text("raise SystemExit('a stranger was imported')\n")
    return path


def submit(python: Path, directory: Path, arguments: Sequence[str]) -> str:
    """Run spark-submit on two workers, and return what the job prints; no process of it is left."""
    (spark,) = python.parents[1].glob("lib/python*/site-packages/pyspark")
    spark_home = directory / "spark"
    spark_home.mkdir()
    for path in spark.iterdir():
        (spark_home / path.name).symlink_to(path)
    mark = uuid.uuid4().hex
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(directory),
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": str(python),
        "PYTHONPATH": str(directory),
        "SPARK_LOCAL_IP": "127.0.0.1",  # as all servers of the tests
        "SPARK_HOME": str(spark_home),  # workers write into it
        "HEADRACE_TEST": mark,
        **KEYS,
    }
    settings = ("spark.ui.enabled=false", "spark.sql.shuffle.partitions=2")
    quick = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for three JVMs that end soon
    settings += (
        f"spark.driver.extraJavaOptions={quick}",
        f"spark.executor.extraJavaOptions={quick}",
    )
    options = [it for setting in settings for it in ("--conf", setting)]
    done = subprocess.run(
        [spark_home / "bin" / "spark-submit", "--master", MASTER, *options, *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-8_000:]
    deadline = time.monotonic() + END_S
    while left := processes_with(f"HEADRACE_TEST={mark}"):
        assert time.monotonic() < deadline, f"left behind: {left}"
        time.sleep(0.05)
    executors = list((spark_home / "work").glob("app-*/*"))
    assert len(executors) == 2, "it was not run by the workers"
    return done.stdout


def processes_with(variable: str) -> list[str]:
    """Command lines of the processes that have a variable in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if variable.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_text().replace("\0", " ")[:300])
    return found


def test_the_first_snippet_reads_the_bucket(world: World, python: Path, directory: Path) -> None:
    blocks = (it.text for it in page("docs/spark.md").blocks if it.language == "python")
    snippet = next(it for it in blocks if '.format("headrace")' in it)
    assert SNIPPET_ENDPOINT in snippet
    script = snippet.replace(SNIPPET_ENDPOINT, world.endpoint) + LOOK
    (directory / "job.py").write_text(script)
    shown, _, last = submit(python, directory, ["job.py"]).strip().rpartition("\n")
    assert f"|        0|  {RECORDS}|" in shown
    assert json.loads(last) == [MASTER, [[it, str(it)] for it in range(RECORDS)]]


def test_the_job_that_comes_with_it(
    world: World,
    python: Path,
    directory: Path,
    component: Callable[[Callable[[], object]], None],
) -> None:
    """It takes master, jars and settings of spark-submit."""
    component(connector_jars)
    documents = [{"section": f"s{number % 2}", "size": number} for number in range(10)]
    sent = [Record(json.dumps(it).encode()) for it in documents]
    CONFLUENT.produce(world.bootstrap, "documents", sent)
    (job,) = python.parents[1].glob("lib/python*/site-packages/**/pipeline/package_sizes.py")
    jars = ",".join(str(it) for it in sorted(connector_jars().glob("*.jar")))
    source = ["--bootstrap", world.bootstrap, "--topic", "documents"]
    wanted = ["--output", str(directory / "totals"), "--group-by", "section", "--number", "size"]
    shown = submit(python, directory, ["--jars", jars, str(job), *source, *wanted])
    assert shown.split()[-6:] == ["s1", "5", "25", "s0", "5", "20"]


def test_jobs_are_files_for_spark_submit(world: World, python: Path, directory: Path) -> None:
    """The export is written by both workers, and has what the bucket has."""
    uri = f"s3://headrace?endpoint={world.endpoint}&pathStyle=true"
    (job,) = python.parents[1].glob("lib/python*/site-packages/**/pipeline/jobs/export.py")
    out = directory / "out"
    told = submit(
        python, directory, [str(job), uri, "--to", f"file://{out}", "--topics", "orders", "--json"]
    )
    document = json.loads(told[told.index("{") : told.rindex("}") + 1])
    assert (document["rows"], document["lost"]) == (RECORDS, [])
    values = [
        value
        for path in out.glob("topic=orders/date=*/*.parquet")
        for value in pq.ParquetFile(path).read(["value"])["value"].to_pylist()
    ]
    assert sorted(values) == sorted(str(number).encode() for number in range(RECORDS))
