"""The records from which a load makes a shard as it is now: how many, about how large, and they themselves. Pure."""

from collections.abc import Iterator, Mapping

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.offsets import CommittedOffsets
from headrace.broker.coordinator.group.records import (
    CoordinatorRecord,
    GroupMetadataValue,
    GroupRecord,
    estimated_group_bytes,
)


class LiveRecords:
    """One for each group that has an image, one for each committed offset.

    A group that has neither has no record, and is gone after a load.
    """

    def __init__(self, groups: Mapping[str, ClassicGroup], offsets: CommittedOffsets) -> None:
        self._groups = groups
        self._offsets = offsets
        self._images = 0
        self._image_bytes = 0

    @property
    def count(self) -> int:
        """How many there are."""
        return self._images + self._offsets.count

    @property
    def size_bytes(self) -> int:
        """About how many bytes they take in a log."""
        return self._image_bytes + self._offsets.estimated_bytes

    def count_group(self, record: GroupRecord, old: GroupMetadataValue | None) -> None:
        """Count a record that replaces an old image, or removes it."""
        self._images += (record.value is not None) - (old is not None)
        self._image_bytes += estimated_group_bytes(record.group, record.value)
        self._image_bytes -= estimated_group_bytes(record.group, old)

    def read(self) -> Iterator[CoordinatorRecord]:
        """Give each as it is when it is asked for.

        The shard may change meanwhile: what is added since the beginning may be left out, what is removed is not given.
        """
        for group_id in list(self._groups):
            group = self._groups.get(group_id)
            if group is not None and group.image is not None:
                yield GroupRecord(group_id, group.image)
        for group_id in self._offsets.group_ids():
            yield from self._offsets.live_records(group_id)
