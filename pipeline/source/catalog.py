"""What a metadata snapshot says about where topics lie in the bucket. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.topics import TopicImage
from headrace.metadata.records.entry import SnapshotId
from headrace.pipeline.source.errors import OptionError
from headrace.storage.objects.keys import object_key

# The default of a consumer that subscribes to a pattern leaves them out, too.
_INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})


class TopicPartition(NamedTuple):
    """Name of a topic, and number of a partition."""

    topic: str
    partition: int


class StoredRange(NamedTuple):
    """This object holds offsets `[start_offset, end_offset)` of a stream."""

    object_id: int
    key: str
    size_bytes: int  # of the whole object
    stream_id: int
    start_offset: int
    end_offset: int
    share_bytes: int  # about what of the object belongs to this range: by number of offsets


@dataclass(frozen=True, slots=True)
class StoredPartition:
    """The committed part of one partition: offsets `[start_offset, end_offset)`."""

    data_stream_id: int
    meta_stream_id: int
    start_offset: int
    end_offset: int


class PlannedStreams(Protocol):
    """What of newer metadata is looked at once something was planned: by ids, which no later topic gets again."""

    @property
    def index(self) -> int:
        """See `Catalog.index`."""
        ...

    def stream_bounds(self, stream_id: int) -> tuple[int, int] | None:
        """See `Catalog.stream_bounds`."""
        ...

    def ranges(self, stream_id: int, start_offset: int, end_offset: int) -> Iterator[StoredRange]:
        """See `Catalog.ranges`."""
        ...


class Catalog:
    """One snapshot of the metadata, by the names that clients use."""

    def __init__(self, image: MetadataImage, time_ms: int = 0) -> None:
        self._image = image
        self.time_ms = time_ms  # when they were put into the bucket, or a broker sent them

    @property
    def image(self) -> MetadataImage:
        """The snapshot itself."""
        return self._image

    @property
    def cluster_id(self) -> str:
        """Id of the cluster."""
        return self._image.cluster_id

    @property
    def index(self) -> int:
        """Entry of the metadata log that the snapshot ends with."""
        return self._image.index

    @property
    def term(self) -> int:
        """Term of that entry."""
        return self._image.term

    @property
    def snapshot_id(self) -> SnapshotId:
        """Entry and term: metadata with a greater one are newer."""
        return SnapshotId(self._image.index, self._image.term)

    def has_topic(self, name: str) -> bool:
        """Whether there is such a topic."""
        return self._image.topic(name) is not None

    def topic_id(self, name: str) -> str:
        """The id of a topic, which one of the same name that is created later does not have.

        Raises:
            OptionError: the snapshot has no such topic.
        """
        return str(self._topic(name).topic_id)

    def subscribed(self, names: Sequence[str]) -> list[TopicPartition]:
        """All partitions of these topics.

        Raises:
            OptionError: the snapshot has no such topic.
        """
        return [
            TopicPartition(name, it.partition)
            for name in sorted(set(names))
            for it in self._topic(name).partitions
        ]

    def matching(self, pattern: str) -> list[TopicPartition]:
        """All partitions of the topics whose whole name matches, but for internal topics.

        Raises:
            OptionError: `pattern` is no regular expression.
        """
        try:
            wanted = re.compile(pattern)
        except re.error as error:
            raise OptionError(
                f"subscribePattern {pattern!r} is no regular expression: {error}"
            ) from error
        names = (it.name for it in self._image.topics.values())
        return self.subscribed(
            [it for it in names if wanted.fullmatch(it) and it not in _INTERNAL_TOPICS]
        )

    def assigned(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """These partitions, in order.

        Raises:
            OptionError: the snapshot does not have one of them.
        """
        for it in partitions:
            if not 0 <= it.partition < len(self._topic(it.topic).partitions):
                raise OptionError(f"topic {it.topic} has no partition {it.partition}")
        return sorted(set(partitions))

    def stored(self, name: TopicPartition) -> StoredPartition | None:
        """What is committed of a partition; None once the topic or the partition is gone.

        For planning, by one catalog. What was planned is looked up by `PlannedStreams`: the topic may have been
        deleted, and created again under its name.
        """
        topic = self._image.topic(name.topic)
        if topic is None or name.partition >= len(topic.partitions):
            return None
        found = topic.partitions[name.partition]
        stream = self._image.streams[found.data_stream_id]
        return StoredPartition(
            found.data_stream_id, found.meta_stream_id, stream.start_offset, stream.end_offset
        )

    def stream_bounds(self, stream_id: int) -> tuple[int, int] | None:
        """Start and end of what is committed of a stream; None once it is gone. No other one gets its id."""
        stream = self._image.streams.get(stream_id)
        return None if stream is None else (stream.start_offset, stream.end_offset)

    def ranges(self, stream_id: int, start_offset: int, end_offset: int) -> Iterator[StoredRange]:
        """What objects hold of `[start_offset, end_offset)`, in order, cut to it.

        Offsets below the stream's start are not there: the caller has raised `start_offset` to it.
        """
        image = self._image
        limit = len(image.streams[stream_id].objects)
        for it in image.object_ranges(stream_id, start_offset, end_offset, limit):
            found = image.objects.by_id[it.object_id]
            held = sum(each.end_offset - each.start_offset for each in found.ranges)
            start = max(start_offset, it.start_offset)
            end = min(end_offset, it.end_offset)
            yield StoredRange(
                it.object_id,
                object_key(image.cluster_id, it.object_id),
                found.size_bytes,
                stream_id,
                start,
                end,
                -(-found.size_bytes * (end - start) // held),
            )

    def _topic(self, name: str) -> TopicImage:
        found = self._image.topic(name)
        if found is None:
            raise OptionError(
                f"there is no topic {name!r} in the metadata up to entry {self._image.index} of cluster "
                f"{self._image.cluster_id}"
            )
        return found
