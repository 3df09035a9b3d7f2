"""A Produce that goes on in steps, and its answer, which waits until its batches are acknowledged."""

import struct
from collections.abc import Generator, Sequence
from typing import Final, NamedTuple, TypeVar

from headrace.broker.network.reply import Reply
from headrace.broker.partition.append_rules import Rejection
from headrace.broker.partition.arrivals import ExpectedPartition
from headrace.broker.telemetry.request_metrics import RequestMetrics
from headrace.protocol.errors import ErrorCode
from headrace.protocol.headers import RequestHeader
from headrace.protocol.leader_discovery import NodeEndpoint
from headrace.protocol.produce import (
    ProducePartitionResponse,
    ProduceTopicResponse,
    RecordError,
    encode_produce_response,
)
from headrace.protocol.records.window import Slice
from headrace.protocol.server_connection import Buffer

_SIZE: Final = struct.Struct(">i")

INTERNAL: Final = Rejection(
    ErrorCode.INVALID_TOPIC_EXCEPTION, "clients may not produce to internal topics"
)
WRONG_ACKS: Final = Rejection(ErrorCode.INVALID_REQUIRED_ACKS, "acks must be -1, 0 or 1")
LEASE_NOT_VALID: Final = Rejection(
    ErrorCode.NOT_LEADER_OR_FOLLOWER, "not appended: the lease of this broker is not valid"
)
NOTHING: Final = object()  # is left of the steps of a request
_T = TypeVar("_T")


class Arriving(NamedTuple):
    """Partitions that may be here in a moment, for which a request waits before anything of it is appended."""

    partitions: Sequence[ExpectedPartition]
    size_bytes: int


# Each says where the next piece of work belongs, the loop unless it says another, or what it waits for.
ProduceSteps = Generator[Slice | Arriving | None, None, _T]


class PendingProduce:
    """A request whose batches have been appended, waiting for their acknowledgements."""

    __slots__ = ("_answer", "_reply", "refused", "waiting")

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._answer: list[Buffer] = []
        self.waiting = 1  # batches that are not acknowledged yet, and the answer itself
        self.refused = False  # at least one batch

    def batch_done(self, error: Exception | None) -> None:
        """One batch is acknowledged, or its outcome is unknown."""
        if error is not None:
            self._reply.close()
            return
        self.waiting -= 1
        if not self.waiting:
            self._reply.send(self._answer)

    def seal(self, answer: list[Buffer]) -> None:
        """Every batch has been appended or refused; answer as soon as all are acknowledged."""
        self._answer = answer
        if self.waiting > 1:
            self.waiting -= 1
        else:
            self.batch_done(None)


def encoded_answer(
    reply: Reply,
    header: RequestHeader,
    topics: Sequence[ProduceTopicResponse],
    node_endpoints: Sequence[NodeEndpoint] = (),
) -> Generator[Slice, None, list[Buffer]]:
    """Encode an answer as a whole frame."""
    answer = yield from encode_produce_response(
        header.api_version,
        header.correlation_id,
        topics,
        throttle_time_ms=reply.throttle_ms,
        node_endpoints=node_endpoints,
    )
    return [_SIZE.pack(len(answer)), answer]


def rejected(metrics: RequestMetrics, index: int, refusal: Rejection) -> ProducePartitionResponse:
    """Answer a batch that was refused, and count it."""
    metrics.produce_refused[int(refusal.code)] += 1
    return ProducePartitionResponse(
        index,
        int(refusal.code),
        -1,
        -1,
        -1,
        record_errors=[RecordError(*error) for error in refusal.record_errors],
        error_message=refusal.message,
    )
