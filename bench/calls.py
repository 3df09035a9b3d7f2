"""`python -m bench.calls`: how many of our functions one warm request runs through, and what it costs the event loop.

One broker of `headrace.testing`, and one connection that sends the same request again and again. A call is one that the
interpreter starts or resumes in our code, on the thread of the event loop, from the first byte of the request to the
answer; the figure is the least of many requests, since others have timers in between. Processor time is the loop's
thread, per request, of the fastest of some rounds.
"""

import argparse
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Final

import headrace
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import RequestHeader
from headrace.protocol.messages import (
    ApiVersionsRequest,
    CreateTopicsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    ProduceRequest,
)
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from headrace.testing import Broker

OURS: Final = str(Path(headrace.__file__).parents[1])
OTHERS: Final = ("/.venv/", "/headrace/testing/", "/bench/")
TOPIC: Final = "t"
GROUP: Final = "g"
COUNTED: Final = 40  # requests whose calls are counted
ROUNDS: Final = 7
REQUESTS: Final = 300  # of a round
TIMEOUT_S: Final = 30


@dataclass(frozen=True)
class Case:
    """A request of one version."""

    name: str
    key: ApiKey
    version: int
    request: Any


@dataclass
class Trace:
    """Calls of one request."""

    calls: int = 0
    across: int = 0  # from one file into another
    files: int = 0


class Counter:
    """Counts calls in our code, as a profiler of a thread."""

    def __init__(self) -> None:
        self.calls = 0
        self.across = 0
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        """Take one event."""
        if event != "call":
            return
        file = frame.f_code.co_filename
        if not file.startswith(OURS) or any(it in file for it in OTHERS):
            return
        self.calls += 1
        self.files.add(file)
        caller = frame.f_back
        if caller is not None and caller.f_code.co_filename != file:
            self.across += 1


def cases() -> list[Case]:
    """The requests, each of which is answered without an error, or as a client without a group is."""
    batch = bytes(encode_batch([Record(0, 1, None, b"x" * 100, ())], BatchOptions()))
    produced = ProduceRequest.TopicProduceData.PartitionProduceData(index=0, records=batch)
    committed = OffsetCommitRequest.OffsetCommitRequestTopic
    listed = ListOffsetsRequest.ListOffsetsTopic
    fetched = FetchRequest.FetchTopic
    return [
        Case("ApiVersions", ApiKey.API_VERSIONS, 3, ApiVersionsRequest()),
        Case(
            "Metadata, 1 topic",
            ApiKey.METADATA,
            12,
            MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=TOPIC)]),
        ),
        Case(
            "FindCoordinator",
            ApiKey.FIND_COORDINATOR,
            4,
            FindCoordinatorRequest(key_type=0, coordinator_keys=[GROUP]),
        ),
        Case(
            "Heartbeat, unknown group",
            ApiKey.HEARTBEAT,
            4,
            HeartbeatRequest(group_id="unknown", generation_id=1, member_id="m"),
        ),
        Case(
            "OffsetCommit, 1 partition",
            ApiKey.OFFSET_COMMIT,
            8,
            OffsetCommitRequest(
                group_id=GROUP,
                generation_id_or_member_epoch=-1,
                topics=[
                    committed(
                        name=TOPIC,
                        partitions=[
                            committed.OffsetCommitRequestPartition(
                                partition_index=0, committed_offset=1, committed_metadata=""
                            )
                        ],
                    )
                ],
            ),
        ),
        Case(
            "OffsetFetch, 1 partition",
            ApiKey.OFFSET_FETCH,
            7,
            OffsetFetchRequest(
                group_id=GROUP,
                topics=[
                    OffsetFetchRequest.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
                ],
            ),
        ),
        Case(
            "ListOffsets, latest",
            ApiKey.LIST_OFFSETS,
            7,
            ListOffsetsRequest(
                replica_id=-1,
                topics=[
                    listed(
                        name=TOPIC,
                        partitions=[listed.ListOffsetsPartition(partition_index=0, timestamp=-1)],
                    )
                ],
            ),
        ),
        Case(
            "Produce, 100 B, acks=all",
            ApiKey.PRODUCE,
            9,
            ProduceRequest(
                acks=-1,
                timeout_ms=30_000,
                topic_data=[ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[produced])],
            ),
        ),
        Case(
            "Fetch, hot",
            ApiKey.FETCH,
            11,
            FetchRequest(
                max_wait_ms=0,
                min_bytes=1,
                max_bytes=1 << 20,
                session_epoch=-1,
                topics=[
                    fetched(
                        topic=TOPIC,
                        partitions=[
                            fetched.FetchPartition(
                                partition=0, fetch_offset=0, partition_max_bytes=1_000
                            )
                        ],
                    )
                ],
            ),
        ),
    ]


