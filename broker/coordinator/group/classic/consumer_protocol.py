"""The one field of a consumer's subscription that the coordinator reads: its topics. Pure.

ConsumerProtocolSubscription, every version, begins with

    bytes | type           | field   | meaning
    2     | int16          | version | 0 and up; later versions only append fields
    4     | int32          | topics  | count, then each a string (int16 length, UTF-8)

The rest (user data, owned partitions, generation, rack) belongs to the assignors on the client
side: cooperative rebalancing (KIP-429) needs nothing of the coordinator.

Source: ConsumerProtocolSubscription.json of Apache Kafka; KIP-496 and KIP-211 for why the
coordinator looks.
"""

from collections.abc import Iterable
from struct import Struct
from typing import Final

from headrace.protocol.errors import ProtocolError
from headrace.protocol.message_reading import read_count, read_string
from headrace.protocol.primitives import Reader

PROTOCOL_TYPE: Final = "consumer"
_VERSION: Final = Struct(">h")
_MIN_TOPIC_BYTES: Final = 2  # the length of its name


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """Give all topics of these subscriptions; None when one of them cannot be read."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            reader = Reader(memoryview(subscription))
            if reader.fixed(_VERSION) < (0,):
                return None
            count = read_count(reader, _MIN_TOPIC_BYTES)
            topics.update(read_string(reader) for _ in range(count))
    except (ProtocolError, UnicodeDecodeError):
        return None
    return frozenset(topics)
