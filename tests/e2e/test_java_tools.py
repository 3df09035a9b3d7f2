"""Apache Kafka's own command-line tools."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from headrace.metadata.levels import LEVEL_FEATURE, NEWEST
from tests.e2e.client_programs import CONFLUENT
from tests.e2e.records import Record
from tests.environment.kafka import run_tool

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("java_tools")]


@pytest.fixture
def tool(bootstrap: str) -> Callable[..., str]:
    """Run a tool against the shared broker and return its standard output."""

    def run(main_class: str, *arguments: str) -> str:
        if not main_class.startswith("kafka."):
            main_class = f"org.apache.kafka.tools.{main_class}"
        return run_tool(main_class, "--bootstrap-server", bootstrap, *arguments).stdout

    return run


@pytest.fixture
def cluster_tool(bootstrap: str) -> Callable[..., str]:
    """Run one command of the cluster tool, which takes the broker behind the command."""

    def run(command: str, *arguments: str) -> str:
        main_class = "org.apache.kafka.tools.ClusterTool"
        return run_tool(main_class, command, "--bootstrap-server", bootstrap, *arguments).stdout

    return run


@pytest.fixture
def cluster_id(bootstrap: str) -> str:
    """Id of the shared broker's cluster."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    return str(admin.describe_cluster().result(timeout=10).cluster_id)


def events(output: str, name: str) -> list[dict[str, object]]:
    """Return the events of one name that a verifiable client printed."""
    lines = (json.loads(line) for line in output.splitlines() if line.startswith("{"))
    return [line for line in lines if line["name"] == name]


def test_the_verifiable_pair(
    tool: Callable[..., str], create_topic: Callable[..., str], group: str
) -> None:
    topic = create_topic("verifiable", partitions=2)
    count = ("--max-messages", "5000")
    produced = tool("VerifiableProducer", "--topic", topic, *count, "--acks", "-1")
    sent = events(produced, "producer_send_success")
    assert len(sent) == 5000
    assert not events(produced, "producer_send_error")
    wanted = {(item["partition"], item["offset"], item["value"]) for item in sent}
    consumed = tool(
        "VerifiableConsumer", "--topic", topic, "--group-id", group, *count, "--verbose"
    )
    read = events(consumed, "record_data")
    assert {(item["partition"], item["offset"], item["value"]) for item in read} == wanted
    commits = events(consumed, "offsets_committed")
    assert all(item["success"] for item in commits)
    last = {item["partition"]: item["offset"] for c in commits for item in c["offsets"]}
    assert sum(last.values()) == 5000


def test_topics(tool: Callable[..., str], bootstrap: str) -> None:
    name = "of-the-topic-command"
    created = ("--partitions", "3", "--config", "retention.ms=3600000")
    tool("TopicCommand", "--create", "--topic", name, *created)
    assert name in tool("TopicCommand", "--list").split()
    described = tool("TopicCommand", "--describe", "--topic", name)
    assert "PartitionCount: 3\tReplicationFactor: 1" in described
    assert "retention.ms=3600000" in described
    assert described.count("\tLeader: 1\tReplicas: 1\tIsr: 1") == 3
    tool("TopicCommand", "--alter", "--topic", name, "--partitions", "5")
    assert "PartitionCount: 5" in tool("TopicCommand", "--describe", "--topic", name)
    CONFLUENT.produce(bootstrap, name, [Record(b"x", partition=4)] * 7)
    offsets = tool("GetOffsetShell", "--topic", name, "--time", "latest").split()
    assert f"{name}:4:7" in offsets
    assert f"{name}:0:0" in offsets
    tool("TopicCommand", "--delete", "--topic", name)
    assert name not in tool("TopicCommand", "--list").split()


def test_deleting_records(
    tool: Callable[..., str], bootstrap: str, create_topic: Callable[..., str], tmp_path: Path
) -> None:
    topic = create_topic("of the records command", partitions=2)
    records = [Record(str(number).encode(), partition=number % 2) for number in range(20)]
    CONFLUENT.produce(bootstrap, topic, records)
    wanted = [
        {"topic": topic, "partition": number, "offset": offset}
        for number, offset in enumerate((4, -1))
    ]
    offsets = tmp_path / "offsets.json"
    offsets.write_text(json.dumps({"partitions": wanted, "version": 1}))
    told = tool("DeleteRecordsCommand", "--offset-json-file", str(offsets))
    assert f"{topic}-0\tlow_watermark: 4" in told
    assert f"{topic}-1\tlow_watermark: 10" in told
    begin = tool("GetOffsetShell", "--topic", topic, "--time", "earliest").split()
    assert sorted(begin) == [f"{topic}:0:4", f"{topic}:1:10"]
    read = ("--topic", topic, "--from-beginning", "--max-messages", "6")
    values = tool("consumer.ConsoleConsumer", *read, "--timeout-ms", "30000").split()
    assert [int(value) for value in values] == [8, 10, 12, 14, 16, 18]
    wanted[0]["offset"] = 11
    offsets.write_text(json.dumps({"partitions": wanted[:1], "version": 1}))
    assert "OffsetOutOfRange" in tool("DeleteRecordsCommand", "--offset-json-file", str(offsets))


