"""`python -m bench.commits`: what a restart costs behind many commits, until groups are served.

One node with a bucket of files, and one partition of `__consumer_offsets` for all groups. Clients commit as fast as the
broker takes it. At some numbers of commits the node is killed and started: when does it answer OffsetFetch with what
was committed last, when does a member of a group join, and how many records were loaded for that? Processor time is the
process's own, threads included, as the kernel counts it; wall times say little on a machine with other work.
"""

import argparse
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from confluent_kafka.admin import AdminClient, NewTopic

from bench.process_usage import WITH_BYTE_CODE, usage
from headrace.protocol.messages import (
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.wire import WireConnection

TOPIC: Final = "consumed"
PARTITIONS: Final = 500
GROUPS: Final = 5  # each with a client of its own: 2,500 live records
INFLIGHT: Final = 4  # requests of one client
STEPS: Final = 4  # kills
DEADLINE_S: Final = 120
SETTINGS: Final = {"offsets.topic.num.partitions": "1", "group.initial.rebalance.delay.ms": "0"}
COMMIT: Final = struct.Struct(">hhih")  # key, version, correlation id, no client id
ENTRIES: Final = struct.Struct(">" + "iqih" * PARTITIONS)  # partition, offset, no epoch, no text


def main() -> None:
    """Print one line for each restart."""
    parser = argparse.ArgumentParser(prog="python -m bench.commits", description=__doc__)
    parser.add_argument("--commits", type=int, default=17_000_000, help="of all groups together")
    parser.add_argument("--directory", type=Path, help="data directory of the node")
    arguments = parser.parse_args()
    rounds = arguments.commits // (GROUPS * PARTITIONS)
    print(
        f"{'commits':>11}{'CPU us each':>12}{'rewrites':>9}{'loaded':>9}{'live':>7}"
        f"{'OffsetFetch CPU s':>18}{'s':>7}{'JoinGroup CPU s':>16}{'s':>7}"
    )
    with tempfile.TemporaryDirectory(prefix="bench-commits-", dir=arguments.directory) as made:
        node = HeadraceProcess(Path(made), overrides=SETTINGS, environment=WITH_BYTE_CODE)
        node.start()
        try:
            measure(node, rounds)
        finally:
            if node.process.is_running:
                node.kill()


def measure(node: HeadraceProcess, rounds: int) -> None:
    """Commit, and start the node again, step by step."""
    admin = AdminClient({"bootstrap.servers": node.bootstrap})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS)])[TOPIC].result(60)
    with WireConnection(node.bootstrap) as connection:
        connection.find_coordinator(name_of(0))  # makes `__consumer_offsets`
    served(node, 0)
    for step in range(STEPS):
        between = range(rounds * step // STEPS, rounds * (step + 1) // STEPS)
        before_s = usage(node.process.process_id).cpu_s
        commit_all(node, between)
        cpu_s = usage(node.process.process_id).cpu_s - before_s
        rewrites = node.metrics()["headrace_coordinator_rewrites_total"]
        node.kill()
        fetched, joined = restarted(node, between[-1])
        metrics = node.metrics()
        print(
            f"{between.stop * GROUPS * PARTITIONS:11,}"
            f"{1e6 * cpu_s / (len(between) * GROUPS * PARTITIONS):12.1f}{rewrites:9.0f}"
            f"{metrics['headrace_coordinator_loaded_records_total']:9,.0f}"
            f"{metrics['headrace_coordinator_live_records']:7,.0f}"
            f"{fetched[0]:18.2f}{fetched[1]:7.2f}{joined[0]:16.2f}{joined[1]:7.2f}",
            flush=True,
        )


def commit_all(node: HeadraceProcess, rounds: range) -> None:
    """Commit the number of each round for every partition, in all groups at the same time."""
    failures: list[BaseException] = []

    def client(group: str) -> None:
        try:
            commit(("127.0.0.1", node.port), group, rounds)
        except BaseException as error:  # noqa: BLE001 - raised by the main thread
            failures.append(error)

    clients = [threading.Thread(target=client, args=(name_of(it),)) for it in range(GROUPS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    if failures:
        raise failures[0]


def name_of(group: int) -> str:
    """The id of a group."""
    return f"group-{group}"


def commit(address: tuple[str, int], group: str, rounds: range) -> None:
    """Commit the number of each round for every partition; returns when all are acknowledged."""
    head = COMMIT.pack(8, 6, 1, -1) + string(group) + struct.pack(">i", -1) + string("")
    head += struct.pack(">i", 1) + string(TOPIC) + struct.pack(">i", PARTITIONS)
    frame_head = struct.pack(">i", len(head) + ENTRIES.size) + head
    values = [field for index in range(PARTITIONS) for field in (index, 0, -1, -1)]
    with socket.create_connection(address, timeout=DEADLINE_S) as connection:
        answers = connection.makefile("rb")
        sent = 0
        for number in rounds:
            values[1::4] = [number] * PARTITIONS
            connection.sendall(frame_head + ENTRIES.pack(*values))
            sent += 1
            if sent > INFLIGHT:
                acknowledged(answers.read)
        for _ in range(min(sent, INFLIGHT)):
            acknowledged(answers.read)


def acknowledged(read: Callable[[int], bytes]) -> None:
    """Read one answer, in which every commit must have succeeded."""
    (size,) = struct.unpack(">i", read(4))
    answer = read(size)
    # correlation id, throttle time, topics, name, partitions
    at = 4 + 4 + 4 + 2 + len(TOPIC) + 4
    if any(error for _, error in struct.iter_unpack(">ih", answer[at:])):
        raise ConnectionError("the broker refused a commit")


def string(text: str) -> bytes:
    """A string of a message that is not flexible."""
    return struct.pack(">h", len(text)) + text.encode()


def restarted(
    node: HeadraceProcess, committed: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Start the node: processor and wall seconds until offsets are known, and until a member joins."""
    began_s = time.monotonic()
    node.begin()
    served(node, committed)
    fetched = usage(node.process.process_id).cpu_s, time.monotonic() - began_s
    asked_until(node, joins)
    joined = usage(node.process.process_id).cpu_s, time.monotonic() - began_s
    node.process.wait_for_url(node.admin_url("/readyz"), timeout_s=DEADLINE_S)
    return fetched, joined


def served(node: HeadraceProcess, committed: int) -> None:
    """Wait until the offsets of all groups are answered, and check them; 0: none was committed."""
    for group in map(name_of, range(GROUPS)):
        offsets = asked_until(node, lambda it, group=group: offsets_of(it, group))
        expected = {committed} if committed else set()
        if set(offsets) != expected or len(offsets) != PARTITIONS * len(expected):
            raise AssertionError(f"{group} has not the offsets that were acknowledged last")


def asked_until(node: HeadraceProcess, ask: Callable[[WireConnection], Any]) -> Any:
    """Ask until there is an answer."""
    deadline_s = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline_s:
        try:
            with WireConnection(node.bootstrap) as connection:
                answer = ask(connection)
        except OSError:
            answer = None
        if answer is not None:
            return answer
        time.sleep(0.01)
    raise TimeoutError("groups are not served")


def offsets_of(connection: WireConnection, group: str) -> list[int] | None:
    """The committed offsets of a group; None while they are not known."""
    request = OffsetFetchRequest(group_id=group, topics=None)
    answer = connection.ask(request, OffsetFetchResponse, 5)
    if answer.error_code:
        return None
    return [it.committed_offset for topic in answer.topics for it in topic.partitions]


def joins(connection: WireConnection) -> bool | None:
    """Whether a member of a new group can join; None while it cannot."""
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    request = JoinGroupRequest(
        group_id="joining",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        member_id="",
        protocol_type="consumer",
        protocols=[protocol],
    )
    answer = connection.ask(request, JoinGroupResponse, 2)
    return None if answer.error_code else True


if __name__ == "__main__":
    main()
