"""Every method of Java's Admin client, with arguments that mean the same on both brokers.

`CALLS` is in the order in which they are made: later ones show what earlier ones did.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from py4j.java_gateway import JavaGateway, JavaObject, is_instance_of
from py4j.protocol import Py4JJavaError

from tests.environment.java_gateway import java_gateway
from tests.environment.kafka import kafka_jars

TOPIC: Final = "of-the-admin"
GROUP: Final = "group-of-the-admin"
ANSWER_S: Final = 20
SHARE, STREAMS = "no-Share-group", "no-Streams-group"
A_LONG: Final = 1 << 40  # what fits into less becomes an Integer
Outcome = str | dict[str, str]

# What is drawn at random, is an address, or is counted: ids, ports, times.
_DRAWN: Final = (
    (re.compile(r"\b[A-Za-z0-9_-]{22}\b"), "ID"),
    (re.compile(r"127\.0\.0\.1:\d+"), "ADDRESS"),
    (
        re.compile(r"\b(leaderEpoch|highWatermark|logEndOffset|\w*[tT]imestamp\w*)=\S+?([,)])"),
        r"\1=N\2",
    ),
)


class JavaAdmin:
    """An Admin client of one broker."""

    def __init__(self, gateway: JavaGateway, bootstrap: str) -> None:
        self.jvm: Any = gateway.jvm
        properties = self.jvm.java.util.Properties()
        for key, value in (
            ("bootstrap.servers", bootstrap),
            ("default.api.timeout.ms", str(ANSWER_S * 1000)),
            ("request.timeout.ms", "10000"),
        ):
            properties.put(key, value)
        self.admin = self.jvm.org.apache.kafka.clients.admin.Admin.create(properties)
        self._gateway = gateway

    def close(self) -> None:
        """Close its connections."""
        self.admin.close()

    # Short forms of Java's classes.

    def of_admin(self, name: str, *arguments: Any) -> Any:
        """Make an object of the client's own package."""
        return self._made("org.apache.kafka.clients.admin", name, arguments)

    def common(self, name: str, *arguments: Any) -> Any:
        """Make an object of the package of what all clients share."""
        return self._made("org.apache.kafka.common", name, arguments)

    def _made(self, package: str, name: str, arguments: tuple[Any, ...]) -> Any:
        found = self.jvm
        for part in f"{package}.{name}".split("."):
            found = getattr(found, part)
        return found(*arguments)

    def list(self, *values: Any) -> Any:
        """A java.util.List."""
        made = self.jvm.java.util.ArrayList()
        for value in values:
            made.add(value)
        return made

    def set(self, *values: Any) -> Any:
        """A java.util.Set."""
        return self.jvm.java.util.HashSet(self.list(*values))

    def map(self, *pairs: tuple[Any, Any]) -> Any:
        """A java.util.Map."""
        made = self.jvm.java.util.HashMap()
        for key, value in pairs:
            made.put(key, value)
        return made

    def array(self, *values: Any) -> Any:
        """An array of objects."""
        made = self._gateway.new_array(self.jvm.java.lang.Object, len(values))
        for index, value in enumerate(values):
            made[index] = value
        return made

    def partition(self, index: int = 0, topic: str = TOPIC) -> Any:
        """A TopicPartition."""
        return self.common("TopicPartition", topic, index)

    def resource(self, kind: str, name: str) -> Any:
        """A ConfigResource."""
        types = self.jvm.org.apache.kafka.common.config.ConfigResource.Type
        return self.common("config.ConfigResource", getattr(types, kind), name)

    def altered(self, kind: str, name: str, key: str, value: str | None) -> Any:
        """Set a config, or delete it."""
        kinds = getattr(self.jvm.org.apache.kafka.clients.admin, "AlterConfigOp$OpType")
        kind_of = kinds.valueOf("DELETE" if value is None else "SET")
        operation = self.of_admin(
            "AlterConfigOp", self.of_admin("ConfigEntry", key, value), kind_of
        )
        changes = self.map((self.resource(kind, name), self.list(operation)))
        return self.admin.incrementalAlterConfigs(changes).all()

    def call(self, of: "Call") -> Outcome:
        """Make a call; what it tells, or the exception."""
        try:
            futures = of(self)
            if not isinstance(futures, Mapping):
                return self._told(futures)
            return {name: self._told(future) for name, future in futures.items()}
        except Py4JJavaError as error:
            return _exception(error)

    def _told(self, future: Any) -> str:
        if not isinstance(future, JavaObject) or not is_instance_of(
            self._gateway, future, "org.apache.kafka.common.KafkaFuture"
        ):
            return _shown(future)
        try:
            found = future.get(ANSWER_S, self.jvm.java.util.concurrent.TimeUnit.SECONDS)
        except Py4JJavaError as error:
            return _exception(error)
        return _shown(found)


