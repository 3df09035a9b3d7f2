"""Fetch by hand, as `protocol.produce` is: requests to tuples, responses to buffers.

The one door to `protocol.fetch.request` and `protocol.fetch.response`.
"""

from protocol.fetch.request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
    decode_fetch,
)
from protocol.fetch.response import (
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
    "encode_fetch_response",
]
