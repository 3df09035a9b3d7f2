"""Reads a snapshot's file chunk by chunk from whoever has it. Pure.

What is asked for next and what an answer must look like is the same for a broker, which reads from
the leader through its `Requester`, and for a controller that has fallen behind.
"""

from typing import Final

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.rpc.requests import FetchSnapshot
from headrace.metadata.rpc.responses import Response, SnapshotChunk

CHUNK_BYTES: Final = 8 << 20
MAX_SNAPSHOT_BYTES: Final = 4 << 30


class SnapshotDownload:
    """One snapshot on its way: send `next_request`, hand the answer to `add`, until it is whole."""

    def __init__(self, snapshot_index: int) -> None:
        self._snapshot_index = snapshot_index
        self._data = bytearray()

    @property
    def next_request(self) -> FetchSnapshot:
        """What to ask for."""
        return FetchSnapshot(self._snapshot_index, len(self._data), CHUNK_BYTES)

    def add(self, answer: Response | None) -> bytes | None:
        """Take the next part; return the whole once it is there.

        Raises:
            MetadataFormatError: that is not the part that was asked for.
        """
        if not isinstance(answer, SnapshotChunk) or answer.size_bytes > MAX_SNAPSHOT_BYTES:
            raise MetadataFormatError("a part of a snapshot was asked for, and did not come")
        if answer.position != len(self._data):
            raise MetadataFormatError(
                f"byte {len(self._data)} of a snapshot was asked for, {answer.position} came"
            )
        self._data += answer.data
        if len(self._data) >= answer.size_bytes:
            return bytes(self._data)
        if not answer.data:
            raise MetadataFormatError(f"a snapshot ends at {len(self._data)} bytes")
        return None
