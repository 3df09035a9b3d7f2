"""Each option of the source of Spark's Kafka connector; docs/spark.md names these tests."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

from headrace.broker.admin.pages import RENDER_CACHE_MS
from tests.documentation.spark_options import SESSION, SINK, SOURCE
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.conftest import AnyBroker
from tests.e2e.records import Record
from tests.e2e.spark_connector import (
    SPARK_ERRORS,
    reader,
    rows_of_batches,
    stop,
    stream,
    values,
    wait_until,
)
from tests.environment.ports import free_port

pytestmark = [pytest.mark.spark, pytest.mark.java, pytest.mark.timeout(600)]

Topics = Callable[..., str]
START_MS = 1_700_000_000_000
NO_OPTIONS = {"kafka.", "spark.network.timeout"}
# Of Spark's SQL, and not of the connector's package.
SESSION_OF_CONNECTOR = tuple(it for it in SESSION if not it.startswith("spark.sql."))
DEPRECATED = "spark.sql.streaming.kafka.useDeprecatedOffsetFetching"


class Memory:
    """Queries whose rows are kept in memory, each in a table of its own."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self.started: list[StreamingQuery] = []

    def start(self, frame: DataFrame, **trigger: object) -> StreamingQuery:
        name = f"memory_{id(self)}_{len(self.started)}"
        writer = frame.writeStream.format("memory").queryName(name)
        query = (writer.trigger(**trigger) if trigger else writer).start()
        self.started.append(query)
        return query

    def values(self, query: StreamingQuery) -> list[int]:
        return values(self._spark.table(query.name))


@pytest.fixture
def memory(spark: SparkSession) -> Iterator[Memory]:
    made = Memory(spark)
    yield made
    stop(made.started)


def numbered(numbers: range, partitions: int = 1) -> list[Record]:
    """Records a second apart, dealt to partitions."""
    return [
        Record(b"%d" % n, partition=n % partitions, timestamp_ms=START_MS + 1000 * n)
        for n in numbers
    ]


def at(second: int) -> int:
    """The time of a record, as Spark is told it."""
    return START_MS + 1000 * second


# Topics and partitions


