"""Copies records of topics from the bucket into a topic or a table: the rows of `format("headrace")`.

It is a streaming query with a checkpoint, a step of --offsets-per-step offsets after the other, up to what the bucket
has when it starts; a run after that goes on there, and so does one after a kill. Into a table each record comes once.
Into a topic each comes at least once, since Spark's sink may send a step again after a failure. With --exactly-once
each record has a header `headrace.source`, TOPIC/PARTITION/OFFSET/ID with the topic's id, and a run after a kill looks
which of the step that was interrupted are in the topic, and sends the rest. The sink cannot set the time of a record:
it is that of the copy.

Run it with `headrace spark backfill URL --topics NAME,... --checkpoint URL --to-table NAME`, or give this file to
spark-submit.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import (
    array,
    coalesce,
    col,
    concat,
    concat_ws,
    create_map,
    explode,
    lit,
    struct,
)
from pyspark.sql.streaming.readwriter import DataStreamWriter

from headrace.pipeline.jobs import job_arguments
from headrace.pipeline.jobs.job_arguments import add_topics, job_parser, metadata_of
from headrace.pipeline.jobs.told import JobError, Told, run_job
from headrace.pipeline.session import create_session
from headrace.pipeline.source.bucket import open_bucket
from headrace.pipeline.source.ends import PartitionEnds
from headrace.pipeline.source.errors import OptionError
from headrace.pipeline.source.offsets import batch_ranges
from headrace.pipeline.source.options import read_options
from headrace.pipeline.source.plan import WantedRange, parts_of
from headrace.pipeline.source.snapshots import with_metadata
from headrace.pipeline.source.stream import METADATA, from_json

SOURCE_HEADER: Final = "headrace.source"
MAX_SENDING_TASKS: Final = 200  # where Spark's configuration has no number
# How far the clocks of drivers, workers and brokers may be apart, when a run looks what is in a topic already.
CLOCKS_MS: Final = 600_000
MAX_IDLE_RUNS: Final = 3  # of the query, which ask for more and get nothing


class Bounds(NamedTuple):
    """What is to be copied."""

    ranges: list[WantedRange]
    size_bytes: int  # about, as it is stored


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments."""
    made = job_parser("backfill", (__doc__ or "").partition("\n\nRun it")[0])
    add_topics(made)
    made.add_argument(
        "--starting-offsets",
        metavar="JSON",
        default="earliest",
        help="of the first run, as of the data source (default earliest)",
    )
    made.add_argument(
        "--checkpoint", required=True, metavar="URL", help="where Spark keeps how far it is"
    )
    made.add_argument("--to-table", metavar="NAME", help="of Spark's catalog; Parquet if it is new")
    made.add_argument("--to-kafka", metavar="HOST:PORT,...", help="brokers of a cluster")
    made.add_argument("--to-topic", metavar="NAME", help="a topic there, which exists")
    made.add_argument(
        "--keep-partitions",
        action="store_true",
        help="write each record to the partition that it comes from; default: by its key",
    )
    made.add_argument(
        "--exactly-once",
        action="store_true",
        help=f"add a header {SOURCE_HEADER}, and after a kill send only what is not in the topic",
    )
    made.add_argument(
        "--kafka-option", action="append", default=[], metavar="NAME=VALUE", help="of its clients"
    )
    made.add_argument("--offsets-per-step", type=int, default=1_000_000, metavar="N")
    made.add_argument("--connector-jars", type=Path, help=argparse.SUPPRESS)
    made.add_argument(
        "--dry-run", action="store_true", help="say how much there is, and do nothing"
    )
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    return made


def source_options(arguments: argparse.Namespace) -> dict[str, str]:
    """Return the arguments as options of the data source."""
    return job_arguments.source_options(arguments, includeHeaders="true")


def find_bounds(arguments: argparse.Namespace) -> Bounds:
    """Return what the bucket has now.

    Raises:
        SourceError: it cannot be read.
    """
    bucket = open_bucket(arguments.bucket)
    options = read_options(source_options(arguments))
    catalog = metadata_of(bucket, arguments).newest(None)
    ends = PartitionEnds(bucket, options)

    def found(newest: Any) -> Bounds:
        ranges = batch_ranges(newest, options, ends.of(newest))
        return Bounds(ranges, sum(it.size_bytes for it in parts_of(newest, ranges)))

    return with_metadata(bucket, catalog, found)


