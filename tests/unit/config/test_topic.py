"""Checking topic settings, and what is in force."""

import dataclasses

import pytest

from headrace.config.topic import (
    TOPIC_CONFIGS,
    EffectiveTopicConfig,
    topic_defaults,
    validate_topic_config,
    validate_topic_configs,
)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", "-1"),
        ("cleanup.policy", "compact,delete"),
        ("cleanup.policy", ""),
        ("segment.bytes", "1048576"),
        ("compression.type", "zstd"),
        ("min.cleanable.dirty.ratio", "1"),
        ("preallocate", "True"),
        ("remote.storage.enable", "false"),
        ("leader.replication.throttled.replicas", "*"),
        ("follower.replication.throttled.replicas", "0:1,17:23"),
        ("leader.replication.throttled.replicas", ""),
    ],
)
def test_a_valid_setting_has_no_problem(name, value):
    assert validate_topic_config(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("retention.ms", "-2", "at least -1"),
        ("retention.ms", "1h", "whole number"),
        ("cleanup.policy", "compact,compact", "repeat"),
        ("cleanup.policy", "shred", "compact, delete"),
        ("segment.bytes", "1048575", "between 1048576"),
        ("compression.type", "brotli", "one of"),
        ("remote.storage.enable", "true", "no tiered storage"),
        ("leader.replication.throttled.replicas", "zzz", "PARTITION:BROKER"),
        ("follower.replication.throttled.replicas", "0:1,*", "PARTITION:BROKER"),
        ("retention.m", "1", "did you mean retention.ms?"),
        ("completely.different", "1", "unknown topic config name"),
    ],
)
def test_a_wrong_setting_is_explained(name, value, part):
    problem = validate_topic_config(name, value)
    assert name in problem
    assert part in problem


def test_settings_that_contradict_each_other_are_refused():
    lags = {"min.compaction.lag.ms": "10", "max.compaction.lag.ms": "9"}
    assert "min.compaction.lag.ms (10)" in validate_topic_configs(lags)
    assert validate_topic_configs(lags | {"max.compaction.lag.ms": "10"}) is None


def test_a_contradiction_with_the_brokers_default_is_found():
    problem = validate_topic_configs(
        {"min.compaction.lag.ms": "10"}, {"max.compaction.lag.ms": "9"}
    )
    assert "max.compaction.lag.ms (9)" in problem


def test_one_wrong_setting_among_many_is_named():
    assert "preallocate" in validate_topic_configs({"retention.ms": "5", "preallocate": "maybe"})


def test_without_settings_kafkas_defaults_are_in_force():
    config = EffectiveTopicConfig.resolve({})
    assert config.retention_ms == 604_800_000
    assert config.retention_bytes == -1
    assert config.segment_bytes == 1024**3
    assert config.max_message_bytes == 1_048_588
    assert config.cleanup_policy == {"delete"}
    assert config.compression_type == "producer"
    assert config.timestamp_after_max_ms == 3_600_000
    assert config.timestamp_before_max_ms == 2**63 - 1
    assert config.deletes
    assert not config.compacts
    assert not config.stamps_append_time


def test_a_topics_own_setting_beats_the_brokers_which_beats_the_table():
    broker = {"retention.ms": "20", "segment.ms": "30"}
    config = EffectiveTopicConfig.resolve({"retention.ms": "10"}, broker)
    assert (config.retention_ms, config.segment_ms) == (10, 30)


def test_policies_and_timestamps_are_told():
    config = EffectiveTopicConfig.resolve(
        {"cleanup.policy": "compact,delete", "message.timestamp.type": "LogAppendTime"}
    )
    assert config.compacts
    assert config.deletes
    assert config.stamps_append_time
    keeps_everything = EffectiveTopicConfig.resolve({"cleanup.policy": ""})
    assert not keeps_everything.compacts
    assert not keeps_everything.deletes


def test_every_setting_with_an_effect_is_resolved():
    resolved = {field.name for field in dataclasses.fields(EffectiveTopicConfig)}
    for entry in TOPIC_CONFIGS.values():
        field = entry.name.replace(".", "_")
        short = field.removeprefix("message_")
        if entry.name == "headrace.balance.enable":
            continue  # the controller reads it: tests/unit/metadata/balance
        assert not entry.has_effect or field in resolved or short in resolved, entry.name


def test_server_keys_become_defaults_in_the_topics_units():
    assert topic_defaults({"log.retention.hours": "2"}) == {"retention.ms": "7200000"}
    assert topic_defaults({"log.retention.minutes": "-1"}) == {"retention.ms": "-1"}
    assert topic_defaults({"message.max.bytes": "9"}) == {"max.message.bytes": "9"}
    assert topic_defaults({}) == {}


def test_the_finest_server_key_wins_whatever_layer_it_is_in():
    static = {"log.retention.ms": "5", "log.retention.minutes": "1", "log.retention.hours": "1"}
    assert topic_defaults(static) == {"retention.ms": "5"}
    assert topic_defaults({"log.retention.hours": "2"}, {"log.retention.ms": "5"}) == {
        "retention.ms": "5"
    }


def test_among_layers_the_first_wins():
    assert topic_defaults({"log.segment.bytes": "1"}, {"log.segment.bytes": "2"}) == {
        "segment.bytes": "1"
    }
