"""What ships is what is tested: tests of whole programs choose no setting that hides what users run, or they say why.

With one partition of a shuffle a test saw one file where the pipeline that ships wrote 157. So each setting of Spark,
and of a broker, that such a test chooses stands here with its reason; anything else is left as it ships.
"""

from collections import defaultdict
from fnmatch import fnmatch
from functools import cache

from headrace.config.server_keys import SERVER_KEYS
from tests.tidy.pinned import broker_settings, spark_settings
from tests.tidy.source import ROOT

PLACES = ("tests/e2e", "tests/integration", "tests/cluster", "pipeline/demo")

SPARK_SETTINGS = {
    "spark.ui.*": "nobody looks at its pages, and their port may be taken",
    "spark.driver.host": "servers of tests are on loopback addresses",
    "spark.driver.bindAddress": "servers of tests are on loopback addresses",
    "spark.local.dir": "temporary files go where those of tests are",
    "spark.driver.extraJavaOptions": "the compiler's quick tier, as these JVMs end soon",
    "spark.executor.extraJavaOptions": "the compiler's quick tier, as these JVMs end soon",
    "spark.executor.memory": "what a worker of the test has",
    "spark.task.maxFailures": "as `headrace spark backfill` gives it to spark-submit",
    "spark.kafka.*": "of the connector's documentation: a test shows what each does (docs/spark.md)",
    "spark.network.timeout": "of the connector's documentation, in a list of what is no option",
    "spark.sql.streaming.kafka.*": "of the connector's documentation: a test shows what each does",
    "spark.sql.catalog.lake*": "where Spark finds the tables that it reads",
}
# By file and setting.
KNOWN_PINS = {
    (
        "tests/e2e/test_spark_submit.py",
        "spark.sql.shuffle.partitions",
    ): "the default of 200 takes minutes",
    (
        "tests/e2e/test_spark_bucket_stream.py",
        "spark.sql.streaming.triggerAvailableNowWrapper.enabled",
    ): ("the subject: as docs/spark.md tells for Spark before 4.2, and without it"),
    (
        "tests/e2e/test_tables.py",
        "spark.sql.shuffle.partitions",
    ): "Spark's default, which the product replaces",
    (
        "tests/e2e/test_tables.py",
        "spark.sql.caseSensitive",
    ): "the subject: a reader who tells case apart",
}

WHERE = (
    "node.id", "process.roles", "listeners", "controller.*", "headrace.admin.listener", "log.dirs", "metadata.log.dir",
    "s3.data.buckets", "s3.wal.path",
)  # fmt: skip
BROKER_SETTINGS = {
    **dict.fromkeys(WHERE, "which node it is, and where it and its data are"),
    "s3.wal.cache.size": "memory: the tests' machine runs many brokers",
    "s3.block.cache.size": "memory: the tests' machine runs many brokers",
    "s3.wal.upload.threshold": "small WALs need small blocks, and objects come with few records",
    "s3.wal.upload.interval.ms": "60 s are too long to wait for what is uploaded; the same code uploads",
    "headrace.metadata.snapshot.publish.interval.ms": "60 s are too long to wait; the same code publishes",
    "log.retention.check.interval.ms": "five minutes are too long to wait for the first look",
    "log.retention.ms": "records of tests are from long ago; tests of retention set it for a topic",
    "s3.object.delete.retention.minutes": "ten minutes are too long to wait for what is deleted",
    "broker.session.timeout.ms": "9 s are too long to wait for each fencing; the rules take any",
    "broker.heartbeat.interval.ms": "goes with the session",
    "group.initial.rebalance.delay.ms": "3 s are too long to wait for each group; Kafka's own tests have 0",
    "offsets.topic.num.partitions": "50 partitions of each broker of a test take time to open",
    "auto.create.topics.enable": "as Kafka beside it has it, or to tell a topic that nobody has created",
    "compression.type": "of a client or a topic, by what it is called here",
    "request.timeout.ms": "of a client, by what it is called here",
    "message.max.bytes": "of a client or a topic, by what it is called here",
}
# What a module's tests are about, or what brings its case about.
SUBJECTS = {
    "tests/cluster/cluster.py": {
        "headrace.balance.*": "off, so that a test knows who leads; tests of the balance turn it on, and do not wait",
        "headrace.wal.reach": "the subject: who can open the log of a broker that has died",
    },
    "tests/cluster/soak.py": {
        "*": "what takes hours or days by default happens many times in an hour"
    },
    "tests/e2e/mixed_cluster.py": {
        "metadata.log.max.record.bytes.between.snapshots": "a snapshot of either release"
    },
    "tests/e2e/test_offsets_log.py": {"headrace.log.format": "the log is read by a program"},
    "tests/e2e/test_missing_wal.py": {"headrace.wal.accept.loss": "the subject"},
    "tests/e2e/test_power_cut.py": {"headrace.wal.io.*": "the subject: both kinds of IO, and a disk that hangs"},
    "tests/e2e/test_s3_outage.py": {
        "headrace.admission.timeout.ms": "an outage of seconds in place of minutes",
        "headrace.bucket.sweep.interval.minutes": "an hour is too long to wait",
    },
    "tests/integration/test_broker_settings.py": {"headrace.replication.factor.check": "the subject"},
    "tests/e2e/test_s3_bucket.py": {"s3.object.part.size": "an upload of several parts from few records"},
    "tests/e2e/test_broker_gone.py": {"s3.stream.object.split.size": "both kinds of objects from few records"},
    "tests/e2e/test_spark_bucket.py": {
        "s3.object.block.size": "several blocks from few records",
        "s3.stream.object.split.size": "both kinds of objects from few records",
    },
    "tests/e2e/test_spark_jobs.py": {
        "s3.object.block.size": "several blocks from few records",
        "s3.stream.object.split.size": "both kinds of objects from few records",
    },
    "tests/integration/test_topic_compaction.py": {
        "s3.stream.set.object.compaction.cache.size": "the subject: more keys than there is memory for",
        "s3.object.part.size": "goes with it",
        "s3.object.block.size": "goes with it",
    },
    "tests/e2e/test_spark_running_job.py": {"log.segment.bytes": "compaction while a job runs, with few records"},
}  # fmt: skip
KNOWN = frozenset(SERVER_KEYS)


