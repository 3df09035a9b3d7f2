"""Which small data files are merged. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar


class _File(Protocol):
    @property
    def file_size_in_bytes(self) -> int: ...


File = TypeVar("File", bound=_File)


@dataclass(frozen=True, slots=True)
class CompactionLimits:
    """Bounds of one round."""

    below_bytes: int  # files smaller than this are merged
    from_files: int  # once there are so many in one partition of the table
    target_bytes: int  # of one merged file, about
    max_bytes: int  # of all that is read


def chosen_groups(
    partitions: Sequence[Sequence[File]], limits: CompactionLimits
) -> list[list[File]]:
    """Groups of files, each of which becomes one file.

    Args:
        partitions: the files of each partition of the table.
        limits: what is small, and how much is done at one time.
    """
    chosen: list[list[File]] = []
    left_bytes = limits.max_bytes
    for files in sorted(partitions, key=len, reverse=True):
        small = [it for it in files if it.file_size_in_bytes < limits.below_bytes]
        if len(small) < limits.from_files:
            continue
        group: list[File] = []
        size_bytes = 0
        for it in sorted(small, key=lambda file: file.file_size_in_bytes):
            if it.file_size_in_bytes > left_bytes:
                break
            if size_bytes + it.file_size_in_bytes > limits.target_bytes and group:
                chosen.append(group)
                group, size_bytes = [], 0
            group.append(it)
            size_bytes += it.file_size_in_bytes
            left_bytes -= it.file_size_in_bytes
        if group:
            chosen.append(group)
    return [it for it in chosen if len(it) > 1]
