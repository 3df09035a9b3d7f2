"""A stranger's spark-submit on a cluster of two workers, with the wheel for Spark and nothing else of ours."""

import json
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
from headrace.pipeline.tables.checking import check_tables
from tests.documentation.pages import page
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.stranger import MASTER, SETTINGS, Stranger
from tests.e2e.tables_world import TablesWorld
from tests.environment.java import java_home
from tests.environment.minio import ACCESS_KEY, SECRET_KEY, MinioServer
from tests.environment.paths import ROOT
from tests.environment.spark import connector_jars
from tests.environment.wheels import build_wheels, install

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.s3, pytest.mark.timeout(300)]

SNIPPET_ENDPOINT = "http://127.0.0.1:9000"
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}
RECORDS = 300
JOB = ROOT / "tests/e2e/spark_jobs/add_up.py"
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
def stranger(python: Path, tmp_path: Path) -> Stranger:
    return Stranger(python, tmp_path / "job", KEYS)


def submit(stranger: Stranger, arguments: Sequence[str | Path]) -> str:
    """Run spark-submit on two workers, and return what the job prints."""
    program = stranger.spark_home / "bin" / "spark-submit"
    done = stranger.run([program, "--master", MASTER, *SETTINGS, *arguments])
    assert done.returncode == 0, done.stderr[-8_000:]
    assert len(stranger.executors()) == 2, "it was not run by the workers"
    return done.stdout


def test_the_first_snippet_reads_the_bucket(world: World, stranger: Stranger) -> None:
    blocks = (it.text for it in page("docs/spark.md").blocks if it.language == "python")
    snippet = next(it for it in blocks if '.format("headrace")' in it)
    assert SNIPPET_ENDPOINT in snippet
    script = snippet.replace(SNIPPET_ENDPOINT, world.endpoint) + LOOK
    (stranger.directory / "job.py").write_text(script)
    shown, _, last = submit(stranger, ["job.py"]).strip().rpartition("\n")
    assert f"|        0|  {RECORDS}|" in shown
    assert json.loads(last) == [MASTER, [[it, str(it)] for it in range(RECORDS)]]


def test_the_stock_connector_adds_up_on_workers(
    world: World, stranger: Stranger, component: Callable[[Callable[[], object]], None]
) -> None:
    component(connector_jars)
    documents = [{"section": f"s{number % 2}", "size": number} for number in range(10)]
    sent = [Record(json.dumps(it).encode()) for it in documents]
    CONFLUENT.produce(world.bootstrap, "documents", sent)
    jars = ",".join(str(it) for it in sorted(connector_jars().glob("*.jar")))
    few_pieces = [
        "--conf",
        "spark.sql.shuffle.partitions=2",
    ]  # of state, of which there are 200 by default
    output = stranger.directory / "totals"
    job = [JOB, world.bootstrap, "documents", output]
    shown = submit(stranger, ["--jars", jars, *few_pieces, *job])
    assert json.loads(shown) == {"s1": [5, 25], "s0": [5, 20]}


def test_jobs_are_files_for_spark_submit(world: World, python: Path, stranger: Stranger) -> None:
    """The export is written by both workers, and has what the bucket has."""
    uri = f"s3://headrace?endpoint={world.endpoint}&pathStyle=true"
    (job,) = python.parents[1].glob("lib/python*/site-packages/**/pipeline/jobs/export.py")
    out = stranger.directory / "out"
    told = submit(stranger, [job, uri, "--to", f"file://{out}", "--topics", "orders", "--json"])
    document = json.loads(told[told.index("{") : told.rindex("}") + 1])
    assert (document["rows"], document["lost"]) == (RECORDS, [])
    values = [
        value
        for path in out.glob("topic=orders/date=*/*.parquet")
        for value in pq.ParquetFile(path).read(["value"])["value"].to_pylist()
    ]
    assert sorted(values) == sorted(str(number).encode() for number in range(RECORDS))


def test_a_check_of_a_pipeline_asks_the_bucket(world: World, tmp_path: Path) -> None:
    bucket = f"s3://headrace?endpoint={world.endpoint}&pathStyle=true"
    source = {
        "format": "headrace",
        "bootstrap_servers": world.bootstrap,
        "bucket": f"{bucket}&accessKey={ACCESS_KEY}&secretKey={SECRET_KEY}",
    }
    table = {"name": "shop.orders", "topics": ["orders", "nobody"]}
    config = TablesWorld(world.bootstrap, tmp_path).config(
        table, source=source, dead_letters={"topic": "no-dead"}
    )
    rows, problems = check_tables(config)
    assert [it["table"] for it in rows] == ["shop.orders"]
    assert problems == [
        "the newest snapshot in the bucket has no topic nobody",
        f"{world.bootstrap} has no topic no-dead",
    ]
