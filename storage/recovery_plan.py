"""Decides what to do with each record that survived in the WAL. Pure.

| stream opened here | offsets against what is taken | epoch | verdict |
|---|---|---|---|
| no  | any                    | any                           | NOT_OWNED |
| yes | any                    | newer than the stream's       | refuse |
| yes | any                    | older than a record before it | STALE |
| yes | all below the end      | else                          | COMMITTED |
| yes | begins below, ends not | else                          | refuse |
| yes | begins at the end      | else                          | TAKE |
| yes | begins beyond the end  | else                          | DISCONTINUOUS |

"The end" is the stream's committed end, moved by each record that is taken. What is discontinuous
follows a record that the WAL never confirmed (the WAL itself refuses to lose one that it did), so it
was never acknowledged. The exception: if the loss of confirmed records was accepted, each stream ends
before its first loss, since streams have no holes. To refuse means that the control plane knows less
than the WAL, so that to continue could lose acknowledged records.

Source: S3Stream's recovery.
"""

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import msgspec

from headrace.storage.cache.log_cache import RECORD_OVERHEAD_BYTES
from headrace.storage.errors import RecoveryError
from headrace.storage.ports import StreamMetadata
from headrace.storage.record_batch import HEADER_BYTES, StreamRecordBatch


class RecordAction(Enum):
    """What to do with one record."""

    TAKE = "take"  # upload it
    COMMITTED = "committed"  # in the bucket already
    NOT_OWNED = "not owned"  # closed here since, which its upload preceded
    STALE = "stale"  # written under an epoch that has ended
    DISCONTINUOUS = "discontinuous"  # behind a record that did not survive


class RecoveredGroup(NamedTuple):
    """Records that were read into one buffer, in WAL order."""

    batches: list[StreamRecordBatch]
    buffer_bytes: int  # of the whole buffer, which any of them keeps


class RecoveryUpload(msgspec.Struct):
    """Records to be uploaded and committed together."""

    groups: list[RecoveredGroup] = msgspec.field(default_factory=list)  # in WAL order
    streams: dict[int, list[StreamRecordBatch]] = msgspec.field(default_factory=dict)
    sizes_bytes: dict[int, int] = msgspec.field(default_factory=dict)
    charge_bytes: int = 0  # memory that it keeps


class _Progress(msgspec.Struct):
    epoch: int  # under which the stream is open
    end_offset: int
    last_epoch: int = -1  # of the records taken or skipped so far


class RecoveryPlan:
    """Feeds surviving records, in WAL order, into segments."""

    def __init__(self, opening: Sequence[StreamMetadata], *, max_segment_bytes: int) -> None:
        self._max_segment_bytes = max_segment_bytes
        self._opening = {stream.stream_id: stream for stream in opening}
        self._progress: dict[int, _Progress] = {}  # of those that have records here
        self._segment = RecoveryUpload()
        self._buffer: object = None  # that the last record taken lies in
        self._recovered: set[int] = set()
        self.counts = dict.fromkeys(RecordAction, 0)
        self.taken_bytes = 0  # payloads
        self.discontinuous: Counter[int] = Counter()  # records by stream

    @property
    def recovered_streams(self) -> int:
        """Streams of which a record was taken."""
        return len(self._recovered)

    @property
    def epochs(self) -> dict[int, int]:
        """Epochs under which to commit what was taken."""
        return {stream_id: progress.epoch for stream_id, progress in self._progress.items()}

    @property
    def ends(self) -> dict[int, int]:
        """Where each stream ends of which a record was taken or found committed."""
        return {stream_id: progress.end_offset for stream_id, progress in self._progress.items()}

    @property
    def segment_is_full(self) -> bool:
        """Whether it is time to `cut`."""
        return self._segment.charge_bytes >= self._max_segment_bytes

    def add(self, batch: StreamRecordBatch) -> RecordAction:
        """Judge the next record, and keep it if it is to be uploaded.

        Raises:
            RecoveryError: the record contradicts the control plane.
        """
        verdict = self._judge(batch)
        self.counts[verdict] += 1
        if verdict is RecordAction.TAKE:
            self._take(batch)
        elif verdict is RecordAction.DISCONTINUOUS:
            self.discontinuous[batch.stream_id] += 1
        return verdict

    def cut(self) -> RecoveryUpload | None:
        """Return what was taken since the last cut; None when that is nothing."""
        segment, self._segment = self._segment, RecoveryUpload()
        self._buffer = None
        return segment if segment.streams else None

    def _judge(self, batch: StreamRecordBatch) -> RecordAction:
        progress = self._progress.get(batch.stream_id)
        if progress is None:
            stream = self._opening.get(batch.stream_id)
            if stream is None:
                return RecordAction.NOT_OWNED
            progress = _Progress(stream.epoch, stream.end_offset)
            self._progress[batch.stream_id] = progress
        if batch.epoch > progress.epoch:
            raise _contradiction(batch, f"the control plane only knows epoch {progress.epoch}")
        if batch.epoch < progress.last_epoch:
            return RecordAction.STALE
        progress.last_epoch = batch.epoch
        if batch.end_offset <= progress.end_offset:
            return RecordAction.COMMITTED
        if batch.base_offset < progress.end_offset:
            raise _contradiction(batch, f"the stream ends within it, at {progress.end_offset}")
        if batch.base_offset > progress.end_offset:
            return RecordAction.DISCONTINUOUS
        return RecordAction.TAKE

    def _take(self, batch: StreamRecordBatch) -> None:
        stream_id = batch.stream_id
        size_bytes = HEADER_BYTES + len(batch.payload)
        segment = self._segment
        segment.streams.setdefault(stream_id, []).append(batch)
        segment.sizes_bytes[stream_id] = segment.sizes_bytes.get(stream_id, 0) + size_bytes
        segment.charge_bytes += RECORD_OVERHEAD_BYTES
        # One record keeps the whole buffer that it was read into, beside what is dropped.
        if batch.payload.obj is not self._buffer:
            self._buffer = batch.payload.obj
            buffer_bytes = memoryview(batch.payload.obj).nbytes
            segment.groups.append(RecoveredGroup([], buffer_bytes))
            segment.charge_bytes += buffer_bytes
        segment.groups[-1].batches.append(batch)
        self._progress[stream_id].end_offset = batch.end_offset
        self._recovered.add(stream_id)
        self.taken_bytes += len(batch.payload)


def _contradiction(batch: StreamRecordBatch, what: str) -> RecoveryError:
    return RecoveryError(
        f"record of stream {batch.stream_id}, epoch {batch.epoch}, offsets {batch.base_offset} to "
        f"{batch.end_offset} in the WAL: {what}"
    )