Call = Callable[[JavaAdmin], Any]  # gives a future, or some by name


def _exception(error: Py4JJavaError) -> str:
    found = error.java_exception
    while found.getCause() is not None:
        found = found.getCause()
    return str(found.getClass().getSimpleName())


def _shown(value: Any) -> str:
    text = str(value.toString() if isinstance(value, JavaObject) else value)
    for pattern, to in _DRAWN:
        text = pattern.sub(to, text)
    return text


def start() -> JavaGateway:
    """Start the process of the clients."""
    return java_gateway(kafka_jars())


def methods(gateway: JavaGateway) -> set[str]:
    """The names of all methods that a client has."""
    jvm: Any = gateway.jvm
    kind = jvm.java.lang.Class.forName("org.apache.kafka.clients.admin.Admin")
    return {str(it.getName()) for it in kind.getMethods()}


def _new_topics(a: JavaAdmin) -> Any:
    return a.admin.createTopics(a.list(a.of_admin("NewTopic", TOPIC, 2, _short(a, 1)))).all()


def _short(a: JavaAdmin, value: int) -> Any:
    return a.jvm.java.lang.Short.valueOf(str(value))


def _topics(a: JavaAdmin) -> Any:
    return a.admin.describeTopics(a.list(TOPIC, "none")).topicNameValues()


def _configs(kind: str, name: str, *keys: str) -> Call:
    def call(a: JavaAdmin) -> Any:
        found = a.admin.describeConfigs(a.list(a.resource(kind, name))).all().get()
        entries = next(iter(found.values()))
        return {key: entries.get(key) for key in keys} or f"{entries.entries().size() > 0}"

    return call


def _offsets(a: JavaAdmin) -> Any:
    spec = a.jvm.org.apache.kafka.clients.admin.OffsetSpec
    return a.admin.listOffsets(
        a.map((a.partition(), spec.latest()), (a.partition(1), spec.earliest()))
    ).all()


def _binding(a: JavaAdmin) -> Any:
    acl = a.jvm.org.apache.kafka.common.acl
    kinds = a.jvm.org.apache.kafka.common.resource
    pattern = a.common(
        "resource.ResourcePattern", kinds.ResourceType.TOPIC, "t", kinds.PatternType.LITERAL
    )
    entry = a.common(
        "acl.AccessControlEntry", "User:a", "*", acl.AclOperation.READ, acl.AclPermissionType.ALLOW
    )
    return a.common("acl.AclBinding", pattern, entry)


def _quota(value: float | None) -> Call:
    def call(a: JavaAdmin) -> Any:
        entity = a.common("quota.ClientQuotaEntity", a.map(("user", "u")))
        kind = getattr(a.jvm.org.apache.kafka.common.quota, "ClientQuotaAlteration$Op")
        operation = kind("producer_byte_rate", value)
        alteration = a.common("quota.ClientQuotaAlteration", entity, a.list(operation))
        return a.admin.alterClientQuotas(a.list(alteration)).all()

    return call


def _credential(a: JavaAdmin) -> Any:
    mechanism = a.jvm.org.apache.kafka.clients.admin.ScramMechanism.SCRAM_SHA_256
    deletion = a.of_admin("UserScramCredentialDeletion", "u", mechanism)
    return a.admin.alterUserScramCredentials(a.list(deletion)).all()