def sending_tasks(partitions: int, configured: str) -> int:
    """How many tasks send: no more than there are partitions, as each sends all of some.

    In streams Spark takes its number as it is, 200 unless configured: nearly all of these had no record.
    """
    most = int(configured) if configured.isdecimal() else MAX_SENDING_TASKS
    return max(1, min(partitions, most))


class KafkaSink:
    """Writes micro-batches to a topic."""

    def __init__(
        self,
        session: SparkSession,
        arguments: argparse.Namespace,
        started_ms: int,
        partitions: int,
    ) -> None:
        """Write the records of so many partitions."""
        self._session = session
        configured = str(session.conf.get("spark.sql.shuffle.partitions"))
        self._tasks = sending_tasks(partitions, configured)
        self._arguments = arguments
        self._started_ms = started_ms
        self._options = {
            "kafka.bootstrap.servers": arguments.to_kafka,
            **{f"kafka.{name}": value for name, value in _pairs(arguments.kafka_option).items()},
        }

    def write(self, frame: DataFrame, batch_id: int) -> None:
        """Write one; see `DataStreamWriter.foreachBatch`."""
        rows = frame
        if self._arguments.exactly_once:
            planned_ms, topic_ids = self._planned(batch_id)
            # With the id, records of an earlier topic of this name, or of another cluster's, are not taken for these.
            place = concat_ws("/", "topic", "partition", "offset")
            ids = create_map(*(lit(it) for pair in topic_ids.items() for it in pair))
            position = concat_ws("/", place, ids[col("topic")])
            rows = rows.withColumn("place", place).withColumn("position", position)
            if planned_ms < self._started_ms:  # a run before this one has begun with it
                present = self._present(planned_ms - CLOCKS_MS)
                rows = rows.join(present, "position", "left_anti")
                # Of a run of an earlier release: without the id.
                rows = rows.join(present.toDF("place"), "place", "left_anti")
            mark = struct(
                lit(SOURCE_HEADER).alias("key"), col("position").cast("binary").alias("value")
            )
            nothing = array().cast("array<struct<key: string, value: binary>>")
            rows = rows.withColumn(
                "headers", concat(coalesce(col("headers"), nothing), array(mark))
            )
        columns = ["key", "value", "headers"]
        if self._arguments.keep_partitions:
            columns.append("partition")
        # Records of a partition are sent by one task, in order.
        (
            rows.repartition(self._tasks, "topic", "partition")
            .sortWithinPartitions("topic", "partition", "offset")
            .select(*columns)
            .write.format("kafka")
            .options(**self._options)
            .option("topic", self._arguments.to_topic)
            .save()
        )

    def _planned(self, batch_id: int) -> tuple[int, dict[str, str]]:
        """When Spark has planned a micro-batch, at first if this is another attempt; and the ids of its topics."""
        lines = self._session.read.text(
            f"{self._arguments.checkpoint}/offsets/{batch_id}"
        ).collect()
        planned_ms, topic_ids = 0, dict[str, str]()
        for line in lines:
            if "batchTimestampMs" in line.value:
                planned_ms = int(json.loads(line.value)["batchTimestampMs"])
            elif METADATA in line.value:
                topic_ids.update(from_json(json.loads(line.value)).topic_ids)
        return planned_ms, topic_ids

    def _present(self, since_ms: int) -> DataFrame:
        """Positions of the records that are in the topic."""
        headers = (
            self._session.read.format("kafka")
            .options(**self._options)
            .option("subscribe", self._arguments.to_topic)
            .option("includeHeaders", "true")
            .option("startingTimestamp", str(max(0, since_ms)))
            .option("startingOffsetsByTimestampStrategy", "latest")
            .load()
            .select(explode("headers").alias("header"))
        )
        found = headers.where(col("header.key") == SOURCE_HEADER)
        return found.select(col("header.value").cast("string").alias("position")).distinct()


