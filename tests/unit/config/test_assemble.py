"""Settings into a configuration."""

import pytest

from headrace.config.assemble import Setting, assemble
from headrace.config.node import Endpoint, Voter

MIB = 1024 * 1024


def built(**settings):
    """Assemble settings whose names have `_` for a dot; expect no problem."""
    config, problems, _ = outcome(**settings)
    assert [str(problem) for problem in problems] == []
    return config


def outcome(**settings):
    problems, warnings = [], []
    named = {name.replace("_", "."): value for name, value in settings.items()}
    config = assemble(
        {name: Setting(name, value, "test") for name, value in named.items()}, problems, warnings
    )
    return config, problems, warnings


def test_relative_paths_start_at_the_data_directory():
    config = built(log_dirs="/srv/h")
    assert config.data_dir == "/srv/h"
    assert config.wal.path == "/srv/h/wal"
    assert config.metadata.log_dir == "/srv/h/metadata"
    assert config.storage.bucket_uri == "file:///srv/h/bucket"


def test_absolute_paths_and_buckets_elsewhere_stay():
    config = built(
        log_dirs="/srv/h",
        s3_wal_path="0@file:///dev/nvme1n1",
        metadata_log_dir="/fast/meta",
        s3_data_buckets="0@s3://bucket?region=eu",
    )
    assert config.wal.path == "/dev/nvme1n1"
    assert config.metadata.log_dir == "/fast/meta"
    assert config.storage.bucket_uri == "s3://bucket?region=eu"
    assert built(s3_data_buckets="mem://").storage.bucket_uri == "mem://"


def test_a_directory_with_unusual_characters_survives_the_bucket_uri():
    config = built(log_dirs="/srv/a b%20#?c")
    assert config.storage.bucket_uri == "file:///srv/a%20b%2520%23%3Fc/bucket"
    assert config.wal.path == "/srv/a b%20#?c/wal"


def test_minutes_become_milliseconds():
    config = built(offsets_retention_minutes="2", s3_object_delete_retention_minutes="0")
    assert config.groups.offsets_retention_ms == 120_000
    assert config.storage.object_delete_retention_ms == 0


def test_a_topic_default_goes_where_topics_and_requests_look():
    config = built(message_max_bytes="5000", log_retention_hours="1")
    assert config.log.max_message_bytes == 5000
    assert config.log.topic_defaults == {"max.message.bytes": "5000", "retention.ms": "3600000"}


def test_contradicting_topic_defaults_are_a_problem():
    _, problems, _ = outcome(
        log_cleaner_min_compaction_lag_ms="9", log_cleaner_max_compaction_lag_ms="8"
    )
    assert "min.compaction.lag.ms (9)" in str(problems[0])


def test_listeners_are_split_between_clients_and_controllers():
    config = built(
        listeners="PLAINTEXT://:9092,CONTROLLER://:9093",
        advertised_listeners="PLAINTEXT://h:9092,CONTROLLER://h:9093",
        controller_quorum_voters="1@h:9093",
    )
    assert config.network.listeners == (Endpoint("PLAINTEXT", "", 9092),)
    assert config.network.advertised_listeners == (Endpoint("PLAINTEXT", "h", 9092),)
    assert config.metadata.controller_listeners == (Endpoint("CONTROLLER", "", 9093),)
    assert config.metadata.controller_advertised_listeners == (Endpoint("CONTROLLER", "h", 9093),)
    assert config.metadata.quorum_voters == (Voter(1, "h", 9093),)


def test_another_name_for_controllers_is_respected():
    config = built(listeners="A://:1,ctl://h:2", controller_listener_names="CTL")
    assert [endpoint.name for endpoint in config.network.listeners] == ["A"]
    assert [endpoint.name for endpoint in config.metadata.controller_listeners] == ["CTL"]


def test_a_controller_that_does_not_listen_is_not_advertised():
    _, problems, _ = outcome(advertised_listeners="PLAINTEXT://h:9092,CONTROLLER://h:9093")
    assert "names CONTROLLER, which listeners does not have" in str(problems[0])


def test_a_controller_alone_has_no_listener_for_clients_by_default():
    config = built(
        process_roles="controller",
        listeners="CONTROLLER://h:9093",
        controller_quorum_voters="1@h:9093",
    )
    assert config.network.listeners == ()
    _, problems, _ = outcome(process_roles="controller")
    assert [problem.message.partition(":")[0] for problem in problems] == [
        "a controller that other nodes connect to needs a listener of its own, such as CONTROLLER"
    ]