def _elections(a: JavaAdmin) -> Any:
    kind = a.jvm.org.apache.kafka.common.ElectionType.PREFERRED
    return a.admin.electLeaders(kind, a.set(a.partition())).partitions()


def _reassigned(a: JavaAdmin) -> Any:
    to = a.jvm.java.util.Optional.of(a.of_admin("NewPartitionReassignment", a.list(1)))
    return a.admin.alterPartitionReassignments(a.map((a.partition(), to))).all()


def _committed(a: JavaAdmin) -> Any:
    offset = a.jvm.org.apache.kafka.clients.consumer.OffsetAndMetadata(7)
    return a.admin.alterConsumerGroupOffsets(GROUP, a.map((a.partition(), offset))).all()


def _moved(a: JavaAdmin) -> Any:
    replica = a.common("TopicPartitionReplica", TOPIC, 0, 1)
    return a.admin.alterReplicaLogDirs(a.map((replica, "/no/such/directory"))).all()


def _records(a: JavaAdmin) -> Any:
    kind = a.jvm.java.lang.Class.forName("org.apache.kafka.clients.admin.RecordsToDelete")
    (make,) = (
        it
        for it in kind.getMethods()
        if str(it.getName()) == "beforeOffset" and it.getParameterCount()
    )
    before = make.invoke(None, a.array(A_LONG))
    return a.admin.deleteRecords(a.map((a.partition(), before))).all()


def _features(a: JavaAdmin) -> Any:
    kinds = getattr(a.jvm.org.apache.kafka.clients.admin, "FeatureUpdate$UpgradeType")
    update = a.of_admin("FeatureUpdate", _short(a, 1), kinds.UPGRADE)
    options = a.of_admin("UpdateFeaturesOptions").validateOnly(True)
    return a.admin.updateFeatures(a.map(("no.such.feature", update)), options).all()


def _aborted(a: JavaAdmin) -> Any:
    spec = a.of_admin("AbortTransactionSpec", a.partition(), 99, _short(a, 0), 0)
    return a.admin.abortTransaction(spec).all()


def _member(a: JavaAdmin) -> Any:
    leaving = a.set(a.of_admin("MemberToRemove", "nobody"))
    options = a.of_admin("RemoveMembersFromConsumerGroupOptions", leaving)
    return a.admin.removeMembersFromConsumerGroup(GROUP, options).all()


def _voter(a: JavaAdmin) -> Any:
    directory = a.jvm.org.apache.kafka.common.Uuid.ONE_UUID
    return a.admin.removeRaftVoter(9, directory).all()


def _added_voter(a: JavaAdmin) -> Any:
    options = a.of_admin("AddRaftVoterOptions").setClusterId(a.jvm.java.util.Optional.of("other"))
    directory = a.jvm.org.apache.kafka.common.Uuid.ONE_UUID
    endpoint = a.of_admin("RaftVoterEndpoint", "CONTROLLER", "localhost", 1)
    return a.admin.addRaftVoter(9, directory, a.set(endpoint), options).all()


def _share_spec(kind: str, method: str) -> Call:
    def call(a: JavaAdmin) -> Any:
        spec = a.of_admin(f"List{kind}GroupOffsetsSpec")
        return getattr(a.admin, method)(a.map((f"no-{kind}-group", spec))).all()

    return call


