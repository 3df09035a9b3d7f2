"""Requests that are wrong in two ways, and which of the errors Kafka answers first.

`CASES` names the places in Kafka's source where the order is decided. The codes are those of Apache Kafka 4.4.0, of all
parts of the answer, sorted: with `--against kafka` the same test asks it.
"""

from typing import Any, NamedTuple
from uuid import UUID

from headrace.protocol.records.record import BatchOptions, Record, encode_batch

NOBODY = UUID(int=77)
NO_ID = UUID(int=0)
OFFSETS = "__consumer_offsets"
LONG = "x" * 5_000  # metadata of a commit: 4,096 are allowed
LONG_NAME = "n" * 250
GOOD = bytes(encode_batch([Record(0, 1_000, b"k", b"v")], BatchOptions()))
DAMAGED = GOOD[:-1] + b"?"
OLD_MAGIC = GOOD[:16] + b"\x01" + GOOD[17:]


# What only the running broker knows; `test_first_errors.py` puts it in.
TOPIC = "<topic>"  # of two partitions
TOPIC_ID = UUID(int=78)
LIVE = "<live>"  # a group of one member, subscribed to the topic, stable
MEMBER = "<member>"
GENERATION = -1_000_000
EMPTY = "<empty>"  # a group with an offset, without a member


class Case(NamedTuple):
    """A request of a version, and the error codes of its answer."""

    version: int
    codes: list[int]
    fields: dict[str, Any]


def _of(**fields: Any) -> dict[str, Any]:
    return fields


def _join(**changes: Any) -> dict[str, Any]:
    return {
        "group_id": "wrong",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 10_000,
        "member_id": "",
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    } | changes


def _commit(*partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "group_id": LIVE,
        "generation_id_or_member_epoch": GENERATION,
        "member_id": MEMBER,
        "topics": [
            {"name": it.pop("topic", TOPIC), "partitions": [_COMMITTED | it]} for it in partitions
        ],
    } | changes


_COMMITTED = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}


def _topics(*topics: dict[str, Any], **changes: Any) -> dict[str, Any]:
    new = {
        "name": "fresh",
        "num_partitions": 1,
        "replication_factor": 1,
        "assignments": [],
        "configs": [],
    }
    return {
        "topics": [new | it for it in topics],
        "timeout_ms": 10_000,
        "validate_only": True,
    } | changes


BAD_CONFIG = [{"name": "retention.ms", "value": "soon"}]
NO_CONFIG = [{"name": "no.such.key", "value": "1"}]


def _assigned(*partitions: tuple[int, list[int]]) -> list[dict[str, Any]]:
    return [{"partition_index": index, "broker_ids": ids} for index, ids in partitions]


def _more(*topics: dict[str, Any]) -> dict[str, Any]:
    return {
        "topics": [{"count": 3, "assignments": None} | it for it in topics],
        "timeout_ms": 10_000,
        "validate_only": True,
    }


