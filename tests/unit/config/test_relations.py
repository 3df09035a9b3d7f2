"""What must hold between settings."""

import pytest

from headrace.config.node import (
    Endpoint,
    GroupConfig,
    LogConfig,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    StorageConfig,
    Voter,
    WalConfig,
)
from headrace.config.relations import RelationError, relation_texts, violated_relations
from headrace.config.server_keys import SERVER_KEYS

MIB = 1024 * 1024


def keys_of_violations(**sections):
    with pytest.raises(RelationError) as caught:
        NodeConfig(**sections)
    return [violation.keys for violation in caught.value.violations]


def test_the_defaults_go_together():
    assert violated_relations(NodeConfig()) == []


@pytest.mark.parametrize(
    ("section", "values", "keys"),
    [
        (
            "storage",
            StorageConfig(upload_threshold_bytes=65 * MIB, log_cache_bytes=64 * MIB),
            ("s3.wal.upload.threshold", "s3.wal.cache.size"),
        ),
        ("wal", WalConfig(capacity_bytes=900 * MIB), ("s3.wal.upload.threshold", "s3.wal.path")),
        (
            "log",
            LogConfig(max_message_bytes=120 * MIB),
            ("message.max.bytes", "socket.request.max.bytes"),
        ),
        (
            "network",
            NetworkConfig(max_request_bytes=1000),
            ("message.max.bytes", "socket.request.max.bytes"),
        ),
        (
            "wal",
            WalConfig(max_window_bytes=2 * MIB),
            ("message.max.bytes", "headrace.wal.window.bytes.max"),
        ),
        (
            "storage",
            StorageConfig(object_block_bytes=6 * MIB, object_part_bytes=5 * MIB),
            ("s3.object.block.size", "s3.object.part.size"),
        ),
        (
            "storage",
            StorageConfig(object_block_bytes=8 * MIB, block_cache_bytes=64 * MIB - 1),
            ("s3.object.block.size", "s3.block.cache.size"),
        ),
        (
            "storage",
            StorageConfig(compaction_memory_bytes=31 * MIB),
            ("s3.object.part.size", "s3.stream.set.object.compaction.cache.size"),
        ),
        (
            "metadata",
            MetadataConfig(broker_heartbeat_interval_ms=5000),
            ("broker.heartbeat.interval.ms", "broker.session.timeout.ms"),
        ),
        (
            "groups",
            GroupConfig(session_timeout_min_ms=2_000_000),
            ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
        ),
    ],
)
def test_a_broken_relation_names_its_keys(section, values, keys):
    assert keys in keys_of_violations(**{section: values})


def test_all_broken_relations_are_listed_at_once():
    broken = keys_of_violations(
        metadata=MetadataConfig(broker_heartbeat_interval_ms=9000),
        groups=GroupConfig(session_timeout_min_ms=2_000_000),
    )
    assert len(broken) == 2


def test_the_message_has_both_values_and_the_reason():
    with pytest.raises(RelationError) as caught:
        NodeConfig(wal=WalConfig(capacity_bytes=64 * MIB))
    message = str(caught.value)
    assert "s3.wal.upload.threshold (536870912)" in message
    assert "1/2 of the capacity in s3.wal.path (67108864)" in message
    assert "room for new records" in message


def test_a_part_counts_as_what_compaction_writes_at_most():
    with pytest.raises(RelationError) as caught:
        NodeConfig(storage=StorageConfig(compaction_memory_bytes=63 * MIB))
    assert "the smaller of s3.object.part.size and 32 MiB (33554432) must be at most 1/2 of" in str(
        caught.value
    )
    NodeConfig(storage=StorageConfig(compaction_memory_bytes=64 * MIB))
    NodeConfig(storage=StorageConfig(compaction_memory_bytes=10 * MIB, object_part_bytes=5 * MIB))
    (text,) = (it for it in relation_texts() if "compaction holds a part" in it)
    assert text.startswith("the smaller of `s3.object.part.size` and 32 MiB is at most 1/2 of `s3.")


def test_the_capacity_of_a_wal_made_of_objects_counts_as_well():
    with pytest.raises(RelationError, match=r"the capacity in s3\.wal\.path"):
        NodeConfig(wal=WalConfig(path="s3://bucket", capacity_bytes=64 * MIB))


def test_an_advertised_name_must_be_a_listener():
    network = NetworkConfig(advertised_listeners=(Endpoint("OUTSIDE", "h", 1),))
    assert keys_of_violations(network=network) == [("advertised.listeners", "listeners")]


