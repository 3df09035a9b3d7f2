"""FetchRequest, FetchResponse. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Collection, Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

import msgspec

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, check_tag_end, read_c_count, read_c_null_blob, read_c_null_count, read_c_null_string, read_c_numbers, read_c_string, read_count, read_null_blob, read_null_count, read_numbers, read_string, read_tag_count, read_tag_end, read_uuid, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, Runs, uuid_bytes, write_c_count, write_c_null_blob, write_c_null_string, write_c_string, write_count, write_null_blob, write_string, write_tagged
from headrace.protocol.primitives import Reader

class FetchRequest(KafkaMessage):
    """Key 1, versions 4 to 18, flexible from 12 on."""

    class ReplicaState(MessageStruct):
        """Versions 15+."""

        replica_id: int = -1
        replica_epoch: int = -1

    class FetchTopic(MessageStruct):
        """Versions 0+."""

        class FetchPartition(MessageStruct):
            """Versions 0+."""

            partition: int = 0
            current_leader_epoch: int = -1
            fetch_offset: int = 0
            last_fetched_epoch: int = -1
            log_start_offset: int = -1
            partition_max_bytes: int = 0
            replica_directory_id: UUID | None = None
            high_watermark: int = 9223372036854775807

        topic: str = ""
        topic_id: UUID | None = None
        partitions: list[FetchRequest.FetchTopic.FetchPartition] = []

    class ForgottenTopic(MessageStruct):
        """Versions 7+."""

        topic: str = ""
        topic_id: UUID | None = None
        partitions: list[int] = []

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    FLEXIBLE_SINCE: ClassVar[int] = 12
    cluster_id: str | None = None
    replica_id: int = -1
    replica_state: FetchRequest.ReplicaState = msgspec.field(default_factory=lambda: FetchRequest.ReplicaState())
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    isolation_level: int = 0
    session_id: int = 0
    session_epoch: int = -1
    topics: list[FetchRequest.FetchTopic] = []
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    rack_id: str = ""


class FetchResponse(KafkaMessage):
    """Key 1, versions 4 to 18, flexible from 12 on."""

    class FetchableTopicResponse(MessageStruct):
        """Versions 0+."""

        class PartitionData(MessageStruct):
            """Versions 0+."""

            class EpochEndOffset(MessageStruct):
                """Versions 12+."""

                epoch: int = -1
                end_offset: int = -1

            class LeaderIdAndEpoch(MessageStruct):
                """Versions 12+."""

                leader_id: int = -1
                leader_epoch: int = -1

            class SnapshotId(MessageStruct):
                """Versions 12+."""

                end_offset: int = -1
                epoch: int = -1

            class AbortedTransaction(MessageStruct):
                """Versions 4+."""

                producer_id: int = 0
                first_offset: int = 0

            partition_index: int = 0
            error_code: int = 0
            high_watermark: int = 0
            last_stable_offset: int = -1
            log_start_offset: int = -1
            diverging_epoch: FetchResponse.FetchableTopicResponse.PartitionData.EpochEndOffset = msgspec.field(default_factory=lambda: FetchResponse.FetchableTopicResponse.PartitionData.EpochEndOffset())
            current_leader: FetchResponse.FetchableTopicResponse.PartitionData.LeaderIdAndEpoch = msgspec.field(default_factory=lambda: FetchResponse.FetchableTopicResponse.PartitionData.LeaderIdAndEpoch())
            snapshot_id: FetchResponse.FetchableTopicResponse.PartitionData.SnapshotId = msgspec.field(default_factory=lambda: FetchResponse.FetchableTopicResponse.PartitionData.SnapshotId())
            aborted_transactions: Collection[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] | None = []
            preferred_read_replica: int = -1
            records: bytes | None = b""

        topic: str = ""
        topic_id: UUID | None = None
        partitions: Collection[FetchResponse.FetchableTopicResponse.PartitionData] = []

    class NodeEndpoint(MessageStruct):
        """Versions 16+."""

        node_id: int = 0
        host: str = ""
        port: int = 0
        rack: str | None = None

    API_KEY: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 4
    FLEXIBLE_SINCE: ClassVar[int] = 12
    throttle_time_ms: int = 0
    error_code: int = 0
    session_id: int = 0
    responses: Collection[FetchResponse.FetchableTopicResponse] = []
    node_endpoints: Collection[FetchResponse.NodeEndpoint] = []


_ReplicaState = FetchRequest.ReplicaState
_FetchPartition = FetchRequest.FetchTopic.FetchPartition
_FetchTopic = FetchRequest.FetchTopic
_ForgottenTopic = FetchRequest.ForgottenTopic
_EpochEndOffset = FetchResponse.FetchableTopicResponse.PartitionData.EpochEndOffset
_LeaderIdAndEpoch = FetchResponse.FetchableTopicResponse.PartitionData.LeaderIdAndEpoch
_SnapshotId = FetchResponse.FetchableTopicResponse.PartitionData.SnapshotId
_AbortedTransaction = FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction
_PartitionData = FetchResponse.FetchableTopicResponse.PartitionData
_FetchableTopicResponse = FetchResponse.FetchableTopicResponse
_NodeEndpoint = FetchResponse.NodeEndpoint
_P_i: Final = Struct(">i").pack
_P_ihi: Final = Struct(">ihi").pack
_P_ihqq: Final = Struct(">ihqq").pack
_P_ihqqq: Final = Struct(">ihqqq").pack
_P_iiibii: Final = Struct(">iiibii").pack
_P_iiiib: Final = Struct(">iiiib").pack
_P_iiiibii: Final = Struct(">iiiibii").pack
_P_iiqiqi: Final = Struct(">iiqiqi").pack
_P_iiqiqix: Final = Struct(">iiqiqix").pack
_P_iiqqi: Final = Struct(">iiqqi").pack
_P_iix: Final = Struct(">iix").pack
_P_iqi: Final = Struct(">iqi").pack
_P_iqqi: Final = Struct(">iqqi").pack
_P_iqx: Final = Struct(">iqx").pack
_P_q: Final = Struct(">q").pack
_P_qix: Final = Struct(">qix").pack
_P_qq: Final = Struct(">qq").pack
_P_qqx: Final = Struct(">qqx").pack
_P_u: Final = Struct(">16s").pack
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_ii: Final = Runs("ii", is_array=(True,))
_R_u_Bi_x: Final = Runs("16s", "Bi", "x", is_array=(False, True, False))
_S_i: Final = Struct(">i")
_S_ihi: Final = Struct(">ihi")
_S_ihqq: Final = Struct(">ihqq")
_S_ihqqq: Final = Struct(">ihqqq")
_S_ii: Final = Struct(">ii")
_S_iiibii: Final = Struct(">iiibii")
_S_iiiib: Final = Struct(">iiiib")
_S_iiiibii: Final = Struct(">iiiibii")
_S_iiqiqi: Final = Struct(">iiqiqi")
_S_iiqqi: Final = Struct(">iiqqi")
_S_iq: Final = Struct(">iq")
_S_iqi: Final = Struct(">iqi")
_S_iqqi: Final = Struct(">iqqi")
_S_q: Final = Struct(">q")
_S_qi: Final = Struct(">qi")
_S_qq: Final = Struct(">qq")
_S_u: Final = Struct(">16s")


def _read_FetchPartition_4(r: Reader) -> _FetchPartition:
    partition, fetch_offset, partition_max_bytes = r.fixed(_S_iqi)
    return _FetchPartition(partition, -1, fetch_offset, -1, -1, partition_max_bytes)


def _read_FetchTopic_4(r: Reader) -> _FetchTopic:
    topic = read_string(r)
    n = read_count(r, 16)
    partitions = [_read_FetchPartition_4(r) for _ in range(n)]
    return _FetchTopic(topic, None, partitions)


def _read_FetchRequest_4(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = r.fixed(_S_iiiib)
    n = read_count(r, 6)
    topics = [_read_FetchTopic_4(r) for _ in range(n)]
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics)


def _read_FetchPartition_5(r: Reader) -> _FetchPartition:
    partition, fetch_offset, log_start_offset, partition_max_bytes = r.fixed(_S_iqqi)
    return _FetchPartition(partition, -1, fetch_offset, -1, log_start_offset, partition_max_bytes)


def _read_FetchTopic_5(r: Reader) -> _FetchTopic:
    topic = read_string(r)
    n = read_count(r, 24)
    partitions = [_read_FetchPartition_5(r) for _ in range(n)]
    return _FetchTopic(topic, None, partitions)


def _read_FetchRequest_5(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = r.fixed(_S_iiiib)
    n = read_count(r, 6)
    topics = [_read_FetchTopic_5(r) for _ in range(n)]
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics)


def _read_ForgottenTopic_7(r: Reader) -> _ForgottenTopic:
    topic = read_string(r)
    partitions = read_numbers(r, "i", 4)
    return _ForgottenTopic(topic, None, partitions)


def _read_FetchRequest_7(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_count(r, 6)
    topics = [_read_FetchTopic_5(r) for _ in range(n)]
    n = read_count(r, 6)
    forgotten_topics_data = [_read_ForgottenTopic_7(r) for _ in range(n)]
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data)


def _read_FetchPartition_9(r: Reader) -> _FetchPartition:
    partition, current_leader_epoch, fetch_offset, log_start_offset, partition_max_bytes = r.fixed(_S_iiqqi)
    return _FetchPartition(partition, current_leader_epoch, fetch_offset, -1, log_start_offset, partition_max_bytes)


def _read_FetchTopic_9(r: Reader) -> _FetchTopic:
    topic = read_string(r)
    n = read_count(r, 28)
    partitions = [_read_FetchPartition_9(r) for _ in range(n)]
    return _FetchTopic(topic, None, partitions)


def _read_FetchRequest_9(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_count(r, 6)
    topics = [_read_FetchTopic_9(r) for _ in range(n)]
    n = read_count(r, 6)
    forgotten_topics_data = [_read_ForgottenTopic_7(r) for _ in range(n)]
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data)


def _read_FetchRequest_11(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_count(r, 6)
    topics = [_read_FetchTopic_9(r) for _ in range(n)]
    n = read_count(r, 6)
    forgotten_topics_data = [_read_ForgottenTopic_7(r) for _ in range(n)]
    rack_id = read_string(r)
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_FetchPartition_12(r: Reader) -> _FetchPartition:
    partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes = r.fixed(_S_iiqiqi)
    skip_tags(r)
    return _FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes)


def _read_FetchTopic_12(r: Reader) -> _FetchTopic:
    topic = read_c_string(r)
    n = read_c_count(r, 33)
    partitions = [_read_FetchPartition_12(r) for _ in range(n)]
    skip_tags(r)
    return _FetchTopic(topic, None, partitions)


def _read_ForgottenTopic_12(r: Reader) -> _ForgottenTopic:
    topic = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ForgottenTopic(topic, None, partitions)


def _read_FetchRequest_12(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_c_count(r, 3)
    topics = [_read_FetchTopic_12(r) for _ in range(n)]
    n = read_c_count(r, 3)
    forgotten_topics_data = [_read_ForgottenTopic_12(r) for _ in range(n)]
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_FetchTopic_13(r: Reader) -> _FetchTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partitions = [_read_FetchPartition_12(r) for _ in range(n)]
    skip_tags(r)
    return _FetchTopic("", uuid_of(topic_id), partitions)


def _read_ForgottenTopic_13(r: Reader) -> _ForgottenTopic:
    topic_id, = r.fixed(_S_u)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ForgottenTopic("", uuid_of(topic_id), partitions)


def _read_FetchRequest_13(r: Reader) -> FetchRequest:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_c_count(r, 18)
    topics = [_read_FetchTopic_13(r) for _ in range(n)]
    n = read_c_count(r, 18)
    forgotten_topics_data = [_read_ForgottenTopic_13(r) for _ in range(n)]
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_ReplicaState_15(r: Reader) -> _ReplicaState:
    replica_id, replica_epoch = r.fixed(_S_iq)
    skip_tags(r)
    return _ReplicaState(replica_id, replica_epoch)


def _read_FetchRequest_15(r: Reader) -> FetchRequest:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiibii)
    n = read_c_count(r, 18)
    topics = [_read_FetchTopic_13(r) for _ in range(n)]
    n = read_c_count(r, 18)
    forgotten_topics_data = [_read_ForgottenTopic_13(r) for _ in range(n)]
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    replica_state: FetchRequest.ReplicaState = _ReplicaState()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        elif tag == 1:
            replica_state = _read_ReplicaState_15(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_FetchPartition_17(r: Reader) -> _FetchPartition:
    partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes = r.fixed(_S_iiqiqi)
    replica_directory_id: UUID | None = None
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            replica_directory_id = read_uuid(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return _FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, replica_directory_id)


def _read_FetchTopic_17(r: Reader) -> _FetchTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partitions = [_read_FetchPartition_17(r) for _ in range(n)]
    skip_tags(r)
    return _FetchTopic("", uuid_of(topic_id), partitions)


def _read_FetchRequest_17(r: Reader) -> FetchRequest:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiibii)
    n = read_c_count(r, 18)
    topics = [_read_FetchTopic_17(r) for _ in range(n)]
    n = read_c_count(r, 18)
    forgotten_topics_data = [_read_ForgottenTopic_13(r) for _ in range(n)]
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    replica_state: FetchRequest.ReplicaState = _ReplicaState()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        elif tag == 1:
            replica_state = _read_ReplicaState_15(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_FetchPartition_18(r: Reader) -> _FetchPartition:
    partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes = r.fixed(_S_iiqiqi)
    replica_directory_id: UUID | None = None
    high_watermark: int = 9223372036854775807
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            replica_directory_id = read_uuid(r)
            check_tag_end(r, end)
        elif tag == 1:
            high_watermark, = r.fixed(_S_q)
            check_tag_end(r, end)
        else:
            r.position = end
    return _FetchPartition(partition, current_leader_epoch, fetch_offset, last_fetched_epoch, log_start_offset, partition_max_bytes, replica_directory_id, high_watermark)


def _read_FetchTopic_18(r: Reader) -> _FetchTopic:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partitions = [_read_FetchPartition_18(r) for _ in range(n)]
    skip_tags(r)
    return _FetchTopic("", uuid_of(topic_id), partitions)


def _read_FetchRequest_18(r: Reader) -> FetchRequest:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiibii)
    n = read_c_count(r, 18)
    topics = [_read_FetchTopic_18(r) for _ in range(n)]
    n = read_c_count(r, 18)
    forgotten_topics_data = [_read_ForgottenTopic_13(r) for _ in range(n)]
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    replica_state: FetchRequest.ReplicaState = _ReplicaState()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        elif tag == 1:
            replica_state = _read_ReplicaState_15(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_steps_FetchTopic_4(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic = read_string(r)
    n = read_count(r, 16)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_4(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _FetchTopic(topic, None, partitions)


def _read_steps_FetchRequest_4(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = r.fixed(_S_iiiib)
    n = read_count(r, 6)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_4(r)))
        if r.elements_ended(1):
            yield
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics)


def _read_steps_FetchTopic_5(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic = read_string(r)
    n = read_count(r, 24)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_5(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _FetchTopic(topic, None, partitions)


def _read_steps_FetchRequest_5(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level = r.fixed(_S_iiiib)
    n = read_count(r, 6)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_5(r)))
        if r.elements_ended(1):
            yield
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, 0, -1, topics)


def _read_steps_FetchRequest_7(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_count(r, 6)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_5(r)))
        if r.elements_ended(1):
            yield
    n = read_count(r, 6)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    if n <= FLAT_ELEMENTS:
        forgotten_topics_data = [_read_ForgottenTopic_7(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            forgotten_topics_data.append(_read_ForgottenTopic_7(r))
            if r.elements_ended(1):
                yield
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data)


def _read_steps_FetchTopic_9(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic = read_string(r)
    n = read_count(r, 28)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_9(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    return _FetchTopic(topic, None, partitions)


def _read_steps_FetchRequest_9(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_count(r, 6)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_9(r)))
        if r.elements_ended(1):
            yield
    n = read_count(r, 6)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    if n <= FLAT_ELEMENTS:
        forgotten_topics_data = [_read_ForgottenTopic_7(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            forgotten_topics_data.append(_read_ForgottenTopic_7(r))
            if r.elements_ended(1):
                yield
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data)


def _read_steps_FetchRequest_11(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_count(r, 6)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_9(r)))
        if r.elements_ended(1):
            yield
    n = read_count(r, 6)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    if n <= FLAT_ELEMENTS:
        forgotten_topics_data = [_read_ForgottenTopic_7(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            forgotten_topics_data.append(_read_ForgottenTopic_7(r))
            if r.elements_ended(1):
                yield
    rack_id = read_string(r)
    return FetchRequest(None, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_steps_FetchTopic_12(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic = read_c_string(r)
    n = read_c_count(r, 33)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_12(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _FetchTopic(topic, None, partitions)


def _read_steps_FetchRequest_12(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_c_count(r, 3)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_12(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 3)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    if n <= FLAT_ELEMENTS:
        forgotten_topics_data = [_read_ForgottenTopic_12(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            forgotten_topics_data.append(_read_ForgottenTopic_12(r))
            if r.elements_ended(1):
                yield
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_steps_FetchTopic_13(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_12(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _FetchTopic("", uuid_of(topic_id), partitions)


def _read_steps_FetchRequest_13(r: Reader) -> Generator[None, None, FetchRequest]:
    replica_id, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiiibii)
    n = read_c_count(r, 18)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_13(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 18)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    for some in batches(n):
        forgotten_topics_data += [_read_ForgottenTopic_13(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, replica_id, _ReplicaState(), max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_steps_FetchRequest_15(r: Reader) -> Generator[None, None, FetchRequest]:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiibii)
    n = read_c_count(r, 18)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_13(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 18)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    for some in batches(n):
        forgotten_topics_data += [_read_ForgottenTopic_13(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    replica_state: FetchRequest.ReplicaState = _ReplicaState()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        elif tag == 1:
            replica_state = _read_ReplicaState_15(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_steps_FetchTopic_17(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_17(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _FetchTopic("", uuid_of(topic_id), partitions)


def _read_steps_FetchRequest_17(r: Reader) -> Generator[None, None, FetchRequest]:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiibii)
    n = read_c_count(r, 18)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_17(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 18)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    for some in batches(n):
        forgotten_topics_data += [_read_ForgottenTopic_13(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    replica_state: FetchRequest.ReplicaState = _ReplicaState()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        elif tag == 1:
            replica_state = _read_ReplicaState_15(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _read_steps_FetchTopic_18(r: Reader) -> Generator[None, None, _FetchTopic]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 33)
    partitions: list[FetchRequest.FetchTopic.FetchPartition] = []
    for some in batches(n):
        partitions += [_read_FetchPartition_18(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _FetchTopic("", uuid_of(topic_id), partitions)


def _read_steps_FetchRequest_18(r: Reader) -> Generator[None, None, FetchRequest]:
    max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch = r.fixed(_S_iiibii)
    n = read_c_count(r, 18)
    topics: list[FetchRequest.FetchTopic] = []
    for _ in range(n):
        topics.append((yield from _read_steps_FetchTopic_18(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 18)
    forgotten_topics_data: list[FetchRequest.ForgottenTopic] = []
    for some in batches(n):
        forgotten_topics_data += [_read_ForgottenTopic_13(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    rack_id = read_c_string(r)
    cluster_id: str | None = None
    replica_state: FetchRequest.ReplicaState = _ReplicaState()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            cluster_id = read_c_null_string(r)
            check_tag_end(r, end)
        elif tag == 1:
            replica_state = _read_ReplicaState_15(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchRequest(cluster_id, -1, replica_state, max_wait_ms, min_bytes, max_bytes, isolation_level, session_id, session_epoch, topics, forgotten_topics_data, rack_id)


def _write_FetchPartition_4(out: bytearray, m: _FetchPartition) -> None:
    out += _P_iqi(m.partition, m.fetch_offset, m.partition_max_bytes)


def _write_FetchTopic_4(out: bytearray, m: _FetchTopic) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_4(out, it_partitions)


def _write_FetchRequest_4(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiib(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_4(out, it_topics)


def _write_FetchPartition_5(out: bytearray, m: _FetchPartition) -> None:
    out += _P_iqqi(m.partition, m.fetch_offset, m.log_start_offset, m.partition_max_bytes)


def _write_FetchTopic_5(out: bytearray, m: _FetchTopic) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_5(out, it_partitions)


def _write_FetchRequest_5(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiib(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_5(out, it_topics)


def _write_ForgottenTopic_7(out: bytearray, m: _ForgottenTopic) -> None:
    write_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_ii[n1,](n1, *m.partitions)


def _write_FetchRequest_7(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_5(out, it_topics)
    write_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_7(out, it_forgotten_topics_data)


def _write_FetchPartition_9(out: bytearray, m: _FetchPartition) -> None:
    out += _P_iiqqi(m.partition, m.current_leader_epoch, m.fetch_offset, m.log_start_offset, m.partition_max_bytes)


def _write_FetchTopic_9(out: bytearray, m: _FetchTopic) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_9(out, it_partitions)


def _write_FetchRequest_9(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_9(out, it_topics)
    write_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_7(out, it_forgotten_topics_data)


def _write_FetchRequest_11(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_9(out, it_topics)
    write_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_7(out, it_forgotten_topics_data)
    write_string(out, m.rack_id)


def _write_FetchPartition_12(out: bytearray, m: _FetchPartition) -> None:
    out += _P_iiqiqix(m.partition, m.current_leader_epoch, m.fetch_offset, m.last_fetched_epoch, m.log_start_offset, m.partition_max_bytes)


def _write_FetchTopic_12(out: bytearray, m: _FetchTopic) -> None:
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_12(out, it_partitions)
    out.append(0)


def _write_ForgottenTopic_12(out: bytearray, m: _ForgottenTopic) -> None:
    write_c_string(out, m.topic)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_FetchRequest_12(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_12(out, it_topics)
    write_c_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_12(out, it_forgotten_topics_data)
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_FetchTopic_13(out: bytearray, m: _FetchTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_12(out, it_partitions)
    out.append(0)


def _write_ForgottenTopic_13(out: bytearray, m: _ForgottenTopic) -> None:
    n1 = len(m.partitions)
    out += _R_u_Bi_x[n1,](uuid_bytes(m.topic_id), n1 + 1, *m.partitions)


def _write_FetchRequest_13(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_13(out, it_topics)
    write_c_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_13(out, it_forgotten_topics_data)
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_ReplicaState_15(out: bytearray, m: _ReplicaState) -> None:
    out += _P_iqx(m.replica_id, m.replica_epoch)


def _write_FetchRequest_15(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_13(out, it_topics)
    write_c_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_13(out, it_forgotten_topics_data)
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    if m.replica_state != _ReplicaState():
        field = bytearray()
        _write_ReplicaState_15(field, m.replica_state)
        tags.append((1, field))
    write_tagged(out, tags)


def _write_FetchPartition_17(out: bytearray, m: _FetchPartition) -> None:
    out += _P_iiqiqi(m.partition, m.current_leader_epoch, m.fetch_offset, m.last_fetched_epoch, m.log_start_offset, m.partition_max_bytes)
    tags: list[tuple[int, bytearray]] = []
    if m.replica_directory_id is not None:
        field = bytearray()
        field += _P_u(uuid_bytes(m.replica_directory_id))
        tags.append((0, field))
    write_tagged(out, tags)


def _write_FetchTopic_17(out: bytearray, m: _FetchTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_17(out, it_partitions)
    out.append(0)


def _write_FetchRequest_17(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_17(out, it_topics)
    write_c_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_13(out, it_forgotten_topics_data)
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    if m.replica_state != _ReplicaState():
        field = bytearray()
        _write_ReplicaState_15(field, m.replica_state)
        tags.append((1, field))
    write_tagged(out, tags)


def _write_FetchPartition_18(out: bytearray, m: _FetchPartition) -> None:
    out += _P_iiqiqi(m.partition, m.current_leader_epoch, m.fetch_offset, m.last_fetched_epoch, m.log_start_offset, m.partition_max_bytes)
    tags: list[tuple[int, bytearray]] = []
    if m.replica_directory_id is not None:
        field = bytearray()
        field += _P_u(uuid_bytes(m.replica_directory_id))
        tags.append((0, field))
    if m.high_watermark != 9223372036854775807:
        field = bytearray()
        field += _P_q(m.high_watermark)
        tags.append((1, field))
    write_tagged(out, tags)


def _write_FetchTopic_18(out: bytearray, m: _FetchTopic) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_FetchPartition_18(out, it_partitions)
    out.append(0)


def _write_FetchRequest_18(out: bytearray, m: FetchRequest) -> None:
    out += _P_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_FetchTopic_18(out, it_topics)
    write_c_count(out, len(m.forgotten_topics_data))
    for it_forgotten_topics_data in m.forgotten_topics_data:
        _write_ForgottenTopic_13(out, it_forgotten_topics_data)
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    if m.replica_state != _ReplicaState():
        field = bytearray()
        _write_ReplicaState_15(field, m.replica_state)
        tags.append((1, field))
    write_tagged(out, tags)


def _write_steps_FetchTopic_4(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_4(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_FetchRequest_4(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiib(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_4(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_FetchTopic_5(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_5(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_FetchRequest_5(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiib(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_5(o, it_topics)
        if o.elements_ended(1):
            yield


def _write_steps_FetchRequest_7(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_5(o, it_topics)
        if o.elements_ended(1):
            yield
    write_count(out, len(m.forgotten_topics_data))
    if len(m.forgotten_topics_data) <= FLAT_ELEMENTS:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_7(out, it_forgotten_topics_data)
        if o.elements_ended(len(m.forgotten_topics_data)):
            yield
    else:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_7(out, it_forgotten_topics_data)
            if o.elements_ended(1):
                yield


def _write_steps_FetchTopic_9(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_9(out, it_partitions)
        if o.elements_ended(some):
            yield


def _write_steps_FetchRequest_9(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_9(o, it_topics)
        if o.elements_ended(1):
            yield
    write_count(out, len(m.forgotten_topics_data))
    if len(m.forgotten_topics_data) <= FLAT_ELEMENTS:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_7(out, it_forgotten_topics_data)
        if o.elements_ended(len(m.forgotten_topics_data)):
            yield
    else:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_7(out, it_forgotten_topics_data)
            if o.elements_ended(1):
                yield


def _write_steps_FetchRequest_11(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_9(o, it_topics)
        if o.elements_ended(1):
            yield
    write_count(out, len(m.forgotten_topics_data))
    if len(m.forgotten_topics_data) <= FLAT_ELEMENTS:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_7(out, it_forgotten_topics_data)
        if o.elements_ended(len(m.forgotten_topics_data)):
            yield
    else:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_7(out, it_forgotten_topics_data)
            if o.elements_ended(1):
                yield
    write_string(out, m.rack_id)


def _write_steps_FetchTopic_12(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_12(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_FetchRequest_12(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_12(o, it_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.forgotten_topics_data))
    if len(m.forgotten_topics_data) <= FLAT_ELEMENTS:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_12(out, it_forgotten_topics_data)
        if o.elements_ended(len(m.forgotten_topics_data)):
            yield
    else:
        for it_forgotten_topics_data in m.forgotten_topics_data:
            _write_ForgottenTopic_12(out, it_forgotten_topics_data)
            if o.elements_ended(1):
                yield
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_FetchTopic_13(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_12(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_FetchRequest_13(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiiibii(m.replica_id, m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_13(o, it_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.forgotten_topics_data))
    left_forgotten_topics_data = iter(m.forgotten_topics_data)
    for some in batches(len(m.forgotten_topics_data)):
        for it_forgotten_topics_data in islice(left_forgotten_topics_data, some):
            _write_ForgottenTopic_13(out, it_forgotten_topics_data)
        if o.elements_ended(some):
            yield
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_FetchRequest_15(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_13(o, it_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.forgotten_topics_data))
    left_forgotten_topics_data = iter(m.forgotten_topics_data)
    for some in batches(len(m.forgotten_topics_data)):
        for it_forgotten_topics_data in islice(left_forgotten_topics_data, some):
            _write_ForgottenTopic_13(out, it_forgotten_topics_data)
        if o.elements_ended(some):
            yield
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    if m.replica_state != _ReplicaState():
        field = bytearray()
        _write_ReplicaState_15(field, m.replica_state)
        tags.append((1, field))
    write_tagged(out, tags)


def _write_steps_FetchTopic_17(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_17(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_FetchRequest_17(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_17(o, it_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.forgotten_topics_data))
    left_forgotten_topics_data = iter(m.forgotten_topics_data)
    for some in batches(len(m.forgotten_topics_data)):
        for it_forgotten_topics_data in islice(left_forgotten_topics_data, some):
            _write_ForgottenTopic_13(out, it_forgotten_topics_data)
        if o.elements_ended(some):
            yield
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    if m.replica_state != _ReplicaState():
        field = bytearray()
        _write_ReplicaState_15(field, m.replica_state)
        tags.append((1, field))
    write_tagged(out, tags)


def _write_steps_FetchTopic_18(o: Output, m: _FetchTopic) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    left_partitions = iter(m.partitions)
    for some in batches(len(m.partitions)):
        for it_partitions in islice(left_partitions, some):
            _write_FetchPartition_18(out, it_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_FetchRequest_18(o: Output, m: FetchRequest) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iiibii(m.max_wait_ms, m.min_bytes, m.max_bytes, m.isolation_level, m.session_id, m.session_epoch)
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_FetchTopic_18(o, it_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.forgotten_topics_data))
    left_forgotten_topics_data = iter(m.forgotten_topics_data)
    for some in batches(len(m.forgotten_topics_data)):
        for it_forgotten_topics_data in islice(left_forgotten_topics_data, some):
            _write_ForgottenTopic_13(out, it_forgotten_topics_data)
        if o.elements_ended(some):
            yield
    write_c_string(out, m.rack_id)
    tags: list[tuple[int, bytearray]] = []
    if m.cluster_id is not None:
        field = bytearray()
        write_c_null_string(field, m.cluster_id)
        tags.append((0, field))
    if m.replica_state != _ReplicaState():
        field = bytearray()
        _write_ReplicaState_15(field, m.replica_state)
        tags.append((1, field))
    write_tagged(out, tags)


def _read_AbortedTransaction_4(r: Reader) -> _AbortedTransaction:
    producer_id, first_offset = r.fixed(_S_qq)
    return _AbortedTransaction(producer_id, first_offset)


def _read_PartitionData_4(r: Reader) -> _PartitionData:
    partition_index, error_code, high_watermark, last_stable_offset = r.fixed(_S_ihqq)
    n = read_null_count(r, 16)
    aborted_transactions = None if n < 0 else [_read_AbortedTransaction_4(r) for _ in range(n)]
    records = read_null_blob(r)
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, -1, _EpochEndOffset(), _LeaderIdAndEpoch(), _SnapshotId(), aborted_transactions, -1, records)


def _read_FetchableTopicResponse_4(r: Reader) -> _FetchableTopicResponse:
    topic = read_string(r)
    n = read_count(r, 30)
    partitions = [_read_PartitionData_4(r) for _ in range(n)]
    return _FetchableTopicResponse(topic, None, partitions)


def _read_FetchResponse_4(r: Reader) -> FetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    responses = [_read_FetchableTopicResponse_4(r) for _ in range(n)]
    return FetchResponse(throttle_time_ms, 0, 0, responses)


def _read_PartitionData_5(r: Reader) -> _PartitionData:
    partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = r.fixed(_S_ihqqq)
    n = read_null_count(r, 16)
    aborted_transactions = None if n < 0 else [_read_AbortedTransaction_4(r) for _ in range(n)]
    records = read_null_blob(r)
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, _EpochEndOffset(), _LeaderIdAndEpoch(), _SnapshotId(), aborted_transactions, -1, records)


def _read_FetchableTopicResponse_5(r: Reader) -> _FetchableTopicResponse:
    topic = read_string(r)
    n = read_count(r, 38)
    partitions = [_read_PartitionData_5(r) for _ in range(n)]
    return _FetchableTopicResponse(topic, None, partitions)


def _read_FetchResponse_5(r: Reader) -> FetchResponse:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    responses = [_read_FetchableTopicResponse_5(r) for _ in range(n)]
    return FetchResponse(throttle_time_ms, 0, 0, responses)


def _read_FetchResponse_7(r: Reader) -> FetchResponse:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_count(r, 6)
    responses = [_read_FetchableTopicResponse_5(r) for _ in range(n)]
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_PartitionData_11(r: Reader) -> _PartitionData:
    partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = r.fixed(_S_ihqqq)
    n = read_null_count(r, 16)
    aborted_transactions = None if n < 0 else [_read_AbortedTransaction_4(r) for _ in range(n)]
    preferred_read_replica, = r.fixed(_S_i)
    records = read_null_blob(r)
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, _EpochEndOffset(), _LeaderIdAndEpoch(), _SnapshotId(), aborted_transactions, preferred_read_replica, records)


def _read_FetchableTopicResponse_11(r: Reader) -> _FetchableTopicResponse:
    topic = read_string(r)
    n = read_count(r, 42)
    partitions = [_read_PartitionData_11(r) for _ in range(n)]
    return _FetchableTopicResponse(topic, None, partitions)


def _read_FetchResponse_11(r: Reader) -> FetchResponse:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_count(r, 6)
    responses = [_read_FetchableTopicResponse_11(r) for _ in range(n)]
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_AbortedTransaction_12(r: Reader) -> _AbortedTransaction:
    producer_id, first_offset = r.fixed(_S_qq)
    skip_tags(r)
    return _AbortedTransaction(producer_id, first_offset)


def _read_EpochEndOffset_12(r: Reader) -> _EpochEndOffset:
    epoch, end_offset = r.fixed(_S_iq)
    skip_tags(r)
    return _EpochEndOffset(epoch, end_offset)


def _read_LeaderIdAndEpoch_12(r: Reader) -> _LeaderIdAndEpoch:
    leader_id, leader_epoch = r.fixed(_S_ii)
    skip_tags(r)
    return _LeaderIdAndEpoch(leader_id, leader_epoch)


def _read_SnapshotId_12(r: Reader) -> _SnapshotId:
    end_offset, epoch = r.fixed(_S_qi)
    skip_tags(r)
    return _SnapshotId(end_offset, epoch)


def _read_PartitionData_12(r: Reader) -> _PartitionData:
    partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = r.fixed(_S_ihqqq)
    n = read_c_null_count(r, 17)
    aborted_transactions = None if n < 0 else [_read_AbortedTransaction_12(r) for _ in range(n)]
    preferred_read_replica, = r.fixed(_S_i)
    records = read_c_null_blob(r)
    diverging_epoch: FetchResponse.FetchableTopicResponse.PartitionData.EpochEndOffset = _EpochEndOffset()
    current_leader: FetchResponse.FetchableTopicResponse.PartitionData.LeaderIdAndEpoch = _LeaderIdAndEpoch()
    snapshot_id: FetchResponse.FetchableTopicResponse.PartitionData.SnapshotId = _SnapshotId()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            diverging_epoch = _read_EpochEndOffset_12(r)
            check_tag_end(r, end)
        elif tag == 1:
            current_leader = _read_LeaderIdAndEpoch_12(r)
            check_tag_end(r, end)
        elif tag == 2:
            snapshot_id = _read_SnapshotId_12(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, diverging_epoch, current_leader, snapshot_id, aborted_transactions, preferred_read_replica, records)


def _read_FetchableTopicResponse_12(r: Reader) -> _FetchableTopicResponse:
    topic = read_c_string(r)
    n = read_c_count(r, 37)
    partitions = [_read_PartitionData_12(r) for _ in range(n)]
    skip_tags(r)
    return _FetchableTopicResponse(topic, None, partitions)


def _read_FetchResponse_12(r: Reader) -> FetchResponse:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_c_count(r, 3)
    responses = [_read_FetchableTopicResponse_12(r) for _ in range(n)]
    skip_tags(r)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_FetchableTopicResponse_13(r: Reader) -> _FetchableTopicResponse:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 37)
    partitions = [_read_PartitionData_12(r) for _ in range(n)]
    skip_tags(r)
    return _FetchableTopicResponse("", uuid_of(topic_id), partitions)


def _read_FetchResponse_13(r: Reader) -> FetchResponse:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_c_count(r, 18)
    responses = [_read_FetchableTopicResponse_13(r) for _ in range(n)]
    skip_tags(r)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_NodeEndpoint_16(r: Reader) -> _NodeEndpoint:
    node_id, = r.fixed(_S_i)
    host = read_c_string(r)
    port, = r.fixed(_S_i)
    rack = read_c_null_string(r)
    skip_tags(r)
    return _NodeEndpoint(node_id, host, port, rack)


def _read_FetchResponse_16(r: Reader) -> FetchResponse:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_c_count(r, 18)
    responses = [_read_FetchableTopicResponse_13(r) for _ in range(n)]
    node_endpoints: list[FetchResponse.NodeEndpoint] = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 11)
            node_endpoints = [_read_NodeEndpoint_16(r) for _ in range(n)]
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints)


def _read_steps_PartitionData_4(r: Reader) -> Generator[None, None, _PartitionData]:
    partition_index, error_code, high_watermark, last_stable_offset = r.fixed(_S_ihqq)
    n = read_null_count(r, 16)
    aborted_transactions: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] | None = None
    if n >= 0:
        aborted_transactions_: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] = []
        for some in batches(n):
            aborted_transactions_ += [_read_AbortedTransaction_4(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        aborted_transactions = aborted_transactions_
    records = read_null_blob(r)
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, -1, _EpochEndOffset(), _LeaderIdAndEpoch(), _SnapshotId(), aborted_transactions, -1, records)


def _read_steps_FetchableTopicResponse_4(r: Reader) -> Generator[None, None, _FetchableTopicResponse]:
    topic = read_string(r)
    n = read_count(r, 30)
    partitions: list[FetchResponse.FetchableTopicResponse.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_PartitionData_4(r)))
        if r.elements_ended(1):
            yield
    return _FetchableTopicResponse(topic, None, partitions)


def _read_steps_FetchResponse_4(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_4(r)))
        if r.elements_ended(1):
            yield
    return FetchResponse(throttle_time_ms, 0, 0, responses)


def _read_steps_PartitionData_5(r: Reader) -> Generator[None, None, _PartitionData]:
    partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = r.fixed(_S_ihqqq)
    n = read_null_count(r, 16)
    aborted_transactions: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] | None = None
    if n >= 0:
        aborted_transactions_: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] = []
        for some in batches(n):
            aborted_transactions_ += [_read_AbortedTransaction_4(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        aborted_transactions = aborted_transactions_
    records = read_null_blob(r)
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, _EpochEndOffset(), _LeaderIdAndEpoch(), _SnapshotId(), aborted_transactions, -1, records)


def _read_steps_FetchableTopicResponse_5(r: Reader) -> Generator[None, None, _FetchableTopicResponse]:
    topic = read_string(r)
    n = read_count(r, 38)
    partitions: list[FetchResponse.FetchableTopicResponse.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_PartitionData_5(r)))
        if r.elements_ended(1):
            yield
    return _FetchableTopicResponse(topic, None, partitions)


def _read_steps_FetchResponse_5(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, = r.fixed(_S_i)
    n = read_count(r, 6)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_5(r)))
        if r.elements_ended(1):
            yield
    return FetchResponse(throttle_time_ms, 0, 0, responses)


def _read_steps_FetchResponse_7(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_count(r, 6)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_5(r)))
        if r.elements_ended(1):
            yield
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_steps_PartitionData_11(r: Reader) -> Generator[None, None, _PartitionData]:
    partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = r.fixed(_S_ihqqq)
    n = read_null_count(r, 16)
    aborted_transactions: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] | None = None
    if n >= 0:
        aborted_transactions_: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] = []
        for some in batches(n):
            aborted_transactions_ += [_read_AbortedTransaction_4(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        aborted_transactions = aborted_transactions_
    preferred_read_replica, = r.fixed(_S_i)
    records = read_null_blob(r)
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, _EpochEndOffset(), _LeaderIdAndEpoch(), _SnapshotId(), aborted_transactions, preferred_read_replica, records)


def _read_steps_FetchableTopicResponse_11(r: Reader) -> Generator[None, None, _FetchableTopicResponse]:
    topic = read_string(r)
    n = read_count(r, 42)
    partitions: list[FetchResponse.FetchableTopicResponse.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_PartitionData_11(r)))
        if r.elements_ended(1):
            yield
    return _FetchableTopicResponse(topic, None, partitions)


def _read_steps_FetchResponse_11(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_count(r, 6)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_11(r)))
        if r.elements_ended(1):
            yield
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_steps_PartitionData_12(r: Reader) -> Generator[None, None, _PartitionData]:
    partition_index, error_code, high_watermark, last_stable_offset, log_start_offset = r.fixed(_S_ihqqq)
    n = read_c_null_count(r, 17)
    aborted_transactions: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] | None = None
    if n >= 0:
        aborted_transactions_: list[FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction] = []
        for some in batches(n):
            aborted_transactions_ += [_read_AbortedTransaction_12(r) for _ in range(some)]
            if r.elements_ended(some):
                yield
        aborted_transactions = aborted_transactions_
    preferred_read_replica, = r.fixed(_S_i)
    records = read_c_null_blob(r)
    diverging_epoch: FetchResponse.FetchableTopicResponse.PartitionData.EpochEndOffset = _EpochEndOffset()
    current_leader: FetchResponse.FetchableTopicResponse.PartitionData.LeaderIdAndEpoch = _LeaderIdAndEpoch()
    snapshot_id: FetchResponse.FetchableTopicResponse.PartitionData.SnapshotId = _SnapshotId()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            diverging_epoch = _read_EpochEndOffset_12(r)
            check_tag_end(r, end)
        elif tag == 1:
            current_leader = _read_LeaderIdAndEpoch_12(r)
            check_tag_end(r, end)
        elif tag == 2:
            snapshot_id = _read_SnapshotId_12(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return _PartitionData(partition_index, error_code, high_watermark, last_stable_offset, log_start_offset, diverging_epoch, current_leader, snapshot_id, aborted_transactions, preferred_read_replica, records)


def _read_steps_FetchableTopicResponse_12(r: Reader) -> Generator[None, None, _FetchableTopicResponse]:
    topic = read_c_string(r)
    n = read_c_count(r, 37)
    partitions: list[FetchResponse.FetchableTopicResponse.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_PartitionData_12(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _FetchableTopicResponse(topic, None, partitions)


def _read_steps_FetchResponse_12(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_c_count(r, 3)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_12(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_steps_FetchableTopicResponse_13(r: Reader) -> Generator[None, None, _FetchableTopicResponse]:
    topic_id, = r.fixed(_S_u)
    n = read_c_count(r, 37)
    partitions: list[FetchResponse.FetchableTopicResponse.PartitionData] = []
    for _ in range(n):
        partitions.append((yield from _read_steps_PartitionData_12(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _FetchableTopicResponse("", uuid_of(topic_id), partitions)


def _read_steps_FetchResponse_13(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_c_count(r, 18)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_13(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return FetchResponse(throttle_time_ms, error_code, session_id, responses)


def _read_steps_FetchResponse_16(r: Reader) -> Generator[None, None, FetchResponse]:
    throttle_time_ms, error_code, session_id = r.fixed(_S_ihi)
    n = read_c_count(r, 18)
    responses: list[FetchResponse.FetchableTopicResponse] = []
    for _ in range(n):
        responses.append((yield from _read_steps_FetchableTopicResponse_13(r)))
        if r.elements_ended(1):
            yield
    node_endpoints: list[FetchResponse.NodeEndpoint] = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            n = read_c_count(r, 11)
            node_endpoints = [_read_NodeEndpoint_16(r) for _ in range(n)]
            check_tag_end(r, end)
        else:
            r.position = end
    return FetchResponse(throttle_time_ms, error_code, session_id, responses, node_endpoints)


def _write_AbortedTransaction_4(out: bytearray, m: _AbortedTransaction) -> None:
    out += _P_qq(m.producer_id, m.first_offset)


def _write_PartitionData_4(out: bytearray, m: _PartitionData) -> None:
    out += _P_ihqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset)
    if m.aborted_transactions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.aborted_transactions))
        for it_aborted_transactions in m.aborted_transactions:
            _write_AbortedTransaction_4(out, it_aborted_transactions)
    write_null_blob(out, m.records)


def _write_FetchableTopicResponse_4(out: bytearray, m: _FetchableTopicResponse) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_PartitionData_4(out, it_partitions)


def _write_FetchResponse_4(out: bytearray, m: FetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_4(out, it_responses)


def _write_PartitionData_5(out: bytearray, m: _PartitionData) -> None:
    out += _P_ihqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset)
    if m.aborted_transactions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.aborted_transactions))
        for it_aborted_transactions in m.aborted_transactions:
            _write_AbortedTransaction_4(out, it_aborted_transactions)
    write_null_blob(out, m.records)


def _write_FetchableTopicResponse_5(out: bytearray, m: _FetchableTopicResponse) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_PartitionData_5(out, it_partitions)


def _write_FetchResponse_5(out: bytearray, m: FetchResponse) -> None:
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_5(out, it_responses)


def _write_FetchResponse_7(out: bytearray, m: FetchResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_5(out, it_responses)


def _write_PartitionData_11(out: bytearray, m: _PartitionData) -> None:
    out += _P_ihqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset)
    if m.aborted_transactions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.aborted_transactions))
        for it_aborted_transactions in m.aborted_transactions:
            _write_AbortedTransaction_4(out, it_aborted_transactions)
    out += _P_i(m.preferred_read_replica)
    write_null_blob(out, m.records)


def _write_FetchableTopicResponse_11(out: bytearray, m: _FetchableTopicResponse) -> None:
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_PartitionData_11(out, it_partitions)


def _write_FetchResponse_11(out: bytearray, m: FetchResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_11(out, it_responses)


def _write_AbortedTransaction_12(out: bytearray, m: _AbortedTransaction) -> None:
    out += _P_qqx(m.producer_id, m.first_offset)


def _write_EpochEndOffset_12(out: bytearray, m: _EpochEndOffset) -> None:
    out += _P_iqx(m.epoch, m.end_offset)


def _write_LeaderIdAndEpoch_12(out: bytearray, m: _LeaderIdAndEpoch) -> None:
    out += _P_iix(m.leader_id, m.leader_epoch)


def _write_SnapshotId_12(out: bytearray, m: _SnapshotId) -> None:
    out += _P_qix(m.end_offset, m.epoch)


def _write_PartitionData_12(out: bytearray, m: _PartitionData) -> None:
    out += _P_ihqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset)
    if m.aborted_transactions is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.aborted_transactions))
        for it_aborted_transactions in m.aborted_transactions:
            _write_AbortedTransaction_12(out, it_aborted_transactions)
    out += _P_i(m.preferred_read_replica)
    write_c_null_blob(out, m.records)
    tags: list[tuple[int, bytearray]] = []
    if m.diverging_epoch != _EpochEndOffset():
        field = bytearray()
        _write_EpochEndOffset_12(field, m.diverging_epoch)
        tags.append((0, field))
    if m.current_leader != _LeaderIdAndEpoch():
        field = bytearray()
        _write_LeaderIdAndEpoch_12(field, m.current_leader)
        tags.append((1, field))
    if m.snapshot_id != _SnapshotId():
        field = bytearray()
        _write_SnapshotId_12(field, m.snapshot_id)
        tags.append((2, field))
    write_tagged(out, tags)


def _write_FetchableTopicResponse_12(out: bytearray, m: _FetchableTopicResponse) -> None:
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_PartitionData_12(out, it_partitions)
    out.append(0)


def _write_FetchResponse_12(out: bytearray, m: FetchResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_12(out, it_responses)
    out.append(0)


def _write_FetchableTopicResponse_13(out: bytearray, m: _FetchableTopicResponse) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        _write_PartitionData_12(out, it_partitions)
    out.append(0)


def _write_FetchResponse_13(out: bytearray, m: FetchResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_13(out, it_responses)
    out.append(0)


def _write_NodeEndpoint_16(out: bytearray, m: _NodeEndpoint) -> None:
    out += _P_i(m.node_id)
    write_c_string(out, m.host)
    out += _P_i(m.port)
    write_c_null_string(out, m.rack)
    out.append(0)


def _write_FetchResponse_16(out: bytearray, m: FetchResponse) -> None:
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        _write_FetchableTopicResponse_13(out, it_responses)
    tags: list[tuple[int, bytearray]] = []
    if m.node_endpoints:
        field = bytearray()
        write_c_count(field, len(m.node_endpoints))
        for it_node_endpoints in m.node_endpoints:
            _write_NodeEndpoint_16(field, it_node_endpoints)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_PartitionData_4(o: Output, m: _PartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset)
    if m.aborted_transactions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.aborted_transactions))
        left_aborted_transactions = iter(m.aborted_transactions)
        for some in batches(len(m.aborted_transactions)):
            for it_aborted_transactions in islice(left_aborted_transactions, some):
                _write_AbortedTransaction_4(out, it_aborted_transactions)
            if o.elements_ended(some):
                yield
    write_null_blob(out, m.records)


def _write_steps_FetchableTopicResponse_4(o: Output, m: _FetchableTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_PartitionData_4(o, it_partitions)
        if o.elements_ended(1):
            yield


def _write_steps_FetchResponse_4(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_4(o, it_responses)
        if o.elements_ended(1):
            yield


def _write_steps_PartitionData_5(o: Output, m: _PartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset)
    if m.aborted_transactions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.aborted_transactions))
        left_aborted_transactions = iter(m.aborted_transactions)
        for some in batches(len(m.aborted_transactions)):
            for it_aborted_transactions in islice(left_aborted_transactions, some):
                _write_AbortedTransaction_4(out, it_aborted_transactions)
            if o.elements_ended(some):
                yield
    write_null_blob(out, m.records)


def _write_steps_FetchableTopicResponse_5(o: Output, m: _FetchableTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_PartitionData_5(o, it_partitions)
        if o.elements_ended(1):
            yield


def _write_steps_FetchResponse_5(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.throttle_time_ms)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_5(o, it_responses)
        if o.elements_ended(1):
            yield


def _write_steps_FetchResponse_7(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_5(o, it_responses)
        if o.elements_ended(1):
            yield


def _write_steps_PartitionData_11(o: Output, m: _PartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset)
    if m.aborted_transactions is None:
        write_count(out, -1)
    else:
        write_count(out, len(m.aborted_transactions))
        left_aborted_transactions = iter(m.aborted_transactions)
        for some in batches(len(m.aborted_transactions)):
            for it_aborted_transactions in islice(left_aborted_transactions, some):
                _write_AbortedTransaction_4(out, it_aborted_transactions)
            if o.elements_ended(some):
                yield
    out += _P_i(m.preferred_read_replica)
    write_null_blob(out, m.records)


def _write_steps_FetchableTopicResponse_11(o: Output, m: _FetchableTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.topic)
    write_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_PartitionData_11(o, it_partitions)
        if o.elements_ended(1):
            yield


def _write_steps_FetchResponse_11(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_11(o, it_responses)
        if o.elements_ended(1):
            yield


def _write_steps_PartitionData_12(o: Output, m: _PartitionData) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihqqq(m.partition_index, m.error_code, m.high_watermark, m.last_stable_offset, m.log_start_offset)
    if m.aborted_transactions is None:
        write_c_count(out, -1)
    else:
        write_c_count(out, len(m.aborted_transactions))
        left_aborted_transactions = iter(m.aborted_transactions)
        for some in batches(len(m.aborted_transactions)):
            for it_aborted_transactions in islice(left_aborted_transactions, some):
                _write_AbortedTransaction_12(out, it_aborted_transactions)
            if o.elements_ended(some):
                yield
    out += _P_i(m.preferred_read_replica)
    write_c_null_blob(out, m.records)
    tags: list[tuple[int, bytearray]] = []
    if m.diverging_epoch != _EpochEndOffset():
        field = bytearray()
        _write_EpochEndOffset_12(field, m.diverging_epoch)
        tags.append((0, field))
    if m.current_leader != _LeaderIdAndEpoch():
        field = bytearray()
        _write_LeaderIdAndEpoch_12(field, m.current_leader)
        tags.append((1, field))
    if m.snapshot_id != _SnapshotId():
        field = bytearray()
        _write_SnapshotId_12(field, m.snapshot_id)
        tags.append((2, field))
    write_tagged(out, tags)


def _write_steps_FetchableTopicResponse_12(o: Output, m: _FetchableTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.topic)
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_PartitionData_12(o, it_partitions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_FetchResponse_12(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_12(o, it_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_FetchableTopicResponse_13(o: Output, m: _FetchableTopicResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_count(out, len(m.partitions))
    for it_partitions in m.partitions:
        yield from _write_steps_PartitionData_12(o, it_partitions)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_FetchResponse_13(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_13(o, it_responses)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_FetchResponse_16(o: Output, m: FetchResponse) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_ihi(m.throttle_time_ms, m.error_code, m.session_id)
    write_c_count(out, len(m.responses))
    for it_responses in m.responses:
        yield from _write_steps_FetchableTopicResponse_13(o, it_responses)
        if o.elements_ended(1):
            yield
    tags: list[tuple[int, bytearray]] = []
    if m.node_endpoints:
        field = bytearray()
        write_c_count(field, len(m.node_endpoints))
        for it_node_endpoints in m.node_endpoints:
            _write_NodeEndpoint_16(field, it_node_endpoints)
        tags.append((0, field))
    write_tagged(out, tags)


def _error_for(m: FetchRequest, code: int) -> FetchResponse:
    return FetchResponse(error_code=code, responses=[_FetchableTopicResponse(topic=it0.topic, topic_id=it0.topic_id, partitions=[_PartitionData(error_code=code, high_watermark=it1.high_watermark, log_start_offset=it1.log_start_offset) for it1 in it0.partitions]) for it0 in m.topics] + [_FetchableTopicResponse(topic=it0.topic, topic_id=it0.topic_id, partitions=[_PartitionData(partition_index=it1, error_code=code) for it1 in it0.partitions]) for it0 in m.forgotten_topics_data])


FetchRequest.READ = (_read_FetchRequest_4, _read_FetchRequest_5, _read_FetchRequest_5, _read_FetchRequest_7, _read_FetchRequest_7, _read_FetchRequest_9, _read_FetchRequest_9, _read_FetchRequest_11, _read_FetchRequest_12, _read_FetchRequest_13, _read_FetchRequest_13, _read_FetchRequest_15, _read_FetchRequest_15, _read_FetchRequest_17, _read_FetchRequest_18,)
FetchRequest.READ_STEPS = (_read_steps_FetchRequest_4, _read_steps_FetchRequest_5, _read_steps_FetchRequest_5, _read_steps_FetchRequest_7, _read_steps_FetchRequest_7, _read_steps_FetchRequest_9, _read_steps_FetchRequest_9, _read_steps_FetchRequest_11, _read_steps_FetchRequest_12, _read_steps_FetchRequest_13, _read_steps_FetchRequest_13, _read_steps_FetchRequest_15, _read_steps_FetchRequest_15, _read_steps_FetchRequest_17, _read_steps_FetchRequest_18,)
FetchRequest.WRITE = (_write_FetchRequest_4, _write_FetchRequest_5, _write_FetchRequest_5, _write_FetchRequest_7, _write_FetchRequest_7, _write_FetchRequest_9, _write_FetchRequest_9, _write_FetchRequest_11, _write_FetchRequest_12, _write_FetchRequest_13, _write_FetchRequest_13, _write_FetchRequest_15, _write_FetchRequest_15, _write_FetchRequest_17, _write_FetchRequest_18,)
FetchRequest.WRITE_STEPS = (_write_steps_FetchRequest_4, _write_steps_FetchRequest_5, _write_steps_FetchRequest_5, _write_steps_FetchRequest_7, _write_steps_FetchRequest_7, _write_steps_FetchRequest_9, _write_steps_FetchRequest_9, _write_steps_FetchRequest_11, _write_steps_FetchRequest_12, _write_steps_FetchRequest_13, _write_steps_FetchRequest_13, _write_steps_FetchRequest_15, _write_steps_FetchRequest_15, _write_steps_FetchRequest_17, _write_steps_FetchRequest_18,)
FetchResponse.READ = (_read_FetchResponse_4, _read_FetchResponse_5, _read_FetchResponse_5, _read_FetchResponse_7, _read_FetchResponse_7, _read_FetchResponse_7, _read_FetchResponse_7, _read_FetchResponse_11, _read_FetchResponse_12, _read_FetchResponse_13, _read_FetchResponse_13, _read_FetchResponse_13, _read_FetchResponse_16, _read_FetchResponse_16, _read_FetchResponse_16,)
FetchResponse.READ_STEPS = (_read_steps_FetchResponse_4, _read_steps_FetchResponse_5, _read_steps_FetchResponse_5, _read_steps_FetchResponse_7, _read_steps_FetchResponse_7, _read_steps_FetchResponse_7, _read_steps_FetchResponse_7, _read_steps_FetchResponse_11, _read_steps_FetchResponse_12, _read_steps_FetchResponse_13, _read_steps_FetchResponse_13, _read_steps_FetchResponse_13, _read_steps_FetchResponse_16, _read_steps_FetchResponse_16, _read_steps_FetchResponse_16,)
FetchResponse.WRITE = (_write_FetchResponse_4, _write_FetchResponse_5, _write_FetchResponse_5, _write_FetchResponse_7, _write_FetchResponse_7, _write_FetchResponse_7, _write_FetchResponse_7, _write_FetchResponse_11, _write_FetchResponse_12, _write_FetchResponse_13, _write_FetchResponse_13, _write_FetchResponse_13, _write_FetchResponse_16, _write_FetchResponse_16, _write_FetchResponse_16,)
FetchResponse.WRITE_STEPS = (_write_steps_FetchResponse_4, _write_steps_FetchResponse_5, _write_steps_FetchResponse_5, _write_steps_FetchResponse_7, _write_steps_FetchResponse_7, _write_steps_FetchResponse_7, _write_steps_FetchResponse_7, _write_steps_FetchResponse_11, _write_steps_FetchResponse_12, _write_steps_FetchResponse_13, _write_steps_FetchResponse_13, _write_steps_FetchResponse_13, _write_steps_FetchResponse_16, _write_steps_FetchResponse_16, _write_steps_FetchResponse_16,)
FetchRequest.ERROR_FOR = _error_for
