"""Kafka's server keys, against what Apache Kafka 4.4 answers."""

import pytest

from headrace.config.definition import ConfigType
from headrace.config.kafka_keys import KAFKA_KEYS
from headrace.config.server_keys import SERVER_KEYS, default_text

# Type and default of keys whose default is Kafka's own, from DescribeConfigs of Apache Kafka 4.4.0.
KAFKA = """
auto.create.topics.enable BOOLEAN true
broker.heartbeat.interval.ms INT 2000
broker.session.timeout.ms INT 9000
connections.max.idle.ms LONG 600000
fetch.max.bytes INT 57671680
group.initial.rebalance.delay.ms INT 3000
group.max.session.timeout.ms INT 1800000
group.max.size INT 2147483647
group.min.session.timeout.ms INT 6000
log.retention.check.interval.ms LONG 300000
max.incremental.fetch.session.cache.slots INT 1000
metadata.log.max.record.bytes.between.snapshots LONG 20971520
num.partitions INT 1
offset.metadata.max.bytes INT 4096
offsets.retention.check.interval.ms LONG 600000
offsets.retention.minutes INT 10080
offsets.topic.num.partitions INT 50
producer.id.expiration.ms INT 86400000
request.timeout.ms INT 30000
socket.request.max.bytes INT 104857600
"""


@pytest.mark.parametrize("line", KAFKA.strip().split("\n"))
def test_type_and_default_are_kafkas(line):
    name, config_type, default = line.split(" ")
    key = SERVER_KEYS[name]
    assert (key.type, default_text(key)) == (ConfigType[config_type], default)


def test_names_are_not_repeated():
    names = [name for key in KAFKA_KEYS for name in (key.name, *key.also_named)]
    assert len(names) == len(set(names))


def test_one_data_directory_is_taken_and_two_are_refused():
    fields = SERVER_KEYS["log.dirs"].fields
    assert fields("/data") == {"data_dir": "/data"}
    with pytest.raises(ValueError, match="one directory"):
        fields("/a,/b")
    with pytest.raises(ValueError, match="one directory"):
        fields(" ")