CLIENTS = NetworkConfig()
NO_CLIENTS = NetworkConfig(listeners=())
CONTROLLER = (Endpoint("CONTROLLER", "h", 9093),)
VOTERS = (Voter(1, "h", 9093), Voter(2, "i", 9093), Voter(3, "j", 9093))
ONLY_BROKER = ("broker",)
ONLY_CONTROLLER = ("controller",)
VOTERS_KEY, SERVERS_KEY = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
NAMES_KEY = "controller.listener.names"


@pytest.mark.parametrize(
    ("node_id", "roles", "network", "metadata"),
    [
        (1, ("broker", "controller"), CLIENTS, {}),
        (1, ("broker", "controller"), CLIENTS, {"controller_listeners": CONTROLLER}),
        (
            1,
            ("broker", "controller"),
            CLIENTS,
            {"controller_listeners": CONTROLLER, "quorum_voters": VOTERS},
        ),
        (
            1,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {
                "controller_listeners": (Endpoint("CONTROLLER", "", 0),),
                "quorum_voters": VOTERS,
            },
        ),
        (
            4,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {"controller_listeners": CONTROLLER, "quorum_bootstrap_servers": (("h", 9093),)},
        ),
        (4, ONLY_BROKER, CLIENTS, {"quorum_voters": VOTERS}),
        (4, ONLY_BROKER, CLIENTS, {"quorum_bootstrap_servers": (("h", 9093),)}),
    ],
)
def test_nodes_of_a_cluster_go_together(node_id, roles, network, metadata):
    NodeConfig(
        node_id=node_id,
        process_roles=roles,
        network=network,
        metadata=MetadataConfig(**metadata),
    )


@pytest.mark.parametrize(
    ("node_id", "roles", "network", "metadata", "keys"),
    [
        (1, ("broker", "controller"), NO_CLIENTS, {}, ("listeners", NAMES_KEY)),
        (
            1,
            ONLY_CONTROLLER,
            CLIENTS,
            {"controller_listeners": CONTROLLER},
            ("listeners", NAMES_KEY, "process.roles"),
        ),
        (1, ONLY_CONTROLLER, NO_CLIENTS, {}, ("listeners", NAMES_KEY)),
        (
            4,
            ONLY_BROKER,
            CLIENTS,
            {"controller_listeners": CONTROLLER, "quorum_voters": VOTERS},
            ("listeners", NAMES_KEY, "process.roles"),
        ),
        (
            1,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {"controller_listeners": (*CONTROLLER, Endpoint("CONTROLLER2", "h", 1))},
            ("listeners", NAMES_KEY),
        ),
        (
            1,
            ("broker", "controller"),
            CLIENTS,
            {"quorum_voters": VOTERS},
            ("listeners", NAMES_KEY),
        ),
        (
            4,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {"controller_listeners": CONTROLLER, "quorum_voters": VOTERS},
            (VOTERS_KEY, "node.id"),
        ),
        (
            2,
            ONLY_BROKER,
            CLIENTS,
            {"quorum_voters": VOTERS},
            (VOTERS_KEY, "node.id", "process.roles"),
        ),
        (4, ONLY_BROKER, CLIENTS, {}, (VOTERS_KEY, SERVERS_KEY, "process.roles")),
        (
            1,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {
                "controller_listeners": (Endpoint("CONTROLLER", "", 9094),),
                "quorum_voters": VOTERS,
            },
            (VOTERS_KEY, "listeners"),
        ),
        (
            1,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {
                "controller_listeners": CONTROLLER,
                "quorum_voters": (VOTERS[0], Voter(2, "0.0.0.0", 9093)),
            },
            (VOTERS_KEY,),
        ),
        (
            1,
            ONLY_CONTROLLER,
            NO_CLIENTS,
            {
                "controller_listeners": (Endpoint("CONTROLLER", "", 9093),),
                "quorum_bootstrap_servers": (("elsewhere", 9093),),
            },
            ("advertised.listeners", "listeners"),
        ),
        (
            4,
            ONLY_BROKER,
            NetworkConfig(listeners=(Endpoint("PLAINTEXT", "0.0.0.0", 9092),)),
            {"quorum_voters": VOTERS},
            ("advertised.listeners", "listeners"),
        ),
    ],
)
def test_what_cannot_work_in_a_cluster_is_refused(node_id, roles, network, metadata, keys):
    broken = keys_of_violations(
        node_id=node_id,
        process_roles=roles,
        network=network,
        metadata=MetadataConfig(**metadata),
    )
    assert broken == [keys]


def test_every_key_in_a_relation_exists():
    for text in relation_texts():
        for key in text.split("`")[1::2]:
            assert key in SERVER_KEYS, text
