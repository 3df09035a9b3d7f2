"""What requests of groups need to know of topics. Pure."""

from typing import Protocol
from uuid import UUID


class TopicDirectory(Protocol):
    """Which topics exist."""

    def partition_exists(self, name: str, partition: int) -> bool:
        """Whether there is such a partition."""
        ...

    def name_of(self, topic_id: UUID) -> str | None:
        """Give the name of a topic id; None when unknown."""
        ...

    def id_of(self, name: str) -> UUID | None:
        """Give the id of a topic; None when unknown."""
        ...
