"""Creation of topics that are usable at once: by request, on first use, and internal topics."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.registry import PartitionRegistry
from headrace.config.node import LogConfig
from headrace.metadata.follower.client import MetadataClient, NewTopic, TopicResult
from headrace.metadata.image import MetadataImage
from headrace.metadata.topic_names import is_valid_topic_name
from headrace.protocol.errors import ErrorCode
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.topics")

OPENING_TIMEOUT_MS = 10_000
MAX_TOPICS = 10_000  # of one request: as many as partitions, of which each has one at least
TOPICS_AT_ONCE = 50  # in one change of the metadata


_TOO_MANY = ErrorCode.POLICY_VIOLATION, f"one request creates at most {MAX_TOPICS} topics"


def _in_parts(topics: Sequence[NewTopic]) -> Iterator[Sequence[NewTopic]]:
    for start in range(0, len(topics), TOPICS_AT_ONCE):
        yield topics[start : start + TOPICS_AT_ONCE]


class CoordinatorTopic(NamedTuple):
    """An internal topic: its coordinator needs it, and it is created on first use."""

    name: str
    partitions: int
    configs: Mapping[str, str]


class TopicCreation:
    """Creates topics and waits until their partitions are open where this broker leads them."""

    def __init__(
        self,
        client: MetadataClient,
        partitions: PartitionRegistry,
        *,
        log: LogConfig,
        internal: Sequence[CoordinatorTopic],
    ) -> None:
        self._client = client
        self._partitions = partitions
        self._log = log
        self._internal = {topic.name: topic for topic in internal}
        # One automatic creation at a time: many clients request the same new topic at once.
        self._automatic = asyncio.Lock()

    @property
    def image(self) -> MetadataImage:
        """The newest metadata."""
        return self._client.image

    async def create(
        self, topics: Sequence[NewTopic], *, validate_only: bool, timeout_ms: int
    ) -> list[TopicResult]:
        """Create, and wait (at most `timeout_ms`) until the topics can be written and read here."""
        results: list[TopicResult] = []
        for some in _in_parts(topics):
            if len(results) < MAX_TOPICS:
                results += await self._client.create_topics(some, validate_only=validate_only)
            else:
                results += [TopicResult(topic.name, *_TOO_MANY, None) for topic in some]
                await turns_of(Work.REQUESTS).pause()
        if not validate_only:
            created = [result.name for result in results if result.error == ErrorCode.NONE]
            await self._partitions.wait_open(created, min(timeout_ms, OPENING_TIMEOUT_MS))
        return results

    async def create_automatically(self, names: Sequence[str]) -> None:
        """Create those of `names` that may be created on first use; the Metadata answer shows which do not exist."""
        async with self._automatic:
            image = self._client.image
            wanted = [name for name in names if image.topic(name) is None]
            topics = []
            for name in wanted:
                if name in self._internal:
                    _, partitions, configs = self._internal[name]
                    topics.append(NewTopic(name, partitions, dict(configs)))
                elif (
                    self._log.auto_create_topics
                    and name not in INTERNAL_TOPICS
                    and is_valid_topic_name(name)
                ):
                    topics.append(NewTopic(name, self._log.partitions_default, {}))
            if not topics:
                return
            for result in await self.create(
                topics, validate_only=False, timeout_ms=OPENING_TIMEOUT_MS
            ):
                if result.error not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                    logger.warning(
                        "could not create a topic on first use",
                        extra={"topic": result.name, "reason": result.message},
                    )

    def why_missing(self, name: str) -> ErrorCode:
        """The error for a topic that does not exist."""
        if not is_valid_topic_name(name):
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
