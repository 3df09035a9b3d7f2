"""A broker that answers Metadata, ListOffsets and Fetch as a test wants it, by the encoders that brokers have."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self
from uuid import UUID

from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.fetch.request import decode_fetch
from headrace.protocol.fetch.response import (
    AbortedTransaction,
    FetchPartitionResponse,
    FetchTopicResponse,
    encode_fetch_response,
)
from headrace.protocol.frames import frame
from headrace.protocol.headers import parse_request_header
from headrace.protocol.records.batch import parse_header
from tests.unit.pipeline.source.transactional_log import TransactionalLog

CLUSTER = "unit"
TOPIC = "orders"
TOPIC_ID = UUID(int=1)

# What is answered instead of a Fetch: an error, or an action such as closing the connection.
Fault = ErrorCode | Callable[["ScriptedBroker"], bytes]


class FakeTime:
    """Passes when it is waited for, and a little when it is looked at."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic_s(self) -> float:
        self.now_s += 0.01
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


class ScriptedBroker(ThreadingTCPServer):
    """Leads partition 0 of one topic, unless `leader` says otherwise."""

    allow_reuse_address = daemon_threads = True

    def __init__(self, batches: Sequence[bytes] = (), node_id: int = 1) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.batches = list(batches)
        self.node_id = node_id
        self.leader = self  # as its Metadata say
        self.cluster_id, self.topic_id, self.topic_error = CLUSTER, TOPIC_ID, 0
        self.log_start = 0
        self.high_watermark = parse_header(self.batches[-1]).next_offset if batches else 0
        self.aborted: list[AbortedTransaction] = []
        self.log: TransactionalLog | None = None  # instead of the above
        self.faults: list[Fault] = []  # of the next Fetches
        self.cut_bytes = 0  # of the end of each answer's records
        self.asked: list[tuple[ApiKey, int]] = []  # and the offset or time
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()

    def answer(self, request: memoryview) -> bytes:
        """The whole answer to a request; nothing closes the connection."""
        header, position = parse_request_header(request)
        key, version, body = ApiKey(header.api_key), header.api_version, request[position:]
        if key is ApiKey.FETCH:
            return self._fetch(version, header.correlation_id, body)
        made = self._metadata if key is ApiKey.METADATA else self._offsets
        sent = made(messages.decode_request(key, version, body))
        return frame(bytes(messages.encode_response(sent, version, header.correlation_id)))

    def _metadata(self, request: Any) -> Any:
        self.asked.append((ApiKey.METADATA, 0))
        response = messages.MetadataResponse
        topic = response.MetadataResponseTopic
        leader = self.leader
        partition = topic.MetadataResponsePartition(
            error_code=0,
            partition_index=0,
            leader_id=leader.node_id,
            leader_epoch=0,
            replica_nodes=[],
            isr_nodes=[],
            offline_replicas=[],
        )
        return response(
            throttle_time_ms=0,
            brokers=[
                response.MetadataResponseBroker(
                    node_id=it.node_id, host="127.0.0.1", port=it.server_address[1], rack=None
                )
                for it in (self, leader)
            ],
            cluster_id=self.cluster_id,
            controller_id=1,
            topics=[
                topic(
                    error_code=self.topic_error,
                    name=it.name,
                    topic_id=self.topic_id,
                    is_internal=False,
                    partitions=[partition],
                )
                for it in request.topics
            ],
        )

    def _offsets(self, request: Any) -> Any:
        topic = messages.ListOffsetsResponse.ListOffsetsTopicResponse
        found = []
        for it in request.topics:
            rows = []
            for each in it.partitions:
                self.asked.append((ApiKey.LIST_OFFSETS, each.timestamp))
                offset = self.log_start if each.timestamp == -2 else self.high_watermark
                if self.log is not None:
                    stable, end = self.log.last_stable_offset(), self.log.end_offset
                    offset = stable if request.isolation_level else end
                rows.append(
                    topic.ListOffsetsPartitionResponse(
                        partition_index=each.partition_index,
                        error_code=0,
                        timestamp=-1,
                        offset=offset,
                        leader_epoch=0,
                    )
                )
            found.append(topic(name=it.name, partitions=rows))
        return messages.ListOffsetsResponse(throttle_time_ms=0, topics=found)

    def _fetch(self, version: int, correlation_id: int, body: memoryview) -> bytes:
        request = decode_fetch(version, body)
        (wanted,) = request.topics[0].partitions
        self.asked.append((ApiKey.FETCH, wanted.fetch_offset))
        fault = self.faults.pop(0) if self.faults else None
        if callable(fault):
            return fault(self)
        if self.log is None:
            found = self._partition(wanted.fetch_offset, wanted.partition_max_bytes)
        else:
            found = self._of_log(self.log, wanted.fetch_offset, request.isolation_level == 1)
        if fault is not None:
            found = FetchPartitionResponse(0, int(fault))
        topics = [FetchTopicResponse("", request.topics[0].topic_id, [found])]
        return b"".join(encode_fetch_response(version, correlation_id, 0, 0, 0, topics))

    def _partition(self, offset: int, max_bytes: int) -> FetchPartitionResponse:
        if not self.log_start <= offset <= self.high_watermark:
            return FetchPartitionResponse(0, int(ErrorCode.OFFSET_OUT_OF_RANGE))
        chosen: list[bytes] = []
        for it in self.batches:
            if parse_header(it).last_offset >= offset:
                if chosen and len(b"".join(chosen)) + len(it) > max_bytes:
                    break
                chosen.append(it)
        records = b"".join(chosen)
        if self.cut_bytes and len(chosen) > 1:
            records = records[: -self.cut_bytes]
        stable = self.high_watermark
        return FetchPartitionResponse(
            0, 0, stable, stable, self.log_start, self.aborted, records=[records]
        )

    def _of_log(self, log: TransactionalLog, offset: int, committed: bool) -> Any:
        """One batch at a time, as a broker with transactions answers."""
        end = log.last_stable_offset() if committed else log.end_offset
        batch = next((it for it in log.batches if parse_header(it).last_offset >= offset), None)
        if batch is None or parse_header(batch).base_offset >= end:
            return FetchPartitionResponse(0, 0, log.end_offset, end, 0, records=[])
        _, aborted = log.fetched(offset, parse_header(batch).next_offset)
        told = aborted if committed else None
        return FetchPartitionResponse(0, 0, log.end_offset, end, 0, told, records=[batch])


class _Connection(BaseRequestHandler):
    server: ScriptedBroker

    def handle(self) -> None:
        with suppress(OSError):
            while size := self._received(4):
                answer = self.server.answer(memoryview(self._received(int.from_bytes(size))))
                if not answer:
                    return
                self.request.sendall(answer)

    def _received(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            data = self.request.recv(size - len(found))
            if not data:
                return b""
            found += data
        return found
