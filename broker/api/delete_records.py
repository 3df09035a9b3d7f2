"""DeleteRecords (API key 21), versions 0 to 2.

Behaviour:
  * The log start of a partition moves up to the requested offset, -1 for the high watermark; answered once that is
    durable. Nothing happens when the log already starts there or later. The answer holds the log start offset.
  * The offset may lie inside a batch: the batch stays, and clients skip what is below the log start.
  * OFFSET_OUT_OF_RANGE above the high watermark and below -1; POLICY_VIOLATION for a topic that is compacted and does
    not delete; INVALID_TOPIC_EXCEPTION for the topics of the broker itself.
  * If a partition is named twice, the last entry counts; it is answered once.
  * `timeout_ms` is how long to wait for other replicas, and there are none: the leader's own deletion is waited for,
    whatever it says, 0 too. One that takes longer than it and than `LEADER_MS` is answered REQUEST_TIMED_OUT. It
    continues, and the next one of the same partition waits for it.
  * NOT_LEADER_OR_FOLLOWER if this broker's lease is not valid before or after the deletion.
  * A partition that is moving to another broker, or is about to come, is waited for: at most two seconds. One that is
    still frozen then is NOT_ENOUGH_REPLICAS, retriable: nothing was deleted.
Deviations from Apache Kafka:
  * Records that are not in the bucket yet are uploaded first, so the answer may take as long as an upload does.
  * `timeout_ms` is limited to 5 minutes.
Version notes:
  * 2: flexible.
Source: DeleteRecordsRequest.json, DeleteRecordsResponse.json; KIP-107; `ReplicaManager.deleteRecords`,
`delayedDeleteRecordsRequired`, `Partition.deleteRecordsOnLeader`.
"""

import asyncio
import logging
from typing import NamedTuple

from headrace.broker.network.request_context import RequestContext
from headrace.broker.partition.internal_topics import INTERNAL_TOPICS
from headrace.broker.partition.opening_queue import PartitionKey
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.broker.partition.storage_errors import code_of
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import DeleteRecordsRequest, DeleteRecordsResponse
from headrace.storage.errors import StorageError
from headrace.task_failures import report_unexpected

logger = logging.getLogger("headrace.api")

TO_HIGH_WATERMARK = -1
NO_LOW_WATERMARK = -1
MAX_TIMEOUT_MS = 300_000
LEADER_MS = (
    10_000  # Kafka's leader deletes before it looks at the time; clients wait for 30 s at least
)
DELETIONS_AT_ONCE = 16  # of one request
PARTITIONS_AT_ONCE = 256  # of one request that wait for their deletion

_Topic = DeleteRecordsResponse.DeleteRecordsTopicResult
_Partition = _Topic.DeleteRecordsPartitionResult


class _Outcome(NamedTuple):
    code: ErrorCode
    low_watermark: int = NO_LOW_WATERMARK


class DeleteRecordsHandler:
    """Moves the start of logs up."""

    api_key = ApiKey.DELETE_RECORDS
    requires = (Access(AclOperation.DELETE, ResourceType.TOPIC),)

    def __init__(self, partitions: PartitionRegistry) -> None:
        self._partitions = partitions
        self._transit = partitions.transit
        self._inflight: dict[Partition, asyncio.Task[int]] = {}  # at most one of each partition

    async def handle(
        self, context: RequestContext, request: DeleteRecordsRequest
    ) -> DeleteRecordsResponse:
        """Delete from each partition by itself, several at a time."""
        wanted = {
            (topic.name, partition.partition_index): partition.offset
            for topic in request.topics
            async for partition in context.turns.each(topic.partitions)
        }
        timeout_ms = min(max(request.timeout_ms, LEADER_MS), MAX_TIMEOUT_MS)
        deadline_s = asyncio.get_running_loop().time() + timeout_ms / 1000
        slots = asyncio.Semaphore(DELETIONS_AT_ONCE)
        outcomes: dict[tuple[str, int], _Outcome] = {}

        async def delete(key: tuple[str, int]) -> None:
            outcomes[key] = await self._delete(*key, wanted[key], deadline_s, slots)

        async for keys in context.turns.batches(list(wanted), PARTITIONS_AT_ONCE):
            deletions = []
            for key in keys:
                found = self._find(*key)
                if isinstance(found, Partition) or self._in_transit(*key):
                    deletions.append(delete(key))
                else:
                    outcomes[key] = _Outcome(found)
            await asyncio.gather(*deletions)
        topics: dict[str, list[_Partition]] = {}
        async for topic, index in context.turns.each(wanted):
            code, low_watermark = outcomes[topic, index]
            answer = _Partition(
                partition_index=index, low_watermark=low_watermark, error_code=int(code)
            )
            topics.setdefault(topic, []).append(answer)
        return DeleteRecordsResponse(
            topics=[_Topic(name=name, partitions=answers) for name, answers in topics.items()],
        )

    def _find(self, topic: str, index: int) -> Partition | ErrorCode:
        """The partition, if records may be deleted from it here."""
        found = self._partitions.find(topic, index)
        if found is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            return found
        if topic in INTERNAL_TOPICS:
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        config = found.writes.config if isinstance(found, Partition) else None
        if config is not None and config.compacts and not config.deletes:
            return ErrorCode.POLICY_VIOLATION
        return found

    def _in_transit(self, topic: str, index: int) -> list[PartitionKey]:
        """The partition, if it is about to move, or to come."""
        if not self._transit:
            return []
        known = self._partitions.known(topic, None, index)
        return [] if known is None or known not in self._transit else [known]

    async def _delete(
        self, topic: str, index: int, offset: int, deadline_s: float, slots: asyncio.Semaphore
    ) -> _Outcome:
        try:
            async with asyncio.timeout_at(deadline_s):
                await self._transit.settled(self._in_transit(topic, index))
                async with slots:
                    found = self._find(topic, index)
                    if not isinstance(found, Partition):
                        return _Outcome(found)
                    return await self._delete_before(found, offset)
        except TimeoutError:
            return _Outcome(ErrorCode.REQUEST_TIMED_OUT)
        except StorageError as error:
            logger.warning(
                "DeleteRecords failed: records not deleted",
                extra={
                    "topic": topic,
                    "partition": index,
                    "reason": repr(error),
                },
            )
            return _Outcome(code_of(error))

    async def _delete_before(self, partition: Partition, offset: int) -> _Outcome:
        while (earlier := self._inflight.get(partition)) is not None:
            await asyncio.wait([earlier])  # its own request answers with its outcome
        if not self._partitions.is_lease_valid():
            return _Outcome(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if offset == TO_HIGH_WATERMARK:
            offset = partition.reads.high_watermark
        if not 0 <= offset <= partition.reads.high_watermark:
            return _Outcome(ErrorCode.OFFSET_OUT_OF_RANGE)
        # A time-out does not cancel it: a log that is trimmed in the metadata must be trimmed here as well.
        deletion = asyncio.create_task(partition.writes.delete_before(offset))
        self._inflight[partition] = deletion
        deletion.add_done_callback(lambda _done: self._ended(partition))
        log_start_offset = await asyncio.shield(deletion)
        if not self._partitions.is_lease_valid():
            return _Outcome(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return _Outcome(ErrorCode.NONE, log_start_offset)

    def _ended(self, partition: Partition) -> None:
        # Its request may have stopped waiting: what storage refuses is answered next time, a bug ends the node.
        report_unexpected(self._inflight.pop(partition), StorageError)
