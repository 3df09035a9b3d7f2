"""A Produce whose batches have been appended, and the answer to it, which waits for their acknowledgements."""

import struct
from collections.abc import Generator, Sequence
from typing import Final

from headrace.broker.network.reply import Reply
from headrace.protocol.headers import RequestHeader
from headrace.protocol.leader_discovery import NodeEndpoint
from headrace.protocol.produce import ProduceTopicResponse, encode_produce_response
from headrace.protocol.records.window import Slice
from headrace.protocol.server_connection import Buffer

_SIZE: Final = struct.Struct(">i")


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
