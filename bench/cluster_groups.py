"""The coordinator of groups with a million committed offsets is killed: time until another broker serves them.

All groups are in one partition of `__consumer_offsets`. The clock begins when the metadata name its new leader, and
ends when the offsets of a group are answered, and a member of another group has joined.
"""

import statistics
import time
from pathlib import Path
from typing import Final

from confluent_kafka.admin import NewTopic

from bench import commits
from bench.cluster_failover import REST_S, WITHIN_S, Headrace, admin_of, open_headrace
from bench.failover_client import PAUSE_S, Connection
from bench.failover_wire import leaders_of, metadata_request
from headrace.broker.partition.internal_topics import OFFSETS_TOPIC
from tests.e2e.wire import WireConnection

RECORDS: Final = 1_000_000
RECORDS_QUICK: Final = 50_000
KILLS: Final = 5
KILLS_QUICK: Final = 2
MARK_MS: Final = 3_000
ONE_PARTITION: Final = {"offsets.topic.num.partitions": "1"}


def run(directory: Path, *, quick: bool) -> list[tuple[bool, str]]:
    """Return (met, text) of the mark."""
    records, kills = (RECORDS_QUICK, KILLS_QUICK) if quick else (RECORDS, KILLS)
    groups = [f"group-{number}" for number in range(records // commits.PARTITIONS)]
    found = []
    with open_headrace(directory, settings=ONE_PARTITION) as cluster:
        target = Headrace(cluster, by_session=False)
        admin = admin_of(target)
        wanted = NewTopic(commits.TOPIC, commits.PARTITIONS)
        admin.create_topics([wanted])[commits.TOPIC].result(WITHIN_S)
        with cluster.connect(cluster.brokers[0]) as connection:
            connection.find_coordinator(groups[0])  # makes the topic
        commit_all(target, groups)
        for number in range(kills):
            named_ms, served_ms = lose_coordinator(target, groups)
            print(
                f"  kill {number + 1}: named after {named_ms:,.0f} ms, served {served_ms:,.0f} ms later",
                flush=True,
            )
            found.append(served_ms)
            target.heal()
            time.sleep(REST_S)
    text = (
        f"{records:,} offsets served: max {max(found):,.0f} ms after the leader is named, "
        f"median {statistics.median(found):,.0f} ms, of {MARK_MS:,} ms"
    )
    return [(max(found) <= MARK_MS, text)]


def commit_all(target: Headrace, groups: list[str]) -> None:
    """Commit one offset for each partition in each group, once a coordinator answers."""
    _, leader = wait_for_leader(target, list(target.processes))
    address = target.addresses[leader]
    wait_until_served(address, "no-group")
    for group in groups:
        commits.commit(address, group, range(1, 2))


def lose_coordinator(target: Headrace, groups: list[str]) -> tuple[float, float]:
    """Kill the coordinator; milliseconds until another one is named, and from then until it serves."""
    _, leader = wait_for_leader(target, list(target.processes))
    living = [it for it in target.processes if it != leader]
    killed_ns = time.time_ns()
    target.kill([leader])
    named_ns, leader = wait_for_leader(target, living)
    offsets = wait_until_served(target.addresses[leader], groups[-1])
    served_ns = time.time_ns()
    assert offsets == [1] * commits.PARTITIONS, "committed offsets are missing"
    return (named_ns - killed_ns) / 1e6, (served_ns - named_ns) / 1e6


def wait_for_leader(target: Headrace, living: list[int]) -> tuple[int, int]:
    """Wait until one of these brokers leads the partition of the groups; return when, and which one."""
    connection = Connection(target.addresses[living[0]])
    deadline_s = time.monotonic() + WITHIN_S
    try:
        while time.monotonic() < deadline_s:
            found = leaders_of(connection.ask(metadata_request(OFFSETS_TOPIC))).leaders
            if found.get(0) in living:
                return time.time_ns(), found[0]
            time.sleep(PAUSE_S)
    finally:
        connection.close()
    raise TimeoutError("groups have no coordinator")


def wait_until_served(address: tuple[str, int], group: str) -> list[int]:
    """Wait until a coordinator lets a member join, and return the offsets of a group."""
    deadline_s = time.monotonic() + WITHIN_S
    with WireConnection(f"{address[0]}:{address[1]}", timeout_s=WITHIN_S) as connection:
        while time.monotonic() < deadline_s:
            offsets = commits.offsets_of(connection, group)
            if offsets is not None and commits.joins(connection):
                return offsets
            time.sleep(PAUSE_S)
    raise TimeoutError("groups are not served")
