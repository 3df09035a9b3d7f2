"""Compares ways in which Spark reads a topic that is in the bucket, and what they cost the broker.

Run it with `python -m bench.spark_backfill [--mib 2048] [--only "100 B zstd"]`. Each way copies a topic of four
partitions to Parquet files with `local[2]`: through the broker (`format("kafka")`, with its defaults and with
the options of `headrace spark session`), straight from the bucket (`format("headrace")`), by the job that is made for
it (`headrace spark export`), and from the Parquet files of the run before, as what Spark can do at best. Each source
also reads without writing (`format("noop")`): the reader alone. All take turns; figures are medians. The broker is
restarted after the topic was produced, so that nothing is in its memory.
"""

import argparse
import io
import os
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

from bench import load_program
from bench.cold_topic import bucket_uri_of, create_topic
from bench.process_usage import spent_since_s, tree_cpu_s, usage
from bench.values import values
from headrace.config.spark_reader import reader_options
from headrace.pipeline.jobs import export
from headrace.pipeline.jobs.told import Told
from headrace.pipeline.session import create_session
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.spark import connector_jars

MIB = 1 << 20
PARTITIONS = 4
ROUNDS = 3
RECORDS_PER_S = 500  # of the producer whose latency is measured
LATENCY_S = 20
QUIET_S = 5
DRIVER_MEMORY = "4g"
SIZES = (100, 1_000)
CODECS = ("none", "zstd")