def test_bootstrap_servers(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """One that answers is enough."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    dead = f"127.0.0.1:{free_port()}"
    read = spark.read.format("kafka").option("kafka.bootstrap.servers", f"{dead},{bootstrap}")
    assert values(read.option("subscribe", topic).load()) == list(range(10))


def test_assign(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    topic = create_topic("assign", partitions=3)
    CONFLUENT.produce(bootstrap, topic, numbered(range(30), 3))
    read = reader(spark, bootstrap, assign=json.dumps({topic: [0, 2]})).load()
    assert values(read) == [n for n in range(30) if n % 3 != 1]


def test_subscribe(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    topics = [create_topic("subscribe", partitions=2) for _ in range(3)]
    for number, topic in enumerate(topics):
        CONFLUENT.produce(bootstrap, topic, numbered(range(number * 10, number * 10 + 10), 2))
    read = reader(spark, bootstrap, subscribe=f"{topics[0]},{topics[2]}").load()
    assert values(read) == [*range(10), *range(20, 30)]


def test_subscribe_pattern(
    spark: SparkSession, bootstrap: str, create_topic: Topics, admin: AdminClient, memory: Memory
) -> None:
    """A stream finds topics and partitions that are new, and reads them from their first record."""
    topic = create_topic("matched-old")
    CONFLUENT.produce(bootstrap, topic, numbered(range(5)))
    pattern = {"subscribePattern": "matched-.*", "startingOffsets": "earliest"}
    query = memory.start(stream(spark, bootstrap, **pattern).load())
    query.processAllAvailable()
    assert memory.values(query) == list(range(5))

    CONFLUENT.produce(bootstrap, create_topic("matched-new"), numbered(range(5, 10)))
    admin.create_partitions([NewPartitions(topic, 2)])[topic].result(30)
    CONFLUENT.produce(bootstrap, topic, [Record(b"%d" % n, partition=1) for n in range(10, 15)])
    query.processAllAvailable()
    assert memory.values(query) == list(range(15))
    batch = reader(spark, bootstrap, subscribePattern="matched-.*").load()
    assert values(batch) == list(range(15))


# Where to begin and to end


def test_starting_offsets(
    spark: SparkSession, bootstrap: str, create_topic: Topics, memory: Memory
) -> None:
    """Of a batch: earliest, or a number for each partition, -2 for the earliest. A stream: latest, -1 in JSON, too."""
    topic = create_topic("starting", partitions=2)
    CONFLUENT.produce(bootstrap, topic, numbered(range(20), 2))
    given = {"subscribe": topic, "startingOffsets": json.dumps({topic: {"0": 7, "1": -2}})}
    by_number = [*range(14, 20, 2), *range(1, 20, 2)]
    assert values(reader(spark, bootstrap, **given).load()) == sorted(by_number)
    earliest = reader(spark, bootstrap, subscribe=topic, startingOffsets="earliest")
    assert values(earliest.load()) == list(range(20))
    with pytest.raises(SPARK_ERRORS, match="starting offset can't be latest for batch"):
        reader(spark, bootstrap, subscribe=topic, startingOffsets="latest").load()

    mixed = json.dumps({topic: {"0": 9, "1": -1}})
    queries = {
        "earliest": memory.start(
            stream(spark, bootstrap, subscribe=topic, startingOffsets="earliest").load()
        ),
        "latest": memory.start(stream(spark, bootstrap, subscribe=topic).load()),
        "mixed": memory.start(
            stream(spark, bootstrap, subscribe=topic, startingOffsets=mixed).load()
        ),
    }
    for query in queries.values():
        query.processAllAvailable()
    CONFLUENT.produce(bootstrap, topic, numbered(range(20, 24), 2))
    for query in queries.values():
        query.processAllAvailable()
    assert memory.values(queries["earliest"]) == list(range(24))
    assert memory.values(queries["latest"]) == list(range(20, 24))
    assert memory.values(queries["mixed"]) == [18, *range(20, 24)]


def test_ending_offsets(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    topic = create_topic("ending", partitions=2)
    CONFLUENT.produce(bootstrap, topic, numbered(range(20), 2))
    ends = json.dumps({topic: {"0": 3, "1": -1}})
    read = reader(spark, bootstrap, subscribe=topic, endingOffsets=ends).load()
    assert values(read) == sorted([0, 2, 4, *range(1, 20, 2)])
    latest = reader(spark, bootstrap, subscribe=topic, endingOffsets="latest").load()
    assert values(latest) == list(range(20))
    with pytest.raises(SPARK_ERRORS, match="ending offset not valid in streaming"):
        stream(spark, bootstrap, subscribe=topic, endingOffsets="latest").load()


def test_starting_timestamp(
    spark: SparkSession, bootstrap: str, create_topic: Topics, memory: Memory
) -> None:
    """It counts more than `startingOffsetsByTimestamp`, and that more than `startingOffsets`."""
    topic = create_topic("starting-time", partitions=2)
    CONFLUENT.produce(bootstrap, topic, numbered(range(20), 2))
    by_partition = json.dumps({topic: {"0": at(18), "1": at(18)}})
    given = {"startingTimestamp": at(5), "startingOffsetsByTimestamp": by_partition}
    options = {"subscribe": topic, "startingOffsets": "earliest", **given}
    assert values(reader(spark, bootstrap, **options).load()) == list(range(5, 20))
    query = memory.start(stream(spark, bootstrap, **options).load())
    query.processAllAvailable()
    assert memory.values(query) == list(range(5, 20))


def test_starting_offsets_by_timestamp(
    spark: SparkSession, bootstrap: str, create_topic: Topics, memory: Memory
) -> None:
    topic = create_topic("starting-times", partitions=2)
    CONFLUENT.produce(bootstrap, topic, numbered(range(20), 2))
    by_partition = json.dumps({topic: {"0": at(14), "1": at(2)}})
    options = {"subscribe": topic, "startingOffsetsByTimestamp": by_partition}
    wanted = sorted([*range(14, 20, 2), *range(3, 20, 2)])
    assert values(reader(spark, bootstrap, **options).load()) == wanted
    query = memory.start(stream(spark, bootstrap, **options).load())
    query.processAllAvailable()
    assert memory.values(query) == wanted


def test_ending_timestamp(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    """The record of that time is not read. Where there is none as new, the end is the latest."""
    topic = create_topic("ending-time", partitions=2)
    CONFLUENT.produce(bootstrap, topic, numbered(range(20), 2))
    read = reader(spark, bootstrap, subscribe=topic, endingTimestamp=at(12)).load()
    assert values(read) == list(range(12))
    beyond = reader(spark, bootstrap, subscribe=topic, endingTimestamp=at(500)).load()
    assert values(beyond) == list(range(20))


def test_ending_offsets_by_timestamp(
    spark: SparkSession, bootstrap: str, create_topic: Topics
) -> None:
    topic = create_topic("ending-times", partitions=2)
    CONFLUENT.produce(bootstrap, topic, numbered(range(20), 2))
    ends = json.dumps({topic: {"0": at(4), "1": at(500)}})
    read = reader(spark, bootstrap, subscribe=topic, endingOffsetsByTimestamp=ends).load()
    assert values(read) == sorted([0, 2, *range(1, 20, 2)])


def test_strategy_of_a_time_after_the_last_record(
    spark: SparkSession, bootstrap: str, topic: str
) -> None:
    CONFLUENT.produce(bootstrap, topic, numbered(range(5)))
    late = reader(spark, bootstrap, subscribe=topic, startingTimestamp=at(500))
    with pytest.raises(SPARK_ERRORS, match="No offset matched"):
        late.load().collect()
    assert values(late.option("startingOffsetsByTimestampStrategy", "latest").load()) == []


# Sizes of tasks and micro-batches


def test_min_partitions(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """Several consumers start in the middle of batches."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(2000)), compression="zstd")
    frame = reader(spark, bootstrap, subscribe=topic, minPartitions=7).load()
    assert frame.rdd.getNumPartitions() >= 7
    assert values(frame) == list(range(2000))


def test_max_records_per_partition(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """Spark 4.0 knows how many records there are if both ends of a batch are numbers: else it does not divide."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(100)))
    whole = reader(spark, bootstrap, subscribe=topic, maxRecordsPerPartition=30)
    assert whole.load().rdd.getNumPartitions() == 1
    ends = {
        "startingOffsets": f'{{"{topic}": {{"0": 0}}}}',
        "endingOffsets": f'{{"{topic}": {{"0": 100}}}}',
    }
    frame = whole.options(**ends).load()
    assert frame.rdd.getNumPartitions() == 4
    assert values(frame) == list(range(100))


def test_max_offsets_per_trigger(
    spark: SparkSession, bootstrap: str, topic: str, memory: Memory
) -> None:
    """With `availableNow` there are as many micro-batches as it takes."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(100)))
    options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 30}
    query = memory.start(stream(spark, bootstrap, **options).load(), availableNow=True)
    assert query.awaitTermination(240)
    assert rows_of_batches(query) == [30, 30, 30, 10]
    assert memory.values(query) == list(range(100))


def test_min_offsets_per_trigger(
    spark: SparkSession, bootstrap: str, topic: str, memory: Memory
) -> None:
    """The first micro-batch waits for nothing; later ones for so many records."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    options = {"subscribe": topic, "startingOffsets": "earliest", "minOffsetsPerTrigger": 100}
    query = memory.start(stream(spark, bootstrap, **options).load())
    query.processAllAvailable()
    CONFLUENT.produce(bootstrap, topic, numbered(range(10, 60)))
    query.processAllAvailable()  # until a trigger has found nothing to do
    assert rows_of_batches(query) == [10]
    CONFLUENT.produce(bootstrap, topic, numbered(range(60, 120)))
    query.processAllAvailable()
    assert rows_of_batches(query) == [10, 110]
    assert memory.values(query) == list(range(120))


def test_max_trigger_delay(spark: SparkSession, bootstrap: str, topic: str, memory: Memory) -> None:
    """What is too little for a micro-batch waits no longer than this."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    least = {"minOffsetsPerTrigger": 100, "maxTriggerDelay": "1s"}
    options = {"subscribe": topic, "startingOffsets": "earliest", **least}
    query = memory.start(stream(spark, bootstrap, **options).load())
    query.processAllAvailable()
    CONFLUENT.produce(bootstrap, topic, numbered(range(10, 15)))
    wait_until("the rest is read", lambda: memory.values(query) == list(range(15)))


# Waits and retries


def test_poll_timeout(spark: SparkSession, bootstrap: str, topic: str) -> None:
    """A task fails that gets no record for so long: a millisecond is too short for a broker, mostly."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    name = "kafkaConsumer.pollTimeoutMs"

    def read_again_and_again() -> None:
        for _ in range(20):
            reader(spark, bootstrap, subscribe=topic).option(name, 1).load().collect()

    with pytest.raises(SPARK_ERRORS, match="in 1 milliseconds"):
        read_again_and_again()
    patient = reader(spark, bootstrap, subscribe=topic).option(name, 60_000)
    assert values(patient.load()) == list(range(10))


def test_retries_of_offsets(spark: SparkSession, bootstrap: str, create_topic: Topics) -> None:
    """The driver asks again for what it did not get, such as a topic that is not there yet."""
    first = create_topic("retried")
    stem, _, number = first.rpartition("-")
    coming = f"{stem}-{int(number) + 1}"

    def read(retries: int) -> list[int]:
        made = reader(spark, bootstrap, subscribe=coming).option("fetchOffset.numRetries", retries)
        return values(made.option("fetchOffset.retryIntervalMs", 50).load())

    with pytest.raises(SPARK_ERRORS, match="UnknownTopicOrPartition"):
        read(1)
    found: list[int] = []
    reading = threading.Thread(target=lambda: found.extend(read(1_000)))
    reading.start()
    assert create_topic("retried") == coming
    CONFLUENT.produce(bootstrap, coming, numbered(range(3)))
    reading.join(60)
    assert not reading.is_alive()
    assert values(reader(spark, bootstrap, subscribe=coming).load()) == list(range(3))
    assert found in ([], list(range(3)))  # by when it looked


# Consumers


def groups(admin: AdminClient) -> set[str]:
    return {it.group_id for it in admin.list_consumer_groups().result(30).valid}


def test_no_group(
    spark: SparkSession, bootstrap: str, topic: str, admin: AdminClient, memory: Memory
) -> None:
    """Consumers of tasks are assigned their partition, and commit nothing: no broker sees a group."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    named = {"subscribe": topic, "startingOffsets": "earliest"}
    query = memory.start(stream(spark, bootstrap, groupIdPrefix="unseen", **named).load())
    query.processAllAvailable()
    own = reader(spark, bootstrap, subscribe=topic).option("kafka.group.id", "unseen-own")
    assert values(own.load()) == list(range(10))
    assert not [it for it in groups(admin) if it.startswith("unseen")]


def test_groups_of_the_deprecated_offset_fetching(
    spark: SparkSession, bootstrap: str, topic: str, admin: AdminClient, memory: Memory
) -> None:
    """With a consumer in place of the admin client, the driver is in a group, by either name."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    named = {"subscribe": topic, "startingOffsets": "earliest"}
    spark.conf.set(DEPRECATED, "true")
    try:
        prefixed = stream(spark, bootstrap, groupIdPrefix="seen", **named)
        own = stream(spark, bootstrap, **named).option("kafka.group.id", "own-group")
        for made in (prefixed, own):
            query = memory.start(made.load())
            query.processAllAvailable()
            assert memory.values(query) == list(range(10))
        found = groups(admin)
        assert "own-group" in found
        assert [it for it in found if it.startswith("seen-")]
        assert values(reader(spark, bootstrap, subscribe=topic).load()) == list(range(10))
    finally:
        spark.conf.unset(DEPRECATED)


def test_include_headers(spark: SparkSession, bootstrap: str, topic: str) -> None:
    sent = [Record(b"0", headers=(("a", b"1"), ("null", None), ("a", b""))), Record(b"1")]
    CONFLUENT.produce(bootstrap, topic, sent)
    assert "headers" not in reader(spark, bootstrap, subscribe=topic).load().columns
    rows = reader(spark, bootstrap, subscribe=topic, includeHeaders="true").load()
    first, second = (row.headers for row in rows.orderBy("offset").collect())
    assert [tuple(it) for it in first] == [("a", b"1"), ("null", None), ("a", b"")]
    assert second is None


def test_fetch_sizes(spark: SparkSession, bootstrap: str, topic: str, broker: AnyBroker) -> None:
    """They reach the broker: larger ones take fewer requests. A record that is larger is read all the same."""
    # A batch each: of one that is larger than is asked for, all comes.
    producer = Producer(
        {"bootstrap.servers": bootstrap, "batch.num.messages": 1, "enable.idempotence": True}
    )
    for n in range(100):
        producer.produce(topic, b"%d" % n + b" " * 30_000)
    assert producer.flush(30) == 0

    def requests(api: str, options: dict[str, int]) -> float:
        before = requests_so_far(broker, api)
        assert values(reader(spark, bootstrap, subscribe=topic, **options).load()) == list(
            range(100)
        )
        return requests_so_far(broker, api) - before

    small = requests("fetch", {"kafka.max.partition.fetch.bytes": 1_000})
    sizes = {"kafka.max.partition.fetch.bytes": 8 << 20, "kafka.fetch.max.bytes": 64 << 20}
    large = requests("fetch", sizes)
    few = requests("list_offsets", {"kafka.max.poll.records": 10})
    many = requests("list_offsets", {"kafka.max.poll.records": 5_000})
    if isinstance(broker, HeadraceProcess):
        assert large < small / 2
        assert many < few / 2  # Spark looks where the partition ends after each poll


def requests_so_far(broker: AnyBroker, api: str) -> float:
    """Return how many requests a broker has had; Kafka does not tell."""
    if not isinstance(broker, HeadraceProcess):
        return 0
    time.sleep(1.1 * RENDER_CACHE_MS / 1000)  # the page of before is shown for so long
    lines = broker.get("/metrics").splitlines()
    found = [it for it in lines if it.startswith(f'headrace_requests_total{{api="{api.lower()}"}}')]
    return float(found[0].rpartition(" ")[2]) if found else 0


def test_isolation_level(spark: SparkSession, bootstrap: str, topic: str) -> None:
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    committed = reader(spark, bootstrap, subscribe=topic)
    committed = committed.option("kafka.isolation.level", "read_committed")
    assert values(committed.load()) == list(range(10))


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("kafka.auto.offset.reset", "earliest"),
        ("kafka.key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
        ("kafka.value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
        ("kafka.enable.auto.commit", "true"),
        ("kafka.interceptor.classes", "an.Interceptor"),
    ],
)
def test_options_that_spark_refuses(
    spark: SparkSession, bootstrap: str, topic: str, option: str, given: str
) -> None:
    with pytest.raises(SPARK_ERRORS, match=option.removeprefix("kafka.")):
        reader(spark, bootstrap, subscribe=topic).option(option, given).load()


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        ("SSL", {"kafka.ssl.endpoint.identification.algorithm": ""}),
        (
            "SASL_PLAINTEXT",
            {
                "kafka.sasl.mechanism": "PLAIN",
                "kafka.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule"
                ' required username="a" password="b";',
            },
        ),
    ],
)
def test_security_protocol(
    spark: SparkSession, bootstrap: str, topic: str, protocol: str, options: dict[str, str]
) -> None:
    """The broker's listeners have neither authentication nor encryption: a query that wants them fails."""
    CONFLUENT.produce(bootstrap, topic, numbered(range(10)))
    plain = reader(spark, bootstrap, subscribe=topic)
    plain = plain.option("kafka.security.protocol", "PLAINTEXT")
    assert values(plain.load()) == list(range(10))
    secured = plain.option("kafka.security.protocol", protocol).options(**options)
    secured = secured.option("kafka.default.api.timeout.ms", 1_500)
    secured = secured.option("kafka.request.timeout.ms", 1_000)
    with pytest.raises(SPARK_ERRORS, match=r"SSL|S[Aa][Ss][Ll]|[Tt]imed out|Timeout"):
        secured.option("fetchOffset.numRetries", 1).load().collect()


def test_no_delegation_tokens(spark: SparkSession, bootstrap: str) -> None:
    """A broker has none to give, which is what spark.kafka.clusters.* is for.

    Nor is anything turned off, then, by spark.security.credentials.kafka.enabled.
    """
    jvm = spark._jvm
    admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(
        jvm.java.util.HashMap({"bootstrap.servers": bootstrap})
    )
    try:
        with pytest.raises(Py4JJavaError, match="UnsupportedByAuthentication"):
            admin.createDelegationToken().delegationToken().get()
    finally:
        admin.close()


def test_the_list_of_options_is_that_of_the_connector(spark: SparkSession) -> None:
    """The table of docs/spark.md is held against this list by tests/unit/docs."""
    jvm = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    names = set()
    for owner in ("KafkaSourceProvider$", "package$"):
        full_name = f"org.apache.spark.sql.kafka010.{owner}"
        kind = jvm.java.lang.Class.forName(full_name, True, loader)
        instance = kind.getField("MODULE$").get(None)
        for field in kind.getDeclaredFields():
            field.setAccessible(True)
            names |= options_in(field.get(instance))
    assert names - NO_OPTIONS == {it.lower() for it in (*SOURCE, *SINK, *SESSION_OF_CONNECTOR)}


def options_in(held: object) -> set[str]:
    """Return names of options, in small letters, of a constant of the connector."""
    if isinstance(held, str):
        is_name = re.fullmatch(r"[a-zA-Z][\w.]+", held) and not held.startswith("org.")
        return {held.lower()} if is_name else set()
    if held is None or isinstance(held, int | float):
        return set()
    kind = held.getClass().getName()
    if "ConfigEntry" in kind:
        return {held.key().lower()}
    return set(re.findall(r"\w+", held.mkString(" ").lower())) if ".Set" in kind else set()
