"""The queries of a pipeline: one for each table, so that a table that stops leaves the others alone."""

import logging
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from confluent_kafka import KafkaException
from pyiceberg.exceptions import CommitFailedException, RESTError
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from sqlalchemy.exc import SQLAlchemyError

from headrace.pipeline.tables.catalogs import open_catalog
from headrace.pipeline.tables.configuration import PipelineConfig, SourceConfig, TableConfig
from headrace.pipeline.tables.dead_letters import DeadLetters, DeadLetterTopic, NoDeadLetters
from headrace.pipeline.tables.deduplication import without_copies
from headrace.pipeline.tables.errors import TableError, told
from headrace.pipeline.tables.identities import TopicIdentities
from headrace.pipeline.tables.micro_batch import MicroBatches
from headrace.pipeline.tables.source_offsets import QueryCheckpoint
from headrace.pipeline.tables.topic_ids import topic_ids

LOGGER: Final = logging.getLogger("headrace.tables")
_CANNOT_START: Final = (
    CommitFailedException,
    KafkaException,
    OSError,
    PySparkException,
    RESTError,
    SQLAlchemyError,
    TableError,
)
_POLL_S: Final = 1
_SHUFFLE_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_TOLD: Final = re.compile(r"\btables\.errors\.TableError: (.*)")
_RAISED: Final = re.compile(r"[\w.]+(Error|Exception)\b")


def run_pipeline(
    session: SparkSession, config: PipelineConfig, now_ms: Callable[[], int]
) -> Mapping[str, str]:
    """Run all queries until they have ended or failed; return why tables stopped, by name."""
    stopped: dict[str, str] = {}
    running: dict[str, tuple[StreamingQuery, MicroBatches]] = {}
    choose_shuffle_partitions(session)
    for table in config.tables:
        try:
            batches = micro_batches(config, table, now_ms)
        except _CANNOT_START as error:
            stopped[table.name] = str(error)
            LOGGER.error("table %s does not start: %s", table.name, error)  # noqa: TRY400 - the text says it all
            continue
        try:
            running[table.name] = start_query(session, config, table, batches), batches
        except _CANNOT_START as error:
            stopped[table.name] = why_stopped(batches, str(error))
            LOGGER.error("table %s does not start: %s", table.name, error)  # noqa: TRY400 - the text says it all
    while running:
        for name, (query, batches) in list(running.items()):
            try:
                if query.awaitTermination(_POLL_S):
                    del running[name]
            except StreamingQueryException as error:
                del running[name]
                stopped[name] = why_stopped(batches, reason_of(error))
                LOGGER.error("table %s stopped: %s", name, stopped[name])  # noqa: TRY400 - Spark has logged all of it
    return stopped


def choose_shuffle_partitions(session: SparkSession) -> None:
    """As many tasks of a shuffle as there are cores, unless a number is set.

    The state of `deduplicate_by` has so many parts, and each of them makes a file in each micro-batch. Spark's own
    number is 200.
    """
    context = session.sparkContext
    if not context.getConf().contains(_SHUFFLE_PARTITIONS):
        session.conf.set(_SHUFFLE_PARTITIONS, str(context.defaultParallelism))


def micro_batches(
    config: PipelineConfig, table: TableConfig, now_ms: Callable[[], int]
) -> MicroBatches:
    """What takes the micro-batches of a table."""
    ask = partial(topic_ids, config.source)
    identities = TopicIdentities(table.name, table.topics, ask)
    catalog = open_catalog(config.catalog)
    return MicroBatches(config, table, catalog, dead_letters(config), now_ms, identities)


def why_stopped(batches: MicroBatches, reason: str) -> str:
    """The reason, which the table keeps if its catalog can be reached."""
    try:
        return batches.why_stopped(reason)
    except Exception as error:  # noqa: BLE001 - the first reason is what counts
        LOGGER.warning("why a table stopped is not kept: %s", told(error))
        return reason


def start_query(
    session: SparkSession, config: PipelineConfig, table: TableConfig, batches: MicroBatches
) -> StreamingQuery:
    """Start the query of one table."""
    number = batches.begin()
    checkpoint = config.checkpoint_of(table, number)
    # What an earlier run has left:
    batches.maintain(session)
    QueryCheckpoint(session, checkpoint).remove_unfinished()
    if number:
        QueryCheckpoint(session, config.checkpoint_of(table, number - 1)).remove()
    writer = (
        read_stream(session, config.source, table, is_again=number > 0)
        .writeStream.queryName(f"{config.name}: {table.name}")
        .foreachBatch(batches)
        .option("checkpointLocation", checkpoint)
    )
    if config.trigger.once:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=config.trigger.interval).start()


def read_stream(
    session: SparkSession, source: SourceConfig, table: TableConfig, *, is_again: bool = False
) -> DataFrame:
    """The records of a table's topics, without copies where that is wanted; from the first ones if it begins again."""
    reader = session.readStream.format(source.format)
    options = source_options(source, table)
    if is_again:
        # Any other option for the start, by time say, beats that one.
        options = {it: value for it, value in options.items() if not _says_where_to_start(it)}
        options["startingOffsets"] = "earliest"
    for name, value in options.items():
        reader = reader.option(name, value)
    return without_copies(reader.load(), table)


def _says_where_to_start(option: str) -> bool:
    return option.lower().startswith("starting")  # Spark's options are compared without case


def source_options(source: SourceConfig, table: TableConfig) -> dict[str, str]:
    """Options of Spark's source; those of the configuration beat ours."""
    own = {
        "subscribe": ",".join(table.topics),
        "startingOffsets": source.starting_offsets,
        "maxOffsetsPerTrigger": str(source.max_offsets_per_trigger),
    }
    if source.format == "kafka":
        own["kafka.bootstrap.servers"] = source.bootstrap_servers
    else:
        own["bucket"] = source.bucket
    return {**own, **source.options}


def dead_letters(config: PipelineConfig) -> DeadLetters:
    """Where bad records go."""
    if not config.dead_letters.topic:
        return NoDeadLetters()
    source = config.source
    return DeadLetterTopic(source.bootstrap_servers, config.dead_letters.topic, source.client)


def reason_of(error: StreamingQueryException) -> str:
    """What happened to a query, of a text that has tracebacks of Python and of the JVM."""
    told = [it for it in map(_TOLD.search, str(error).splitlines()) if it is not None]
    if told:
        return told[-1][1]
    lines = [it.strip() for it in str(error).splitlines() if it.strip()]
    raised = [it for it in lines if _RAISED.match(it)]
    if raised:
        return raised[-1]
    return lines[0] if lines else repr(error)