CALLS: Final[tuple[tuple[str, Call], ...]] = (
    ("createTopics", _new_topics),
    ("createTopics again", _new_topics),
    ("listTopics", lambda a: a.admin.listTopics().names().get().contains(TOPIC)),
    ("describeTopics", lambda a: dict(_topics(a))),
    ("createPartitions", lambda a: a.admin.createPartitions(
        a.map((TOPIC, a.jvm.org.apache.kafka.clients.admin.NewPartitions.increaseTo(3)))).all()),
    ("createPartitions to fewer", lambda a: a.admin.createPartitions(
        a.map((TOPIC, a.jvm.org.apache.kafka.clients.admin.NewPartitions.increaseTo(1)))).all()),
    ("describeCluster", lambda a: {
        "nodes": a.admin.describeCluster().nodes(),
        "controller": a.admin.describeCluster().controller(),
        "operations": a.admin.describeCluster(
            a.of_admin("DescribeClusterOptions").includeAuthorizedOperations(True)).authorizedOperations(),
    }),
    ("describeConfigs", _configs("TOPIC", TOPIC, "retention.ms", "cleanup.policy", "segment.bytes")),
    ("describeConfigs of a broker", _configs("BROKER", "1", "log.retention.ms", "message.max.bytes")),
    ("describeConfigs of all brokers", _configs("BROKER", "", "log.retention.ms")),
    ("describeConfigs of loggers", _configs("BROKER_LOGGER", "1")),
    ("describeConfigs of a missing topic", _configs("TOPIC", "none", "retention.ms")),
    ("incrementalAlterConfigs", lambda a: a.altered("TOPIC", TOPIC, "retention.ms", "12345")),
    ("incrementalAlterConfigs of a broker", lambda a: a.altered("BROKER", "1", "log.retention.ms", "54321")),
    ("incrementalAlterConfigs of all brokers", lambda a: a.altered("BROKER", "", "message.max.bytes", "99999")),
    ("incrementalAlterConfigs wrongly", lambda a: a.altered("TOPIC", TOPIC, "retention.ms", "soon")),
    ("incrementalAlterConfigs of a missing topic", lambda a: a.altered("TOPIC", "none", "retention.ms", "1")),
    ("describeConfigs afterwards", _configs("TOPIC", TOPIC, "retention.ms", "max.message.bytes")),
    ("describeConfigs of a broker afterwards", _configs("BROKER", "1", "log.retention.ms")),
    ("incrementalAlterConfigs back", lambda a: a.altered("BROKER", "1", "log.retention.ms", None)),
    ("incrementalAlterConfigs of all back", lambda a: a.altered("BROKER", "", "message.max.bytes", None)),
    ("listConfigResources", lambda a: a.admin.listConfigResources(
        a.set(a.resource("TOPIC", "x").type()), a.of_admin("ListConfigResourcesOptions")
    ).all().get().contains(a.resource("TOPIC", TOPIC))),
    ("listClientMetricsResources", lambda a: a.admin.listClientMetricsResources().all()),
    ("listOffsets", _offsets),
    ("deleteRecords", _records),
    ("describeLogDirs", lambda a: a.admin.describeLogDirs(a.list(1)).allDescriptions().get().size()),
    ("describeReplicaLogDirs", lambda a: a.admin.describeReplicaLogDirs(
        a.list(a.common("TopicPartitionReplica", TOPIC, 0, 1))).all().get().size()),
    ("alterReplicaLogDirs", _moved),
    ("electLeaders", _elections),
    ("alterPartitionReassignments", _reassigned),
    ("listPartitionReassignments", lambda a: a.admin.listPartitionReassignments().reassignments()),
    ("describeProducers", lambda a: a.admin.describeProducers(a.list(a.partition())).all()),
    ("alterConsumerGroupOffsets", _committed),
    ("listConsumerGroupOffsets", lambda a: a.admin.listConsumerGroupOffsets(GROUP).partitionsToOffsetAndMetadata()),
    ("listConsumerGroups", lambda a: a.admin.listConsumerGroups().all().get().size()),
    ("listGroups", lambda a: a.admin.listGroups().all()),
    ("describeConsumerGroups", lambda a: dict(a.admin.describeConsumerGroups(a.list(GROUP, "none")).describedGroups())),
    ("describeClassicGroups", lambda a: dict(a.admin.describeClassicGroups(a.list(GROUP, "none")).describedGroups())),
    ("describeShareGroups", lambda a: a.admin.describeShareGroups(a.list("none")).all()),
    ("describeStreamsGroups", lambda a: a.admin.describeStreamsGroups(a.list("none")).all()),
    ("listShareGroupOffsets", _share_spec("Share", "listShareGroupOffsets")),
    ("listStreamsGroupOffsets", _share_spec("Streams", "listStreamsGroupOffsets")),
    ("alterShareGroupOffsets", lambda a: a.admin.alterShareGroupOffsets(
        SHARE, a.map((a.partition(), A_LONG))).all()),
    ("alterStreamsGroupOffsets", lambda a: a.admin.alterStreamsGroupOffsets(
        STREAMS, a.map((a.partition(), a.jvm.org.apache.kafka.clients.consumer.OffsetAndMetadata(0)))).all()),
    ("deleteShareGroupOffsets", lambda a: a.admin.deleteShareGroupOffsets(SHARE, a.set(TOPIC)).all()),
    ("deleteStreamsGroupOffsets", lambda a: a.admin.deleteStreamsGroupOffsets(STREAMS, a.set(a.partition())).all()),
    ("deleteShareGroups", lambda a: a.admin.deleteShareGroups(a.list(SHARE)).all()),
    ("deleteStreamsGroups", lambda a: a.admin.deleteStreamsGroups(a.list(STREAMS)).all()),
    ("removeMembersFromConsumerGroup", _member),
    ("deleteConsumerGroupOffsets", lambda a: a.admin.deleteConsumerGroupOffsets(GROUP, a.set(a.partition())).all()),
    ("deleteConsumerGroups", lambda a: dict(a.admin.deleteConsumerGroups(a.list(GROUP, "none")).deletedGroups())),
    ("describeAcls", lambda a: a.admin.describeAcls(a.jvm.org.apache.kafka.common.acl.AclBindingFilter.ANY).values()),
    ("createAcls", lambda a: a.admin.createAcls(a.list(_binding(a))).all()),
    ("deleteAcls", lambda a: a.admin.deleteAcls(a.list(_binding(a).toFilter())).all()),
    ("createDelegationToken", lambda a: a.admin.createDelegationToken().delegationToken()),
    ("renewDelegationToken", lambda a: a.admin.renewDelegationToken(b"x").expiryTimestamp()),
    ("expireDelegationToken", lambda a: a.admin.expireDelegationToken(b"x").expiryTimestamp()),
    ("describeDelegationToken", lambda a: a.admin.describeDelegationToken().delegationTokens()),
    ("describeClientQuotas", lambda a: a.admin.describeClientQuotas(
        a.jvm.org.apache.kafka.common.quota.ClientQuotaFilter.all()).entities()),
    ("alterClientQuotas", _quota(5_000.0)),
    ("alterClientQuotas back", _quota(None)),
    ("describeUserScramCredentials", lambda a: a.admin.describeUserScramCredentials().all()),
    ("describeUserScramCredentials of a user", lambda a: a.admin.describeUserScramCredentials(a.list("u")).all()),
    ("alterUserScramCredentials", _credential),
    ("listTransactions", lambda a: a.admin.listTransactions().all()),
    ("describeTransactions", lambda a: a.admin.describeTransactions(a.list("t")).all()),
    ("abortTransaction", _aborted),
    ("fenceProducers", lambda a: a.admin.fenceProducers(a.list("t")).all()),
    ("forceTerminateTransaction", lambda a: a.admin.forceTerminateTransaction("t").result()),
    ("describeFeatures", lambda a: a.admin.describeFeatures().featureMetadata().get().finalizedFeatures().get(
        "metadata.version")),
    ("updateFeatures", _features),
    ("describeMetadataQuorum", lambda a: a.admin.describeMetadataQuorum().quorumInfo().get().leaderId()),
    ("addRaftVoter", _added_voter),
    ("removeRaftVoter", _voter),
    ("unregisterBroker", lambda a: a.admin.unregisterBroker(9).all()),
    ("unregisterController", lambda a: a.admin.unregisterController(9).all()),
    ("deleteTopics", lambda a: dict(a.admin.deleteTopics(a.list(TOPIC, "none")).topicNameValues())),
)  # fmt: skip

# Of the client itself: they ask no broker.
OF_THE_CLIENT: Final = frozenset(
    {
        "create",
        "close",
        "metrics",
        "clientInstanceId",  # of telemetry, which neither broker has switched on
        "registerMetricForSubscription",
        "unregisterMetricFromSubscription",
    }
)
