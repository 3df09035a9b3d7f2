"""The wheel for Spark and nothing else of ours: with the oldest Spark and packages, and with the newest of both."""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.e2e.spark_buckets import EARLY, consumed, published, records
from tests.e2e.stranger import MASTER, SETTINGS, Stranger
from tests.environment.java import java_home
from tests.environment.paths import ROOT
from tests.environment.spark import (
    NEWEST_SPARK_VERSION,
    SPARK_VERSION,
    lowest_packages,
    newest_spark,
)
from tests.environment.wheels import build_wheels, install, install_with

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(300)]

JOB = ROOT / "tests/e2e/spark_jobs/read_bucket.py"
PARTITIONS = 3
# Where each runs first, and where it goes on; test_spark_submit.py has a cluster with the oldest.
VERSIONS = {SPARK_VERSION: ("local[2]", "local[2]"), NEWEST_SPARK_VERSION: ("local[2]", MASTER)}


@pytest.fixture(scope="module")
def wheel(
    component: Callable[[Callable[[], object]], None], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    for provide in (java_home, newest_spark, lowest_packages):
        component(provide)
    return build_wheels(tmp_path_factory.mktemp("wheels"))[1]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeadraceProcess]:
    with HeadraceProcess(tmp_path_factory.mktemp("node"), overrides=EARLY) as running:
        yield running


def bucket_of(broker: HeadraceProcess) -> str:
    return f"file://{broker.directory / 'data/bucket'}"


def send(broker: HeadraceProcess, topic: str, sent: Sequence[Record], end: int) -> None:
    """Produce records, and wait until each partition has `end` of them in the bucket."""
    CONFLUENT.produce(broker.bootstrap, topic, sent, compression="zstd")

    def is_published() -> bool:
        ends = published(bucket_of(broker))
        return all(ends.get((topic, it)) == end for it in range(PARTITIONS))

    broker.process.wait_until(is_published, "all in the bucket", timeout_s=60)


@pytest.mark.parametrize("version", VERSIONS)
def test_batches_and_a_stream_that_is_started_again(
    version: str, wheel: Path, broker: HeadraceProcess, tmp_path: Path
) -> None:
    """Their environment has no pyspark, as on a machine that has Spark from elsewhere."""
    if version == SPARK_VERSION:
        python = install_with(wheel, tmp_path / "environment", lowest_packages())
        home = Path(pyspark.__path__[0])
    else:
        python = install(wheel, tmp_path / "environment")
        home = newest_spark() / "pyspark"
    stranger = Stranger(python, tmp_path / "job", spark=home)
    topic = f"spark-{version}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result(30)
    sent: list[Record] = []
    for count, master in zip((300, 120), VERSIONS[version], strict=True):
        sent += records(count)
        each = len(sent) // PARTITIONS
        send(broker, topic, sent[-count:], each)
        arguments = [bucket_of(broker), topic, str(tmp_path)]
        submit = stranger.spark_home / "bin/spark-submit"
        done = stranger.run([submit, "--master", master, *SETTINGS, JOB, *arguments])
        assert done.returncode == 0, done.stderr[-8_000:]
        assert "BatchScan headrace" in done.stdout
        assert json.loads(done.stdout.strip().rpartition("\n")[2]) == {
            "spark": version,
            "master": master,
            "counts": {str(it): each for it in range(PARTITIONS)},
            "last": {str(it): each - 1 for it in range(PARTITIONS)},
            "checksum": sum(zlib.crc32(it.value) for it in sent if it.value is not None),
        }
    found = [
        (row["topic"], row["partition"], row["offset"], row["key"], row["value"])
        for path in (tmp_path / "rows").glob("*.parquet")
        for row in pq.ParquetFile(path).read().to_pylist()
    ]
    wanted = consumed(broker.bootstrap, topic, len(sent))
    assert sorted(found, key=lambda it: it[:3]) == [it[:5] for it in wanted]
