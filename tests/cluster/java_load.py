"""Java clients under steady load: Kafka's verifiable producer and consumer, which print what they were told."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from tests.cluster.client_errors import SeenErrors
from tests.cluster.cluster import Cluster
from tests.cluster.wire_calls import create_topic
from tests.e2e.admin_calls import end_offsets
from tests.environment.java import java_environment
from tests.environment.kafka import tool_command

TOPIC = "java"
GROUP = "java"
_RECORDS_PER_S = 30
_KEYS = 50  # so that all partitions are written
_TOOLS = "org.apache.kafka.tools"
# The producer would not retry if it were not told to.
_SETTINGS = """
retries=2147483647
enable.idempotence=true
delivery.timeout.ms=900000
request.timeout.ms=5000
max.block.ms=900000
reconnect.backoff.max.ms=200
retry.backoff.max.ms=200
metadata.max.age.ms=2000
default.api.timeout.ms=120000
"""
# What a commit says when its group has gone on without it; the consumer joins again by itself.
_COMMIT_MAY_SAY = (
    "rebalanc",  # CommitFailedException, RebalanceInProgressException
    "The coordinator is not available",
    "Timeout of",
)
# The tool goes on sending for a moment after it has closed its producer.
_WHILE_CLOSING = "after producer has been closed"


class JavaLoad:
    """One producer and one consumer of a topic with a partition on each broker, from `start` to `stop`."""

    def __init__(self, cluster: Cluster, seen: SeenErrors, directory: Path) -> None:
        self._partitions = len(cluster.brokers)
        self._cluster = cluster
        self._seen = seen
        self._settings = directory / "client.properties"
        self._produced = directory / "produced"
        self._consumed = directory / "consumed"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._read_bytes: dict[Path, int] = {}
        self._acknowledged: dict[int, list[tuple[int, str]]] = {}  # (offset, value), by partition
        self._positions: dict[int, int] = {}  # of the consumer

    def start(self) -> None:
        """Create the topic and start both programs."""
        self._settings.parent.mkdir(parents=True, exist_ok=True)
        self._settings.write_text(_SETTINGS)
        leaders = [broker.node_id for broker in self._cluster.brokers]
        with self._cluster.connect(self._cluster.brokers[0]) as connection:
            error, _ = create_topic(connection, TOPIC, brokers=leaders)
        assert error == 0, error
        rate = ("--throughput", str(_RECORDS_PER_S), "--repeating-keys", str(_KEYS))
        self._run("VerifiableProducer", self._produced, *rate)
        group = ("--group-id", GROUP, "--session-timeout", "45000")
        self._run("VerifiableConsumer", self._consumed, *group)

    def stop(self) -> None:
        """End both in an orderly way: what was sent is answered first."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                self._seen.fault("a Java client did not end")

    def end(self) -> None:
        """Kill what still runs."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()

    def wait_for_progress(self) -> None:
        """Wait until records that are sent from now on were acknowledged and consumed, in each partition."""
        self.look()
        acknowledged = {number: len(it) for number, it in self._acknowledged.items()}
        consumed = dict(self._positions)

        def flows() -> bool:
            self.look()
            return all(
                len(self._acknowledged.get(number, ())) > acknowledged.get(number, 0)
                and self._positions.get(number, 0) > consumed.get(number, 0)
                for number in range(self._partitions)
            )

        self._cluster.wait_until(flows, f"Java's records flow beyond {consumed}")

    def look(self) -> None:
        """Take in what both have printed since, and note what they should not have been told."""
        for event in self._new_events(self._produced):
            if event["name"] == "producer_send_success":
                records = self._acknowledged.setdefault(event["partition"], [])
                records.append((event["offset"], event["value"]))
            elif event["name"] == "producer_send_error" and _WHILE_CLOSING not in event["message"]:
                self._seen.fault(f"Java: {event['exception']}: {event['message']}")
        for event in self._new_events(self._consumed):
            if event["name"] == "records_consumed":
                for part in event["partitions"]:
                    self._note_consumed(part)
            elif event["name"] == "offsets_committed" and not event["success"]:
                error = str(event.get("error"))
                self._seen.counts[f"Java commit: {error[:60]}"] += 1
                if not any(text in error for text in _COMMIT_MAY_SAY):
                    self._seen.fault(f"Java commit: {error}")

    def check_everything(self) -> int:
        """After `stop`: each acknowledged value is at its offset, and none is there twice; return the records."""
        self.look()
        settings = {"bootstrap.servers": self._cluster.bootstrap, "group.id": "check"}
        consumer = Consumer({**settings, "enable.auto.commit": False, "log_level": 0})
        found: dict[tuple[int, int], str] = {}
        for number, end in end_offsets(self._cluster.bootstrap, TOPIC, self._partitions).items():
            partition = TopicPartition(TOPIC, number, 0)
            consumer.assign([partition])
            for offset in range(end):
                message = consumer.poll(30)
                assert message is not None, f"nothing came for 30 s at {number}:{offset} of {end}"
                assert message.error() is None, message.error()
                assert message.offset() == offset
                found[number, offset] = message.value().decode()
        consumer.close()
        twice = [value for value, count in Counter(found.values()).items() if count > 1]
        assert not twice, f"values that are there more than once: {twice[:10]}"
        for number, records in self._acknowledged.items():
            for offset, value in records:
                assert found.get((number, offset)) == value, f"{number}:{offset} is not {value}"
        return len(found)

    def _run(self, tool: str, output: Path, *arguments: str) -> None:
        common = ("--bootstrap-server", self._cluster.bootstrap, "--topic", TOPIC)
        configured = ("--command-config", str(self._settings))
        command = tool_command(f"{_TOOLS}.{tool}", *common, *configured, *arguments)
        with output.open("wb") as lines, output.with_suffix(".errors").open("wb") as errors:
            process = subprocess.Popen(
                command, stdout=lines, stderr=errors, env=java_environment(), start_new_session=True
            )
        self._processes.append(process)

    def _note_consumed(self, part: dict[str, int]) -> None:
        number = part["partition"]
        due = self._positions.get(number, 0)
        if part["minOffset"] > due:
            self._seen.fault(f"Java: a gap in {number} from {due} to {part['minOffset']}")
        self._positions[number] = max(due, part["maxOffset"] + 1)

    def _new_events(self, path: Path) -> Iterator[dict]:
        """Return what a program has printed since this was asked last, whole lines only."""
        with path.open("rb") as file:
            file.seek(self._read_bytes.get(path, 0))
            text = file.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read_bytes[path] = self._read_bytes.get(path, 0) + len(whole)
        return (json.loads(line) for line in whole.splitlines() if line.startswith(b"{"))