def copy(start: Callable[[], Any], bounds: Bounds, told: Told) -> int:
    """Run the query until it has got to the end that was there at first; returns the rows.

    With a limit, `availableNow` is one micro-batch.

    Raises:
        JobError: the query does not get on.
    """
    ends = {(it.name.topic, str(it.name.partition)): it.end_offset for it in bounds.ranges}
    total = sum(it.end_offset - it.start_offset for it in bounds.ranges)
    rows: int = 0
    idle, before = 0, -1
    while True:
        query = start()
        query.awaitTermination()
        progress = query.recentProgress
        rows += sum(it["numInputRows"] for it in progress)
        told.measure(records=rows)
        sources = [it["sources"][0] for it in progress]
        if all(it["startOffset"] == it["endOffset"] for it in sources):
            return rows  # there is nothing that the checkpoint has not
        reached = _reached(sources)
        if all(reached.get(key, 0) >= end for key, end in ends.items()):
            return rows
        left = sum(max(0, end - reached.get(key, 0)) for key, end in ends.items())
        done = bounds.size_bytes * max(0, total - left) // max(1, total)
        told.progress("copying", done, bounds.size_bytes)
        idle = idle + 1 if left == before else 0
        before = left
        if idle == MAX_IDLE_RUNS:
            raise JobError(
                "the query ends without copying what is left: are checkpoint and topics those of the run before?"
            )


def _reached(sources: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], int]:
    """Where the query is, by topic and partition."""
    for it in reversed(sources):
        found = it["endOffset"]
        offsets = json.loads(found) if isinstance(found, str) else found
        if offsets:
            return {
                (topic, partition): offset
                for topic, partitions in offsets.items()
                if not topic.startswith("#")
                for partition, offset in partitions.items()
            }
    return {}


def run(arguments: argparse.Namespace, told: Told) -> int:
    """Copy; returns the exit code."""
    _require_target(arguments)
    start_s, started_ms = time.monotonic(), time.time_ns() // 1_000_000
    bounds = find_bounds(arguments)
    if arguments.dry_run:
        offsets = sum(it.end_offset - it.start_offset for it in bounds.ranges)
        if arguments.json:
            told.document({"offsets": offsets, "bytes": bounds.size_bytes})
        else:
            told.result(
                f"the bucket has {offsets} offsets, {bounds.size_bytes} bytes, of {len(bounds.ranges)} partitions; "
                f"the checkpoint decides where the copy begins"
            )
        return 0
    session = create_session("headrace backfill", connector_jars=arguments.connector_jars)

    def writer() -> DataStreamWriter:
        stream = session.readStream.format("headrace").options(**source_options(arguments))
        frame = stream.option("maxOffsetsPerTrigger", arguments.offsets_per_step).load()
        checkpointed = frame.writeStream.option("checkpointLocation", arguments.checkpoint)
        return checkpointed.trigger(availableNow=True)

    def start() -> Any:
        if arguments.to_table:
            return writer().format("parquet").toTable(arguments.to_table)
        sink = KafkaSink(session, arguments, started_ms, len(bounds.ranges))
        return writer().foreachBatch(sink.write).start()

    rows = copy(start, bounds, told)
    seconds = round(time.monotonic() - start_s, 3)
    if arguments.json:
        told.document(
            {"rows": rows, "seconds": seconds, "to": arguments.to_table or arguments.to_topic}
        )
    else:
        told.result(f"copied {rows} records")
    return 0


def _require_target(arguments: argparse.Namespace) -> None:
    is_topic = bool(arguments.to_kafka or arguments.to_topic)
    if is_topic == bool(arguments.to_table) or bool(arguments.to_kafka) != bool(arguments.to_topic):
        raise OptionError("give either --to-table, or --to-kafka and --to-topic")
    if arguments.exactly_once and not is_topic:
        raise OptionError("--exactly-once is for topics: a table has each record once in any case")
    if arguments.offsets_per_step < 1:
        raise OptionError("--offsets-per-step is at least 1")


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for it in texts:
        name, equals, value = it.partition("=")
        if not equals or not name:
            raise OptionError(f"--kafka-option is NAME=VALUE, not {it!r}")
        found[name] = value
    return found


if __name__ == "__main__":
    sys.exit(run_job(parser(), run))
