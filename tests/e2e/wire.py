"""A connection on which a test says exactly what it wants to say, without a client's retries."""

import socket
import struct
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from kafka.protocol.consumer import FetchRequest, FetchResponse
from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.protocol.producer import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from kafka.record.default_records import DefaultRecordBatchBuilder

PRODUCE_VERSION = 9
FETCH_VERSION = 12
COORDINATOR_LOAD_IN_PROGRESS = 14
TIMEOUT_S = 20

Message = Any  # a message class of kafka.protocol, or an instance of one


class WireConnection:
    """One TCP connection to a broker; requests may be pipelined with `send` and `receive`."""

    def __init__(self, bootstrap: str, *, timeout_s: float = TIMEOUT_S) -> None:
        host, port = bootstrap.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._correlation_id = 0

    def __enter__(self) -> Self:
        """Return the open connection."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self._socket.close()

    def send(self, request: Message, version: int) -> int:
        """Send a request and return its correlation id."""
        self._correlation_id += 1
        request.API_VERSION = version
        request.with_header(correlation_id=self._correlation_id, client_id="wire")
        self.send_bytes(request.encode(header=True, framed=True))
        return self._correlation_id

    def send_bytes(self, data: bytes) -> None:
        """Send any bytes."""
        self._socket.sendall(data)

    def receive(self, response_class: Message, version: int) -> Message:
        """Receive the next response."""
        (size,) = struct.unpack(">i", self._receive_exactly(4))
        frame = self._receive_exactly(size)
        return response_class.decode(frame, version=version, header=True)

    def ask(self, request: Message, response_class: Message, version: int) -> Message:
        """Send a request and receive its response."""
        sent = self.send(request, version)
        response = self.receive(response_class, version)
        assert response.header.correlation_id == sent
        return response

    def await_answer(self) -> None:
        """Wait for the first byte of the next response."""
        if not self._socket.recv(1, socket.MSG_PEEK):
            raise ConnectionError("the broker closed the connection before its answer")

    def is_closed_by_peer(self) -> bool:
        """Wait until the broker closes the connection, or answers."""
        try:
            return self._socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def produce(self, topic: str, records: bytes, *, partition: int = 0, acks: int = -1) -> Message:
        """Produce one partition's records and return the answer for that partition."""
        response = self.ask(produce_request(topic, records, partition, acks), *_PRODUCE)
        return response.responses[0].partition_responses[0]

    def fetch(
        self, topic: str, offset: int, *, max_wait_ms: int = 0, min_bytes: int = 1, **limits: int
    ) -> Message:
        """Fetch partition 0 and return the answer for it."""
        request = fetch_request(topic, offset, max_wait_ms, min_bytes, **limits)
        return self.ask(request, *_FETCH).responses[0].partitions[0]

    def new_producer_id(self) -> tuple[int, int]:
        """Return a producer id and its epoch, asking again while the broker says that it loads."""
        request = InitProducerIdRequest(
            transactional_id=None, transaction_timeout_ms=60_000, producer_id=-1, producer_epoch=-1
        )
        for _ in range(50):
            answer = self.ask(request, InitProducerIdResponse, 4)
            if answer.error_code != COORDINATOR_LOAD_IN_PROGRESS:
                break
            time.sleep(0.1)
        assert answer.error_code == 0, answer.error_code
        return answer.producer_id, answer.producer_epoch

    def find_coordinator(self, group: str) -> Message:
        """Return where the coordinator of a group is."""
        request = FindCoordinatorRequest(key_type=0, coordinator_keys=[group])
        return self.ask(request, FindCoordinatorResponse, 4).coordinators[0]

    def _receive_exactly(self, size: int) -> bytes:
        received = bytearray()
        while len(received) < size:
            data = self._socket.recv(size - len(received))
            if not data:
                msg = f"the broker closed the connection after {len(received)} of {size} bytes"
                raise ConnectionError(msg)
            received += data
        return bytes(received)


_PRODUCE = (ProduceResponse, PRODUCE_VERSION)
_FETCH = (FetchResponse, FETCH_VERSION)


def produce_request(topic: str, records: bytes, partition: int = 0, acks: int = -1) -> Message:
    """Build a request with the records of one partition."""
    topic_data = ProduceRequest.TopicProduceData
    data = topic_data.PartitionProduceData(index=partition, records=records)
    return ProduceRequest(
        transactional_id=None,
        acks=acks,
        timeout_ms=10_000,
        topic_data=[topic_data(name=topic, partition_data=[data])],
    )


def fetch_request(
    topic: str,
    offset: int,
    max_wait_ms: int,
    min_bytes: int,
    *,
    max_bytes: int = 50 << 20,
    partition_max_bytes: int = 1 << 20,
) -> Message:
    """Build a request for partition 0 outside any fetch session."""
    partition = FetchRequest.FetchTopic.FetchPartition(
        partition=0,
        current_leader_epoch=-1,
        fetch_offset=offset,
        last_fetched_epoch=-1,
        log_start_offset=-1,
        partition_max_bytes=partition_max_bytes,
    )
    return FetchRequest(
        replica_id=-1,
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        max_bytes=max_bytes,
        isolation_level=0,
        session_id=0,
        session_epoch=-1,
        topics=[FetchRequest.FetchTopic(topic=topic, partitions=[partition])],
        forgotten_topics_data=[],
        rack_id="",
    )


def batch(
    values: Sequence[bytes], *, producer: tuple[int, int] = (-1, -1), sequence: int = -1
) -> bytes:
    """Build an uncompressed batch, of a producer (id, epoch) that counts its records or of none."""
    builder = DefaultRecordBatchBuilder(2, 0, False, *producer, sequence, 1 << 30)
    for offset, value in enumerate(values):
        assert builder.append(offset, None, None, value, []) is not None
    return bytes(builder.build())
