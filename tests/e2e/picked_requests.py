"""Requests of administrators that were picked by hand, in an order in which later ones show what earlier ones did."""

from collections.abc import Iterator
from typing import Any, Final

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.api_versions import VERSIONS
from tests.e2e.raw_requests import RawRequest

TOPIC_TYPE, BROKER_TYPE, LOGGER_TYPE, METRICS_TYPE, GROUP_TYPE = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
ALTERED: Final = "altered"  # a topic of two partitions
Change = tuple[str, int, str | None]


def picked() -> Iterator[RawRequest]:
    """All of them; what has one name is told apart by its number."""
    requests = [
        *_creations(),
        *_replaced_configs(),
        *_configs_of_brokers(),
        *_loggers(),
        *_other_configs(),
        *_relations(),
        *_quotas(),
        *_credentials(),
        *_without_a_feature(),
        *_deletions(),
    ]
    for number, (message, version) in enumerate(requests):
        api = type(message).__name__.removesuffix("Request")
        newest = VERSIONS[ApiKey(message.API_KEY)].max_version
        yield RawRequest(f"{api} picked {number}", newest if version is None else version, message)


_Made = tuple[Any, int | None]  # and its version; None: the newest


def _of(name: str, *, version: int | None = None, **fields: Any) -> _Made:
    return getattr(messages, f"{name}Request")(**fields), version


def _in(name: str, path: str, *values: Any) -> Any:
    kind = getattr(messages, f"{name}Request")
    for part in path.split("."):
        kind = getattr(kind, part)
    return kind(*values)


def _create(
    name: str, partitions: int = 1, factor: int = 1, assigned: Any = (), **configs: str
) -> _Made:
    path = "CreatableTopic"
    topic = _in(
        "CreateTopics",
        path,
        name,
        partitions,
        factor,
        [_in("CreateTopics", f"{path}.CreatableReplicaAssignment", *it) for it in assigned],
        [
            _in("CreateTopics", f"{path}.CreatableTopicConfig", key.replace("_", "."), value)
            for key, value in configs.items()
        ],
    )
    return _of("CreateTopics", topics=[topic], timeout_ms=5_000, validate_only=name != ALTERED)


def _creations() -> list[_Made]:
    return [
        _create(ALTERED, 2, 1, retention_ms="5000", segment_bytes="2000000"),
        _create("more replicas"),
        _create("replicas", 1, 2),
        _create("replicas", 0, 2),
        _create("replicas", 1, 32_000),
        _create("replicas", 1, 2, no_such="1"),
        _create("replicas", -1, -1, [(0, [1, 9])]),
        _create("replicas", -1, -1, [(0, [1])]),
    ]


def _replace(kind: int, name: str, *configs: tuple[str, str | None], dry: bool = False) -> _Made:
    path = "AlterConfigsResource"
    made = [_in("AlterConfigs", f"{path}.AlterableConfig", *it) for it in configs]
    resource = _in("AlterConfigs", path, kind, name, made)
    return _of("AlterConfigs", resources=[resource], validate_only=dry)


def _alter(kind: int, name: str, *changes: Change, dry: bool = False) -> _Made:
    path = "AlterConfigsResource"
    api = "IncrementalAlterConfigs"
    made = [_in(api, f"{path}.AlterableConfig", *it) for it in changes]
    return _of(api, resources=[_in(api, path, kind, name, made)], validate_only=dry)


def _describe(kind: int, name: str, *keys: str) -> _Made:
    asked = _in("DescribeConfigs", "DescribeConfigsResource", kind, name, list(keys) or None)
    return _of("DescribeConfigs", resources=[asked], include_synonyms=True)


def _shown() -> _Made:
    return _describe(TOPIC_TYPE, ALTERED, "segment.bytes", "cleanup.policy", "max.message.bytes")