class Client:
    """One connection."""

    def __init__(self, bootstrap: str) -> None:
        host, port = bootstrap.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def frame(self, case: Case) -> bytes:
        """Return the bytes of a request."""
        header = RequestHeader(int(case.key), case.version, 1, "calls")
        payload = messages.encode_request(case.request, header)
        return struct.pack(">i", len(payload)) + payload

    def ask(self, frame: bytes) -> bytes:
        """Send a request, and return the payload of its answer."""
        self._socket.sendall(frame)
        (size,) = struct.unpack(">i", self._socket.recv(4, socket.MSG_WAITALL))
        return self._socket.recv(size, socket.MSG_WAITALL)


def on_loop(broker: Broker, work: Callable[[], Any]) -> Any:
    """Call something on the thread of the broker's event loop."""

    async def call() -> Any:
        return work()

    return broker._thread.run(call(), TIMEOUT_S)


def counted(broker: Broker, client: Client, frame: bytes) -> Trace:
    """Return the least calls of one request."""
    best = Trace(sys.maxsize)
    for _ in range(COUNTED):
        counter = Counter()
        on_loop(broker, lambda: sys.setprofile(counter))
        client.ask(frame)
        on_loop(broker, lambda: sys.setprofile(None))
        if counter.calls < best.calls:
            best = Trace(counter.calls, counter.across, len(counter.files))
    return best


def cost_us(broker: Broker, client: Client, frame: bytes) -> float:
    """Return the processor time of the loop's thread for one request."""
    rounds = []
    for _ in range(ROUNDS):
        began = on_loop(broker, time.thread_time)
        for _ in range(REQUESTS):
            client.ask(frame)
        rounds.append((on_loop(broker, time.thread_time) - began) / REQUESTS)
    return min(rounds) * 1e6


def main() -> None:
    """Print a line for each request."""
    parser = argparse.ArgumentParser(prog="python -m bench.calls", description=__doc__)
    parser.add_argument("--only", default="", help="requests whose names contain this")
    only = parser.parse_args().only
    print(f"{'request':<28}{'calls':>7}{'across':>8}{'files':>7}{'loop us':>9}")
    with Broker() as broker:
        client = Client(broker.bootstrap)
        topic = CreateTopicsRequest.CreatableTopic(
            name=TOPIC, num_partitions=1, replication_factor=1
        )
        made = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        client.ask(client.frame(Case("", ApiKey.CREATE_TOPICS, 5, made)))
        every = cases()
        for case in every:  # also the topic of commits is made, and a record is there
            client.ask(client.frame(case))
        time.sleep(2)
        for case in (it for it in every if only.lower() in it.name.lower()):
            frame = client.frame(case)
            for _ in range(REQUESTS):
                client.ask(frame)
            trace = counted(broker, client, frame)
            cost = cost_us(broker, client, frame)
            print(
                f"{case.name:<28}{trace.calls:>7}{trace.across:>8}{trace.files:>7}{cost:>9.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