@cache
def texts() -> dict[str, str]:
    """The modules that are looked at, by their paths."""
    paths = (path for place in PLACES for path in (ROOT / place).rglob("*.py"))
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}


def is_any_of(name: str, patterns: object) -> bool:
    """Whether a name is one of these, or begins as one that ends with a star."""
    assert isinstance(patterns, dict)
    return any(fnmatch(name, it) for it in patterns)


def test_settings_of_spark_are_few_and_have_a_reason() -> None:
    found = {(path, name) for path, text in texts().items() for name in spark_settings(text)}
    pinned = {it for it in found if not is_any_of(it[1], SPARK_SETTINGS)}
    assert pinned == KNOWN_PINS.keys(), "leave it as it ships, or give the reason here"
    unused = [it for it in SPARK_SETTINGS if not any(fnmatch(name, it) for _, name in found)]
    assert unused == []


def test_settings_of_brokers_are_few_and_have_a_reason() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for path, text in texts().items():
        found[path] |= {name for name, _ in broker_settings(text, KNOWN)}
    pinned = {
        (path, name)
        for path, names in found.items()
        for name in names
        if not is_any_of(name, BROKER_SETTINGS | SUBJECTS.get(path, {}))
    }
    assert pinned == set(), "leave it as it ships, or give the reason here"
    used = {name for names in found.values() for name in names}
    assert [it for it in BROKER_SETTINGS if not any(fnmatch(name, it) for name in used)] == []
    for path, subjects in SUBJECTS.items():
        unused = [it for it in subjects if not any(fnmatch(name, it) for name in found[path])]
        assert unused == [], path


def test_all_spellings_of_a_setting_are_found() -> None:
    text = """
A = {"spark.sql.shuffle.partitions": "1"}
B = ["--conf", "spark.executor.cores=2", f"spark.ui.enabled={ui}"]
session.conf.set(f"spark.sql.catalog.lake{name}", 1).config("spark.sql.adaptive.enabled", "false")
NOT = ["local", "spark.jars", "sparkling.water", "see spark.local.dir for more"]
"""
    assert sorted(spark_settings(text)) == [
        "spark.executor.cores",
        "spark.sql.adaptive.enabled",
        "spark.sql.catalog.lake",
        "spark.sql.shuffle.partitions",
        "spark.ui.enabled",
    ]
    text = """
A = {"log.dirs": str(data), **others, "of.another": 1}
broker.set("s3.wal.cache.size", "1")
broker.set(name, "1")
"""
    assert list(broker_settings(text, KNOWN)) == [
        ("log.dirs", "str(data)"),
        ("s3.wal.cache.size", "'1'"),
    ]