def _replaced_configs() -> list[_Made]:
    kept, topic = ("max.message.bytes", "6000"), TOPIC_TYPE
    return [
        _shown(),
        _replace(topic, ALTERED, kept, dry=True),
        _shown(),
        _replace(topic, ALTERED, kept),
        _shown(),
        _replace(topic, ALTERED),
        _shown(),
        _replace(topic, ALTERED, ("no.such", "1")),
        _replace(topic, ALTERED, ("retention.ms", "soon")),
        _replace(topic, ALTERED, ("retention.ms", None)),
        _replace(topic, ALTERED, kept, kept),
        _replace(topic, "", kept),
        _replace(topic, "a b", kept),
        _replace(topic, "none", ("no.such", "1")),
        _replace(77, "x", kept),
        _replace(LOGGER_TYPE, "1", ("headrace", "INFO")),
        _replace(BROKER_TYPE, "x", ("log.retention.ms", "1")),
        _replace(BROKER_TYPE, "1", ("node.id", "5")),
        _replace(BROKER_TYPE, "", ("node.id", "5")),
        _replace(BROKER_TYPE, "1", ("log.retention.ms", "soon")),
        _replace(BROKER_TYPE, "1", ("message.max.bytes", "7000")),
        _shown(),
        _replace(BROKER_TYPE, "1"),
        _shown(),
        _of("AlterConfigs"),
    ]


def _configs_of_brokers() -> list[_Made]:
    size: Change = ("message.max.bytes", SET, "8000")
    unset: Change = ("message.max.bytes", DELETE, None)
    shown = ("message.max.bytes", "log.cleanup.policy", "max.connections", "compression.type")
    wrong: list[Change] = [
        ("node.id", SET, "5"),
        ("log.retention.hours", SET, "5"),
        ("log.retention.ms", SET, "soon"),
        ("log.retention.ms", SET, None),
        ("log.retention.ms", APPEND, "5"),
        ("log.retention.ms", 9, "5"),
        ("message.max.bytes", SET, "-5"),
        ("max.connections", SET, "-1"),
    ]
    found = [_alter(BROKER_TYPE, "1", it) for it in wrong]
    for name in ("1", ""):
        found += [
            _alter(BROKER_TYPE, name, size, dry=True),
            _describe(BROKER_TYPE, "1", *shown),
            _alter(BROKER_TYPE, name, size, ("max.connections", SET, "500")),
            _alter(BROKER_TYPE, name, ("log.cleanup.policy", APPEND, "compact")),
            _describe(BROKER_TYPE, "1", *shown),
            _describe(BROKER_TYPE, "", *shown),
            _shown(),
            _create("with dynamic defaults"),
            _alter(BROKER_TYPE, name, ("log.cleanup.policy", SUBTRACT, "delete")),
            _shown(),
            _alter(BROKER_TYPE, name, unset, ("max.connections", DELETE, None)),
            _alter(BROKER_TYPE, name, ("log.cleanup.policy", DELETE, None)),
            _shown(),
        ]
    found += [_alter(BROKER_TYPE, "x", size), _alter(BROKER_TYPE, "1"), _describe(BROKER_TYPE, "9")]
    found += [_describe(BROKER_TYPE, "x"), _describe(BROKER_TYPE, "1", "no.such.key")]
    throttle: Change = ("leader.replication.throttled.rate", DELETE, None)
    return [*found, _alter(BROKER_TYPE, "1", throttle)]


def _loggers() -> list[_Made]:
    return [
        _alter(LOGGER_TYPE, "1", ("no.such", SET, "DEBUG")),
        _alter(LOGGER_TYPE, "1", ("no.such", DELETE, None)),
        _alter(LOGGER_TYPE, "1", ("no.such", APPEND, "DEBUG")),
        _alter(LOGGER_TYPE, "1", ("no.such", SUBTRACT, "DEBUG")),
        _alter(LOGGER_TYPE, "1", ("no.such", SET, None)),
        _alter(LOGGER_TYPE, "9", ("no.such", SET, "DEBUG")),
        _alter(LOGGER_TYPE, "", ("no.such", SET, "DEBUG")),
        _alter(LOGGER_TYPE, "x", ("no.such", SET, "DEBUG")),
        _describe(LOGGER_TYPE, "1", "no.such"),
        _describe(LOGGER_TYPE, ""),
        _describe(LOGGER_TYPE, "9"),
    ]


