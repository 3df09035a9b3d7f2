"""ListOffsets (API key 2), versions 1 to 11.

Behaviour:
  * Timestamp -1 latest (the high watermark; under read_committed the last stable offset), -2 earliest, -3 the record
    with the largest timestamp, -4 earliest local (the log start: nothing is tiered in Kafka's sense), -5 latest tiered
    and -6 earliest pending upload (always -1), and by timestamp: the first record by offset that is not older, found by
    the time index and then exactly, inside its batch.
  * What was found by time, and may not be read under the request's isolation, is answered as if there were nothing.
  * A partition that is named twice is answered once, with INVALID_REQUEST.
  * A special value in a version that does not know it is UNSUPPORTED_VERSION for that partition.
  * NOT_LEADER_OR_FOLLOWER while this broker's lease is not valid: its state may be stale.
Deviations from Apache Kafka:
  * `timeout_ms` (v10) is not used: a look-up reads a bounded part of the log.
Version notes:
  * 2: isolation level.  4: leader epoch.  6: flexible.  7: -3.  8: -4.  9: -5.  11: -6.
Source: ListOffsetsRequest.json, ListOffsetsResponse.json; KIP-79, KIP-734, KIP-405, KIP-1005.
"""

import logging
from collections import Counter

from headrace.broker.network.request_context import Later, RequestContext
from headrace.broker.partition.offset_search import find_by_timestamp, find_newest
from headrace.broker.partition.partition import Partition
from headrace.broker.partition.registry import PartitionRegistry
from headrace.protocol.acl import Access, AclOperation, ResourceType
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import ListOffsetsRequest, ListOffsetsResponse
from headrace.protocol.records.errors import RecordsError
from headrace.storage.errors import StorageError

logger = logging.getLogger("headrace.api")

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3
EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -4, -5, -6
SINCE_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}

_Topic = ListOffsetsResponse.ListOffsetsTopicResponse
_Partition = _Topic.ListOffsetsPartitionResponse
_Asked = ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition


class ListOffsetsHandler:
    """Looks up offsets of partitions: the first, the last, or by timestamp."""

    api_key = ApiKey.LIST_OFFSETS
    requires = (Access(AclOperation.DESCRIBE, ResourceType.TOPIC),)

    def __init__(self, partitions: PartitionRegistry) -> None:
        self._partitions = partitions

    def handle(
        self, context: RequestContext, request: ListOffsetsRequest
    ) -> ListOffsetsResponse | Later[ListOffsetsResponse]:
        """Look up each partition by itself."""
        if len(request.topics) == 1 and len(request.topics[0].partitions) == 1:
            (topic,) = request.topics
            (partition,) = topic.partitions
            found = self._look_up_now(context, topic.name, partition, request.isolation_level)
            if isinstance(found, _Partition):
                return ListOffsetsResponse(topics=[_Topic(name=topic.name, partitions=[found])])
        return self._look_up_all(context, request)

    async def _look_up_all(
        self, context: RequestContext, request: ListOffsetsRequest
    ) -> ListOffsetsResponse:
        asked: Counter[tuple[str, int]] = Counter()
        async for topic in context.turns.each(request.topics):
            async for partition in context.turns.each(topic.partitions):
                asked[topic.name, partition.partition_index] += 1
        topics = []
        async for topic in context.turns.each(request.topics):
            answers = []
            async for partition in context.turns.each(topic.partitions):
                times = asked.pop((topic.name, partition.partition_index), None)
                if times is None:
                    continue  # answered where it was named first
                if times > 1:
                    answer = self._error(partition, ErrorCode.INVALID_REQUEST)
                else:
                    answer = await self._look_up(
                        context, topic.name, partition, request.isolation_level
                    )
                answers.append(answer)
            if answers:
                topics.append(_Topic(name=topic.name, partitions=answers))
        return ListOffsetsResponse(topics=topics)

    def _look_up_now(
        self, context: RequestContext, topic: str, asked: _Asked, isolation: int
    ) -> _Partition | Partition:
        """Answer without waiting, or give the partition whose records have to be searched."""
        timestamp = asked.timestamp
        if timestamp < 0 and (
            timestamp < EARLIEST_PENDING_UPLOAD or context.version < SINCE_VERSION.get(timestamp, 0)
        ):
            return self._error(
                asked, ErrorCode.UNSUPPORTED_VERSION
            )  # before the partition is looked at
        found = self._partitions.find(topic, asked.partition_index)
        if not isinstance(found, Partition):
            return self._error(asked, found)
        code = found.reads.check_leader_epoch(asked.current_leader_epoch)
        if code != ErrorCode.NONE:
            return self._error(asked, code)
        reads = found.reads
        if timestamp == LATEST:
            return self._answer(asked, found, reads.readable_end(isolation), -1)
        if timestamp in (EARLIEST, EARLIEST_LOCAL):
            return self._answer(asked, found, reads.log_start_offset, -1)
        if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
            return self._answer(asked, found, -1, -1)
        return found

    async def _look_up(
        self, context: RequestContext, topic: str, asked: _Asked, isolation: int
    ) -> _Partition:
        found = self._look_up_now(context, topic, asked, isolation)
        if isinstance(found, _Partition):
            return found
        try:
            offset, record_timestamp = await self._search(found, asked.timestamp, isolation)
        except StorageError as error:
            logger.warning(
                "ListOffsets failed: records could not be read", extra={"reason": repr(error)}
            )
            return self._error(asked, ErrorCode.KAFKA_STORAGE_ERROR)
        except RecordsError as error:  # compressed records are not decoded before this
            logger.warning(
                "ListOffsets failed: records cannot be decoded", extra={"reason": repr(error)}
            )
            return self._error(asked, ErrorCode.CORRUPT_MESSAGE)
        return self._answer(asked, found, offset, record_timestamp)

    def _answer(
        self, asked: _Asked, partition: Partition, offset: int, record_timestamp: int
    ) -> _Partition:
        if not self._partitions.is_lease_valid():
            return self._error(asked, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        epoch = -1 if offset < 0 else partition.reads.epoch_of(offset)
        return _Partition(
            partition_index=asked.partition_index,
            error_code=0,
            timestamp=record_timestamp,
            offset=offset,
            leader_epoch=epoch,
        )

    async def _search(
        self, partition: Partition, timestamp: int, isolation: int
    ) -> tuple[int, int]:
        """(offset, its timestamp); -1 for both if there is none."""
        if timestamp == MAX_TIMESTAMP:
            found = await find_newest(partition)
        else:
            found = await find_by_timestamp(partition, timestamp)
        if found is None or found[0] >= partition.reads.readable_end(isolation):
            return -1, -1
        return found

    def _error(self, asked: _Asked, code: ErrorCode) -> _Partition:
        return _Partition(
            partition_index=asked.partition_index,
            error_code=int(code),
            timestamp=-1,
            offset=-1,
            leader_epoch=-1,
        )
