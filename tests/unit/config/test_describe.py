"""What DescribeConfigs shows."""

import pytest

from headrace.config.definition import ConfigSource, ConfigType
from headrace.config.describe import (
    BrokerLayers,
    describe_broker,
    describe_broker_defaults,
    describe_topic,
)
from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.config.server_keys import SERVER_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS

EVERYWHERE = BrokerLayers(
    dynamic_broker={"log.retention.ms": "2"},
    dynamic_default={"log.retention.ms": "3"},
    static={"log.retention.ms": "4", "log.retention.hours": "5"},
)


def one(entries):
    (entry,) = entries
    return entry


def chain(entry):
    return [(s.name, s.value, int(s.source)) for s in entry.synonyms]


def test_a_topic_shows_every_setting():
    entries = describe_topic({}, BrokerLayers())
    assert [entry.name for entry in entries] == list(TOPIC_CONFIGS)
    assert all(entry.is_default and not entry.read_only for entry in entries)
    assert all(entry.documentation for entry in entries)


def test_a_topics_own_value_heads_the_whole_chain():
    entry = one(describe_topic({"retention.ms": "1"}, EVERYWHERE, ["retention.ms"]))
    assert (entry.value, entry.source, entry.type) == (
        "1",
        ConfigSource.DYNAMIC_TOPIC,
        ConfigType.LONG,
    )
    assert chain(entry) == [
        ("retention.ms", "1", 1),
        ("log.retention.ms", "2", 2),
        ("log.retention.ms", "3", 3),
        ("log.retention.ms", "4", 4),
        ("log.retention.hours", "5", 4),
        ("log.retention.hours", "168", 5),
    ]


@pytest.mark.parametrize(
    ("layers", "value", "source"),
    [
        (EVERYWHERE, "2", 2),
        (BrokerLayers(dynamic_default={"log.retention.ms": "3"}), "3", 3),
        (BrokerLayers(static={"log.retention.ms": "4"}), "4", 4),
        (BrokerLayers(static={"log.retention.hours": "5"}), "18000000", 4),
        (BrokerLayers(), "604800000", 5),
    ],
)
def test_without_one_the_brokers_value_is_shown_in_the_topics_units(layers, value, source):
    entry = one(describe_topic({}, layers, ["retention.ms"]))
    assert (entry.value, int(entry.source)) == (value, source)


def test_a_setting_without_server_key_has_no_chain_until_it_is_set():
    entry = one(describe_topic({}, BrokerLayers(), ["remote.storage.enable"]))
    assert (entry.value, chain(entry)) == ("false", [])


def test_names_that_do_not_exist_are_left_out():
    assert describe_topic({}, BrokerLayers(), ["nope"]) == []
    assert describe_broker(BrokerLayers(), ["nope"]) == []
    assert describe_broker(BrokerLayers(), []) == []


def test_a_broker_shows_every_key():
    entries = describe_broker(BrokerLayers())
    assert [entry.name for entry in entries] == [*SERVER_KEYS, DRAIN_KEY]
    assert all(entry.is_default for entry in entries)


def test_a_broker_shows_where_a_value_comes_from():
    layers = BrokerLayers(static={"num.partitions": "3"})
    entry = one(describe_broker(layers, ["num.partitions"]))
    assert (entry.value, entry.source) == ("3", ConfigSource.STATIC_BROKER)
    assert chain(entry) == [("num.partitions", "3", 4), ("num.partitions", "1", 5)]
    assert entry.read_only
    assert not entry.is_default


def test_what_is_not_set_and_has_no_default_is_null():
    entry = one(describe_broker(BrokerLayers(), ["advertised.listeners"]))
    assert (entry.value, chain(entry)) == (None, [])


def test_credentials_are_not_shown():
    layers = BrokerLayers(static={"s3.data.buckets": "s3://b?accessKey=A&secretKey=hush"})
    entry = one(describe_broker(layers, ["s3.data.buckets"]))
    assert entry.value == "s3://b?accessKey=***&secretKey=***"
    assert "hush" not in str(entry)


def test_cluster_wide_settings_show_only_what_is_set():
    entry = one(describe_broker_defaults({"log.retention.ms": "3"}))
    assert (entry.name, entry.value) == ("log.retention.ms", "3")
    assert entry.source is ConfigSource.DYNAMIC_DEFAULT_BROKER
