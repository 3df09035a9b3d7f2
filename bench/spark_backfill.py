"""Compares ways in which Spark reads a topic that is in the bucket, and what they cost the broker.

Run it with `python -m bench.spark_backfill [--mib 2048] [--only "100 B zstd"]`. Each way copies a topic of four
partitions to Parquet files with `local[2]`: through the broker (`format("kafka")`, with the options of
`headrace spark session`), straight from the bucket (`format("headrace")`), and from the Parquet files of the run before, as what
Spark can do at best. They take turns; figures are medians. The broker is restarted after the topic was produced, so
that nothing is in its memory.
"""

import argparse
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

from bench import load_program
from bench.cold_topic import bucket_uri_of, create_topic
from bench.process_usage import usage
from headrace.config.spark_reader import reader_options
from headrace.pipeline.session import create_session
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.spark import connector_jars

MIB = 1 << 20
PARTITIONS = 4
ROUNDS = 3
RECORDS_PER_S = 500  # of the producer whose latency is measured
LATENCY_S = 20
QUIET_S = 5
SIZES = (100, 1_000)
CODECS = ("none", "zstd")


def produce(bootstrap: str, topic: str, record_bytes: int, codec: str, count: int) -> None:
    """Produce records of words, which compress about as text does."""
    source = random.Random(1)
    words = [source.randbytes(source.randint(2, 9)).hex() for _ in range(2_000)]
    values = [
        " ".join(source.choices(words, k=record_bytes // 8 + 2))[:record_bytes].encode()
        for _ in range(5_000)
    ]
    producer = Producer(
        {"bootstrap.servers": bootstrap, "compression.type": codec, "linger.ms": 50}
        | {"batch.size": MIB, "queue.buffering.max.kbytes": 256 << 10, "acks": "all"}
    )
    for number in range(count):
        while True:
            try:
                producer.produce(topic, values[number % 5_000], partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
    assert producer.flush(600) == 0


def by_kafka(spark: SparkSession, broker: HeadraceProcess, topic: str) -> DataFrame:
    """Read through the broker."""
    reader = spark.read.format("kafka").options(**reader_options(broker.bootstrap))
    return reader.option("subscribe", topic).load()


def by_headrace(
    spark: SparkSession, broker: HeadraceProcess, topic: str, **options: object
) -> DataFrame:
    """Read from the bucket."""
    reader = spark.read.format("headrace").option("bucket", bucket_uri_of(broker))
    return reader.options(subscribe=topic, **options).load()


def seconds_of(frame: DataFrame, directory: Path) -> float:
    """Copy to Parquet files."""
    shutil.rmtree(directory, ignore_errors=True)
    begin = time.monotonic()
    frame.write.parquet(str(directory))
    return time.monotonic() - begin


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


def backfill(
    spark: SparkSession, broker: HeadraceProcess, topic: str, count: int, out: Path
) -> str:
    """Measure the ways in turns; return a row of the table."""
    ways: dict[str, Callable[[], DataFrame]] = {
        "kafka": lambda: by_kafka(spark, broker, topic),
        "headrace": lambda: by_headrace(spark, broker, topic),
        "parquet": lambda: spark.read.parquet(str(out / "headrace")),
    }
    taken: dict[str, list[float]] = {it: [] for it in ways}
    busy: dict[str, list[float]] = {it: [] for it in ways}
    with peak_of_workers() as peak:
        for _ in range(ROUNDS):
            for name, frame in ways.items():
                before = usage(broker.process.process_id).cpu_s
                taken[name].append(seconds_of(frame(), out / name))
                busy[name].append(usage(broker.process.process_id).cpu_s - before)
                assert spark.read.parquet(str(out / name)).count() == count
    rates = {it: count / statistics.median(found) for it, found in taken.items()}
    cores = {it: sum(busy[it]) / sum(taken[it]) for it in ways}
    before = usage(broker.process.process_id).cpu_s
    time.sleep(QUIET_S)
    idle = (usage(broker.process.process_id).cpu_s - before) / QUIET_S
    return (
        f"| {rates['kafka']:,.0f} | {rates['headrace']:,.0f} | {rates['parquet']:,.0f} "
        f"| {rates['headrace'] / rates['kafka']:.2f} | {rates['headrace'] / rates['parquet']:.2f} "
        f"| {cores['kafka']:.3f}, {cores['headrace']:.3f}, {idle:.3f} | {peak[0] / MIB:.0f} |"
    )


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
    print(
        "| topic | kafka, rows/s | headrace | parquet | headrace : kafka | : parquet "
        "| broker's cores: kafka, headrace, idle | peak of a worker, MiB |\n" + "|---" * 8 + "|"
    )
    measured = ""
    for record_bytes in SIZES:
        for codec in CODECS:
            name = f"{record_bytes} B {codec}"
            if only not in name:
                continue
            measured = name.replace(" ", "-")
            create_topic(broker.bootstrap, measured, PARTITIONS)
            produce(broker.bootstrap, measured, record_bytes, codec, size_bytes // record_bytes)
            broker.restart()
            row = backfill(spark, broker, measured, size_bytes // record_bytes, out)
            print(f"| {name} {row}", flush=True)
    if not measured:
        raise SystemExit(f"no topic has {only!r} in its name")
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
