"""Compares options of Spark's reader of topics: rows a second, and what they cost the broker.

Run it with `python -m bench.spark_reader [--records 1000000]`. Each way counts the records of 100 bytes of a topic of
four partitions, and adds up their CRC-32, with `local[2]` on the cores that the broker uses too. They take turns;
figures are medians. "cold" is with a restart of the broker before each run, so that it reads from its bucket.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from pyspark.sql import SparkSession

from bench.cold_topic import create_topic
from bench.process_usage import usage
from bench.spark_backfill import CODECS, produce
from headrace.config.spark_reader import reader_options
from headrace.pipeline.session import create_session
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.spark import connector_jars

PARTITIONS = 4
ROUNDS = 3
RECORD_BYTES = 100


def ways(bootstrap: str) -> dict[str, dict[str, str]]:
    """The options of each way."""
    all_of_them = reader_options(bootstrap)
    sizes = {name: value for name, value in all_of_them.items() if "fetch" in name}
    servers = {"kafka.bootstrap.servers": bootstrap}
    return {"defaults": servers, "fetch sizes": {**servers, **sizes}, "all": all_of_them}


def read(
    spark: SparkSession, broker: HeadraceProcess, topic: str, options: dict[str, str], count: int
) -> tuple[float, float]:
    """Return seconds, and seconds of the broker's processor time."""
    before = usage(broker.process.process_id).cpu_s
    begin = time.monotonic()
    frame = spark.read.format("kafka").options(subscribe=topic, **options).load()
    found = frame.selectExpr("count(*)", "sum(crc32(value))").collect()[0][0]
    taken = time.monotonic() - begin
    assert found == count
    return taken, usage(broker.process.process_id).cpu_s - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    count = parser.parse_args().records
    spark = create_session("reader", connector_jars=connector_jars(), cores=2)
    with tempfile.TemporaryDirectory() as directory, HeadraceProcess(Path(directory)) as broker:
        chosen = ways(broker.bootstrap)
        print("| topic | " + " | ".join(f"{it}, rows/s (broker's s)" for it in chosen) + " |")
        print("|---" * (1 + len(chosen)) + "|")
        for codec in CODECS:
            create_topic(broker.bootstrap, codec, PARTITIONS)
            produce(broker.bootstrap, codec, RECORD_BYTES, codec, count)
            broker.restart()
            for state in ("cold", "warm"):
                read(spark, broker, codec, chosen["defaults"], count)
                found: dict[str, list[tuple[float, float]]] = {it: [] for it in chosen}
                for _ in range(ROUNDS):
                    for name, options in chosen.items():
                        if state == "cold":
                            broker.restart()
                        found[name].append(read(spark, broker, codec, options, count))
                cells = [
                    f"{count / statistics.median(it[0] for it in runs):,.0f} ({statistics.median(it[1] for it in runs):.2f})"
                    for runs in found.values()
                ]
                print(f"| {codec}, {state} | {' | '.join(cells)} |", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
