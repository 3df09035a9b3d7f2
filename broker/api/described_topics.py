"""Topics as Metadata describes them: encoded once, and kept, since all clients ask for the same ones.

A description depends on the topic, on the brokers, on the version of the API, on which brokers have the client's
listener, and on whether authorised operations are asked for. Images are immutable, and what a change has left alone is
the same object in both: so what is kept is valid while topic and brokers are those that it was made of. It is made in
small steps, by one request at a time: others that want the same one find it made.
"""

import asyncio
from collections import OrderedDict
from typing import Final, NamedTuple
from uuid import UUID

from headrace.broker.cluster.cluster_view import SeenCluster
from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.metadata.image import TopicImage
from headrace.metadata.images.brokers import Brokers
from headrace.protocol.acl import NO_OPERATIONS
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import EncodedElement, MetadataResponse, encode_element_steps
from headrace.steps import Steps
from headrace.turns import ITEMS_PER_LOOK

LISTENER_NOT_FOUND_SINCE: Final = 6
MAX_KEPT_BYTES: Final = 8 * 1024 * 1024  # of 180,000 partitions about; the least recently used go
_ENTRY_BYTES: Final = 512  # besides what is encoded

_Topic = MetadataResponse.MetadataResponseTopic
_Partition = _Topic.MetadataResponsePartition

# Version, operations, brokers with the listener, topic.
_Key = tuple[int, int, tuple[int, ...], UUID]


class _Kept(NamedTuple):
    topic: TopicImage
    brokers: Brokers  # of the image, by identity
    encoded: EncodedElement

    @property
    def size_bytes(self) -> int:
        return len(self.encoded) + _ENTRY_BYTES


class DescribedTopics:
    """The descriptions that were asked for most recently."""

    def __init__(self, max_bytes: int = MAX_KEPT_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._making = asyncio.Lock()
        self.kept_bytes = 0
        self.made = 0  # not found

    async def describe(
        self,
        context: RequestContext,
        seen: SeenCluster,
        topic: TopicImage,
        operations: int = NO_OPERATIONS,
    ) -> EncodedElement:
        """Give the element of a Metadata answer, with these authorised operations."""
        key = _key(context.version, seen, topic, operations)
        found = self._find(key, seen, topic)
        if found is None:
            async with self._making:
                found = self._find(key, seen, topic)  # another request may have made it
                if found is None:
                    steps = _description_steps(seen, topic, context.version, operations)
                    found = await context.turns.run(steps)
                    self._keep(key, _Kept(topic, seen.image.brokers, found))
        return found

    def known(
        self, version: int, seen: SeenCluster, topic: TopicImage, operations: int
    ) -> EncodedElement | None:
        """Give the element of a Metadata answer, if it was asked for before."""
        return self._find(_key(version, seen, topic, operations), seen, topic)

    def _find(self, key: _Key, seen: SeenCluster, topic: TopicImage) -> EncodedElement | None:
        kept = self._kept.get(key)
        if kept is None or kept.topic is not topic or kept.brokers is not seen.image.brokers:
            return None
        self._kept.move_to_end(key)
        return kept.encoded

    def _keep(self, key: _Key, kept: _Kept) -> None:
        self.made += 1
        before = self._kept.pop(key, None)
        if before is not None:
            self.kept_bytes -= before.size_bytes
        self._kept[key] = kept
        self.kept_bytes += kept.size_bytes
        while self.kept_bytes > self._max_bytes:
            _, oldest = self._kept.popitem(last=False)
            self.kept_bytes -= oldest.size_bytes


def _key(version: int, seen: SeenCluster, topic: TopicImage, operations: int) -> _Key:
    return version, operations, tuple(seen.brokers), topic.topic_id


def _description_steps(
    seen: SeenCluster, topic: TopicImage, version: int, operations: int
) -> Steps[EncodedElement]:
    without_listener = ErrorCode.LEADER_NOT_AVAILABLE
    if version >= LISTENER_NOT_FOUND_SINCE:
        without_listener = ErrorCode.LISTENER_NOT_FOUND
    partitions = []
    for number, partition in enumerate(topic.partitions, start=1):
        fields = seen.leadership(
            partition, topic.replication_factor, without_listener=without_listener
        )
        partitions.append(_Partition(**fields))
        if number % ITEMS_PER_LOOK == 0:
            yield
    described = _Topic(
        error_code=0,
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=partitions,
        topic_authorized_operations=operations,
    )
    encoded = yield from encode_element_steps(MetadataResponse, "topics", described, version)
    yield  # there may be thousands of topics of one partition
    return encoded
