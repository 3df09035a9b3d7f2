"""What is read from the log's directory at the start. Pure."""

from typing import NamedTuple

from metadata.records.entry import LogEntry


class Recovered(NamedTuple):
    """What the directory held."""

    snapshot: bytes | None
    entries: list[LogEntry]  # those that the snapshot does not include
    cut_off_bytes: int  # of an unfinished write at the end
