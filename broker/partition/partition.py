"""A partition that this broker leads, open: the rules of its log on top of two streams.

The data stream holds the log; the meta stream holds checkpoints of the state that is derived from it. What reads the
log is `read_side`, what writes it `write_side`; here is what both are made of, and how they end.
"""

import asyncio
from collections.abc import Callable
from uuid import UUID

from headrace.broker.partition.checkpoint_log import CheckpointLog
from headrace.broker.partition.read_side import ReadSide
from headrace.broker.partition.state import PartitionState
from headrace.broker.partition.traffic import Traffic
from headrace.broker.partition.wakeups import Reader
from headrace.broker.partition.write_side import CLOSING, FROZEN, WriteSide
from headrace.config.topic import EffectiveTopicConfig
from headrace.storage.engine import StorageEngine
from headrace.storage.stream import Stream


class Partition:
    """One partition, open for writing and reading on this node."""

    def __init__(  # noqa: PLR0913  # what a partition is made of, by name
        self,
        *,
        topic: str,
        topic_id: UUID,
        index: int,
        leader_epoch: int,
        engine: StorageEngine,
        data: Stream,
        meta: Stream,
        state: PartitionState,
        config: EffectiveTopicConfig,
        checkpoint_interval_bytes: int,
        wake: Callable[[dict[Reader, None]], None],
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.leader_epoch = leader_epoch
        self._data = data
        self._meta = meta
        self.state = state  # derived from the log
        self.checkpoints = CheckpointLog(
            meta, data, state, engine=engine, max_interval_bytes=checkpoint_interval_bytes
        )
        self.reads = ReadSide(data, state, leader_epoch, wake)
        self.writes = WriteSide(
            data=data,
            state=state,
            checkpoints=self.checkpoints,
            reads=self.reads,
            leader_epoch=leader_epoch,
            config=config,
        )
        self.traffic: Traffic | None = None  # counted once a load meter looks at it

    @property
    def streams(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(stream id, epoch) of the data stream and of the meta stream."""
        data, meta = self._data, self._meta
        return (data.stream_id, data.epoch), (meta.stream_id, meta.epoch)

    def forget_cached(self, end_offset: int) -> None:
        """See `Stream.forget_cached`."""
        self._data.forget_cached(end_offset)

    def count_traffic(self) -> None:
        """Begin to count what clients write and read."""
        self.traffic = self.writes.traffic = Traffic()

    async def close(self) -> None:
        """Write a checkpoint if the log has grown, upload the remainder and close both streams.

        Raises:
            FencedError: they have a newer owner.
            StorageError: they are not closed yet; do it again.
        """
        self.retire()
        await self.checkpoints.write_news()
        outcomes = await asyncio.gather(
            self._data.close(), self._meta.close(), return_exceptions=True
        )
        for failure in filter(None, outcomes):
            raise failure

    @property
    def is_frozen(self) -> bool:
        """Whether it takes no appends for a moment, as it moves."""
        return self.writes.refusal is FROZEN

    def set_frozen(self, *, frozen: bool) -> None:
        """Take no appends, or take them again; reads go on. No effect once it is being closed."""
        if self.writes.refusal in (None, FROZEN):
            self.writes.refusal = FROZEN if frozen else None

    def retire(self) -> None:
        """Refuse appends and fail waiting readers: the partition is reopened, moves, or was deleted."""
        self.writes.refusal = CLOSING
        self.reads.wake_readers()

    def discard(self) -> None:
        """Stop serving a deleted topic; the controller deletes its streams."""
        self._data.abandon()
        self._meta.abandon()
        self.retire()
