"""Apache Kafka's tools for administrators, where the feature that they are about is off or answered by one broker."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.environment.kafka import run_tool

pytestmark = [pytest.mark.java, pytest.mark.usefixtures("java_tools")]

ADDRESS = "--bootstrap-server"
BROKER = ("--entity-type", "brokers", "--entity-name", "1")
LOGGERS = ("--entity-type", "broker-loggers", "--entity-name", "1")
SIZE = "message.max.bytes=777777"
TOPIC = "of-the-admin-tools"
LOAD = ("--topic", TOPIC, "--num-records", "100", "--record-size", "50")


class Run(NamedTuple):
    """A tool with its arguments, and what it prints; whether it says that it failed is Kafka's choice, too."""

    tool: str
    arguments: tuple[str, ...]
    prints: str


# In this order: a row may show what the one before has done.
CONFIGS = (
    Run("ConfigCommand", ("--alter", *BROKER, "--add-config", SIZE), "Completed"),
    Run("ConfigCommand", ("--describe", *BROKER), SIZE),
    Run("ConfigCommand", ("--alter", *BROKER, "--delete-config", "message.max.bytes"), "Completed"),
    Run("ConfigCommand", ("--alter", *LOGGERS, "--add-config", "headrace.api=WARN"), "Completed"),
    Run("ConfigCommand", ("--describe", *LOGGERS), "headrace.api=WARN"),
    Run("ConfigCommand", ("--alter", *LOGGERS, "--delete-config", "headrace.api"), "Completed"),
)
# Of one another they know nothing.
OTHERS = (
    Run("ConfigCommand", ("--describe", "--entity-type", "users"), ""),
    Run("AclCommand", ("--list",), "SecurityDisabledException"),
    Run("ClientMetricsCommand", ("--list",), ""),
    Run("TransactionsCommand", ("list",), "TransactionalId"),
    Run("TransactionsCommand", ("find-hanging", "--broker-id", "1"), "ProducerId"),
    Run("LeaderElectionCommand", ("--election-type", "preferred", "--all-topic-partitions"), ""),
    Run("GroupsCommand", ("--list",), "GROUP"),
    Run("consumer.group.ShareGroupCommand", ("--list",), ""),
    Run("streams.StreamsGroupCommand", ("--list",), ""),
    Run("reassign.ReassignPartitionsCommand", ("--list",), "No partition reassignments found."),
    Run("ProducerPerformance", (*LOAD, "--throughput", "-1"), "100 records sent"),
    Run("EndToEndLatency", (*LOAD, "--producer-acks", "1"), "Avg latency"),
)


def failures(bootstrap: str, run: Run) -> list[str]:
    """What a run prints, if that is not what it should."""
    main_class = f"org.apache.kafka.tools.{run.tool}"
    ran = run_tool(main_class, ADDRESS, bootstrap, *run.arguments, check=False)
    told = ran.stdout + ran.stderr
    is_expected = run.prints in told and "UnsupportedVersion" not in told
    if ran.returncode != 0 and "Exception" not in run.prints:
        is_expected = False
    return [] if is_expected else [f"{run}: {ran.returncode}\n{told}"]


@pytest.mark.timeout(240)
def test_tools_for_administrators_work(bootstrap: str, admin: AdminClient) -> None:
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(30)

    def in_order() -> list[str]:
        return [it for run in CONFIGS for it in failures(bootstrap, run)]

    with ThreadPoolExecutor(2) as pool:
        configs = pool.submit(in_order)
        others = [pool.submit(failures, bootstrap, run) for run in OTHERS]
        found = configs.result() + [it for other in others for it in other.result()]
    assert not found, "\n".join(found)