def test_the_upload_threshold_fits_cache_and_wal():
    assert built().storage.upload_threshold_bytes == 1024 * MIB // 3
    small_cache = built(s3_wal_cache_size=str(90 * MIB))
    assert small_cache.storage.upload_threshold_bytes == 30 * MIB
    small_wal = built(s3_wal_path=f"file://wal?capacity={64 * MIB}")
    assert small_wal.storage.upload_threshold_bytes == 16 * MIB
    large = built(
        s3_wal_cache_size=str(9000 * MIB), s3_wal_path=f"file://wal?capacity={9000 * MIB}"
    )
    assert large.storage.upload_threshold_bytes == 512 * MIB


def test_a_chosen_threshold_stays():
    config = built(s3_wal_upload_threshold=str(7 * MIB))
    assert config.storage.upload_threshold_bytes == 7 * MIB


def test_a_wrong_value_is_told_with_range_and_example():
    _, problems, _ = outcome(num_partitions="none")
    assert [(p.key, p.value, p.source, p.allowed, p.example) for p in problems] == [
        ("num.partitions", "none", "test", "integer, at least 1", "num.partitions=1")
    ]


def test_a_broken_relation_tells_where_both_values_come_from():
    config, problems, _ = outcome(broker_heartbeat_interval_ms="5000")
    assert config is None
    text = str(problems[0])
    assert "broker.heartbeat.interval.ms is set by test" in text
    assert "broker.session.timeout.ms has its default" in text


def test_relations_of_a_wrong_value_are_not_reported_on_top():
    _, problems, _ = outcome(broker_session_timeout_ms="long", broker_heartbeat_interval_ms="8000")
    assert [problem.key for problem in problems] == ["broker.session.timeout.ms"]


def test_more_than_one_copy_costs_a_warning():
    config, problems, warnings = outcome(default_replication_factor="3")
    assert problems == []
    assert config.static["default.replication.factor"] == "3"
    assert "is treated as 1" in warnings[0]
    assert outcome(default_replication_factor="1", offsets_topic_replication_factor="-1")[2] == []
    assert outcome(default_replication_factor="0")[1] != []


def test_what_was_set_is_kept_as_it_was_written():
    assert built(num_partitions=" 3").static == {"num.partitions": " 3"}


def test_a_default_of_topics_that_is_not_acted_on_costs_a_warning():
    _, _, warnings = outcome(compression_gzip_level="5")
    assert "compression.gzip.level is stored, but not applied yet" in warnings[0]
    assert outcome(log_retention_hours="1", compression_gzip_level="-1")[2] == []
    assert outcome(message_max_bytes="2000000")[2] == []


def test_a_default_of_compaction_is_acted_on():
    _, _, warnings = outcome(
        log_cleanup_policy="compact,delete", log_cleaner_min_compaction_lag_ms="5"
    )
    assert warnings == []


VOTERS = "101@c1:9093,102@c2:9093,103@c3:9093"


@pytest.mark.parametrize(
    ("settings", "missing"),
    [
        ({"process_roles": "broker"}, ["node.id", "s3.data.buckets"]),
        ({"process_roles": "broker", "node_id": "1"}, ["s3.data.buckets"]),
        ({"process_roles": "broker", "s3_data_buckets": "mem://"}, ["node.id"]),
        ({"process_roles": "broker", "node_id": "1", "s3_data_buckets": "mem://"}, []),
    ],
)
def test_a_broker_of_a_cluster_is_told_its_number_and_the_bucket(settings, missing):
    _, problems, _ = outcome(**settings, controller_quorum_voters=VOTERS)
    assert [problem.key for problem in problems] == missing


def test_a_controller_of_a_cluster_is_told_its_number_and_needs_no_bucket():
    settings = {
        "process_roles": "controller",
        "listeners": "CONTROLLER://c1:9093",
        "controller_quorum_bootstrap_servers": "c2:9093",
    }
    assert [problem.key for problem in outcome(**settings)[1]] == ["node.id"]
    assert outcome(**settings, node_id="101")[1] == []


def test_a_cluster_of_one_needs_neither():
    assert built(
        controller_quorum_voters="1@c1:9093", listeners="PLAINTEXT://c1:9092,CONTROLLER://c1:9093"
    )
