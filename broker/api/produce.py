"""Produce (API key 0), versions 3 to 13 (advertised from 0: older librdkafka asks for a range that includes it).

Behaviour:
  * acks=1 and acks=all are the same: both wait until the WAL has confirmed the batch and the lease is valid. acks=0
    gets no answer; when one of its batches is refused, the connection is closed: the client then refreshes metadata.
  * A batch takes effect when it is appended, so the next Produce of its connection starts while it is being written.
  * While this broker's lease is not valid, every partition is answered NOT_LEADER_OR_FOLLOWER, definitely not
    appended: the client tries again until the lease is valid, or another broker leads.
  * No room in WAL or cache: the request is parked before any state changes, and blocks its own connection, for at most
    `admission_timeout_ms`; then every partition is answered NOT_ENOUGH_REPLICAS, retriable and definitely not appended.
  * When the WAL fails or the lease is lost after an append, the connection is closed without an answer: the outcome is
    unknown, and no error code means that.
  * Never creates a topic.
  * A partition that another broker leads is NOT_LEADER_OR_FOLLOWER with the leader's address (KIP-951).
Deviations from Apache Kafka:
  * `timeout_ms` is not used: there are no followers to wait for.
  * Transactional batches are refused.
  * Where a topic's rules need the records themselves (compacted, or another codec), a batch of more than 250,000
    records or 64 MiB decompressed is MESSAGE_TOO_LARGE.
Version notes:
  * 3: record format 2.  7: zstd.  8: record errors.  9: flexible.  10: current leader.  13: topic ids.
Source: ProduceRequest.json, ProduceResponse.json of Apache Kafka 4.3; KIP-98, KIP-467, KIP-951, KIP-516.
"""

import logging
import struct
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

from headrace.broker.api.current_leaders import name_leaders
from headrace.broker.cluster.cluster_view import ClientSide, ClusterView
from headrace.broker.network.session import Reply
from headrace.broker.partition.append_rules import RECORD_OVERHEAD_BYTES, Rejection
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.headers import RequestHeader
from headrace.protocol.leader_discovery import NodeEndpoint
from headrace.protocol.produce import (
    LEADER_DISCOVERY_SINCE,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceTopicResponse,
    RecordError,
    decode_produce,
    encode_produce_response,
)
from headrace.storage.engine import StorageEngine
from headrace.storage.errors import BackPressureError, StorageError

logger = logging.getLogger("headrace.produce")

API = ApiKey.PRODUCE
TOPIC_IDS_SINCE = 13
ACKS_NONE, ACKS_LEADER, ACKS_ALL = 0, 1, -1
_SIZE = struct.Struct(">i")
ADMIN_CLIENT_ID = "__admin_client"
_LEASE_NOT_VALID = Rejection(
    ErrorCode.NOT_LEADER_OR_FOLLOWER, "not appended: the lease of this broker is not valid"
)


class _PendingProduce:
    """A request whose batches have been appended, waiting for their acknowledgements."""

    __slots__ = ("_answer", "_begin_s", "_metrics", "_reply", "_waiting", "sealed")

    def __init__(self, reply: Reply, metrics: RequestMetrics, begin_s: float) -> None:
        self._reply = reply
        self._metrics = metrics
        self._begin_s = begin_s
        self._waiting = 0
        self._answer: bytes | None = None
        self.sealed = False

    def expect(self) -> None:
        self._waiting += 1

    def batch_done(self, error: Exception | None) -> None:
        """One batch is acknowledged, or its outcome is unknown."""
        if error is not None:
            self._reply.close()
            return
        self._waiting -= 1
        if self._waiting == 0 and self.sealed:
            self._finish()

    def seal(self, answer: bytes | None) -> None:
        """Every batch has been appended or refused; answer as soon as all are acknowledged."""
        self._answer = answer
        self.sealed = True
        if self._waiting == 0:
            self._finish()

    def _finish(self) -> None:
        self._metrics.observe_produce(self._metrics.clock_s() - self._begin_s)
        if self._answer is None:
            self._reply.nothing()
        else:
            self._reply.send([_SIZE.pack(len(self._answer)), self._answer])


