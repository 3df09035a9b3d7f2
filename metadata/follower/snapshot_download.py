"""Downloads a snapshot file chunk by chunk. Pure.

The requests and the checks of the answers are the same for a broker, which reads from the leader
through its `Requester`, and for a controller that has fallen behind.
"""

from typing import Final

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.levels import READ_HERE
from headrace.metadata.rpc.requests import FetchSnapshot
from headrace.metadata.rpc.responses import Response, SnapshotChunk

CHUNK_BYTES: Final = 8 << 20
MAX_SNAPSHOT_BYTES: Final = 4 << 30


class SnapshotDownload:
    """One download: send `next_request`, pass the answer to `add`, until the snapshot is complete."""

    def __init__(self, snapshot_index: int) -> None:
        self._snapshot_index = snapshot_index
        self._data = bytearray()

    @property
    def next_request(self) -> FetchSnapshot:
        """The request for the next chunk."""
        return FetchSnapshot(self._snapshot_index, len(self._data), CHUNK_BYTES, READ_HERE)

    def add(self, answer: Response | None) -> bytes | None:
        """Add the next chunk; return the whole snapshot once it is complete.

        Raises:
            MetadataFormatError: it is not the requested chunk.
        """
        if not isinstance(answer, SnapshotChunk) or answer.size_bytes > MAX_SNAPSHOT_BYTES:
            raise MetadataFormatError("the answer to FetchSnapshot is not a snapshot chunk")
        if answer.position != len(self._data):
            raise MetadataFormatError(
                f"the answer to FetchSnapshot begins at byte {answer.position}, not at {len(self._data)}"
            )
        self._data += answer.data
        if len(self._data) >= answer.size_bytes:
            return bytes(self._data)
        if not answer.data:
            raise MetadataFormatError(f"the snapshot ends too early, at byte {len(self._data)}")
        return None
