"""The table of topic settings against what Apache Kafka 4.4 answers."""

from headrace.config.definition import ConfigType, problem_with
from headrace.config.topic_keys import NOT_ACTED_ON_YET, TOPIC_CONFIGS

# Name, type and default of every topic config, as DescribeConfigs of Apache Kafka 4.4.0 has them.
KAFKA = """
cleanup.policy LIST delete
compression.gzip.level INT -1
compression.lz4.level INT 9
compression.type STRING producer
compression.zstd.level INT 3
delete.retention.ms LONG 86400000
errors.deadletterqueue.group.enable BOOLEAN false
file.delete.delay.ms LONG 60000
flush.messages LONG 9223372036854775807
flush.ms LONG 9223372036854775807
follower.replication.throttled.replicas LIST
index.interval.bytes INT 4096
leader.replication.throttled.replicas LIST
local.retention.bytes LONG -2
local.retention.ms LONG -2
max.compaction.lag.ms LONG 9223372036854775807
max.decompressed.message.bytes INT 2147483639
max.message.bytes INT 1048588
message.timestamp.after.max.ms LONG 3600000
message.timestamp.before.max.ms LONG 9223372036854775807
message.timestamp.type STRING CreateTime
min.cleanable.dirty.ratio DOUBLE 0.5
min.compaction.lag.ms LONG 0
min.insync.replicas INT 1
preallocate BOOLEAN false
remote.copy.lag.bytes LONG -1
remote.copy.lag.ms LONG 0
remote.log.copy.disable BOOLEAN false
remote.log.delete.on.disable BOOLEAN false
remote.storage.enable BOOLEAN false
retention.bytes LONG -1
retention.ms LONG 604800000
segment.bytes INT 1073741824
segment.index.bytes INT 10485760
segment.jitter.ms LONG 0
segment.ms LONG 604800000
unclean.leader.election.enable BOOLEAN false
"""


def test_names_types_and_defaults_are_kafkas():
    expected = {}
    for line in KAFKA.split("\n"):
        if line:
            name, config_type, *default = line.split(" ")
            expected[name] = (ConfigType[config_type], "".join(default))
    kafkas = {n: c for n, c in TOPIC_CONFIGS.items() if not n.startswith("headrace.")}
    assert {n: (c.type, c.default) for n, c in kafkas.items()} == expected


def test_every_default_is_valid():
    for entry in TOPIC_CONFIGS.values():
        assert problem_with(entry.type, entry.valid, entry.default) is None, entry.name


def test_a_server_key_belongs_to_one_topic_key():
    names = [server.name for entry in TOPIC_CONFIGS.values() for server in entry.server_keys]
    assert len(names) == len(set(names))


def test_coarser_server_keys_divide_the_default():
    for entry in TOPIC_CONFIGS.values():
        for server in entry.server_keys:
            if server.scale > 1:
                assert int(entry.default) % server.scale == 0, server.name


def test_what_has_no_effect_says_so():
    for entry in TOPIC_CONFIGS.values():
        assert entry.has_effect != entry.doc.startswith("Accepted for compatibility"), entry.name


def test_what_is_not_acted_on_yet_says_so():
    for entry in TOPIC_CONFIGS.values():
        told = entry.doc.endswith("Stored, but not applied yet.")
        assert told == (entry.name in NOT_ACTED_ON_YET), entry.name