def _other_configs() -> list[_Made]:
    types = [
        [TOPIC_TYPE],
        [BROKER_TYPE],
        [LOGGER_TYPE],
        [METRICS_TYPE],
        [GROUP_TYPE],
        [0],
        [99],
        [],
    ]
    return [
        *(_of("ListConfigResources", resource_types=it) for it in types),
        _of("ListConfigResources", version=0),
        _describe(METRICS_TYPE, ""),
        _describe(GROUP_TYPE, ""),
        _describe(METRICS_TYPE, "any", "no.such"),
        _describe(GROUP_TYPE, "any", "no.such"),
        _describe(0, "x"),
        _describe(99, "x"),
        _describe(TOPIC_TYPE, ""),
        _alter(0, "x"),
        _alter(GROUP_TYPE, "", ("consumer.session.timeout.ms", SET, "45000")),
        _alter(METRICS_TYPE, "", ("interval.ms", SET, "100")),
        _alter(TOPIC_TYPE, ALTERED),
    ]


def _relations() -> list[_Made]:
    configs: list[dict[str, str]] = [
        {"min_insync_replicas": "5"},
        {"segment_bytes": "1048575"},
        {"segment_ms": "5", "segment_jitter_ms": "9"},
        {"segment_bytes": "1048576", "max_message_bytes": "3000000"},
        {"retention_ms": "-2"},
        {"retention_ms": "5", "local_retention_ms": "10"},
        {"retention_bytes": "5", "local_retention_bytes": "10"},
        {"remote_storage_enable": "true"},
        {"remote_storage_enable": "false"},
        {"remote_log_copy_disable": "true"},
        {"leader_replication_throttled_replicas": "zzz"},
        {"leader_replication_throttled_replicas": "0:1,1:1"},
        {"follower_replication_throttled_replicas": "*"},
        {"compression_gzip_level": "99"},
        {"message_format_version": "3.0"},
    ]
    return [_create("with-configs", **it) for it in configs]


def _quota(entity: dict[str, str | None], *changes: tuple[str, float, bool]) -> _Made:
    api = "AlterClientQuotas"
    entry = _in(
        api,
        "EntryData",
        [_in(api, "EntryData.EntityData", *it) for it in entity.items()],
        [_in(api, "EntryData.OpData", *it) for it in changes],
    )
    return _of(api, entries=[entry], validate_only=True)


def _matching(*components: tuple[str, int, str | None]) -> _Made:
    made = [_in("DescribeClientQuotas", "ComponentData", *it) for it in components]
    return _of("DescribeClientQuotas", components=made)


def _quotas() -> list[_Made]:
    rate, none = "producer_byte_rate", ("producer_byte_rate", 0.0, True)
    user: dict[str, str | None] = {"user": "u"}
    return [
        _matching(),
        _matching(("user", 0, "u")),
        _matching(("user", 1, None), ("client-id", 2, None)),
        _matching(("group", 2, None)),
        _matching(("", 2, None)),
        _matching(("user", 2, "u")),
        _matching(("user", 0, None)),
        _matching(("user", 9, None)),
        _matching(("user", 2, None), ("user", 2, None)),
        _matching(("user", 2, None), ("ip", 2, None)),
        _quota(user, none),
        _quota({"user": None}, none),
        _quota(user, ("no.such", 1.0, True)),
        _quota(user),
        _quota({}, none),
        _quota({"group": "g"}, none),
        _quota({"user": ""}, none),
        _quota({"ip": "10.0.0.1", "user": "u"}, none),
        _quota(user, (rate, 5.0, False)),
        _quota(user, (rate, -5.0, False)),
        _quota(user, (rate, 1.5, False)),
        _quota(user, ("no.such", 5.0, False)),
        _quota({"ip": "10.0.0.1"}, ("connection_creation_rate", 5.0, False)),
        _quota({"ip": "10.0.0.1"}, (rate, 5.0, False)),
        _of("AlterClientQuotas"),
    ]