def produce(bootstrap: str, topic: str, record_bytes: int, codec: str, count: int) -> None:
    """Produce records whose values do not repeat."""
    producer = Producer(
        {"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 50}
        | {"batch.size": MIB, "queue.buffering.max.kbytes": 256 << 10, "acks": "all"}
    )
    for number, value in enumerate(islice(values(record_bytes), count)):
        while True:
            try:
                producer.produce(topic, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(600) == 0


def by_kafka(
    spark: SparkSession, broker: HeadraceProcess, topic: str, *, defaults: bool = False
) -> DataFrame:
    """Read through the broker, with our options or with the connector's defaults."""
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.bootstrap)
    if not defaults:
        reader = reader.options(**reader_options(broker.bootstrap))
    return reader.option("subscribe", topic).load()


def by_headrace(
    spark: SparkSession, broker: HeadraceProcess, topic: str, **options: object
) -> DataFrame:
    """Read from the bucket."""
    reader = spark.read.format("headrace").option("bucket", bucket_uri_of(broker))
    return reader.options(subscribe=topic, **options).load()


def exported_s(broker: HeadraceProcess, topic: str, directory: Path) -> float:
    """Copy to Parquet files by `headrace spark export`, in the session that is there."""
    shutil.rmtree(directory, ignore_errors=True)
    where = [bucket_uri_of(broker), "--topics", topic, "--to", directory.as_uri()]
    where += ["--compression", "snappy"]  # as Spark's own files have
    said = io.StringIO()
    begin = time.monotonic()
    with redirect_stdout(said), redirect_stderr(said):
        code = export.run(export.parser().parse_args(where), Told(events=False, progress=False))
    assert code == 0, said.getvalue()
    return time.monotonic() - begin


def seconds_of(frame: DataFrame, directory: Path) -> float:
    """Copy to Parquet files."""
    shutil.rmtree(directory, ignore_errors=True)
    begin = time.monotonic()
    frame.write.parquet(str(directory))
    return time.monotonic() - begin


def read_s(frame: DataFrame) -> float:
    """Read all columns, and write nothing."""
    begin = time.monotonic()
    frame.write.format("noop").mode("overwrite").save()
    return time.monotonic() - begin


def process_id_of(spark: SparkSession) -> int:
    """The JVM's."""
    jvm: Any = spark.sparkContext._jvm
    return int(jvm.java.lang.ProcessHandle.current().pid())


@contextmanager
def peak_of_workers() -> Iterator[list[int]]:
    """Yield a list that has the peak memory of a Python worker of Spark, in bytes, once the body has run."""
    found, done = [0], threading.Event()

    def look() -> None:
        while not done.wait(0.2):
            for path in Path("/proc").glob("[0-9]*"):
                try:
                    if b"pyspark/daemon" in (path / "cmdline").read_bytes().replace(b".", b"/"):
                        found[0] = max(found[0], usage(path.name).rss_peak_bytes)
                except OSError:
                    continue  # it has ended

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        done.set()
        thread.join()


@dataclass
class Taken:
    """What the runs of one way into one sink took."""

    elapsed_s: list[float] = field(default_factory=list)
    spark_s: list[float] = field(default_factory=list)  # processor time of the JVM and its workers
    broker_s: list[float] = field(default_factory=list)

    def told(self, count: int) -> str:
        """Rows a second, microseconds of Spark's processors for a row, cores of the broker."""
        rate, row_us = count / self.median_s, self.row_us(count)
        return f"{rate:,.0f} | {row_us:.2f} | {sum(self.broker_s) / sum(self.elapsed_s):.3f}"

    def cell(self, count: int) -> str:
        """Rows a second, and microseconds of Spark's processors for a row in brackets."""
        return f"{round(count / self.median_s, -3):,.0f} ({self.row_us(count):.2f})"

    @property
    def median_s(self) -> float:
        """What a run took."""
        return statistics.median(self.elapsed_s)

    def row_us(self, count: int) -> float:
        """What a row took of Spark's processors."""
        return statistics.median(self.spark_s) / count * 1e6


@dataclass
class Measured:
    """What each way took with one topic."""

    topic: str
    count: int
    copies: dict[str, Taken]
    reads: dict[str, Taken]


def backfill(
    spark: SparkSession, broker: HeadraceProcess, topic: str, count: int, out: Path
) -> Measured:
    """Measure the ways in turns; print a table."""
    ways: dict[str, Callable[[], DataFrame]] = {
        "kafka, defaults": lambda: by_kafka(spark, broker, topic, defaults=True),
        "kafka": lambda: by_kafka(spark, broker, topic),
        "headrace": lambda: by_headrace(spark, broker, topic),
        "parquet": lambda: spark.read.parquet(str(out / "headrace")),
    }

    def copied(name: str) -> Callable[[], float]:
        return lambda: seconds_of(ways[name](), out / name)

    jobs = {name: copied(name) for name in ways}
    jobs["export"] = lambda: exported_s(broker, topic, out / "export")
    copies, reads = {it: Taken() for it in jobs}, {it: Taken() for it in ways}
    jvm = process_id_of(spark)

    def run(job: Callable[[], float], taken: Taken) -> None:
        spark_s, broker_s = tree_cpu_s(jvm), usage(broker.process.process_id).cpu_s
        taken.elapsed_s.append(job())
        taken.spark_s.append(spent_since_s(spark_s, tree_cpu_s(jvm)))
        taken.broker_s.append(usage(broker.process.process_id).cpu_s - broker_s)

    with peak_of_workers() as peak:
        for _ in range(ROUNDS):
            for name, job in jobs.items():
                run(job, copies[name])
                assert spark.read.parquet(str(out / name)).count() == count
            for name, frame in ways.items():
                run(lambda: read_s(frame()), reads[name])
    idle_s = usage(broker.process.process_id).cpu_s
    time.sleep(QUIET_S)
    idle = (usage(broker.process.process_id).cpu_s - idle_s) / QUIET_S
    print(
        f"\n| {topic} | to Parquet, rows/s | us of processor a row | broker, cores "
        "| reading alone, rows/s | us a row | broker, cores |\n" + "|---" * 7 + "|"
    )
    for name in jobs:
        alone = reads[name].told(count) if name in reads else "- | - | -"
        print(f"| {name} | {copies[name].told(count)} | {alone} |")
    print(
        f"\nbroker when idle: {idle:.3f} cores; peak of a worker: {peak[0] / MIB:.0f} MiB",
        flush=True,
    )
    return Measured(topic, count, copies, reads)


def print_page(measured: list[Measured]) -> None:
    """Print all topics as docs/performance.md has them: rows a second, and microseconds of processor a row."""
    for title, tables in (
        ("to Parquet", [it.copies for it in measured]),
        ("read alone", [it.reads for it in measured]),
    ):
        print(f"\n| {title} | {' | '.join(it.topic for it in measured)} |")
        print("|---" * (1 + len(measured)) + "|")
        for way in tables[0]:
            cells = [of[way].cell(it.count) for it, of in zip(measured, tables)]
            print(f"| {way} | {' | '.join(cells)} |")
        for way in tables[0]:
            ratios = [f"{of['kafka, defaults'].median_s / of[way].median_s:.2f}" for of in tables]
            print(f"{way}, times the connector's defaults: {', '.join(ratios)}")


def first_row_s(frame: Callable[[], DataFrame]) -> float:
    """Time to one row, with the planning."""
    found = []
    for _ in range(ROUNDS):
        begin = time.monotonic()
        assert len(frame().take(1)) == 1
        found.append(time.monotonic() - begin)
    return statistics.median(found)


def latency(broker: HeadraceProcess, job: Callable[[], object] | None) -> str:
    """Measure a steady producer while a job is repeated."""
    done = threading.Event()

    def repeat() -> None:
        while job is not None and not done.is_set():
            job()

    thread = threading.Thread(target=repeat)
    thread.start()
    told = load_program.produce(
        broker.bootstrap, "steady", records=RECORDS_PER_S * LATENCY_S, record_bytes=1_000,
        batch_bytes=16_384, linger_ms=0, rate=RECORDS_PER_S,
    )  # fmt: skip
    done.set()
    thread.join()
    return f"{told['p50_ms']:.2f}, {told['p99_ms']:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=2_048, help="of records in each topic")
    parser.add_argument("--only", default="", help='only topics whose name has this: "100 B zstd"')
    parser.add_argument("--directory", type=Path, help="on a disk with room for 3 times --mib")
    arguments = parser.parse_args()
    if arguments.directory:
        arguments.directory.mkdir(parents=True, exist_ok=True)
    # The JVM writes two Parquet files at a time, and holds a row group of 128 MiB of each.
    os.environ.setdefault("SPARK_DRIVER_MEMORY", DRIVER_MEMORY)
    spark = create_session("backfill", connector_jars=connector_jars(), cores=2)
    with tempfile.TemporaryDirectory(dir=arguments.directory) as temporary:
        directory = Path(temporary)
        with HeadraceProcess(directory / "node") as broker:
            measure(spark, broker, arguments.mib * MIB, arguments.only, directory)
    spark.stop()


def measure(
    spark: SparkSession, broker: HeadraceProcess, size_bytes: int, only: str, out: Path
) -> None:
    """Print the tables."""
    measured, found = "", []
    for record_bytes in SIZES:
        for codec in CODECS:
            name = f"{record_bytes} B {codec}"
            if only not in name:
                continue
            measured = name.replace(" ", "-")
            create_topic(broker.bootstrap, measured, PARTITIONS)
            produce(broker.bootstrap, measured, record_bytes, codec, size_bytes // record_bytes)
            broker.restart()
            found.append(backfill(spark, broker, measured, size_bytes // record_bytes, out))
    if not measured:
        raise SystemExit(f"no topic has {only!r} in its name")
    print_page(found)
    print("\n| of the last topic | kafka | headrace |\n|---|---|---|")
    kafka_s = first_row_s(lambda: by_kafka(spark, broker, measured))
    print(
        f"| first row, s | {kafka_s:.2f} | {first_row_s(lambda: by_headrace(spark, broker, measured)):.2f} |"
    )
    create_topic(broker.bootstrap, "steady")
    idle = latency(broker, None)
    of_kafka = latency(broker, lambda: seconds_of(by_kafka(spark, broker, measured), out / "kafka"))
    of_headrace = latency(
        broker, lambda: seconds_of(by_headrace(spark, broker, measured), out / "headrace")
    )
    print(f"| produce p50, p99, ms (idle {idle}) | {of_kafka} | {of_headrace} |")
    print("\n| tasks on one partition | rows/s |\n|---|---|")
    one = by_headrace(spark, broker, measured).where("partition = 0").count()
    for tasks in (1, 2, 4):
        assigned = f'{{"{measured}": [0]}}'
        reader = spark.read.format("headrace").option("bucket", bucket_uri_of(broker))
        reader = reader.option("assign", assigned).option("minPartitions", tasks)
        found = []
        for _ in range(ROUNDS):
            frame = reader.load()
            found.append(seconds_of(frame, out / "one"))
        print(f"| {frame.rdd.getNumPartitions()} | {one / statistics.median(found):,.0f} |")


if __name__ == "__main__":
    main()
