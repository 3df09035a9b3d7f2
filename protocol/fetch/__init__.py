"""Hand-written codec of Fetch, like `headrace.protocol.produce`: requests to tuples, responses to buffers. Pure.

The only interface to `headrace.protocol.fetch.request` and `headrace.protocol.fetch.response`.
"""

from headrace.protocol.fetch.request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    decode_fetch,
    decode_fetch_steps,
)
from headrace.protocol.fetch.response import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartitionResponse,
    FetchTopicResponse,
    SnapshotId,
    encode_fetch_response,
)

__all__ = [
    "AbortedTransaction",
    "EpochEndOffset",
    "FetchPartition",
    "FetchPartitionResponse",
    "FetchRequest",
    "FetchTopic",
    "FetchTopicResponse",
    "ForgottenTopic",
    "SnapshotId",
    "decode_fetch",
    "decode_fetch_steps",
    "encode_fetch_response",
]