def _credentials() -> list[_Made]:
    api = "AlterUserScramCredentials"

    def change(*upserted: tuple[str, int, int], deleted: tuple[tuple[str, int], ...] = ()) -> _Made:
        return _of(
            api,
            deletions=[_in(api, "ScramCredentialDeletion", *it) for it in deleted],
            upsertions=[
                _in(api, "ScramCredentialUpsertion", *it, b"salt", b"secret") for it in upserted
            ],
        )

    def users(*names: str) -> _Made:
        made = [_in("DescribeUserScramCredentials", "UserName", it) for it in names]
        return _of("DescribeUserScramCredentials", users=made)

    return [
        users(),
        users("a"),
        users("a", "a"),
        users(""),
        change(),
        change(deleted=(("a", 1),)),
        change(deleted=(("a", 9),)),
        change(deleted=(("", 1),)),
        change(("a", 1, 1)),
        change(("a", 1, 99_999)),
        change(("a", 9, 4_096)),
        change(("", 1, 4_096)),
        change(("a", 1, 4_096), deleted=(("a", 1),)),
        change(("a", 1, 4_096)),
        change(deleted=(("a", 1),)),
    ]


def _without_a_feature() -> list[_Made]:
    acl = _in("CreateAcls", "AclCreation", TOPIC_TYPE, "t", 3, "User:a", "*", 3, 3)
    rules = _in("DeleteAcls", "DeleteAclsFilter", 1, None, 1, None, None, 1, 1)
    producers = [
        _in("DescribeProducers", "TopicRequest", *it)
        for it in ((ALTERED, [0, 5]), ("none", [0]), ("a b", [0]))
    ]
    directory = "AlterReplicaLogDir"
    topics = [_in("AlterReplicaLogDirs", f"{directory}.AlterReplicaLogDirTopic", ALTERED, [0, 9])]
    return [
        *(_of("SaslHandshake", mechanism="PLAIN", version=it) for it in (0, 1)),
        *(_of("SaslAuthenticate", auth_bytes=b"\0a\0b", version=it) for it in (0, 1, 2)),
        _of(
            "DescribeAcls",
            resource_type_filter=1,
            pattern_type_filter=1,
            operation=1,
            permission_type=1,
        ),
        _of("CreateAcls", creations=[acl, acl]),
        _of("CreateAcls"),
        _of("DeleteAcls", filters=[rules]),
        _of("CreateDelegationToken", max_lifetime_ms=1_000),
        _of("CreateDelegationToken", owner_principal_type="User", owner_principal_name="b"),
        _of("RenewDelegationToken", hmac=b"x", renew_period_ms=5),
        _of("ExpireDelegationToken", hmac=b"x", expiry_time_period_ms=-1),
        _of("DescribeDelegationToken", owners=None),
        _of("DescribeProducers", topics=producers),
        _of("DescribeTransactions", transactional_ids=["a", ""]),
        _of("ListTransactions", state_filters=["Ongoing", "no such"]),
        _of("ListTransactions", transactional_id_pattern="("),
        _of("AlterReplicaLogDirs", dirs=[_in("AlterReplicaLogDirs", directory, "/none", topics)]),
        _of("UnregisterController", controller_id=9),
        _of("UnregisterController", controller_id=1),
    ]


def _deletions() -> list[_Made]:
    def delete(*names: str, version: int) -> _Made:
        states = [_in("DeleteTopics", "DeleteTopicState", it) for it in names]
        return _of(
            "DeleteTopics",
            topics=states,
            topic_names=list(names),
            timeout_ms=5_000,
            version=version,
        )

    return [
        *(delete("none", "a b", version=it) for it in range(1, 7)),
        *(delete("none", "none", version=it) for it in (1, 6)),
        delete(ALTERED, version=6),
        delete(ALTERED, version=6),
    ]
