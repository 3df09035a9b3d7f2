"""Counts and checksums per partition, to compare the results of several clients. Pure."""

import hashlib
from dataclasses import dataclass, field


@dataclass(slots=True)
class PartitionDigest:
    """Count and checksum of a partition's records so far, in the order of their offsets."""

    count: int = 0
    next_offset: int = 0
    _hash: "hashlib.blake2b" = field(default_factory=lambda: hashlib.blake2b(digest_size=8))

    def add(self, offset: int, key: bytes | None, value: bytes) -> None:
        """Add the next record.

        Raises:
            ValueError: its offset does not follow the last one.
        """
        if offset != self.next_offset:
            msg = f"got offset {offset}, expected {self.next_offset}"
            raise ValueError(msg)
        self.next_offset += 1
        self.count += 1
        for part in (key or b"", value):
            self._hash.update(len(part).to_bytes(4, "big"))
            self._hash.update(part)

    @property
    def checksum(self) -> str:
        """The checksum in hexadecimal digits."""
        return self._hash.hexdigest()


class TopicDigest:
    """The digests of a topic's partitions."""

    def __init__(self) -> None:
        self._partitions: dict[int, PartitionDigest] = {}

    def add(self, partition: int, offset: int, key: bytes | None, value: bytes) -> None:
        """Add the next record of a partition."""
        self._partitions.setdefault(partition, PartitionDigest()).add(offset, key, value)

    @property
    def count(self) -> int:
        """Number of records in all partitions."""
        return sum(digest.count for digest in self._partitions.values())

    def summary(self) -> dict[int, tuple[int, str]]:
        """Count and checksum of each partition that has records."""
        items = sorted(self._partitions.items())
        return {partition: (digest.count, digest.checksum) for partition, digest in items}

    def differences(self, other: "TopicDigest") -> list[str]:
        """Describe the partitions in which `other` differs."""
        ours, theirs = self.summary(), other.summary()
        nothing = (0, "-")
        return [
            f"partition {partition}: {ours.get(partition, nothing)} against "
            f"{theirs.get(partition, nothing)}"
            for partition in sorted(ours.keys() | theirs.keys())
            if ours.get(partition) != theirs.get(partition)
        ]