def _offsets(*partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    asked = {"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}
    return {
        "replica_id": -1,
        "isolation_level": 0,
        "topics": [
            {"name": it.pop("topic", TOPIC), "partitions": [asked | it]} for it in partitions
        ],
    } | changes


def _produce(*partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "transactional_id": None,
        "acks": -1,
        "timeout_ms": 10_000,
        "topic_data": [
            {
                "name": it.pop("topic", TOPIC),
                "partition_data": [{"index": 0, "records": GOOD} | it],
            }
            for it in partitions
        ],
    } | changes


def _fetch(*partitions: dict[str, Any], **changes: Any) -> dict[str, Any]:
    asked = {
        "partition": 0,
        "current_leader_epoch": -1,
        "fetch_offset": 0,
        "last_fetched_epoch": -1,
        "log_start_offset": -1,
        "partition_max_bytes": 1 << 20,
    }
    return {
        "replica_id": -1,
        "max_wait_ms": 0,
        "min_bytes": 0,
        "max_bytes": 1 << 20,
        "isolation_level": 0,
        "session_id": 0,
        "session_epoch": -1,
        "topics": [
            {"topic": it.pop("topic", TOPIC), "partitions": [asked | it]} for it in partitions
        ],
        "forgotten_topics_data": [],
        "rack_id": "",
    } | changes


def _alter(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"resources": list(resources), "validate_only": True}


def _resource(kind: int, name: str, *configs: tuple[str, int, str | None]) -> dict[str, Any]:
    return {
        "resource_type": kind,
        "resource_name": name,
        "configs": [{"name": n, "config_operation": o, "value": v} for n, o, v in configs],
    }


def _records(*partitions: dict[str, Any]) -> dict[str, Any]:
    return {
        "timeout_ms": 0,
        "topics": [
            {
                "name": it.pop("topic", TOPIC),
                "partitions": [{"partition_index": 0, "offset": 0} | it],
            }
            for it in partitions
        ],
    }


def _moves(*topics: tuple[str, int, list[int] | None]) -> dict[str, Any]:
    return {
        "timeout_ms": 10_000,
        "topics": [
            {"name": name, "partitions": [{"partition_index": index, "replicas": replicas}]}
            for name, index, replicas in topics
        ],
    }


def _sync(**changes: Any) -> dict[str, Any]:
    return {
        "group_id": LIVE,
        "generation_id": GENERATION,
        "member_id": MEMBER,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "assignments": [],
    } | changes


def _beat(**changes: Any) -> dict[str, Any]:
    known = {"group_id": LIVE, "generation_id": GENERATION, "member_id": MEMBER}
    return known | changes


def _leave(group: str, *members: tuple[str, str | None]) -> dict[str, Any]:
    leaving = [{"member_id": member, "group_instance_id": instance} for member, instance in members]
    return {"group_id": group, "members": leaving}


def _committed_by_id(topic_id: UUID, index: int, metadata: str = "") -> dict[str, Any]:
    partition = {"partition_index": index, "committed_offset": 1, "committed_metadata": metadata}
    topics = [{"topic_id": topic_id, "partitions": [partition]}]
    return _commit(group_id="", topics=topics)


def _committed_of(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"groups": list(groups), "require_stable": True}


def _forget(group: str, *partitions: tuple[str, int]) -> dict[str, Any]:
    topics = [{"name": name, "partitions": [{"partition_index": i}]} for name, i in partitions]
    return {"group_id": group, "topics": topics}


def _delete(*topics: tuple[str | None, UUID]) -> dict[str, Any]:
    return {"topics": [{"name": n, "topic_id": i} for n, i in topics], "timeout_ms": 1_000}


def _epochs(*asked: tuple[str, int, int, int]) -> dict[str, Any]:
    return {
        "replica_id": -1,
        "topics": [
            {
                "topic": topic,
                "partitions": [
                    {"partition": index, "current_leader_epoch": current, "leader_epoch": epoch}
                ],
            }
            for topic, index, current, epoch in asked
        ],
    }


def _producer(**changes: Any) -> dict[str, Any]:
    return {
        "transactional_id": None,
        "transaction_timeout_ms": 1_000,
        "producer_id": -1,
        "producer_epoch": -1,
    } | changes


def _configs(*resources: tuple[int, str]) -> dict[str, Any]:
    return {
        "resources": [
            {"resource_type": kind, "resource_name": name, "configuration_keys": ["no.such"]}
            for kind, name in resources
        ],
        "include_synonyms": False,
        "include_documentation": False,
    }


def _metadata(*topics: tuple[str | None, UUID]) -> dict[str, Any]:
    return {
        "topics": [{"name": name, "topic_id": topic_id} for name, topic_id in topics],
        "allow_auto_topic_creation": False,
        "include_topic_authorized_operations": False,
    }


def _page(*names: str, cursor: dict[str, Any] | None = None) -> dict[str, Any]:
    topics = [{"name": name} for name in names]
    return {"topics": topics, "response_partition_limit": 10, "cursor": cursor}


def _elect(kind: int, *topics: tuple[str, list[int]]) -> dict[str, Any]:
    return {
        "election_type": kind,
        "topic_partitions": [{"topic": name, "partitions": some} for name, some in topics],
        "timeout_ms": 1_000,
    }


def _features(*updates: tuple[str, int, int]) -> dict[str, Any]:
    return {
        "timeout_ms": 1_000,
        "feature_updates": [
            {"feature": name, "max_version_level": level, "upgrade_type": kind}
            for name, level, kind in updates
        ],
        "validate_only": True,
    }


# By API, with the places in Kafka's source that decide. The last one ends the group's only member.
CASES: dict[str, tuple[str, list[Case]]] = {
    "JoinGroup": (
        "GroupCoordinatorService.joinGroup, GroupMetadataManager.classicGroupJoinExistingGroup",
        [
            Case(5, [24], _join(group_id="", session_timeout_ms=1)),
            Case(5, [24], _join(group_id="", protocols=[])),
            Case(5, [26], _join(session_timeout_ms=1, protocols=[])),
            Case(5, [26], _join(session_timeout_ms=1, member_id="ghost")),
            Case(5, [25], _join(protocols=[], member_id="ghost")),
            Case(5, [25], _join(protocol_type="", member_id="ghost")),
            Case(5, [23], _join(group_id=LIVE, protocol_type="connect", member_id="ghost")),
            Case(5, [23], _join(group_id=LIVE, protocol_type="connect")),
            Case(5, [26], _join(group_id=LIVE, protocol_type="connect", session_timeout_ms=1)),
            Case(5, [24], _join(group_id="", group_instance_id="a b")),
            Case(5, [26], _join(session_timeout_ms=1, group_instance_id="a b")),
            Case(
                5,
                [23],
                _join(
                    group_id=LIVE, protocol_type="connect", group_instance_id="i", member_id="ghost"
                ),
            ),
        ],
    ),
    "SyncGroup": (
        "KafkaApis.handleSyncGroupRequest, GroupMetadataManager.validateSyncGroup",
        [
            Case(
                5,
                [23],
                _sync(
                    group_id="",
                    generation_id=1,
                    member_id="x",
                    protocol_type=None,
                    protocol_name=None,
                ),
            ),
            Case(5, [24], _sync(group_id="", generation_id=1, member_id="x")),
            Case(5, [25], _sync(generation_id=99, member_id="x")),
            Case(5, [22], _sync(generation_id=99, protocol_type="connect")),
            Case(5, [25], _sync(member_id="x", protocol_type="connect")),
            Case(5, [25], _sync(generation_id=99, member_id="x", group_instance_id="i")),
            Case(
                5, [23], _sync(group_id="none", generation_id=99, member_id="x", protocol_type=None)
            ),
        ],
    ),
    "Heartbeat": (
        "GroupCoordinatorService.heartbeat, GroupMetadataManager.validateClassicGroupHeartbeat",
        [
            Case(4, [24], _beat(group_id="", generation_id=1, member_id="x")),
            Case(4, [25], _beat(generation_id=99, member_id="x")),
            Case(4, [25], _beat(generation_id=99, member_id="")),
            Case(4, [25], _beat(generation_id=99, group_instance_id="i")),
            Case(4, [25], _beat(group_id="none", generation_id=-1, member_id="x")),
        ],
    ),
    "OffsetCommit": (
        "KafkaApis.handleOffsetCommitRequest, OffsetMetadataManager.commitOffset",
        [
            Case(9, [3], _commit(_of(topic="none"), group_id="")),
            Case(9, [3, 69], _commit(_of(topic="none"), {}, group_id="")),
            Case(9, [69], _commit(_of(committed_metadata=LONG), group_id="")),
            Case(9, [25], _commit(_of(committed_metadata=LONG), member_id="x")),
            Case(9, [22], _commit(_of(committed_metadata=LONG), generation_id_or_member_epoch=99)),
            Case(9, [25], _commit({}, member_id="x", generation_id_or_member_epoch=99)),
            Case(9, [3], _commit(_of(partition_index=9, committed_metadata=LONG))),
            Case(
                9,
                [25],
                _commit(
                    _of(committed_metadata=LONG), member_id="", generation_id_or_member_epoch=-1
                ),
            ),
            Case(9, [69], _commit(_of(committed_metadata=LONG), group_id="none")),
            Case(9, [3], _commit(_of(topic="none"), group_id="none")),
            Case(9, [12], _commit(_of(committed_offset=-1, committed_metadata=LONG))),
            Case(8, [25], _commit({}, group_instance_id="i", generation_id_or_member_epoch=99)),
            Case(8, [], _commit(group_id="")),
            Case(10, [100], _committed_by_id(NO_ID, 0, LONG)),
            Case(10, [100], _committed_by_id(NOBODY, 0, LONG)),
            Case(10, [3], _committed_by_id(TOPIC_ID, 9)),
        ],
    ),
    "OffsetFetch": (
        "KafkaApis.handleOffsetFetchRequest, OffsetMetadataManager.fetchOffsets",
        [
            Case(
                10,
                [0, 100],
                _committed_of(
                    _of(group_id="", topics=[_of(topic_id=NOBODY, partition_indexes=[0])])
                ),
            ),
            Case(
                10,
                [0, 100, 100],
                _committed_of(
                    _of(
                        group_id=EMPTY,
                        topics=[
                            _of(topic_id=NOBODY, partition_indexes=[0]),
                            _of(topic_id=NO_ID, partition_indexes=[0]),
                        ],
                    )
                ),
            ),
        ],
    ),
    "OffsetDelete": (
        "GroupCoordinatorService.deleteOffsets, OffsetMetadataManager.deleteOffsets",
        [
            Case(0, [24], _forget("", ("none", 0))),
            Case(0, [24], _forget("", (TOPIC, 0))),
            Case(0, [24], _forget("", (TOPIC, 0), ("none", 0))),
            Case(0, [69], _forget("none", ("none", 0))),
            Case(0, [69], _forget("none", ("none", 0), (TOPIC, 0))),
            Case(0, [0, 3, 86], _forget(LIVE, (TOPIC, 9), (TOPIC, 0))),
            Case(0, [24], _forget("")),
        ],
    ),
    "FindCoordinator": (
        "KafkaApis.getCoordinator",
        [
            Case(4, [42], _of(key_type=9, coordinator_keys=[""])),
            Case(4, [0], _of(key_type=0, coordinator_keys=[""])),
            Case(6, [42], _of(key_type=2, coordinator_keys=["bad"])),
        ],
    ),
    "CreateTopics": (
        "ControllerApis.createTopics, ReplicationControlManager.createTopics and createTopic",
        [
            Case(7, [0, 17], _topics(_of(name="a b", num_partitions=0))),
            Case(7, [0, 17], _topics(_of(name="a b", replication_factor=0))),
            Case(7, [0, 17], _topics(_of(name="a b", configs=BAD_CONFIG))),
            Case(7, [0, 36], _topics(_of(name=TOPIC, num_partitions=0))),
            Case(7, [0, 36], _topics(_of(name=TOPIC, configs=BAD_CONFIG))),
            Case(7, [0, 36], _topics(_of(name=TOPIC, replication_factor=-2))),
            Case(7, [0, 36], _topics(_of(name=TOPIC, assignments=_assigned((0, [1]))))),
            Case(7, [0, 38], _topics(_of(num_partitions=0, replication_factor=0))),
            Case(7, [0, 40], _topics(_of(num_partitions=0, configs=BAD_CONFIG))),
            Case(7, [0, 40], _topics(_of(replication_factor=0, configs=BAD_CONFIG))),
            Case(7, [0, 40], _topics(_of(replication_factor=0, configs=NO_CONFIG))),
            Case(7, [0, 42], _topics(_of(name="a b"), _of(name="a b"))),
            Case(7, [0, 42], _topics(_of(num_partitions=0), _of(num_partitions=0))),
            Case(7, [0, 42], _topics(_of(name=TOPIC), _of(name=TOPIC))),
            Case(7, [0, 42], _topics(_of(assignments=_assigned((0, [9]))))),
            Case(
                7,
                [0, 40],
                _topics(
                    _of(num_partitions=-1, assignments=_assigned((0, [1])), configs=BAD_CONFIG)
                ),
            ),
            Case(
                7,
                [0, 39],
                _topics(
                    _of(num_partitions=-1, replication_factor=-1, assignments=_assigned((1, [9])))
                ),
            ),
            Case(
                7,
                [0, 40],
                _topics(
                    _of(
                        num_partitions=-1,
                        replication_factor=-1,
                        assignments=_assigned((1, [1])),
                        configs=BAD_CONFIG,
                    )
                ),
            ),
            Case(
                7,
                [0, 36],
                _topics(
                    _of(
                        name=TOPIC,
                        num_partitions=-1,
                        replication_factor=-1,
                        assignments=_assigned((0, [1]), (0, [1])),
                    )
                ),
            ),
            Case(
                7,
                [0, 40],
                _topics(
                    _of(
                        num_partitions=-1,
                        replication_factor=-1,
                        assignments=_assigned((0, [1]), (0, [1])),
                        configs=BAD_CONFIG,
                    )
                ),
            ),
            Case(
                7,
                [0, 17],
                _topics(
                    _of(
                        name="a b",
                        num_partitions=-1,
                        replication_factor=-1,
                        assignments=_assigned((0, [1]), (0, [1])),
                    )
                ),
            ),
            Case(
                7,
                [0, 39],
                _topics(
                    _of(num_partitions=-1, replication_factor=-1, assignments=_assigned((1, [])))
                ),
            ),
            Case(
                7,
                [0, 40],
                _topics(
                    _of(
                        num_partitions=-1,
                        replication_factor=-1,
                        assignments=_assigned((0, [9])),
                        configs=BAD_CONFIG,
                    )
                ),
            ),
            Case(7, [0, 17], _topics(_of(name=LONG_NAME, num_partitions=0))),
            Case(7, [0, 17], _topics(_of(name="", configs=BAD_CONFIG))),
            Case(
                7,
                [0, 40],
                _topics(_of(num_partitions=0, configs=[_of(name="retention.ms", value=None)])),
            ),
        ],
    ),
    "CreatePartitions": (
        "ControllerApis.createPartitions, ReplicationControlManager.createPartitions",
        [
            Case(3, [3], _more(_of(name="none", count=0))),
            Case(3, [42], _more(_of(name="none"), _of(name="none"))),
            Case(3, [37], _more(_of(name=TOPIC, count=2, assignments=[_of(broker_ids=[9])]))),
            Case(3, [37], _more(_of(name=TOPIC, count=1, assignments=[]))),
            Case(3, [39], _more(_of(name=TOPIC, count=4, assignments=[_of(broker_ids=[9])]))),
            Case(3, [3], _more(_of(name="a b", count=0))),
        ],
    ),
    "DeleteTopics": (
        "ControllerApis.deleteTopics",
        [
            Case(6, [42], _delete(("none", NOBODY))),
            Case(6, [42], _delete((None, NO_ID))),
            Case(6, [42], _delete(("none", NO_ID), ("none", NO_ID))),
            Case(6, [42], _delete((None, NOBODY), (None, NOBODY))),
            Case(6, [3], _delete(("a b", NO_ID))),
            Case(5, [42], _of(topic_names=["none", "none"], timeout_ms=1000)),
        ],
    ),
    "DeleteRecords": (
        "KafkaApis.handleDeleteRecordsRequest, ReplicaManager.deleteRecordsOnLocalLog",
        [
            Case(2, [3], _records(_of(topic="none", offset=99))),
            Case(2, [17], _records(_of(topic=OFFSETS, offset=99))),
            Case(2, [3], _records(_of(topic=OFFSETS, partition_index=999, offset=99))),
            Case(2, [3], _records(_of(partition_index=9, offset=-5))),
            Case(2, [0, 1], _records(_of(offset=0), _of(partition_index=1, offset=99))),
        ],
    ),
    "ListOffsets": (
        "KafkaApis.handleListOffsetRequest, ReplicaManager.fetchOffset",
        [
            Case(11, [35], _offsets(_of(topic="none", timestamp=-9))),
            Case(11, [35], _offsets(_of(current_leader_epoch=99, timestamp=-9))),
            Case(11, [3], _offsets(_of(partition_index=9, current_leader_epoch=99))),
            Case(11, [42], _offsets(_of(topic="none"), _of(topic="none"))),
            Case(11, [42], _offsets(_of(current_leader_epoch=99), _of(current_leader_epoch=99))),
            Case(6, [35], _offsets(_of(current_leader_epoch=99, timestamp=-3))),
            Case(6, [35], _offsets(_of(topic="none", timestamp=-3))),
            Case(7, [35], _offsets(_of(timestamp=-4))),
        ],
    ),
    "OffsetForLeaderEpoch": (
        "ReplicaManager.lastOffsetForLeaderEpoch",
        [
            Case(4, [3], _epochs(("none", 0, 99, 99))),
            Case(4, [3], _epochs((TOPIC, 9, 99, 99))),
            Case(4, [75], _epochs((TOPIC, 0, 99, -5))),
        ],
    ),
    "Produce": (
        "KafkaApis.handleProduceRequest, ProduceRequest.validateRecords, ReplicaManager.appendRecords",
        [
            Case(9, [3], _produce(_of(topic="none"), acks=2)),
            Case(9, [3, 21], _produce(_of(topic="none"), {}, acks=2)),
            Case(9, [21], _produce(_of(records=DAMAGED), acks=2)),
            Case(9, [87], _produce(_of(records=b""), acks=2)),
            Case(9, [87], _produce(_of(records=OLD_MAGIC), acks=2)),
            Case(9, [87], _produce(_of(records=GOOD * 2), acks=2)),
            Case(9, [21], _produce(_of(topic=OFFSETS), acks=2)),
            Case(9, [17], _produce(_of(topic=OFFSETS, records=DAMAGED))),
            Case(9, [3], _produce(_of(topic="none", records=DAMAGED))),
            Case(9, [3], _produce(_of(topic="none", records=None))),
            Case(9, [87], _produce(_of(topic=OFFSETS, records=GOOD * 2))),
            Case(9, [3], _produce(_of(topic=OFFSETS, index=999))),
            Case(9, [3], _produce(_of(index=9, records=GOOD * 2))),
            Case(9, [0, 2], _produce(_of(records=DAMAGED), _of(index=1))),
        ],
    ),
    "Fetch": (
        "FetchManager.newContext, KafkaApis.handleFetchRequest, Partition.fetchRecords",
        [
            Case(12, [0, 3], _fetch(_of(topic="none", fetch_offset=-1))),
            Case(12, [0, 75], _fetch(_of(current_leader_epoch=99, fetch_offset=99))),
            Case(12, [0, 3], _fetch(_of(partition=9, current_leader_epoch=99))),
            Case(12, [70], _fetch(_of(topic="none"), session_id=77, session_epoch=5)),
            Case(12, [70], _fetch(_of(fetch_offset=99), session_id=77, session_epoch=-2)),
            Case(12, [0, 1, 1], _fetch(_of(fetch_offset=99), _of(partition=1, fetch_offset=-7))),
        ],
    ),
    "InitProducerId": (
        "KafkaApis.handleInitProducerIdRequest, TransactionCoordinator.handleInitProducerId",
        [
            Case(4, [42], _producer(producer_id=5, transaction_timeout_ms=-1)),
            Case(4, [42], _producer(producer_epoch=5)),
            Case(4, [42], _producer(transactional_id="", transaction_timeout_ms=-1)),
            Case(4, [42], _producer(transactional_id="", producer_id=5)),
        ],
    ),
    "IncrementalAlterConfigs": (
        "ConfigAdminManager.preprocess, ControllerConfigurationValidator.validate",
        [
            Case(1, [40], _alter(_resource(2, "none", ("retention.ms", 0, "soon")))),
            Case(1, [40], _alter(_resource(2, "none", ("no.such", 0, "1")))),
            Case(
                1,
                [42],
                _alter(_resource(2, TOPIC, ("retention.ms", 0, "soon"), ("retention.ms", 0, "1"))),
            ),
            Case(
                1,
                [42],
                _alter(_resource(2, "none", ("retention.ms", 0, "1"), ("retention.ms", 0, "1"))),
            ),
            Case(
                1,
                [42],
                _alter(_resource(2, TOPIC, ("retention.ms", 0, None), ("segment.bytes", 0, "x"))),
            ),
            Case(1, [42], _alter(_resource(2, "none", ("retention.ms", 0, None)))),
            Case(1, [40], _alter(_resource(2, "none", ("retention.ms", 2, "1")))),
            Case(
                1,
                [40],
                _alter(_resource(2, TOPIC, ("retention.ms", 2, "1"), ("segment.bytes", 0, "x"))),
            ),
            Case(
                1, [40], _alter(_resource(2, TOPIC, ("no.such", 0, "1"), ("segment.bytes", 0, "x")))
            ),
            Case(
                1,
                [42, 42],
                _alter(
                    _resource(2, "none", ("retention.ms", 0, "1")),
                    _resource(2, "none", ("retention.ms", 0, "1")),
                ),
            ),
            Case(1, [17], _alter(_resource(2, "a b", ("retention.ms", 0, "soon")))),
            Case(1, [42], _alter(_resource(2, "", ("retention.ms", 0, "soon")))),
            Case(1, [42], _alter(_resource(77, "x", ("retention.ms", 0, "soon")))),
        ],
    ),
    "Metadata": (
        "KafkaApis.handleTopicMetadataRequest",
        [
            Case(12, [3, 17], _metadata(("a b", NO_ID), ("none", NO_ID))),
            Case(12, [100], _metadata(("none", NOBODY))),
            Case(12, [100], _metadata((TOPIC, NOBODY))),
            Case(12, [100], _metadata((None, NOBODY))),
            Case(10, [42], _metadata((None, NOBODY))),
        ],
    ),
    "DescribeTopicPartitions": (
        "DescribeTopicPartitionsRequestHandler",
        [
            Case(0, [3, 17], _page("a b", "none")),
            Case(0, [42], _page("none", cursor=_of(topic_name="none", partition_index=-1))),
        ],
    ),
    "AlterPartitionReassignments": (
        "ReplicationControlManager.alterPartitionReassignment",
        [
            Case(0, [0, 3], _moves(("none", 0, [9]))),
            Case(0, [0, 3], _moves((TOPIC, 9, []))),
            Case(0, [0, 3], _moves(("none", 0, None))),
            Case(0, [0, 85], _moves((TOPIC, 0, None))),
            Case(0, [0, 39], _moves((TOPIC, 0, [9, 9]))),
            Case(0, [0, 39], _moves((TOPIC, 0, [-1, -1]))),
        ],
    ),
    "ElectLeaders": (
        "ReplicationControlManager.electLeader",
        [
            Case(2, [0, 3, 3, 84], _elect(0, ("none", [0]), (TOPIC, [9, 0]))),
        ],
    ),
    "AddRaftVoter": (
        "KafkaRaftClient.handleAddVoterRequest",
        [
            Case(
                0,
                [104],
                _of(
                    cluster_id="other",
                    timeout_ms=1000,
                    voter_id=9,
                    voter_directory_id=NOBODY,
                    listeners=[],
                ),
            ),
        ],
    ),
    "RemoveRaftVoter": (
        "KafkaRaftClient.handleRemoveVoterRequest",
        [
            Case(0, [104], _of(cluster_id="other", voter_id=9, voter_directory_id=NOBODY)),
        ],
    ),
    "UpdateFeatures": (
        "FeatureControlManager.updateFeature",
        [
            Case(1, [95], _features(("none", 9, 9))),
            Case(1, [95], _features(("none", 9, 1), ("metadata.version", 30, 1))),
            Case(1, [95], _features(("metadata.version", 30, 1), ("metadata.version", 29, 1))),
        ],
    ),
    "LeaveGroup": (
        "GroupCoordinatorService.leaveGroup, GroupMetadataManager.classicGroupLeaveToClassicGroup",
        [
            Case(4, [24], _leave("")),
            Case(4, [24], _leave("", ("x", None))),
            Case(4, [0, 25], _leave(LIVE, ("x", "i"))),
            Case(4, [0, 25, 25], _leave("none", ("", None), ("x", "i"))),
            Case(4, [0, 25], _leave(LIVE, (MEMBER, "i"))),
        ],
    ),
}