def test_configs(tool: Callable[..., str], topic: str) -> None:
    entity = ("--entity-type", "topics", "--entity-name", topic)
    command = "ConfigCommand"
    tool(command, "--alter", *entity, "--add-config", "segment.bytes=104857600,retention.ms=1000")
    shown = tool(command, "--describe", *entity)
    assert "segment.bytes=104857600" in shown
    assert "retention.ms=1000" in shown
    tool(command, "--alter", *entity, "--delete-config", "retention.ms")
    assert "retention.ms" not in tool(command, "--describe", *entity)
    brokers = tool(command, "--describe", "--all", "--entity-type", "brokers", "--entity-name", "1")
    assert "log.retention.hours=168" in brokers


def test_a_groups_lag_and_reset(
    tool: Callable[..., str], bootstrap: str, topic: str, group: str
) -> None:
    CONFLUENT.produce(bootstrap, topic, [Record(str(number).encode()) for number in range(30)])
    read = ("--topic", topic, "--group", group, "--from-beginning", "--max-messages", "10")
    tool("consumer.ConsoleConsumer", *read, "--command-property", "max.poll.records=10")
    command = "consumer.group.ConsumerGroupCommand"
    assert lag_of(tool(command, "--describe", "--group", group), topic) == (10, 30, 20)
    chosen = ("--group", group, "--topic", topic)
    tool(command, "--reset-offsets", *chosen, "--shift-by", "-4", "--execute")
    assert lag_of(tool(command, "--describe", "--group", group), topic) == (6, 30, 24)
    assert group in tool(command, "--list").split()
    tool(command, "--delete", "--group", group)
    assert group not in tool(command, "--list").split()


def lag_of(described: str, topic: str) -> tuple[int, int, int]:
    """Return current offset, end offset and lag of a group's one partition."""
    (row,) = [line.split() for line in described.splitlines() if topic in line.split()]
    current, end, lag = row[3:6]
    return int(current), int(end), int(lag)


def test_versions_and_log_directories(tool: Callable[..., str], bootstrap: str, topic: str) -> None:
    versions = tool("BrokerApiVersionsCommand")
    assert f"{bootstrap} (id: 1 " in versions
    assert "Produce(0): " in versions
    CONFLUENT.produce(bootstrap, topic, [Record(b"x" * 100_000)])
    described = tool("LogDirsCommand", "--describe", "--topic-list", topic)
    document = json.loads(described[described.index('{"') :])
    sizes = {
        partition["partition"]: partition["size"]
        for broker in document["brokers"]
        for directory in broker["logDirs"]
        for partition in directory["partitions"]
    }
    assert sizes[f"{topic}-0"] >= 100_000


def test_the_quorum(tool: Callable[..., str], cluster_id: str) -> None:
    command = "MetadataQuorumCommand"
    status = tool(command, "describe", "--status")
    shown = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    assert shown["ClusterId"].strip() == cluster_id
    assert shown["LeaderId"].strip() == "1"
    assert shown["MaxFollowerLag"].strip() == "0"
    assert '"id": 1, "directoryId": ' in shown["CurrentVoters"]
    (row,) = [
        line.split()
        for line in tool(command, "describe", "--replication").splitlines()
        if line.rstrip().endswith("Leader")
    ]
    node, directory, end, lag = row[:4]
    assert (node, lag) == ("1", "0")
    assert int(end) > 1
    unknown = ("--controller-id", "9", "--controller-directory-id", directory)
    with pytest.raises(AssertionError, match="VoterNotFoundException"):
        tool(command, "remove-controller", *unknown)
    own = ("--controller-id", "1", "--controller-directory-id", directory)
    with pytest.raises(AssertionError, match="last voter"):
        tool(command, "remove-controller", *own)


def test_the_level_of_the_cluster(tool: Callable[..., str]) -> None:
    command = "FeatureCommand"
    told = tool(command, "describe")
    assert "UNKNOWN" not in told
    assert "4.4-IV2" in told
    for name, level in ((LEVEL_FEATURE, NEWEST), ("metadata.version", 33)):
        assert "was upgraded" in tool(command, "upgrade", "--feature", f"{name}={level}")
        for other in (1, level - 1, level + 1):
            with pytest.raises(AssertionError, match="cannot be set to"):
                tool(command, "upgrade", "--feature", f"{name}={other}")


def test_the_cluster(cluster_tool: Callable[..., str], bootstrap: str, cluster_id: str) -> None:
    assert cluster_id in cluster_tool("cluster-id")
    (row,) = [
        line.split()
        for line in cluster_tool("list-endpoints", "--include-fenced-brokers").splitlines()
        if line.rstrip().endswith("broker")
    ]
    assert row[0] == "1"
    assert ":".join(row[1:3]) == bootstrap
    assert "unfenced" in row
    with pytest.raises(AssertionError, match="BrokerIdNotRegisteredException"):
        cluster_tool("unregister", "--id", "77")
    with pytest.raises(AssertionError, match="broker 1 is ACTIVE"):
        cluster_tool("unregister", "--id", "1")