class ProduceHandler:
    """Serves Produce from frame to answer."""

    def __init__(
        self,
        *,
        partitions: PartitionRegistry,
        cluster: ClusterView,
        engine: StorageEngine,
        wall_clock_ms: Callable[[], int],
        metrics: RequestMetrics,
    ) -> None:
        self._partitions = partitions
        self._cluster = cluster
        self._engine = engine
        self._wall_clock_ms = wall_clock_ms
        self._metrics = metrics

    def start(
        self, client: ClientSide, header: RequestHeader, body: memoryview, reply: Reply
    ) -> Coroutine[Any, Any, None] | None:
        """Append the request's batches now, else return the coroutine that waits for room and then appends them."""
        begin_s = self._metrics.clock_s()
        request = decode_produce(header.api_version, body)
        partition_count = sum(len(topic.partitions) for topic in request.topics)
        bytes_needed = len(body) + partition_count * RECORD_OVERHEAD_BYTES
        if not self._engine.admits(bytes_needed):
            return self._start_when_admitted(client, header, request, bytes_needed, reply, begin_s)
        self._append(client, header, request, reply, begin_s)
        return None

    async def _start_when_admitted(
        self,
        client: ClientSide,
        header: RequestHeader,
        request: ProduceRequest,
        bytes_needed: int,
        reply: Reply,
        begin_s: float,
    ) -> None:
        try:
            await self._engine.admission(bytes_needed)
        except BackPressureError as error:
            refusal = Rejection(ErrorCode.NOT_ENOUGH_REPLICAS, f"not appended: {error}")
            self._refuse(header, request, reply, refusal)
            return
        except StorageError as error:
            logger.warning(
                "Produce failed: connection closed without an answer", extra={"reason": str(error)}
            )
            reply.close()
            return
        self._append(client, header, request, reply, begin_s)

    def _append(
        self,
        client: ClientSide,
        header: RequestHeader,
        request: ProduceRequest,
        reply: Reply,
        begin_s: float,
    ) -> None:
        if request.acks not in (ACKS_NONE, ACKS_LEADER, ACKS_ALL):
            refusal = Rejection(ErrorCode.INVALID_REQUIRED_ACKS, "acks must be -1, 0 or 1")
            self._refuse(header, request, reply, refusal)
            return
        if not self._partitions.is_lease_valid():
            self._refuse(header, request, reply, _LEASE_NOT_VALID)
            return
        version = header.api_version
        now_ms = self._wall_clock_ms()
        pending = _PendingProduce(reply, self._metrics, begin_s)
        refused = False
        responses = []
        for topic in request.topics:
            answers = []
            for index, records in topic.partitions:
                answer = self._append_one(
                    header, topic.name, topic.topic_id, index, records, now_ms, pending
                )
                refused = refused or answer.error_code != 0
                answers.append(answer)
            responses.append(ProduceTopicResponse(topic.name, topic.topic_id, answers))
        if request.acks == ACKS_NONE:
            if refused:
                reply.close()
            else:
                reply.nothing()
            pending.sealed = False  # acks=0: no answer
            return
        endpoints: list[NodeEndpoint] = []
        if refused and version >= LEADER_DISCOVERY_SINCE:
            responses, endpoints = name_leaders(self._cluster, client, responses)
        pending.seal(
            encode_produce_response(
                version, header.correlation_id, responses, node_endpoints=endpoints
            )
        )

    def _append_one(
        self,
        header: RequestHeader,
        name: str,
        topic_id: UUID | None,
        index: int,
        records: memoryview | None,
        now_ms: int,
        pending: _PendingProduce,
    ) -> ProducePartitionResponse:
        version = header.api_version
        if version >= TOPIC_IDS_SINCE:
            found = self._partitions.find_by_id(topic_id, index)
        else:
            found = self._partitions.find(name, index)
        if not isinstance(found, Partition):
            return self._rejected(index, Rejection(found), version)
        if found.topic in INTERNAL_TOPICS and header.client_id != ADMIN_CLIENT_ID:
            refusal = Rejection(
                ErrorCode.INVALID_TOPIC_EXCEPTION, "clients may not produce to internal topics"
            )
            return self._rejected(index, refusal, version)
        pending.expect()
        result = found.append(records, version=version, now_ms=now_ms, on_done=pending.batch_done)
        if isinstance(result, Rejection):
            pending.batch_done(None)
            return self._rejected(index, result, version)
        return ProducePartitionResponse(
            index,
            0,
            result.base_offset,
            result.log_append_time_ms,
            found.log_start_offset,
        )

    def _rejected(self, index: int, refusal: Rejection, version: int) -> ProducePartitionResponse:
        del version
        self._metrics.produce_refused[int(refusal.code)] += 1
        return ProducePartitionResponse(
            index,
            int(refusal.code),
            -1,
            -1,
            -1,
            record_errors=[RecordError(*error) for error in refusal.record_errors],
            error_message=refusal.message,
        )

    def _refuse(
        self, header: RequestHeader, request: ProduceRequest, reply: Reply, refusal: Rejection
    ) -> None:
        """Answer every partition with the same error; nothing was appended."""
        if request.acks == ACKS_NONE:
            reply.close()
            return
        responses = [
            ProduceTopicResponse(
                topic.name,
                topic.topic_id,
                [
                    self._rejected(index, refusal, header.api_version)
                    for index, _ in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        answer = encode_produce_response(header.api_version, header.correlation_id, responses)
        reply.send([_SIZE.pack(len(answer)), answer])
