"""Variables as settings."""

import pytest

from headrace.config.environment import Variable, key_of, settings_from


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("LOG_RETENTION_MS", "log.retention.ms"),
        ("A__B", "a_b"),
        ("A___B", "a-b"),
        ("A_B__C___D", "a.b_c-d"),
        ("A____B", "a-.b"),
    ],
)
def test_a_name_becomes_a_key_as_in_kafkas_image(name, key):
    assert key_of(name) == key


def test_kafkas_variables_are_settings():
    assert settings_from({"KAFKA_NUM_PARTITIONS": "3"}) == [
        Variable("KAFKA_NUM_PARTITIONS", "num.partitions", "3")
    ]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("HEADRACE_LOG_LEVEL", "headrace.log.level"),
        ("HEADRACE_HEADRACE_LOG_LEVEL", "headrace.log.level"),
        ("HEADRACE_WAL_IO_MODE", "headrace.wal.io.mode"),
        ("HEADRACE_NODE_ID", "node.id"),
        ("HEADRACE_S3_DATA_BUCKETS", "s3.data.buckets"),
        ("KAFKA_HEADRACE_LOG_LEVEL", "headrace.log.level"),
        ("HEADRACE_WAL_ACCEPT_LOSS", "headrace.wal.accept.loss"),
        ("HEADRACE_S3_WAL_CACHE_SIZE", "s3.wal.cache.size"),
        ("KAFKA_S3_WAL_CACHE_SIZE", "s3.wal.cache.size"),
    ],
)
def test_our_prefix_is_not_needed_twice(name, key):
    assert [v.key for v in settings_from({name: "x"})] == [key]


def test_ours_come_last_and_so_win():
    found = settings_from({"HEADRACE_NODE_ID": "2", "KAFKA_NODE_ID": "1", "CLUSTER_ID": "c"})
    assert [(v.key, v.value) for v in found] == [
        ("cluster.id", "c"),
        ("node.id", "1"),
        ("node.id", "2"),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "KAFKA_VERSION",
        "KAFKA_HEAP_OPTS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_SERVICE_HOST",
        "KAFKA_SERVICE_PORT",
        "KAFKA_SERVICE_PORT_CLIENT",
        "KAFKA_PORT",
        "KAFKA_PORT_9092_TCP",
        "KAFKA_PORT_9092_TCP_ADDR",
        "KAFKA_HEADLESS_SERVICE_HOST",
        "HEADRACE_PORT",
        "HEADRACE_SERVICE_PORT_KAFKA",
        "HEADRACE_BOOTSTRAP_SERVER",
        "HEADRACE_CONFIG",
        "HEADRACE_DATA_DIR",
        "PATH",
        "NUM_PARTITIONS",
    ],
)
def test_what_is_no_setting_is_left_alone(name):
    assert settings_from({name: "tcp://10.0.0.1:9092"}) == []


def test_an_empty_cluster_id_is_none():
    assert settings_from({"CLUSTER_ID": ""}) == []
