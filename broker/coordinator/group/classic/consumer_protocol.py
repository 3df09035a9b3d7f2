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
from typing import Final

from headrace.broker.coordinator.runtime.record_fields import CorruptRecordError, FieldReader

PROTOCOL_TYPE: Final = "consumer"


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """Give all topics of these subscriptions; None when one of them cannot be read."""
    topics: set[str] = set()
    try:
        for subscription in subscriptions:
            reader = FieldReader(subscription)
            if reader.int16() < 0:
                return None
            topics.update(reader.string() for _ in range(reader.array_length()))
    except CorruptRecordError:
        return None
    return frozenset(topics)
