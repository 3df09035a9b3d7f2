"""What a coordinator needs from the broker."""

from collections.abc import AsyncIterator
from typing import Final, Protocol

from headrace.broker.partition.damage import DamagedRange
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import KafkaError
from headrace.storage.errors import StorageError

LOG_ERRORS: Final = (StorageError, KafkaError, OSError)  # what a log's methods may raise


class CoordinatorLog(Protocol):
    """One partition of a coordinator's topic, led by this broker."""

    async def append(self, batch: bytearray) -> int:
        """Append one record batch (magic 2, base offset 0); the log owns the buffer from then on.

        Returns the base offset once the batch is durable and acknowledged. Raises when it is not:
        the outcome is then unknown, and the caller must read the log again.
        """
        ...

    def read(self) -> AsyncIterator[memoryview | DamagedRange]:
        """Yield every record batch from the log start to the current end, in order.

        For batches that are damaged or missing it yields the offsets that they had.
        A view is valid until the next one is requested; it holds one or more whole batches. What a deletion
        was to take may be left out, whether it is known to be done or not.
        """
        ...

    def count_request(self) -> None:
        """Count a request to the coordinator whose log it is as load of the partition."""
        ...

    @property
    def end_offset(self) -> int:
        """Offset behind the last batch that is acknowledged."""
        ...

    @property
    def has_room(self) -> bool:
        """Whether a batch of the usual size can be appended now, without waiting for room."""
        ...

    def is_uploaded(self, offset: int) -> bool:
        """Whether everything below an offset is in the bucket."""
        ...

    async def delete_before(self, offset: int) -> None:
        """Delete every batch below an offset, which may not be above the end; they are uploaded first.

        Do it again when it raises: whether they are deleted is then unknown. The same goes for cancellation.
        """
        ...


class CoordinatorLogs(Protocol):
    """The internal topic as this broker sees it."""

    @property
    def image(self) -> MetadataImage:
        """The metadata as they are now."""
        ...

    def partition_for(self, key: str) -> int:
        """Give the partition of a key (a group, for example), see `partitioning.partition_for_key`."""
        ...

    async def arrived(self, partition: int) -> None:
        """Wait a moment for a partition that is about to come to this broker."""
        ...

    def log(self, partition: int) -> CoordinatorLog | None:
        """Give the log of a partition; None when this broker does not lead it."""
        ...

    def is_lease_valid(self) -> bool:
        """Whether the lease is valid: then this broker leads the partitions that have a log here."""
        ...
