"""ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue, ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue, ConsumerGroupMetadataKey, ConsumerGroupMetadataValue, ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue, ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue, ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue, ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue, GroupMetadataKey, GroupMetadataValue, LegacyOffsetCommitKey, LegacyOffsetCommitValue, OffsetCommitKey, OffsetCommitValue, ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue, ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue, ShareGroupMetadataKey, ShareGroupMetadataValue, ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue, ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue, ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue, StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue, StreamsGroupMetadataKey, StreamsGroupMetadataValue, StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue, StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue, StreamsGroupTopologyKey, StreamsGroupTopologyValue. Made by `headrace.protocol.generator`: change that, or its tables."""

from __future__ import annotations

from collections.abc import Generator
from itertools import islice
from struct import Struct, pack
from typing import ClassVar, Final
from uuid import UUID

import msgspec

from headrace.protocol.message_class import KafkaMessage, MessageStruct
from headrace.protocol.message_reading import FLAT_ELEMENTS, batches, check_tag_end, read_blob, read_c_blob, read_c_count, read_c_null_count, read_c_null_numbers, read_c_null_string, read_c_numbers, read_c_string, read_count, read_is_null, read_null_string, read_string, read_tag_count, read_tag_end, read_uuid, skip_tags, uuid_of
from headrace.protocol.message_writing import Output, Runs, uuid_bytes, write_blob, write_c_blob, write_c_count, write_c_null_string, write_c_string, write_count, write_null_string, write_string, write_tagged
from headrace.protocol.primitives import Reader

class ConsumerGroupCurrentMemberAssignmentKey(KafkaMessage):
    """Key 8, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class ConsumerGroupCurrentMemberAssignmentValue(KafkaMessage):
    """Key 8, version 0, flexible from 0 on."""

    class TopicPartitions(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        partitions: list[int] = []
        assignment_epochs: list[int] | None = []

    RECORD_TYPE: ClassVar[int] = 8
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = []
    partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = []


class ConsumerGroupMemberMetadataKey(KafkaMessage):
    """Key 5, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class ConsumerGroupMemberMetadataValue(KafkaMessage):
    """Key 5, version 0, flexible from 0 on."""

    class ClassicMemberMetadata(MessageStruct):
        """Versions 0+."""

        class ClassicProtocol(MessageStruct):
            """Versions 0+."""

            name: str = ""
            metadata: bytes = b""

        session_timeout_ms: int = 0
        supported_protocols: list[ConsumerGroupMemberMetadataValue.ClassicMemberMetadata.ClassicProtocol] = []

    RECORD_TYPE: ClassVar[int] = 5
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    instance_id: str | None = ""
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = []
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = ""
    classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = msgspec.field(default_factory=lambda: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata())


class ConsumerGroupMetadataKey(KafkaMessage):
    """Key 3, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class ConsumerGroupMetadataValue(KafkaMessage):
    """Key 3, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 3
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    epoch: int = 0
    metadata_hash: int = 0


class ConsumerGroupPartitionMetadataKey(KafkaMessage):
    """Key 4, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class ConsumerGroupPartitionMetadataValue(KafkaMessage):
    """Key 4, version 0, flexible from 0 on."""

    class TopicMetadata(MessageStruct):
        """Versions 0+."""

        class PartitionMetadata(MessageStruct):
            """Versions 0+."""

            partition: int = 0
            racks: list[str] = []

        topic_id: UUID | None = None
        topic_name: str = ""
        num_partitions: int = 0
        partition_metadata: list[ConsumerGroupPartitionMetadataValue.TopicMetadata.PartitionMetadata] = []

    RECORD_TYPE: ClassVar[int] = 4
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topics: list[ConsumerGroupPartitionMetadataValue.TopicMetadata] = []


class ConsumerGroupRegularExpressionKey(KafkaMessage):
    """Key 16, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    regular_expression: str = ""


class ConsumerGroupRegularExpressionValue(KafkaMessage):
    """Key 16, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 16
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topics: list[str] = []
    version: int = 0
    timestamp: int = 0


class ConsumerGroupTargetAssignmentMemberKey(KafkaMessage):
    """Key 7, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class ConsumerGroupTargetAssignmentMemberValue(KafkaMessage):
    """Key 7, version 0, flexible from 0 on."""

    class TopicPartition(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        partitions: list[int] = []

    RECORD_TYPE: ClassVar[int] = 7
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topic_partitions: list[ConsumerGroupTargetAssignmentMemberValue.TopicPartition] = []


class ConsumerGroupTargetAssignmentMetadataKey(KafkaMessage):
    """Key 6, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 6
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class ConsumerGroupTargetAssignmentMetadataValue(KafkaMessage):
    """Key 6, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 6
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    assignment_epoch: int = 0
    assignment_timestamp: int = 0


class GroupMetadataKey(KafkaMessage):
    """Key 2, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group: str = ""


class GroupMetadataValue(KafkaMessage):
    """Key 2, versions 0 to 4, flexible from 4 on."""

    class MemberMetadata(MessageStruct):
        """Versions 0+."""

        member_id: str = ""
        group_instance_id: str | None = None
        client_id: str = ""
        client_host: str = ""
        rebalance_timeout: int = -1
        session_timeout: int = 0
        subscription: bytes = b""
        assignment: bytes = b""

    RECORD_TYPE: ClassVar[int] = 2
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    protocol_type: str = ""
    generation: int = 0
    protocol: str | None = ""
    leader: str | None = ""
    current_state_timestamp: int = -1
    members: list[GroupMetadataValue.MemberMetadata] = []


class LegacyOffsetCommitKey(KafkaMessage):
    """Key 0, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group: str = ""
    topic: str = ""
    partition: int = 0


class LegacyOffsetCommitValue(KafkaMessage):
    """Key 0, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 0
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    offset: int = 0
    metadata: str = ""
    commit_timestamp: int = 0


class OffsetCommitKey(KafkaMessage):
    """Key 1, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group: str = ""
    topic: str = ""
    partition: int = 0


class OffsetCommitValue(KafkaMessage):
    """Key 1, versions 0 to 4, flexible from 4 on."""

    RECORD_TYPE: ClassVar[int] = 1
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 4
    offset: int = 0
    leader_epoch: int = -1
    metadata: str = ""
    commit_timestamp: int = 0
    expire_timestamp: int = -1
    topic_id: UUID | None = None


class ShareGroupCurrentMemberAssignmentKey(KafkaMessage):
    """Key 14, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class ShareGroupCurrentMemberAssignmentValue(KafkaMessage):
    """Key 14, version 0, flexible from 0 on."""

    class TopicPartitions(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        partitions: list[int] = []

    RECORD_TYPE: ClassVar[int] = 14
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    assigned_partitions: list[ShareGroupCurrentMemberAssignmentValue.TopicPartitions] = []


class ShareGroupMemberMetadataKey(KafkaMessage):
    """Key 10, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class ShareGroupMemberMetadataValue(KafkaMessage):
    """Key 10, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 10
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = []


class ShareGroupMetadataKey(KafkaMessage):
    """Key 11, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class ShareGroupMetadataValue(KafkaMessage):
    """Key 11, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 11
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    epoch: int = 0
    metadata_hash: int = 0


class ShareGroupStatePartitionMetadataKey(KafkaMessage):
    """Key 15, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class ShareGroupStatePartitionMetadataValue(KafkaMessage):
    """Key 15, version 0, flexible from 0 on."""

    class TopicPartitionsInfo(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        topic_name: str = ""
        partitions: list[int] = []

    class TopicInfo(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        topic_name: str = ""

    RECORD_TYPE: ClassVar[int] = 15
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    initializing_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = []
    initialized_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = []
    deleting_topics: list[ShareGroupStatePartitionMetadataValue.TopicInfo] = []


class ShareGroupTargetAssignmentMemberKey(KafkaMessage):
    """Key 13, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class ShareGroupTargetAssignmentMemberValue(KafkaMessage):
    """Key 13, version 0, flexible from 0 on."""

    class TopicPartition(MessageStruct):
        """Versions 0+."""

        topic_id: UUID | None = None
        partitions: list[int] = []

    RECORD_TYPE: ClassVar[int] = 13
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    topic_partitions: list[ShareGroupTargetAssignmentMemberValue.TopicPartition] = []


class ShareGroupTargetAssignmentMetadataKey(KafkaMessage):
    """Key 12, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class ShareGroupTargetAssignmentMetadataValue(KafkaMessage):
    """Key 12, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 12
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    assignment_epoch: int = 0
    assignment_timestamp: int = 0


class StreamsGroupCurrentMemberAssignmentKey(KafkaMessage):
    """Key 22, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class StreamsGroupCurrentMemberAssignmentValue(KafkaMessage):
    """Key 22, version 0, flexible from 0 on."""

    class TaskIds(MessageStruct):
        """Versions 0+."""

        subtopology_id: str = ""
        partitions: list[int] = []
        assignment_epochs: list[int] | None = []

    RECORD_TYPE: ClassVar[int] = 22
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    member_epoch: int = 0
    previous_member_epoch: int = 0
    state: int = 0
    active_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []


class StreamsGroupMemberMetadataKey(KafkaMessage):
    """Key 19, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class StreamsGroupMemberMetadataValue(KafkaMessage):
    """Key 19, version 0, flexible from 0 on."""

    class Endpoint(MessageStruct):
        """Versions 0+."""

        host: str = ""
        port: int = 0

    class KeyValue(MessageStruct):
        """Versions 0+."""

        key: str = ""
        value: str = ""

    RECORD_TYPE: ClassVar[int] = 19
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    instance_id: str | None = ""
    rack_id: str | None = ""
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = 0
    process_id: str = ""
    user_endpoint: StreamsGroupMemberMetadataValue.Endpoint | None = None
    client_tags: list[StreamsGroupMemberMetadataValue.KeyValue] = []


class StreamsGroupMetadataKey(KafkaMessage):
    """Key 17, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class StreamsGroupMetadataValue(KafkaMessage):
    """Key 17, version 0, flexible from 0 on."""

    class LastAssignmentConfig(MessageStruct):
        """Versions 0+."""

        key: str = ""
        value: str = ""

    RECORD_TYPE: ClassVar[int] = 17
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    epoch: int = 0
    metadata_hash: int = 0
    validated_topology_epoch: int = -1
    last_assignment_configs: list[StreamsGroupMetadataValue.LastAssignmentConfig] | None = []
    stored_description_topology_epoch: int = -1
    failed_description_topology_epoch: int = -1


class StreamsGroupTargetAssignmentMemberKey(KafkaMessage):
    """Key 21, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""
    member_id: str = ""


class StreamsGroupTargetAssignmentMemberValue(KafkaMessage):
    """Key 21, version 0, flexible from 0 on."""

    class TaskIds(MessageStruct):
        """Versions 0+."""

        subtopology_id: str = ""
        partitions: list[int] = []

    RECORD_TYPE: ClassVar[int] = 21
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    active_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = []
    standby_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = []
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = []


class StreamsGroupTargetAssignmentMetadataKey(KafkaMessage):
    """Key 20, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class StreamsGroupTargetAssignmentMetadataValue(KafkaMessage):
    """Key 20, version 0, flexible from 0 on."""

    RECORD_TYPE: ClassVar[int] = 20
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    assignment_epoch: int = 0
    assignment_timestamp: int = 0


class StreamsGroupTopologyKey(KafkaMessage):
    """Key 23, version 0, none flexible."""

    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 32768
    group_id: str = ""


class StreamsGroupTopologyValue(KafkaMessage):
    """Key 23, version 0, flexible from 0 on."""

    class TopicConfig(MessageStruct):
        """Versions 0+."""

        key: str = ""
        value: str = ""

    class TopicInfo(MessageStruct):
        """Versions 0+."""

        name: str = ""
        partitions: int = 0
        replication_factor: int = 0
        topic_configs: list[StreamsGroupTopologyValue.TopicConfig] = []

    class Subtopology(MessageStruct):
        """Versions 0+."""

        class CopartitionGroup(MessageStruct):
            """Versions 0+."""

            source_topics: list[int] = []
            source_topic_regex: list[int] = []
            repartition_source_topics: list[int] = []

        subtopology_id: str = ""
        source_topics: list[str] = []
        source_topic_regex: list[str] = []
        state_changelog_topics: list[StreamsGroupTopologyValue.TopicInfo] = []
        repartition_sink_topics: list[str] = []
        repartition_source_topics: list[StreamsGroupTopologyValue.TopicInfo] = []
        copartition_groups: list[StreamsGroupTopologyValue.Subtopology.CopartitionGroup] = []

    RECORD_TYPE: ClassVar[int] = 23
    MIN_VERSION: ClassVar[int] = 0
    FLEXIBLE_SINCE: ClassVar[int] = 0
    epoch: int = 0
    subtopologies: list[StreamsGroupTopologyValue.Subtopology] = []


_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions = ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions
_ClassicProtocol = ConsumerGroupMemberMetadataValue.ClassicMemberMetadata.ClassicProtocol
_ClassicMemberMetadata = ConsumerGroupMemberMetadataValue.ClassicMemberMetadata
_PartitionMetadata = ConsumerGroupPartitionMetadataValue.TopicMetadata.PartitionMetadata
_TopicMetadata = ConsumerGroupPartitionMetadataValue.TopicMetadata
_ConsumerGroupTargetAssignmentMemberValueTopicPartition = ConsumerGroupTargetAssignmentMemberValue.TopicPartition
_MemberMetadata = GroupMetadataValue.MemberMetadata
_ShareGroupCurrentMemberAssignmentValueTopicPartitions = ShareGroupCurrentMemberAssignmentValue.TopicPartitions
_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo = ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo
_ShareGroupStatePartitionMetadataValueTopicInfo = ShareGroupStatePartitionMetadataValue.TopicInfo
_ShareGroupTargetAssignmentMemberValueTopicPartition = ShareGroupTargetAssignmentMemberValue.TopicPartition
_StreamsGroupCurrentMemberAssignmentValueTaskIds = StreamsGroupCurrentMemberAssignmentValue.TaskIds
_Endpoint = StreamsGroupMemberMetadataValue.Endpoint
_KeyValue = StreamsGroupMemberMetadataValue.KeyValue
_LastAssignmentConfig = StreamsGroupMetadataValue.LastAssignmentConfig
_StreamsGroupTargetAssignmentMemberValueTaskIds = StreamsGroupTargetAssignmentMemberValue.TaskIds
_StreamsGroupTopologyValueTopicConfig = StreamsGroupTopologyValue.TopicConfig
_StreamsGroupTopologyValueTopicInfo = StreamsGroupTopologyValue.TopicInfo
_StreamsGroupTopologyValueCopartitionGroup = StreamsGroupTopologyValue.Subtopology.CopartitionGroup
_StreamsGroupTopologyValueSubtopology = StreamsGroupTopologyValue.Subtopology
_P_Hx: Final = Struct(">Hx").pack
_P_i: Final = Struct(">i").pack
_P_ih: Final = Struct(">ih").pack
_P_ii: Final = Struct(">ii").pack
_P_iib: Final = Struct(">iib").pack
_P_iq: Final = Struct(">iq").pack
_P_iqx: Final = Struct(">iqx").pack
_P_q: Final = Struct(">q").pack
_P_qi: Final = Struct(">qi").pack
_P_qq: Final = Struct(">qq").pack
_P_qqx: Final = Struct(">qqx").pack
_P_u: Final = Struct(">16s").pack
_R_Bh_Bh_Bh_x: Final = Runs("Bh", "Bh", "Bh", "x", is_array=(True, True, True, False))
_R_Bi: Final = Runs("Bi", is_array=(True,))
_R_Bi_x: Final = Runs("Bi", "x", is_array=(True, False))
_R_u_Bi: Final = Runs("16s", "Bi", is_array=(False, True))
_R_u_Bi_x: Final = Runs("16s", "Bi", "x", is_array=(False, True, False))
_S_H: Final = Struct(">H")
_S_i: Final = Struct(">i")
_S_ih: Final = Struct(">ih")
_S_ii: Final = Struct(">ii")
_S_iib: Final = Struct(">iib")
_S_iq: Final = Struct(">iq")
_S_q: Final = Struct(">q")
_S_qi: Final = Struct(">qi")
_S_qq: Final = Struct(">qq")
_S_u: Final = Struct(">16s")


def _read_ConsumerGroupCurrentMemberAssignmentKey_0(r: Reader) -> ConsumerGroupCurrentMemberAssignmentKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return ConsumerGroupCurrentMemberAssignmentKey(group_id, member_id)


def _write_ConsumerGroupCurrentMemberAssignmentKey_0(out: bytearray, m: ConsumerGroupCurrentMemberAssignmentKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(r: Reader) -> _ConsumerGroupCurrentMemberAssignmentValueTopicPartitions:
    topic_id, = r.fixed(_S_u)
    partitions = read_c_numbers(r, "i", 4)
    assignment_epochs: list[int] | None = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            assignment_epochs = read_c_null_numbers(r, "i", 4)
            check_tag_end(r, end)
        else:
            r.position = end
    return _ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(uuid_of(topic_id), partitions, assignment_epochs)


def _read_ConsumerGroupCurrentMemberAssignmentValue_0(r: Reader) -> ConsumerGroupCurrentMemberAssignmentValue:
    member_epoch, previous_member_epoch, state = r.fixed(_S_iib)
    n = read_c_count(r, 18)
    assigned_partitions = [_read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(r) for _ in range(n)]
    n = read_c_count(r, 18)
    partitions_pending_revocation = [_read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(r) for _ in range(n)]
    skip_tags(r)
    return ConsumerGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation)


def _read_steps_ConsumerGroupCurrentMemberAssignmentValue_0(r: Reader) -> Generator[None, None, ConsumerGroupCurrentMemberAssignmentValue]:
    member_epoch, previous_member_epoch, state = r.fixed(_S_iib)
    n = read_c_count(r, 18)
    assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = []
    for some in batches(n):
        assigned_partitions += [_read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    n = read_c_count(r, 18)
    partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions] = []
    for some in batches(n):
        partitions_pending_revocation += [_read_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return ConsumerGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions, partitions_pending_revocation)


def _write_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(out: bytearray, m: _ConsumerGroupCurrentMemberAssignmentValueTopicPartitions) -> None:
    n1 = len(m.partitions)
    out += _R_u_Bi[n1,](uuid_bytes(m.topic_id), n1 + 1, *m.partitions)
    tags: list[tuple[int, bytearray]] = []
    if m.assignment_epochs is None or m.assignment_epochs:
        field = bytearray()
        if m.assignment_epochs is None:
            write_c_count(field, -1)
        else:
            write_c_count(field, len(m.assignment_epochs))
            field += pack(f">{len(m.assignment_epochs)}i", *m.assignment_epochs)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_ConsumerGroupCurrentMemberAssignmentValue_0(out: bytearray, m: ConsumerGroupCurrentMemberAssignmentValue) -> None:
    out += _P_iib(m.member_epoch, m.previous_member_epoch, m.state)
    write_c_count(out, len(m.assigned_partitions))
    for it_assigned_partitions in m.assigned_partitions:
        _write_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(out, it_assigned_partitions)
    write_c_count(out, len(m.partitions_pending_revocation))
    for it_partitions_pending_revocation in m.partitions_pending_revocation:
        _write_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(out, it_partitions_pending_revocation)
    out.append(0)


def _write_steps_ConsumerGroupCurrentMemberAssignmentValue_0(o: Output, m: ConsumerGroupCurrentMemberAssignmentValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iib(m.member_epoch, m.previous_member_epoch, m.state)
    write_c_count(out, len(m.assigned_partitions))
    left_assigned_partitions = iter(m.assigned_partitions)
    for some in batches(len(m.assigned_partitions)):
        for it_assigned_partitions in islice(left_assigned_partitions, some):
            _write_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(out, it_assigned_partitions)
        if o.elements_ended(some):
            yield
    write_c_count(out, len(m.partitions_pending_revocation))
    left_partitions_pending_revocation = iter(m.partitions_pending_revocation)
    for some in batches(len(m.partitions_pending_revocation)):
        for it_partitions_pending_revocation in islice(left_partitions_pending_revocation, some):
            _write_ConsumerGroupCurrentMemberAssignmentValueTopicPartitions_0(out, it_partitions_pending_revocation)
        if o.elements_ended(some):
            yield
    out.append(0)


def _read_ConsumerGroupMemberMetadataKey_0(r: Reader) -> ConsumerGroupMemberMetadataKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return ConsumerGroupMemberMetadataKey(group_id, member_id)


def _write_ConsumerGroupMemberMetadataKey_0(out: bytearray, m: ConsumerGroupMemberMetadataKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_ClassicProtocol_0(r: Reader) -> _ClassicProtocol:
    name = read_c_string(r)
    metadata = read_c_blob(r)
    skip_tags(r)
    return _ClassicProtocol(name, metadata)


def _read_ClassicMemberMetadata_0(r: Reader) -> _ClassicMemberMetadata:
    session_timeout_ms, = r.fixed(_S_i)
    n = read_c_count(r, 3)
    supported_protocols = [_read_ClassicProtocol_0(r) for _ in range(n)]
    skip_tags(r)
    return _ClassicMemberMetadata(session_timeout_ms, supported_protocols)


def _read_ConsumerGroupMemberMetadataValue_0(r: Reader) -> ConsumerGroupMemberMetadataValue:
    instance_id = read_c_null_string(r)
    rack_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    n = read_c_count(r, 1)
    subscribed_topic_names = [read_c_string(r) for _ in range(n)]
    subscribed_topic_regex = read_c_null_string(r)
    rebalance_timeout_ms, = r.fixed(_S_i)
    server_assignor = read_c_null_string(r)
    classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = _ClassicMemberMetadata()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            classic_member_metadata = None if r.uvarint() == 0 else _read_ClassicMemberMetadata_0(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return ConsumerGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, subscribed_topic_names, subscribed_topic_regex, rebalance_timeout_ms, server_assignor, classic_member_metadata)


def _read_steps_ConsumerGroupMemberMetadataValue_0(r: Reader) -> Generator[None, None, ConsumerGroupMemberMetadataValue]:
    instance_id = read_c_null_string(r)
    rack_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    n = read_c_count(r, 1)
    subscribed_topic_names: list[str] = []
    if n <= FLAT_ELEMENTS:
        subscribed_topic_names = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            subscribed_topic_names.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    subscribed_topic_regex = read_c_null_string(r)
    rebalance_timeout_ms, = r.fixed(_S_i)
    server_assignor = read_c_null_string(r)
    classic_member_metadata: ConsumerGroupMemberMetadataValue.ClassicMemberMetadata | None = _ClassicMemberMetadata()
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            classic_member_metadata = None if r.uvarint() == 0 else _read_ClassicMemberMetadata_0(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return ConsumerGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, subscribed_topic_names, subscribed_topic_regex, rebalance_timeout_ms, server_assignor, classic_member_metadata)


def _write_ClassicProtocol_0(out: bytearray, m: _ClassicProtocol) -> None:
    write_c_string(out, m.name)
    write_c_blob(out, m.metadata)
    out.append(0)


def _write_ClassicMemberMetadata_0(out: bytearray, m: _ClassicMemberMetadata) -> None:
    out += _P_i(m.session_timeout_ms)
    write_c_count(out, len(m.supported_protocols))
    for it_supported_protocols in m.supported_protocols:
        _write_ClassicProtocol_0(out, it_supported_protocols)
    out.append(0)


def _write_ConsumerGroupMemberMetadataValue_0(out: bytearray, m: ConsumerGroupMemberMetadataValue) -> None:
    write_c_null_string(out, m.instance_id)
    write_c_null_string(out, m.rack_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    write_c_count(out, len(m.subscribed_topic_names))
    for it_subscribed_topic_names in m.subscribed_topic_names:
        write_c_string(out, it_subscribed_topic_names)
    write_c_null_string(out, m.subscribed_topic_regex)
    out += _P_i(m.rebalance_timeout_ms)
    write_c_null_string(out, m.server_assignor)
    tags: list[tuple[int, bytearray]] = []
    if m.classic_member_metadata != _ClassicMemberMetadata():
        field = bytearray()
        if m.classic_member_metadata is None:
            field.append(0)
        else:
            field.append(1)
            _write_ClassicMemberMetadata_0(field, m.classic_member_metadata)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_steps_ConsumerGroupMemberMetadataValue_0(o: Output, m: ConsumerGroupMemberMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.instance_id)
    write_c_null_string(out, m.rack_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    write_c_count(out, len(m.subscribed_topic_names))
    if len(m.subscribed_topic_names) <= FLAT_ELEMENTS:
        for it_subscribed_topic_names in m.subscribed_topic_names:
            write_c_string(out, it_subscribed_topic_names)
        if o.elements_ended(len(m.subscribed_topic_names)):
            yield
    else:
        for it_subscribed_topic_names in m.subscribed_topic_names:
            write_c_string(out, it_subscribed_topic_names)
            if o.elements_ended(1):
                yield
    write_c_null_string(out, m.subscribed_topic_regex)
    out += _P_i(m.rebalance_timeout_ms)
    write_c_null_string(out, m.server_assignor)
    tags: list[tuple[int, bytearray]] = []
    if m.classic_member_metadata != _ClassicMemberMetadata():
        field = bytearray()
        if m.classic_member_metadata is None:
            field.append(0)
        else:
            field.append(1)
            _write_ClassicMemberMetadata_0(field, m.classic_member_metadata)
        tags.append((0, field))
    write_tagged(out, tags)


def _read_ConsumerGroupMetadataKey_0(r: Reader) -> ConsumerGroupMetadataKey:
    group_id = read_string(r)
    return ConsumerGroupMetadataKey(group_id)


def _write_ConsumerGroupMetadataKey_0(out: bytearray, m: ConsumerGroupMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_ConsumerGroupMetadataValue_0(r: Reader) -> ConsumerGroupMetadataValue:
    epoch, = r.fixed(_S_i)
    metadata_hash: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            metadata_hash, = r.fixed(_S_q)
            check_tag_end(r, end)
        else:
            r.position = end
    return ConsumerGroupMetadataValue(epoch, metadata_hash)


def _write_ConsumerGroupMetadataValue_0(out: bytearray, m: ConsumerGroupMetadataValue) -> None:
    out += _P_i(m.epoch)
    tags: list[tuple[int, bytearray]] = []
    if m.metadata_hash != 0:
        field = bytearray()
        field += _P_q(m.metadata_hash)
        tags.append((0, field))
    write_tagged(out, tags)


def _read_ConsumerGroupPartitionMetadataKey_0(r: Reader) -> ConsumerGroupPartitionMetadataKey:
    group_id = read_string(r)
    return ConsumerGroupPartitionMetadataKey(group_id)


def _write_ConsumerGroupPartitionMetadataKey_0(out: bytearray, m: ConsumerGroupPartitionMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_PartitionMetadata_0(r: Reader) -> _PartitionMetadata:
    partition, = r.fixed(_S_i)
    n = read_c_count(r, 1)
    racks = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return _PartitionMetadata(partition, racks)


def _read_TopicMetadata_0(r: Reader) -> _TopicMetadata:
    topic_id, = r.fixed(_S_u)
    topic_name = read_c_string(r)
    num_partitions, = r.fixed(_S_i)
    n = read_c_count(r, 6)
    partition_metadata = [_read_PartitionMetadata_0(r) for _ in range(n)]
    skip_tags(r)
    return _TopicMetadata(uuid_of(topic_id), topic_name, num_partitions, partition_metadata)


def _read_ConsumerGroupPartitionMetadataValue_0(r: Reader) -> ConsumerGroupPartitionMetadataValue:
    n = read_c_count(r, 23)
    topics = [_read_TopicMetadata_0(r) for _ in range(n)]
    skip_tags(r)
    return ConsumerGroupPartitionMetadataValue(topics)


def _read_steps_PartitionMetadata_0(r: Reader) -> Generator[None, None, _PartitionMetadata]:
    partition, = r.fixed(_S_i)
    n = read_c_count(r, 1)
    racks: list[str] = []
    if n <= FLAT_ELEMENTS:
        racks = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            racks.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _PartitionMetadata(partition, racks)


def _read_steps_TopicMetadata_0(r: Reader) -> Generator[None, None, _TopicMetadata]:
    topic_id, = r.fixed(_S_u)
    topic_name = read_c_string(r)
    num_partitions, = r.fixed(_S_i)
    n = read_c_count(r, 6)
    partition_metadata: list[ConsumerGroupPartitionMetadataValue.TopicMetadata.PartitionMetadata] = []
    for _ in range(n):
        partition_metadata.append((yield from _read_steps_PartitionMetadata_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return _TopicMetadata(uuid_of(topic_id), topic_name, num_partitions, partition_metadata)


def _read_steps_ConsumerGroupPartitionMetadataValue_0(r: Reader) -> Generator[None, None, ConsumerGroupPartitionMetadataValue]:
    n = read_c_count(r, 23)
    topics: list[ConsumerGroupPartitionMetadataValue.TopicMetadata] = []
    for _ in range(n):
        topics.append((yield from _read_steps_TopicMetadata_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return ConsumerGroupPartitionMetadataValue(topics)


def _write_PartitionMetadata_0(out: bytearray, m: _PartitionMetadata) -> None:
    out += _P_i(m.partition)
    write_c_count(out, len(m.racks))
    for it_racks in m.racks:
        write_c_string(out, it_racks)
    out.append(0)


def _write_TopicMetadata_0(out: bytearray, m: _TopicMetadata) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_string(out, m.topic_name)
    out += _P_i(m.num_partitions)
    write_c_count(out, len(m.partition_metadata))
    for it_partition_metadata in m.partition_metadata:
        _write_PartitionMetadata_0(out, it_partition_metadata)
    out.append(0)


def _write_ConsumerGroupPartitionMetadataValue_0(out: bytearray, m: ConsumerGroupPartitionMetadataValue) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        _write_TopicMetadata_0(out, it_topics)
    out.append(0)


def _write_steps_PartitionMetadata_0(o: Output, m: _PartitionMetadata) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.partition)
    write_c_count(out, len(m.racks))
    if len(m.racks) <= FLAT_ELEMENTS:
        for it_racks in m.racks:
            write_c_string(out, it_racks)
        if o.elements_ended(len(m.racks)):
            yield
    else:
        for it_racks in m.racks:
            write_c_string(out, it_racks)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_TopicMetadata_0(o: Output, m: _TopicMetadata) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_string(out, m.topic_name)
    out += _P_i(m.num_partitions)
    write_c_count(out, len(m.partition_metadata))
    for it_partition_metadata in m.partition_metadata:
        yield from _write_steps_PartitionMetadata_0(o, it_partition_metadata)
        if o.elements_ended(1):
            yield
    out.append(0)


def _write_steps_ConsumerGroupPartitionMetadataValue_0(o: Output, m: ConsumerGroupPartitionMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        yield from _write_steps_TopicMetadata_0(o, it_topics)
        if o.elements_ended(1):
            yield
    out.append(0)


def _read_ConsumerGroupRegularExpressionKey_0(r: Reader) -> ConsumerGroupRegularExpressionKey:
    group_id = read_string(r)
    regular_expression = read_string(r)
    return ConsumerGroupRegularExpressionKey(group_id, regular_expression)


def _write_ConsumerGroupRegularExpressionKey_0(out: bytearray, m: ConsumerGroupRegularExpressionKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.regular_expression)


def _read_ConsumerGroupRegularExpressionValue_0(r: Reader) -> ConsumerGroupRegularExpressionValue:
    n = read_c_count(r, 1)
    topics = [read_c_string(r) for _ in range(n)]
    version, timestamp = r.fixed(_S_qq)
    skip_tags(r)
    return ConsumerGroupRegularExpressionValue(topics, version, timestamp)


def _read_steps_ConsumerGroupRegularExpressionValue_0(r: Reader) -> Generator[None, None, ConsumerGroupRegularExpressionValue]:
    n = read_c_count(r, 1)
    topics: list[str] = []
    if n <= FLAT_ELEMENTS:
        topics = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topics.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    version, timestamp = r.fixed(_S_qq)
    skip_tags(r)
    return ConsumerGroupRegularExpressionValue(topics, version, timestamp)


def _write_ConsumerGroupRegularExpressionValue_0(out: bytearray, m: ConsumerGroupRegularExpressionValue) -> None:
    write_c_count(out, len(m.topics))
    for it_topics in m.topics:
        write_c_string(out, it_topics)
    out += _P_qqx(m.version, m.timestamp)


def _write_steps_ConsumerGroupRegularExpressionValue_0(o: Output, m: ConsumerGroupRegularExpressionValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topics))
    if len(m.topics) <= FLAT_ELEMENTS:
        for it_topics in m.topics:
            write_c_string(out, it_topics)
        if o.elements_ended(len(m.topics)):
            yield
    else:
        for it_topics in m.topics:
            write_c_string(out, it_topics)
            if o.elements_ended(1):
                yield
    out += _P_qqx(m.version, m.timestamp)


def _read_ConsumerGroupTargetAssignmentMemberKey_0(r: Reader) -> ConsumerGroupTargetAssignmentMemberKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return ConsumerGroupTargetAssignmentMemberKey(group_id, member_id)


def _write_ConsumerGroupTargetAssignmentMemberKey_0(out: bytearray, m: ConsumerGroupTargetAssignmentMemberKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_ConsumerGroupTargetAssignmentMemberValueTopicPartition_0(r: Reader) -> _ConsumerGroupTargetAssignmentMemberValueTopicPartition:
    topic_id, = r.fixed(_S_u)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ConsumerGroupTargetAssignmentMemberValueTopicPartition(uuid_of(topic_id), partitions)


def _read_ConsumerGroupTargetAssignmentMemberValue_0(r: Reader) -> ConsumerGroupTargetAssignmentMemberValue:
    n = read_c_count(r, 18)
    topic_partitions = [_read_ConsumerGroupTargetAssignmentMemberValueTopicPartition_0(r) for _ in range(n)]
    skip_tags(r)
    return ConsumerGroupTargetAssignmentMemberValue(topic_partitions)


def _read_steps_ConsumerGroupTargetAssignmentMemberValue_0(r: Reader) -> Generator[None, None, ConsumerGroupTargetAssignmentMemberValue]:
    n = read_c_count(r, 18)
    topic_partitions: list[ConsumerGroupTargetAssignmentMemberValue.TopicPartition] = []
    for some in batches(n):
        topic_partitions += [_read_ConsumerGroupTargetAssignmentMemberValueTopicPartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return ConsumerGroupTargetAssignmentMemberValue(topic_partitions)


def _write_ConsumerGroupTargetAssignmentMemberValueTopicPartition_0(out: bytearray, m: _ConsumerGroupTargetAssignmentMemberValueTopicPartition) -> None:
    n1 = len(m.partitions)
    out += _R_u_Bi_x[n1,](uuid_bytes(m.topic_id), n1 + 1, *m.partitions)


def _write_ConsumerGroupTargetAssignmentMemberValue_0(out: bytearray, m: ConsumerGroupTargetAssignmentMemberValue) -> None:
    write_c_count(out, len(m.topic_partitions))
    for it_topic_partitions in m.topic_partitions:
        _write_ConsumerGroupTargetAssignmentMemberValueTopicPartition_0(out, it_topic_partitions)
    out.append(0)


def _write_steps_ConsumerGroupTargetAssignmentMemberValue_0(o: Output, m: ConsumerGroupTargetAssignmentMemberValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topic_partitions))
    left_topic_partitions = iter(m.topic_partitions)
    for some in batches(len(m.topic_partitions)):
        for it_topic_partitions in islice(left_topic_partitions, some):
            _write_ConsumerGroupTargetAssignmentMemberValueTopicPartition_0(out, it_topic_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _read_ConsumerGroupTargetAssignmentMetadataKey_0(r: Reader) -> ConsumerGroupTargetAssignmentMetadataKey:
    group_id = read_string(r)
    return ConsumerGroupTargetAssignmentMetadataKey(group_id)


def _write_ConsumerGroupTargetAssignmentMetadataKey_0(out: bytearray, m: ConsumerGroupTargetAssignmentMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_ConsumerGroupTargetAssignmentMetadataValue_0(r: Reader) -> ConsumerGroupTargetAssignmentMetadataValue:
    assignment_epoch, = r.fixed(_S_i)
    assignment_timestamp: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            assignment_timestamp, = r.fixed(_S_q)
            check_tag_end(r, end)
        else:
            r.position = end
    return ConsumerGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp)


def _write_ConsumerGroupTargetAssignmentMetadataValue_0(out: bytearray, m: ConsumerGroupTargetAssignmentMetadataValue) -> None:
    out += _P_i(m.assignment_epoch)
    tags: list[tuple[int, bytearray]] = []
    if m.assignment_timestamp != 0:
        field = bytearray()
        field += _P_q(m.assignment_timestamp)
        tags.append((0, field))
    write_tagged(out, tags)


def _read_GroupMetadataKey_0(r: Reader) -> GroupMetadataKey:
    group = read_string(r)
    return GroupMetadataKey(group)


def _write_GroupMetadataKey_0(out: bytearray, m: GroupMetadataKey) -> None:
    write_string(out, m.group)


def _read_MemberMetadata_0(r: Reader) -> _MemberMetadata:
    member_id = read_string(r)
    client_id = read_string(r)
    client_host = read_string(r)
    session_timeout, = r.fixed(_S_i)
    subscription = read_blob(r)
    assignment = read_blob(r)
    return _MemberMetadata(member_id, None, client_id, client_host, -1, session_timeout, subscription, assignment)


def _read_GroupMetadataValue_0(r: Reader) -> GroupMetadataValue:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    n = read_count(r, 18)
    members = [_read_MemberMetadata_0(r) for _ in range(n)]
    return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members)


def _read_MemberMetadata_1(r: Reader) -> _MemberMetadata:
    member_id = read_string(r)
    client_id = read_string(r)
    client_host = read_string(r)
    rebalance_timeout, session_timeout = r.fixed(_S_ii)
    subscription = read_blob(r)
    assignment = read_blob(r)
    return _MemberMetadata(member_id, None, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment)


def _read_GroupMetadataValue_1(r: Reader) -> GroupMetadataValue:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    n = read_count(r, 22)
    members = [_read_MemberMetadata_1(r) for _ in range(n)]
    return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members)


def _read_GroupMetadataValue_2(r: Reader) -> GroupMetadataValue:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    current_state_timestamp, = r.fixed(_S_q)
    n = read_count(r, 22)
    members = [_read_MemberMetadata_1(r) for _ in range(n)]
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members)


def _read_MemberMetadata_3(r: Reader) -> _MemberMetadata:
    member_id = read_string(r)
    group_instance_id = read_null_string(r)
    client_id = read_string(r)
    client_host = read_string(r)
    rebalance_timeout, session_timeout = r.fixed(_S_ii)
    subscription = read_blob(r)
    assignment = read_blob(r)
    return _MemberMetadata(member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment)


def _read_GroupMetadataValue_3(r: Reader) -> GroupMetadataValue:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    current_state_timestamp, = r.fixed(_S_q)
    n = read_count(r, 24)
    members = [_read_MemberMetadata_3(r) for _ in range(n)]
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members)


def _read_MemberMetadata_4(r: Reader) -> _MemberMetadata:
    member_id = read_c_string(r)
    group_instance_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    rebalance_timeout, session_timeout = r.fixed(_S_ii)
    subscription = read_c_blob(r)
    assignment = read_c_blob(r)
    skip_tags(r)
    return _MemberMetadata(member_id, group_instance_id, client_id, client_host, rebalance_timeout, session_timeout, subscription, assignment)


def _read_GroupMetadataValue_4(r: Reader) -> GroupMetadataValue:
    protocol_type = read_c_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_c_null_string(r)
    leader = read_c_null_string(r)
    current_state_timestamp, = r.fixed(_S_q)
    n = read_c_count(r, 15)
    members = [_read_MemberMetadata_4(r) for _ in range(n)]
    skip_tags(r)
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members)


def _read_steps_GroupMetadataValue_0(r: Reader) -> Generator[None, None, GroupMetadataValue]:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    n = read_count(r, 18)
    members: list[GroupMetadataValue.MemberMetadata] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberMetadata_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberMetadata_0(r))
            if r.elements_ended(1):
                yield
    return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members)


def _read_steps_GroupMetadataValue_1(r: Reader) -> Generator[None, None, GroupMetadataValue]:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    n = read_count(r, 22)
    members: list[GroupMetadataValue.MemberMetadata] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberMetadata_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberMetadata_1(r))
            if r.elements_ended(1):
                yield
    return GroupMetadataValue(protocol_type, generation, protocol, leader, -1, members)


def _read_steps_GroupMetadataValue_2(r: Reader) -> Generator[None, None, GroupMetadataValue]:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    current_state_timestamp, = r.fixed(_S_q)
    n = read_count(r, 22)
    members: list[GroupMetadataValue.MemberMetadata] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberMetadata_1(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberMetadata_1(r))
            if r.elements_ended(1):
                yield
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members)


def _read_steps_GroupMetadataValue_3(r: Reader) -> Generator[None, None, GroupMetadataValue]:
    protocol_type = read_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_null_string(r)
    leader = read_null_string(r)
    current_state_timestamp, = r.fixed(_S_q)
    n = read_count(r, 24)
    members: list[GroupMetadataValue.MemberMetadata] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberMetadata_3(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberMetadata_3(r))
            if r.elements_ended(1):
                yield
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members)


def _read_steps_GroupMetadataValue_4(r: Reader) -> Generator[None, None, GroupMetadataValue]:
    protocol_type = read_c_string(r)
    generation, = r.fixed(_S_i)
    protocol = read_c_null_string(r)
    leader = read_c_null_string(r)
    current_state_timestamp, = r.fixed(_S_q)
    n = read_c_count(r, 15)
    members: list[GroupMetadataValue.MemberMetadata] = []
    if n <= FLAT_ELEMENTS:
        members = [_read_MemberMetadata_4(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            members.append(_read_MemberMetadata_4(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return GroupMetadataValue(protocol_type, generation, protocol, leader, current_state_timestamp, members)


def _write_MemberMetadata_0(out: bytearray, m: _MemberMetadata) -> None:
    write_string(out, m.member_id)
    write_string(out, m.client_id)
    write_string(out, m.client_host)
    out += _P_i(m.session_timeout)
    write_blob(out, m.subscription)
    write_blob(out, m.assignment)


def _write_GroupMetadataValue_0(out: bytearray, m: GroupMetadataValue) -> None:
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberMetadata_0(out, it_members)


def _write_MemberMetadata_1(out: bytearray, m: _MemberMetadata) -> None:
    write_string(out, m.member_id)
    write_string(out, m.client_id)
    write_string(out, m.client_host)
    out += _P_ii(m.rebalance_timeout, m.session_timeout)
    write_blob(out, m.subscription)
    write_blob(out, m.assignment)


def _write_GroupMetadataValue_1(out: bytearray, m: GroupMetadataValue) -> None:
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberMetadata_1(out, it_members)


def _write_GroupMetadataValue_2(out: bytearray, m: GroupMetadataValue) -> None:
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    out += _P_q(m.current_state_timestamp)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberMetadata_1(out, it_members)


def _write_MemberMetadata_3(out: bytearray, m: _MemberMetadata) -> None:
    write_string(out, m.member_id)
    write_null_string(out, m.group_instance_id)
    write_string(out, m.client_id)
    write_string(out, m.client_host)
    out += _P_ii(m.rebalance_timeout, m.session_timeout)
    write_blob(out, m.subscription)
    write_blob(out, m.assignment)


def _write_GroupMetadataValue_3(out: bytearray, m: GroupMetadataValue) -> None:
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    out += _P_q(m.current_state_timestamp)
    write_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberMetadata_3(out, it_members)


def _write_MemberMetadata_4(out: bytearray, m: _MemberMetadata) -> None:
    write_c_string(out, m.member_id)
    write_c_null_string(out, m.group_instance_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    out += _P_ii(m.rebalance_timeout, m.session_timeout)
    write_c_blob(out, m.subscription)
    write_c_blob(out, m.assignment)
    out.append(0)


def _write_GroupMetadataValue_4(out: bytearray, m: GroupMetadataValue) -> None:
    write_c_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_c_null_string(out, m.protocol)
    write_c_null_string(out, m.leader)
    out += _P_q(m.current_state_timestamp)
    write_c_count(out, len(m.members))
    for it_members in m.members:
        _write_MemberMetadata_4(out, it_members)
    out.append(0)


def _write_steps_GroupMetadataValue_0(o: Output, m: GroupMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberMetadata_0(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberMetadata_0(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_GroupMetadataValue_1(o: Output, m: GroupMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberMetadata_1(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberMetadata_1(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_GroupMetadataValue_2(o: Output, m: GroupMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    out += _P_q(m.current_state_timestamp)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberMetadata_1(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberMetadata_1(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_GroupMetadataValue_3(o: Output, m: GroupMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_null_string(out, m.protocol)
    write_null_string(out, m.leader)
    out += _P_q(m.current_state_timestamp)
    write_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberMetadata_3(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberMetadata_3(out, it_members)
            if o.elements_ended(1):
                yield


def _write_steps_GroupMetadataValue_4(o: Output, m: GroupMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.protocol_type)
    out += _P_i(m.generation)
    write_c_null_string(out, m.protocol)
    write_c_null_string(out, m.leader)
    out += _P_q(m.current_state_timestamp)
    write_c_count(out, len(m.members))
    if len(m.members) <= FLAT_ELEMENTS:
        for it_members in m.members:
            _write_MemberMetadata_4(out, it_members)
        if o.elements_ended(len(m.members)):
            yield
    else:
        for it_members in m.members:
            _write_MemberMetadata_4(out, it_members)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_LegacyOffsetCommitKey_0(r: Reader) -> LegacyOffsetCommitKey:
    group = read_string(r)
    topic = read_string(r)
    partition, = r.fixed(_S_i)
    return LegacyOffsetCommitKey(group, topic, partition)


def _write_LegacyOffsetCommitKey_0(out: bytearray, m: LegacyOffsetCommitKey) -> None:
    write_string(out, m.group)
    write_string(out, m.topic)
    out += _P_i(m.partition)


def _read_LegacyOffsetCommitValue_0(r: Reader) -> LegacyOffsetCommitValue:
    offset, = r.fixed(_S_q)
    metadata = read_string(r)
    commit_timestamp, = r.fixed(_S_q)
    return LegacyOffsetCommitValue(offset, metadata, commit_timestamp)


def _write_LegacyOffsetCommitValue_0(out: bytearray, m: LegacyOffsetCommitValue) -> None:
    out += _P_q(m.offset)
    write_string(out, m.metadata)
    out += _P_q(m.commit_timestamp)


def _read_OffsetCommitKey_0(r: Reader) -> OffsetCommitKey:
    group = read_string(r)
    topic = read_string(r)
    partition, = r.fixed(_S_i)
    return OffsetCommitKey(group, topic, partition)


def _write_OffsetCommitKey_0(out: bytearray, m: OffsetCommitKey) -> None:
    write_string(out, m.group)
    write_string(out, m.topic)
    out += _P_i(m.partition)


def _read_OffsetCommitValue_0(r: Reader) -> OffsetCommitValue:
    offset, = r.fixed(_S_q)
    metadata = read_string(r)
    commit_timestamp, = r.fixed(_S_q)
    return OffsetCommitValue(offset, -1, metadata, commit_timestamp)


def _read_OffsetCommitValue_1(r: Reader) -> OffsetCommitValue:
    offset, = r.fixed(_S_q)
    metadata = read_string(r)
    commit_timestamp, expire_timestamp = r.fixed(_S_qq)
    return OffsetCommitValue(offset, -1, metadata, commit_timestamp, expire_timestamp)


def _read_OffsetCommitValue_3(r: Reader) -> OffsetCommitValue:
    offset, leader_epoch = r.fixed(_S_qi)
    metadata = read_string(r)
    commit_timestamp, = r.fixed(_S_q)
    return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp)


def _read_OffsetCommitValue_4(r: Reader) -> OffsetCommitValue:
    offset, leader_epoch = r.fixed(_S_qi)
    metadata = read_c_string(r)
    commit_timestamp, = r.fixed(_S_q)
    topic_id: UUID | None = None
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            topic_id = read_uuid(r)
            check_tag_end(r, end)
        else:
            r.position = end
    return OffsetCommitValue(offset, leader_epoch, metadata, commit_timestamp, -1, topic_id)


def _write_OffsetCommitValue_0(out: bytearray, m: OffsetCommitValue) -> None:
    out += _P_q(m.offset)
    write_string(out, m.metadata)
    out += _P_q(m.commit_timestamp)


def _write_OffsetCommitValue_1(out: bytearray, m: OffsetCommitValue) -> None:
    out += _P_q(m.offset)
    write_string(out, m.metadata)
    out += _P_qq(m.commit_timestamp, m.expire_timestamp)


def _write_OffsetCommitValue_3(out: bytearray, m: OffsetCommitValue) -> None:
    out += _P_qi(m.offset, m.leader_epoch)
    write_string(out, m.metadata)
    out += _P_q(m.commit_timestamp)


def _write_OffsetCommitValue_4(out: bytearray, m: OffsetCommitValue) -> None:
    out += _P_qi(m.offset, m.leader_epoch)
    write_c_string(out, m.metadata)
    out += _P_q(m.commit_timestamp)
    tags: list[tuple[int, bytearray]] = []
    if m.topic_id is not None:
        field = bytearray()
        field += _P_u(uuid_bytes(m.topic_id))
        tags.append((0, field))
    write_tagged(out, tags)


def _read_ShareGroupCurrentMemberAssignmentKey_0(r: Reader) -> ShareGroupCurrentMemberAssignmentKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return ShareGroupCurrentMemberAssignmentKey(group_id, member_id)


def _write_ShareGroupCurrentMemberAssignmentKey_0(out: bytearray, m: ShareGroupCurrentMemberAssignmentKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_ShareGroupCurrentMemberAssignmentValueTopicPartitions_0(r: Reader) -> _ShareGroupCurrentMemberAssignmentValueTopicPartitions:
    topic_id, = r.fixed(_S_u)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ShareGroupCurrentMemberAssignmentValueTopicPartitions(uuid_of(topic_id), partitions)


def _read_ShareGroupCurrentMemberAssignmentValue_0(r: Reader) -> ShareGroupCurrentMemberAssignmentValue:
    member_epoch, previous_member_epoch, state = r.fixed(_S_iib)
    n = read_c_count(r, 18)
    assigned_partitions = [_read_ShareGroupCurrentMemberAssignmentValueTopicPartitions_0(r) for _ in range(n)]
    skip_tags(r)
    return ShareGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions)


def _read_steps_ShareGroupCurrentMemberAssignmentValue_0(r: Reader) -> Generator[None, None, ShareGroupCurrentMemberAssignmentValue]:
    member_epoch, previous_member_epoch, state = r.fixed(_S_iib)
    n = read_c_count(r, 18)
    assigned_partitions: list[ShareGroupCurrentMemberAssignmentValue.TopicPartitions] = []
    for some in batches(n):
        assigned_partitions += [_read_ShareGroupCurrentMemberAssignmentValueTopicPartitions_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return ShareGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, assigned_partitions)


def _write_ShareGroupCurrentMemberAssignmentValueTopicPartitions_0(out: bytearray, m: _ShareGroupCurrentMemberAssignmentValueTopicPartitions) -> None:
    n1 = len(m.partitions)
    out += _R_u_Bi_x[n1,](uuid_bytes(m.topic_id), n1 + 1, *m.partitions)


def _write_ShareGroupCurrentMemberAssignmentValue_0(out: bytearray, m: ShareGroupCurrentMemberAssignmentValue) -> None:
    out += _P_iib(m.member_epoch, m.previous_member_epoch, m.state)
    write_c_count(out, len(m.assigned_partitions))
    for it_assigned_partitions in m.assigned_partitions:
        _write_ShareGroupCurrentMemberAssignmentValueTopicPartitions_0(out, it_assigned_partitions)
    out.append(0)


def _write_steps_ShareGroupCurrentMemberAssignmentValue_0(o: Output, m: ShareGroupCurrentMemberAssignmentValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iib(m.member_epoch, m.previous_member_epoch, m.state)
    write_c_count(out, len(m.assigned_partitions))
    left_assigned_partitions = iter(m.assigned_partitions)
    for some in batches(len(m.assigned_partitions)):
        for it_assigned_partitions in islice(left_assigned_partitions, some):
            _write_ShareGroupCurrentMemberAssignmentValueTopicPartitions_0(out, it_assigned_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _read_ShareGroupMemberMetadataKey_0(r: Reader) -> ShareGroupMemberMetadataKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return ShareGroupMemberMetadataKey(group_id, member_id)


def _write_ShareGroupMemberMetadataKey_0(out: bytearray, m: ShareGroupMemberMetadataKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_ShareGroupMemberMetadataValue_0(r: Reader) -> ShareGroupMemberMetadataValue:
    rack_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    n = read_c_count(r, 1)
    subscribed_topic_names = [read_c_string(r) for _ in range(n)]
    skip_tags(r)
    return ShareGroupMemberMetadataValue(rack_id, client_id, client_host, subscribed_topic_names)


def _read_steps_ShareGroupMemberMetadataValue_0(r: Reader) -> Generator[None, None, ShareGroupMemberMetadataValue]:
    rack_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    n = read_c_count(r, 1)
    subscribed_topic_names: list[str] = []
    if n <= FLAT_ELEMENTS:
        subscribed_topic_names = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            subscribed_topic_names.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ShareGroupMemberMetadataValue(rack_id, client_id, client_host, subscribed_topic_names)


def _write_ShareGroupMemberMetadataValue_0(out: bytearray, m: ShareGroupMemberMetadataValue) -> None:
    write_c_null_string(out, m.rack_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    write_c_count(out, len(m.subscribed_topic_names))
    for it_subscribed_topic_names in m.subscribed_topic_names:
        write_c_string(out, it_subscribed_topic_names)
    out.append(0)


def _write_steps_ShareGroupMemberMetadataValue_0(o: Output, m: ShareGroupMemberMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.rack_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    write_c_count(out, len(m.subscribed_topic_names))
    if len(m.subscribed_topic_names) <= FLAT_ELEMENTS:
        for it_subscribed_topic_names in m.subscribed_topic_names:
            write_c_string(out, it_subscribed_topic_names)
        if o.elements_ended(len(m.subscribed_topic_names)):
            yield
    else:
        for it_subscribed_topic_names in m.subscribed_topic_names:
            write_c_string(out, it_subscribed_topic_names)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_ShareGroupMetadataKey_0(r: Reader) -> ShareGroupMetadataKey:
    group_id = read_string(r)
    return ShareGroupMetadataKey(group_id)


def _write_ShareGroupMetadataKey_0(out: bytearray, m: ShareGroupMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_ShareGroupMetadataValue_0(r: Reader) -> ShareGroupMetadataValue:
    epoch, metadata_hash = r.fixed(_S_iq)
    skip_tags(r)
    return ShareGroupMetadataValue(epoch, metadata_hash)


def _write_ShareGroupMetadataValue_0(out: bytearray, m: ShareGroupMetadataValue) -> None:
    out += _P_iqx(m.epoch, m.metadata_hash)


def _read_ShareGroupStatePartitionMetadataKey_0(r: Reader) -> ShareGroupStatePartitionMetadataKey:
    group_id = read_string(r)
    return ShareGroupStatePartitionMetadataKey(group_id)


def _write_ShareGroupStatePartitionMetadataKey_0(out: bytearray, m: ShareGroupStatePartitionMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r: Reader) -> _ShareGroupStatePartitionMetadataValueTopicPartitionsInfo:
    topic_id, = r.fixed(_S_u)
    topic_name = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ShareGroupStatePartitionMetadataValueTopicPartitionsInfo(uuid_of(topic_id), topic_name, partitions)


def _read_ShareGroupStatePartitionMetadataValueTopicInfo_0(r: Reader) -> _ShareGroupStatePartitionMetadataValueTopicInfo:
    topic_id, = r.fixed(_S_u)
    topic_name = read_c_string(r)
    skip_tags(r)
    return _ShareGroupStatePartitionMetadataValueTopicInfo(uuid_of(topic_id), topic_name)


def _read_ShareGroupStatePartitionMetadataValue_0(r: Reader) -> ShareGroupStatePartitionMetadataValue:
    n = read_c_count(r, 19)
    initializing_topics = [_read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r) for _ in range(n)]
    n = read_c_count(r, 19)
    initialized_topics = [_read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r) for _ in range(n)]
    n = read_c_count(r, 18)
    deleting_topics = [_read_ShareGroupStatePartitionMetadataValueTopicInfo_0(r) for _ in range(n)]
    skip_tags(r)
    return ShareGroupStatePartitionMetadataValue(initializing_topics, initialized_topics, deleting_topics)


def _read_steps_ShareGroupStatePartitionMetadataValue_0(r: Reader) -> Generator[None, None, ShareGroupStatePartitionMetadataValue]:
    n = read_c_count(r, 19)
    initializing_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = []
    if n <= FLAT_ELEMENTS:
        initializing_topics = [_read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            initializing_topics.append(_read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 19)
    initialized_topics: list[ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo] = []
    if n <= FLAT_ELEMENTS:
        initialized_topics = [_read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            initialized_topics.append(_read_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 18)
    deleting_topics: list[ShareGroupStatePartitionMetadataValue.TopicInfo] = []
    if n <= FLAT_ELEMENTS:
        deleting_topics = [_read_ShareGroupStatePartitionMetadataValueTopicInfo_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            deleting_topics.append(_read_ShareGroupStatePartitionMetadataValueTopicInfo_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return ShareGroupStatePartitionMetadataValue(initializing_topics, initialized_topics, deleting_topics)


def _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out: bytearray, m: _ShareGroupStatePartitionMetadataValueTopicPartitionsInfo) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_string(out, m.topic_name)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_ShareGroupStatePartitionMetadataValueTopicInfo_0(out: bytearray, m: _ShareGroupStatePartitionMetadataValueTopicInfo) -> None:
    out += _P_u(uuid_bytes(m.topic_id))
    write_c_string(out, m.topic_name)
    out.append(0)


def _write_ShareGroupStatePartitionMetadataValue_0(out: bytearray, m: ShareGroupStatePartitionMetadataValue) -> None:
    write_c_count(out, len(m.initializing_topics))
    for it_initializing_topics in m.initializing_topics:
        _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out, it_initializing_topics)
    write_c_count(out, len(m.initialized_topics))
    for it_initialized_topics in m.initialized_topics:
        _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out, it_initialized_topics)
    write_c_count(out, len(m.deleting_topics))
    for it_deleting_topics in m.deleting_topics:
        _write_ShareGroupStatePartitionMetadataValueTopicInfo_0(out, it_deleting_topics)
    out.append(0)


def _write_steps_ShareGroupStatePartitionMetadataValue_0(o: Output, m: ShareGroupStatePartitionMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.initializing_topics))
    if len(m.initializing_topics) <= FLAT_ELEMENTS:
        for it_initializing_topics in m.initializing_topics:
            _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out, it_initializing_topics)
        if o.elements_ended(len(m.initializing_topics)):
            yield
    else:
        for it_initializing_topics in m.initializing_topics:
            _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out, it_initializing_topics)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.initialized_topics))
    if len(m.initialized_topics) <= FLAT_ELEMENTS:
        for it_initialized_topics in m.initialized_topics:
            _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out, it_initialized_topics)
        if o.elements_ended(len(m.initialized_topics)):
            yield
    else:
        for it_initialized_topics in m.initialized_topics:
            _write_ShareGroupStatePartitionMetadataValueTopicPartitionsInfo_0(out, it_initialized_topics)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.deleting_topics))
    if len(m.deleting_topics) <= FLAT_ELEMENTS:
        for it_deleting_topics in m.deleting_topics:
            _write_ShareGroupStatePartitionMetadataValueTopicInfo_0(out, it_deleting_topics)
        if o.elements_ended(len(m.deleting_topics)):
            yield
    else:
        for it_deleting_topics in m.deleting_topics:
            _write_ShareGroupStatePartitionMetadataValueTopicInfo_0(out, it_deleting_topics)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_ShareGroupTargetAssignmentMemberKey_0(r: Reader) -> ShareGroupTargetAssignmentMemberKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return ShareGroupTargetAssignmentMemberKey(group_id, member_id)


def _write_ShareGroupTargetAssignmentMemberKey_0(out: bytearray, m: ShareGroupTargetAssignmentMemberKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_ShareGroupTargetAssignmentMemberValueTopicPartition_0(r: Reader) -> _ShareGroupTargetAssignmentMemberValueTopicPartition:
    topic_id, = r.fixed(_S_u)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _ShareGroupTargetAssignmentMemberValueTopicPartition(uuid_of(topic_id), partitions)


def _read_ShareGroupTargetAssignmentMemberValue_0(r: Reader) -> ShareGroupTargetAssignmentMemberValue:
    n = read_c_count(r, 18)
    topic_partitions = [_read_ShareGroupTargetAssignmentMemberValueTopicPartition_0(r) for _ in range(n)]
    skip_tags(r)
    return ShareGroupTargetAssignmentMemberValue(topic_partitions)


def _read_steps_ShareGroupTargetAssignmentMemberValue_0(r: Reader) -> Generator[None, None, ShareGroupTargetAssignmentMemberValue]:
    n = read_c_count(r, 18)
    topic_partitions: list[ShareGroupTargetAssignmentMemberValue.TopicPartition] = []
    for some in batches(n):
        topic_partitions += [_read_ShareGroupTargetAssignmentMemberValueTopicPartition_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return ShareGroupTargetAssignmentMemberValue(topic_partitions)


def _write_ShareGroupTargetAssignmentMemberValueTopicPartition_0(out: bytearray, m: _ShareGroupTargetAssignmentMemberValueTopicPartition) -> None:
    n1 = len(m.partitions)
    out += _R_u_Bi_x[n1,](uuid_bytes(m.topic_id), n1 + 1, *m.partitions)


def _write_ShareGroupTargetAssignmentMemberValue_0(out: bytearray, m: ShareGroupTargetAssignmentMemberValue) -> None:
    write_c_count(out, len(m.topic_partitions))
    for it_topic_partitions in m.topic_partitions:
        _write_ShareGroupTargetAssignmentMemberValueTopicPartition_0(out, it_topic_partitions)
    out.append(0)


def _write_steps_ShareGroupTargetAssignmentMemberValue_0(o: Output, m: ShareGroupTargetAssignmentMemberValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.topic_partitions))
    left_topic_partitions = iter(m.topic_partitions)
    for some in batches(len(m.topic_partitions)):
        for it_topic_partitions in islice(left_topic_partitions, some):
            _write_ShareGroupTargetAssignmentMemberValueTopicPartition_0(out, it_topic_partitions)
        if o.elements_ended(some):
            yield
    out.append(0)


def _read_ShareGroupTargetAssignmentMetadataKey_0(r: Reader) -> ShareGroupTargetAssignmentMetadataKey:
    group_id = read_string(r)
    return ShareGroupTargetAssignmentMetadataKey(group_id)


def _write_ShareGroupTargetAssignmentMetadataKey_0(out: bytearray, m: ShareGroupTargetAssignmentMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_ShareGroupTargetAssignmentMetadataValue_0(r: Reader) -> ShareGroupTargetAssignmentMetadataValue:
    assignment_epoch, = r.fixed(_S_i)
    assignment_timestamp: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            assignment_timestamp, = r.fixed(_S_q)
            check_tag_end(r, end)
        else:
            r.position = end
    return ShareGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp)


def _write_ShareGroupTargetAssignmentMetadataValue_0(out: bytearray, m: ShareGroupTargetAssignmentMetadataValue) -> None:
    out += _P_i(m.assignment_epoch)
    tags: list[tuple[int, bytearray]] = []
    if m.assignment_timestamp != 0:
        field = bytearray()
        field += _P_q(m.assignment_timestamp)
        tags.append((0, field))
    write_tagged(out, tags)


def _read_StreamsGroupCurrentMemberAssignmentKey_0(r: Reader) -> StreamsGroupCurrentMemberAssignmentKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return StreamsGroupCurrentMemberAssignmentKey(group_id, member_id)


def _write_StreamsGroupCurrentMemberAssignmentKey_0(out: bytearray, m: StreamsGroupCurrentMemberAssignmentKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r: Reader) -> _StreamsGroupCurrentMemberAssignmentValueTaskIds:
    subtopology_id = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    assignment_epochs: list[int] | None = []
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            assignment_epochs = read_c_null_numbers(r, "i", 4)
            check_tag_end(r, end)
        else:
            r.position = end
    return _StreamsGroupCurrentMemberAssignmentValueTaskIds(subtopology_id, partitions, assignment_epochs)


def _read_StreamsGroupCurrentMemberAssignmentValue_0(r: Reader) -> StreamsGroupCurrentMemberAssignmentValue:
    member_epoch, previous_member_epoch, state = r.fixed(_S_iib)
    n = read_c_count(r, 3)
    active_tasks = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    standby_tasks = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    warmup_tasks = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    active_tasks_pending_revocation = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    standby_tasks_pending_revocation = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    warmup_tasks_pending_revocation = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
    skip_tags(r)
    return StreamsGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, active_tasks, standby_tasks, warmup_tasks, active_tasks_pending_revocation, standby_tasks_pending_revocation, warmup_tasks_pending_revocation)


def _read_steps_StreamsGroupCurrentMemberAssignmentValue_0(r: Reader) -> Generator[None, None, StreamsGroupCurrentMemberAssignmentValue]:
    member_epoch, previous_member_epoch, state = r.fixed(_S_iib)
    n = read_c_count(r, 3)
    active_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        active_tasks = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            active_tasks.append(_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    standby_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        standby_tasks = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            standby_tasks.append(_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        warmup_tasks = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            warmup_tasks.append(_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        active_tasks_pending_revocation = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            active_tasks_pending_revocation.append(_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        standby_tasks_pending_revocation = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            standby_tasks_pending_revocation.append(_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        warmup_tasks_pending_revocation = [_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            warmup_tasks_pending_revocation.append(_read_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return StreamsGroupCurrentMemberAssignmentValue(member_epoch, previous_member_epoch, state, active_tasks, standby_tasks, warmup_tasks, active_tasks_pending_revocation, standby_tasks_pending_revocation, warmup_tasks_pending_revocation)


def _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out: bytearray, m: _StreamsGroupCurrentMemberAssignmentValueTaskIds) -> None:
    write_c_string(out, m.subtopology_id)
    n1 = len(m.partitions)
    out += _R_Bi[n1,](n1 + 1, *m.partitions)
    tags: list[tuple[int, bytearray]] = []
    if m.assignment_epochs is None or m.assignment_epochs:
        field = bytearray()
        if m.assignment_epochs is None:
            write_c_count(field, -1)
        else:
            write_c_count(field, len(m.assignment_epochs))
            field += pack(f">{len(m.assignment_epochs)}i", *m.assignment_epochs)
        tags.append((0, field))
    write_tagged(out, tags)


def _write_StreamsGroupCurrentMemberAssignmentValue_0(out: bytearray, m: StreamsGroupCurrentMemberAssignmentValue) -> None:
    out += _P_iib(m.member_epoch, m.previous_member_epoch, m.state)
    write_c_count(out, len(m.active_tasks))
    for it_active_tasks in m.active_tasks:
        _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_active_tasks)
    write_c_count(out, len(m.standby_tasks))
    for it_standby_tasks in m.standby_tasks:
        _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_standby_tasks)
    write_c_count(out, len(m.warmup_tasks))
    for it_warmup_tasks in m.warmup_tasks:
        _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_warmup_tasks)
    write_c_count(out, len(m.active_tasks_pending_revocation))
    for it_active_tasks_pending_revocation in m.active_tasks_pending_revocation:
        _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_active_tasks_pending_revocation)
    write_c_count(out, len(m.standby_tasks_pending_revocation))
    for it_standby_tasks_pending_revocation in m.standby_tasks_pending_revocation:
        _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_standby_tasks_pending_revocation)
    write_c_count(out, len(m.warmup_tasks_pending_revocation))
    for it_warmup_tasks_pending_revocation in m.warmup_tasks_pending_revocation:
        _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_warmup_tasks_pending_revocation)
    out.append(0)


def _write_steps_StreamsGroupCurrentMemberAssignmentValue_0(o: Output, m: StreamsGroupCurrentMemberAssignmentValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_iib(m.member_epoch, m.previous_member_epoch, m.state)
    write_c_count(out, len(m.active_tasks))
    if len(m.active_tasks) <= FLAT_ELEMENTS:
        for it_active_tasks in m.active_tasks:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_active_tasks)
        if o.elements_ended(len(m.active_tasks)):
            yield
    else:
        for it_active_tasks in m.active_tasks:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_active_tasks)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.standby_tasks))
    if len(m.standby_tasks) <= FLAT_ELEMENTS:
        for it_standby_tasks in m.standby_tasks:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_standby_tasks)
        if o.elements_ended(len(m.standby_tasks)):
            yield
    else:
        for it_standby_tasks in m.standby_tasks:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_standby_tasks)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.warmup_tasks))
    if len(m.warmup_tasks) <= FLAT_ELEMENTS:
        for it_warmup_tasks in m.warmup_tasks:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_warmup_tasks)
        if o.elements_ended(len(m.warmup_tasks)):
            yield
    else:
        for it_warmup_tasks in m.warmup_tasks:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_warmup_tasks)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.active_tasks_pending_revocation))
    if len(m.active_tasks_pending_revocation) <= FLAT_ELEMENTS:
        for it_active_tasks_pending_revocation in m.active_tasks_pending_revocation:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_active_tasks_pending_revocation)
        if o.elements_ended(len(m.active_tasks_pending_revocation)):
            yield
    else:
        for it_active_tasks_pending_revocation in m.active_tasks_pending_revocation:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_active_tasks_pending_revocation)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.standby_tasks_pending_revocation))
    if len(m.standby_tasks_pending_revocation) <= FLAT_ELEMENTS:
        for it_standby_tasks_pending_revocation in m.standby_tasks_pending_revocation:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_standby_tasks_pending_revocation)
        if o.elements_ended(len(m.standby_tasks_pending_revocation)):
            yield
    else:
        for it_standby_tasks_pending_revocation in m.standby_tasks_pending_revocation:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_standby_tasks_pending_revocation)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.warmup_tasks_pending_revocation))
    if len(m.warmup_tasks_pending_revocation) <= FLAT_ELEMENTS:
        for it_warmup_tasks_pending_revocation in m.warmup_tasks_pending_revocation:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_warmup_tasks_pending_revocation)
        if o.elements_ended(len(m.warmup_tasks_pending_revocation)):
            yield
    else:
        for it_warmup_tasks_pending_revocation in m.warmup_tasks_pending_revocation:
            _write_StreamsGroupCurrentMemberAssignmentValueTaskIds_0(out, it_warmup_tasks_pending_revocation)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_StreamsGroupMemberMetadataKey_0(r: Reader) -> StreamsGroupMemberMetadataKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return StreamsGroupMemberMetadataKey(group_id, member_id)


def _write_StreamsGroupMemberMetadataKey_0(out: bytearray, m: StreamsGroupMemberMetadataKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_Endpoint_0(r: Reader) -> _Endpoint:
    host = read_c_string(r)
    port, = r.fixed(_S_H)
    skip_tags(r)
    return _Endpoint(host, port)


def _read_KeyValue_0(r: Reader) -> _KeyValue:
    key = read_c_string(r)
    value = read_c_string(r)
    skip_tags(r)
    return _KeyValue(key, value)


def _read_StreamsGroupMemberMetadataValue_0(r: Reader) -> StreamsGroupMemberMetadataValue:
    instance_id = read_c_null_string(r)
    rack_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    rebalance_timeout_ms, topology_epoch = r.fixed(_S_ii)
    process_id = read_c_string(r)
    user_endpoint = None if read_is_null(r) else _read_Endpoint_0(r)
    n = read_c_count(r, 3)
    client_tags = [_read_KeyValue_0(r) for _ in range(n)]
    skip_tags(r)
    return StreamsGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, rebalance_timeout_ms, topology_epoch, process_id, user_endpoint, client_tags)


def _read_steps_StreamsGroupMemberMetadataValue_0(r: Reader) -> Generator[None, None, StreamsGroupMemberMetadataValue]:
    instance_id = read_c_null_string(r)
    rack_id = read_c_null_string(r)
    client_id = read_c_string(r)
    client_host = read_c_string(r)
    rebalance_timeout_ms, topology_epoch = r.fixed(_S_ii)
    process_id = read_c_string(r)
    user_endpoint = None if read_is_null(r) else _read_Endpoint_0(r)
    n = read_c_count(r, 3)
    client_tags: list[StreamsGroupMemberMetadataValue.KeyValue] = []
    if n <= FLAT_ELEMENTS:
        client_tags = [_read_KeyValue_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            client_tags.append(_read_KeyValue_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return StreamsGroupMemberMetadataValue(instance_id, rack_id, client_id, client_host, rebalance_timeout_ms, topology_epoch, process_id, user_endpoint, client_tags)


def _write_Endpoint_0(out: bytearray, m: _Endpoint) -> None:
    write_c_string(out, m.host)
    out += _P_Hx(m.port)


def _write_KeyValue_0(out: bytearray, m: _KeyValue) -> None:
    write_c_string(out, m.key)
    write_c_string(out, m.value)
    out.append(0)


def _write_StreamsGroupMemberMetadataValue_0(out: bytearray, m: StreamsGroupMemberMetadataValue) -> None:
    write_c_null_string(out, m.instance_id)
    write_c_null_string(out, m.rack_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    out += _P_ii(m.rebalance_timeout_ms, m.topology_epoch)
    write_c_string(out, m.process_id)
    if m.user_endpoint is None:
        out.append(255)
    else:
        out.append(1)
        _write_Endpoint_0(out, m.user_endpoint)
    write_c_count(out, len(m.client_tags))
    for it_client_tags in m.client_tags:
        _write_KeyValue_0(out, it_client_tags)
    out.append(0)


def _write_steps_StreamsGroupMemberMetadataValue_0(o: Output, m: StreamsGroupMemberMetadataValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_null_string(out, m.instance_id)
    write_c_null_string(out, m.rack_id)
    write_c_string(out, m.client_id)
    write_c_string(out, m.client_host)
    out += _P_ii(m.rebalance_timeout_ms, m.topology_epoch)
    write_c_string(out, m.process_id)
    if m.user_endpoint is None:
        out.append(255)
    else:
        out.append(1)
        _write_Endpoint_0(out, m.user_endpoint)
    write_c_count(out, len(m.client_tags))
    if len(m.client_tags) <= FLAT_ELEMENTS:
        for it_client_tags in m.client_tags:
            _write_KeyValue_0(out, it_client_tags)
        if o.elements_ended(len(m.client_tags)):
            yield
    else:
        for it_client_tags in m.client_tags:
            _write_KeyValue_0(out, it_client_tags)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_StreamsGroupMetadataKey_0(r: Reader) -> StreamsGroupMetadataKey:
    group_id = read_string(r)
    return StreamsGroupMetadataKey(group_id)


def _write_StreamsGroupMetadataKey_0(out: bytearray, m: StreamsGroupMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_LastAssignmentConfig_0(r: Reader) -> _LastAssignmentConfig:
    key = read_c_string(r)
    value = read_c_string(r)
    skip_tags(r)
    return _LastAssignmentConfig(key, value)


def _read_StreamsGroupMetadataValue_0(r: Reader) -> StreamsGroupMetadataValue:
    epoch, metadata_hash = r.fixed(_S_iq)
    validated_topology_epoch: int = -1
    last_assignment_configs: list[StreamsGroupMetadataValue.LastAssignmentConfig] | None = []
    stored_description_topology_epoch: int = -1
    failed_description_topology_epoch: int = -1
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            validated_topology_epoch, = r.fixed(_S_i)
            check_tag_end(r, end)
        elif tag == 1:
            n = read_c_null_count(r, 3)
            last_assignment_configs = None if n < 0 else [_read_LastAssignmentConfig_0(r) for _ in range(n)]
            check_tag_end(r, end)
        elif tag == 2:
            stored_description_topology_epoch, = r.fixed(_S_i)
            check_tag_end(r, end)
        elif tag == 3:
            failed_description_topology_epoch, = r.fixed(_S_i)
            check_tag_end(r, end)
        else:
            r.position = end
    return StreamsGroupMetadataValue(epoch, metadata_hash, validated_topology_epoch, last_assignment_configs, stored_description_topology_epoch, failed_description_topology_epoch)


def _write_LastAssignmentConfig_0(out: bytearray, m: _LastAssignmentConfig) -> None:
    write_c_string(out, m.key)
    write_c_string(out, m.value)
    out.append(0)


def _write_StreamsGroupMetadataValue_0(out: bytearray, m: StreamsGroupMetadataValue) -> None:
    out += _P_iq(m.epoch, m.metadata_hash)
    tags: list[tuple[int, bytearray]] = []
    if m.validated_topology_epoch != -1:
        field = bytearray()
        field += _P_i(m.validated_topology_epoch)
        tags.append((0, field))
    if m.last_assignment_configs is None or m.last_assignment_configs:
        field = bytearray()
        if m.last_assignment_configs is None:
            write_c_count(field, -1)
        else:
            write_c_count(field, len(m.last_assignment_configs))
            for it_last_assignment_configs in m.last_assignment_configs:
                _write_LastAssignmentConfig_0(field, it_last_assignment_configs)
        tags.append((1, field))
    if m.stored_description_topology_epoch != -1:
        field = bytearray()
        field += _P_i(m.stored_description_topology_epoch)
        tags.append((2, field))
    if m.failed_description_topology_epoch != -1:
        field = bytearray()
        field += _P_i(m.failed_description_topology_epoch)
        tags.append((3, field))
    write_tagged(out, tags)


def _read_StreamsGroupTargetAssignmentMemberKey_0(r: Reader) -> StreamsGroupTargetAssignmentMemberKey:
    group_id = read_string(r)
    member_id = read_string(r)
    return StreamsGroupTargetAssignmentMemberKey(group_id, member_id)


def _write_StreamsGroupTargetAssignmentMemberKey_0(out: bytearray, m: StreamsGroupTargetAssignmentMemberKey) -> None:
    write_string(out, m.group_id)
    write_string(out, m.member_id)


def _read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r: Reader) -> _StreamsGroupTargetAssignmentMemberValueTaskIds:
    subtopology_id = read_c_string(r)
    partitions = read_c_numbers(r, "i", 4)
    skip_tags(r)
    return _StreamsGroupTargetAssignmentMemberValueTaskIds(subtopology_id, partitions)


def _read_StreamsGroupTargetAssignmentMemberValue_0(r: Reader) -> StreamsGroupTargetAssignmentMemberValue:
    n = read_c_count(r, 3)
    active_tasks = [_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    standby_tasks = [_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r) for _ in range(n)]
    n = read_c_count(r, 3)
    warmup_tasks = [_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r) for _ in range(n)]
    skip_tags(r)
    return StreamsGroupTargetAssignmentMemberValue(active_tasks, standby_tasks, warmup_tasks)


def _read_steps_StreamsGroupTargetAssignmentMemberValue_0(r: Reader) -> Generator[None, None, StreamsGroupTargetAssignmentMemberValue]:
    n = read_c_count(r, 3)
    active_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        active_tasks = [_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            active_tasks.append(_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    standby_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        standby_tasks = [_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            standby_tasks.append(_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 3)
    warmup_tasks: list[StreamsGroupTargetAssignmentMemberValue.TaskIds] = []
    if n <= FLAT_ELEMENTS:
        warmup_tasks = [_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            warmup_tasks.append(_read_StreamsGroupTargetAssignmentMemberValueTaskIds_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return StreamsGroupTargetAssignmentMemberValue(active_tasks, standby_tasks, warmup_tasks)


def _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out: bytearray, m: _StreamsGroupTargetAssignmentMemberValueTaskIds) -> None:
    write_c_string(out, m.subtopology_id)
    n1 = len(m.partitions)
    out += _R_Bi_x[n1,](n1 + 1, *m.partitions)


def _write_StreamsGroupTargetAssignmentMemberValue_0(out: bytearray, m: StreamsGroupTargetAssignmentMemberValue) -> None:
    write_c_count(out, len(m.active_tasks))
    for it_active_tasks in m.active_tasks:
        _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_active_tasks)
    write_c_count(out, len(m.standby_tasks))
    for it_standby_tasks in m.standby_tasks:
        _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_standby_tasks)
    write_c_count(out, len(m.warmup_tasks))
    for it_warmup_tasks in m.warmup_tasks:
        _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_warmup_tasks)
    out.append(0)


def _write_steps_StreamsGroupTargetAssignmentMemberValue_0(o: Output, m: StreamsGroupTargetAssignmentMemberValue) -> Generator[None, None, None]:
    out = o.buffer
    write_c_count(out, len(m.active_tasks))
    if len(m.active_tasks) <= FLAT_ELEMENTS:
        for it_active_tasks in m.active_tasks:
            _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_active_tasks)
        if o.elements_ended(len(m.active_tasks)):
            yield
    else:
        for it_active_tasks in m.active_tasks:
            _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_active_tasks)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.standby_tasks))
    if len(m.standby_tasks) <= FLAT_ELEMENTS:
        for it_standby_tasks in m.standby_tasks:
            _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_standby_tasks)
        if o.elements_ended(len(m.standby_tasks)):
            yield
    else:
        for it_standby_tasks in m.standby_tasks:
            _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_standby_tasks)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.warmup_tasks))
    if len(m.warmup_tasks) <= FLAT_ELEMENTS:
        for it_warmup_tasks in m.warmup_tasks:
            _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_warmup_tasks)
        if o.elements_ended(len(m.warmup_tasks)):
            yield
    else:
        for it_warmup_tasks in m.warmup_tasks:
            _write_StreamsGroupTargetAssignmentMemberValueTaskIds_0(out, it_warmup_tasks)
            if o.elements_ended(1):
                yield
    out.append(0)


def _read_StreamsGroupTargetAssignmentMetadataKey_0(r: Reader) -> StreamsGroupTargetAssignmentMetadataKey:
    group_id = read_string(r)
    return StreamsGroupTargetAssignmentMetadataKey(group_id)


def _write_StreamsGroupTargetAssignmentMetadataKey_0(out: bytearray, m: StreamsGroupTargetAssignmentMetadataKey) -> None:
    write_string(out, m.group_id)


def _read_StreamsGroupTargetAssignmentMetadataValue_0(r: Reader) -> StreamsGroupTargetAssignmentMetadataValue:
    assignment_epoch, = r.fixed(_S_i)
    assignment_timestamp: int = 0
    for _ in range(read_tag_count(r)):
        tag = r.uvarint()
        end = read_tag_end(r)
        if tag == 0:
            assignment_timestamp, = r.fixed(_S_q)
            check_tag_end(r, end)
        else:
            r.position = end
    return StreamsGroupTargetAssignmentMetadataValue(assignment_epoch, assignment_timestamp)


def _write_StreamsGroupTargetAssignmentMetadataValue_0(out: bytearray, m: StreamsGroupTargetAssignmentMetadataValue) -> None:
    out += _P_i(m.assignment_epoch)
    tags: list[tuple[int, bytearray]] = []
    if m.assignment_timestamp != 0:
        field = bytearray()
        field += _P_q(m.assignment_timestamp)
        tags.append((0, field))
    write_tagged(out, tags)


def _read_StreamsGroupTopologyKey_0(r: Reader) -> StreamsGroupTopologyKey:
    group_id = read_string(r)
    return StreamsGroupTopologyKey(group_id)


def _write_StreamsGroupTopologyKey_0(out: bytearray, m: StreamsGroupTopologyKey) -> None:
    write_string(out, m.group_id)


def _read_StreamsGroupTopologyValueTopicConfig_0(r: Reader) -> _StreamsGroupTopologyValueTopicConfig:
    key = read_c_string(r)
    value = read_c_string(r)
    skip_tags(r)
    return _StreamsGroupTopologyValueTopicConfig(key, value)


def _read_StreamsGroupTopologyValueTopicInfo_0(r: Reader) -> _StreamsGroupTopologyValueTopicInfo:
    name = read_c_string(r)
    partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    topic_configs = [_read_StreamsGroupTopologyValueTopicConfig_0(r) for _ in range(n)]
    skip_tags(r)
    return _StreamsGroupTopologyValueTopicInfo(name, partitions, replication_factor, topic_configs)


def _read_StreamsGroupTopologyValueCopartitionGroup_0(r: Reader) -> _StreamsGroupTopologyValueCopartitionGroup:
    source_topics = read_c_numbers(r, "h", 2)
    source_topic_regex = read_c_numbers(r, "h", 2)
    repartition_source_topics = read_c_numbers(r, "h", 2)
    skip_tags(r)
    return _StreamsGroupTopologyValueCopartitionGroup(source_topics, source_topic_regex, repartition_source_topics)


def _read_StreamsGroupTopologyValueSubtopology_0(r: Reader) -> _StreamsGroupTopologyValueSubtopology:
    subtopology_id = read_c_string(r)
    n = read_c_count(r, 1)
    source_topics = [read_c_string(r) for _ in range(n)]
    n = read_c_count(r, 1)
    source_topic_regex = [read_c_string(r) for _ in range(n)]
    n = read_c_count(r, 9)
    state_changelog_topics = [_read_StreamsGroupTopologyValueTopicInfo_0(r) for _ in range(n)]
    n = read_c_count(r, 1)
    repartition_sink_topics = [read_c_string(r) for _ in range(n)]
    n = read_c_count(r, 9)
    repartition_source_topics = [_read_StreamsGroupTopologyValueTopicInfo_0(r) for _ in range(n)]
    n = read_c_count(r, 4)
    copartition_groups = [_read_StreamsGroupTopologyValueCopartitionGroup_0(r) for _ in range(n)]
    skip_tags(r)
    return _StreamsGroupTopologyValueSubtopology(subtopology_id, source_topics, source_topic_regex, state_changelog_topics, repartition_sink_topics, repartition_source_topics, copartition_groups)


def _read_StreamsGroupTopologyValue_0(r: Reader) -> StreamsGroupTopologyValue:
    epoch, = r.fixed(_S_i)
    n = read_c_count(r, 8)
    subtopologies = [_read_StreamsGroupTopologyValueSubtopology_0(r) for _ in range(n)]
    skip_tags(r)
    return StreamsGroupTopologyValue(epoch, subtopologies)


def _read_steps_StreamsGroupTopologyValueTopicInfo_0(r: Reader) -> Generator[None, None, _StreamsGroupTopologyValueTopicInfo]:
    name = read_c_string(r)
    partitions, replication_factor = r.fixed(_S_ih)
    n = read_c_count(r, 3)
    topic_configs: list[StreamsGroupTopologyValue.TopicConfig] = []
    if n <= FLAT_ELEMENTS:
        topic_configs = [_read_StreamsGroupTopologyValueTopicConfig_0(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            topic_configs.append(_read_StreamsGroupTopologyValueTopicConfig_0(r))
            if r.elements_ended(1):
                yield
    skip_tags(r)
    return _StreamsGroupTopologyValueTopicInfo(name, partitions, replication_factor, topic_configs)


def _read_steps_StreamsGroupTopologyValueSubtopology_0(r: Reader) -> Generator[None, None, _StreamsGroupTopologyValueSubtopology]:
    subtopology_id = read_c_string(r)
    n = read_c_count(r, 1)
    source_topics: list[str] = []
    if n <= FLAT_ELEMENTS:
        source_topics = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            source_topics.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 1)
    source_topic_regex: list[str] = []
    if n <= FLAT_ELEMENTS:
        source_topic_regex = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            source_topic_regex.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 9)
    state_changelog_topics: list[StreamsGroupTopologyValue.TopicInfo] = []
    for _ in range(n):
        state_changelog_topics.append((yield from _read_steps_StreamsGroupTopologyValueTopicInfo_0(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 1)
    repartition_sink_topics: list[str] = []
    if n <= FLAT_ELEMENTS:
        repartition_sink_topics = [read_c_string(r) for _ in range(n)]
        r.elements_of_step += n
    else:
        for _ in range(n):
            repartition_sink_topics.append(read_c_string(r))
            if r.elements_ended(1):
                yield
    n = read_c_count(r, 9)
    repartition_source_topics: list[StreamsGroupTopologyValue.TopicInfo] = []
    for _ in range(n):
        repartition_source_topics.append((yield from _read_steps_StreamsGroupTopologyValueTopicInfo_0(r)))
        if r.elements_ended(1):
            yield
    n = read_c_count(r, 4)
    copartition_groups: list[StreamsGroupTopologyValue.Subtopology.CopartitionGroup] = []
    for some in batches(n):
        copartition_groups += [_read_StreamsGroupTopologyValueCopartitionGroup_0(r) for _ in range(some)]
        if r.elements_ended(some):
            yield
    skip_tags(r)
    return _StreamsGroupTopologyValueSubtopology(subtopology_id, source_topics, source_topic_regex, state_changelog_topics, repartition_sink_topics, repartition_source_topics, copartition_groups)


def _read_steps_StreamsGroupTopologyValue_0(r: Reader) -> Generator[None, None, StreamsGroupTopologyValue]:
    epoch, = r.fixed(_S_i)
    n = read_c_count(r, 8)
    subtopologies: list[StreamsGroupTopologyValue.Subtopology] = []
    for _ in range(n):
        subtopologies.append((yield from _read_steps_StreamsGroupTopologyValueSubtopology_0(r)))
        if r.elements_ended(1):
            yield
    skip_tags(r)
    return StreamsGroupTopologyValue(epoch, subtopologies)


def _write_StreamsGroupTopologyValueTopicConfig_0(out: bytearray, m: _StreamsGroupTopologyValueTopicConfig) -> None:
    write_c_string(out, m.key)
    write_c_string(out, m.value)
    out.append(0)


def _write_StreamsGroupTopologyValueTopicInfo_0(out: bytearray, m: _StreamsGroupTopologyValueTopicInfo) -> None:
    write_c_string(out, m.name)
    out += _P_ih(m.partitions, m.replication_factor)
    write_c_count(out, len(m.topic_configs))
    for it_topic_configs in m.topic_configs:
        _write_StreamsGroupTopologyValueTopicConfig_0(out, it_topic_configs)
    out.append(0)


def _write_StreamsGroupTopologyValueCopartitionGroup_0(out: bytearray, m: _StreamsGroupTopologyValueCopartitionGroup) -> None:
    n1 = len(m.source_topics)
    n2 = len(m.source_topic_regex)
    n3 = len(m.repartition_source_topics)
    out += _R_Bh_Bh_Bh_x[n1, n2, n3](n1 + 1, *m.source_topics, n2 + 1, *m.source_topic_regex, n3 + 1, *m.repartition_source_topics)


def _write_StreamsGroupTopologyValueSubtopology_0(out: bytearray, m: _StreamsGroupTopologyValueSubtopology) -> None:
    write_c_string(out, m.subtopology_id)
    write_c_count(out, len(m.source_topics))
    for it_source_topics in m.source_topics:
        write_c_string(out, it_source_topics)
    write_c_count(out, len(m.source_topic_regex))
    for it_source_topic_regex in m.source_topic_regex:
        write_c_string(out, it_source_topic_regex)
    write_c_count(out, len(m.state_changelog_topics))
    for it_state_changelog_topics in m.state_changelog_topics:
        _write_StreamsGroupTopologyValueTopicInfo_0(out, it_state_changelog_topics)
    write_c_count(out, len(m.repartition_sink_topics))
    for it_repartition_sink_topics in m.repartition_sink_topics:
        write_c_string(out, it_repartition_sink_topics)
    write_c_count(out, len(m.repartition_source_topics))
    for it_repartition_source_topics in m.repartition_source_topics:
        _write_StreamsGroupTopologyValueTopicInfo_0(out, it_repartition_source_topics)
    write_c_count(out, len(m.copartition_groups))
    for it_copartition_groups in m.copartition_groups:
        _write_StreamsGroupTopologyValueCopartitionGroup_0(out, it_copartition_groups)
    out.append(0)


def _write_StreamsGroupTopologyValue_0(out: bytearray, m: StreamsGroupTopologyValue) -> None:
    out += _P_i(m.epoch)
    write_c_count(out, len(m.subtopologies))
    for it_subtopologies in m.subtopologies:
        _write_StreamsGroupTopologyValueSubtopology_0(out, it_subtopologies)
    out.append(0)


def _write_steps_StreamsGroupTopologyValueTopicInfo_0(o: Output, m: _StreamsGroupTopologyValueTopicInfo) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.name)
    out += _P_ih(m.partitions, m.replication_factor)
    write_c_count(out, len(m.topic_configs))
    if len(m.topic_configs) <= FLAT_ELEMENTS:
        for it_topic_configs in m.topic_configs:
            _write_StreamsGroupTopologyValueTopicConfig_0(out, it_topic_configs)
        if o.elements_ended(len(m.topic_configs)):
            yield
    else:
        for it_topic_configs in m.topic_configs:
            _write_StreamsGroupTopologyValueTopicConfig_0(out, it_topic_configs)
            if o.elements_ended(1):
                yield
    out.append(0)


def _write_steps_StreamsGroupTopologyValueSubtopology_0(o: Output, m: _StreamsGroupTopologyValueSubtopology) -> Generator[None, None, None]:
    out = o.buffer
    write_c_string(out, m.subtopology_id)
    write_c_count(out, len(m.source_topics))
    if len(m.source_topics) <= FLAT_ELEMENTS:
        for it_source_topics in m.source_topics:
            write_c_string(out, it_source_topics)
        if o.elements_ended(len(m.source_topics)):
            yield
    else:
        for it_source_topics in m.source_topics:
            write_c_string(out, it_source_topics)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.source_topic_regex))
    if len(m.source_topic_regex) <= FLAT_ELEMENTS:
        for it_source_topic_regex in m.source_topic_regex:
            write_c_string(out, it_source_topic_regex)
        if o.elements_ended(len(m.source_topic_regex)):
            yield
    else:
        for it_source_topic_regex in m.source_topic_regex:
            write_c_string(out, it_source_topic_regex)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.state_changelog_topics))
    for it_state_changelog_topics in m.state_changelog_topics:
        yield from _write_steps_StreamsGroupTopologyValueTopicInfo_0(o, it_state_changelog_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.repartition_sink_topics))
    if len(m.repartition_sink_topics) <= FLAT_ELEMENTS:
        for it_repartition_sink_topics in m.repartition_sink_topics:
            write_c_string(out, it_repartition_sink_topics)
        if o.elements_ended(len(m.repartition_sink_topics)):
            yield
    else:
        for it_repartition_sink_topics in m.repartition_sink_topics:
            write_c_string(out, it_repartition_sink_topics)
            if o.elements_ended(1):
                yield
    write_c_count(out, len(m.repartition_source_topics))
    for it_repartition_source_topics in m.repartition_source_topics:
        yield from _write_steps_StreamsGroupTopologyValueTopicInfo_0(o, it_repartition_source_topics)
        if o.elements_ended(1):
            yield
    write_c_count(out, len(m.copartition_groups))
    left_copartition_groups = iter(m.copartition_groups)
    for some in batches(len(m.copartition_groups)):
        for it_copartition_groups in islice(left_copartition_groups, some):
            _write_StreamsGroupTopologyValueCopartitionGroup_0(out, it_copartition_groups)
        if o.elements_ended(some):
            yield
    out.append(0)


def _write_steps_StreamsGroupTopologyValue_0(o: Output, m: StreamsGroupTopologyValue) -> Generator[None, None, None]:
    out = o.buffer
    out += _P_i(m.epoch)
    write_c_count(out, len(m.subtopologies))
    for it_subtopologies in m.subtopologies:
        yield from _write_steps_StreamsGroupTopologyValueSubtopology_0(o, it_subtopologies)
        if o.elements_ended(1):
            yield
    out.append(0)


ConsumerGroupCurrentMemberAssignmentKey.READ = (_read_ConsumerGroupCurrentMemberAssignmentKey_0,)
ConsumerGroupCurrentMemberAssignmentKey.READ_STEPS = (None,)
ConsumerGroupCurrentMemberAssignmentKey.WRITE = (_write_ConsumerGroupCurrentMemberAssignmentKey_0,)
ConsumerGroupCurrentMemberAssignmentKey.WRITE_STEPS = (None,)
ConsumerGroupCurrentMemberAssignmentValue.READ = (_read_ConsumerGroupCurrentMemberAssignmentValue_0,)
ConsumerGroupCurrentMemberAssignmentValue.READ_STEPS = (_read_steps_ConsumerGroupCurrentMemberAssignmentValue_0,)
ConsumerGroupCurrentMemberAssignmentValue.WRITE = (_write_ConsumerGroupCurrentMemberAssignmentValue_0,)
ConsumerGroupCurrentMemberAssignmentValue.WRITE_STEPS = (_write_steps_ConsumerGroupCurrentMemberAssignmentValue_0,)
ConsumerGroupMemberMetadataKey.READ = (_read_ConsumerGroupMemberMetadataKey_0,)
ConsumerGroupMemberMetadataKey.READ_STEPS = (None,)
ConsumerGroupMemberMetadataKey.WRITE = (_write_ConsumerGroupMemberMetadataKey_0,)
ConsumerGroupMemberMetadataKey.WRITE_STEPS = (None,)
ConsumerGroupMemberMetadataValue.READ = (_read_ConsumerGroupMemberMetadataValue_0,)
ConsumerGroupMemberMetadataValue.READ_STEPS = (_read_steps_ConsumerGroupMemberMetadataValue_0,)
ConsumerGroupMemberMetadataValue.WRITE = (_write_ConsumerGroupMemberMetadataValue_0,)
ConsumerGroupMemberMetadataValue.WRITE_STEPS = (_write_steps_ConsumerGroupMemberMetadataValue_0,)
ConsumerGroupMetadataKey.READ = (_read_ConsumerGroupMetadataKey_0,)
ConsumerGroupMetadataKey.READ_STEPS = (None,)
ConsumerGroupMetadataKey.WRITE = (_write_ConsumerGroupMetadataKey_0,)
ConsumerGroupMetadataKey.WRITE_STEPS = (None,)
ConsumerGroupMetadataValue.READ = (_read_ConsumerGroupMetadataValue_0,)
ConsumerGroupMetadataValue.READ_STEPS = (None,)
ConsumerGroupMetadataValue.WRITE = (_write_ConsumerGroupMetadataValue_0,)
ConsumerGroupMetadataValue.WRITE_STEPS = (None,)
ConsumerGroupPartitionMetadataKey.READ = (_read_ConsumerGroupPartitionMetadataKey_0,)
ConsumerGroupPartitionMetadataKey.READ_STEPS = (None,)
ConsumerGroupPartitionMetadataKey.WRITE = (_write_ConsumerGroupPartitionMetadataKey_0,)
ConsumerGroupPartitionMetadataKey.WRITE_STEPS = (None,)
ConsumerGroupPartitionMetadataValue.READ = (_read_ConsumerGroupPartitionMetadataValue_0,)
ConsumerGroupPartitionMetadataValue.READ_STEPS = (_read_steps_ConsumerGroupPartitionMetadataValue_0,)
ConsumerGroupPartitionMetadataValue.WRITE = (_write_ConsumerGroupPartitionMetadataValue_0,)
ConsumerGroupPartitionMetadataValue.WRITE_STEPS = (_write_steps_ConsumerGroupPartitionMetadataValue_0,)
ConsumerGroupRegularExpressionKey.READ = (_read_ConsumerGroupRegularExpressionKey_0,)
ConsumerGroupRegularExpressionKey.READ_STEPS = (None,)
ConsumerGroupRegularExpressionKey.WRITE = (_write_ConsumerGroupRegularExpressionKey_0,)
ConsumerGroupRegularExpressionKey.WRITE_STEPS = (None,)
ConsumerGroupRegularExpressionValue.READ = (_read_ConsumerGroupRegularExpressionValue_0,)
ConsumerGroupRegularExpressionValue.READ_STEPS = (_read_steps_ConsumerGroupRegularExpressionValue_0,)
ConsumerGroupRegularExpressionValue.WRITE = (_write_ConsumerGroupRegularExpressionValue_0,)
ConsumerGroupRegularExpressionValue.WRITE_STEPS = (_write_steps_ConsumerGroupRegularExpressionValue_0,)
ConsumerGroupTargetAssignmentMemberKey.READ = (_read_ConsumerGroupTargetAssignmentMemberKey_0,)
ConsumerGroupTargetAssignmentMemberKey.READ_STEPS = (None,)
ConsumerGroupTargetAssignmentMemberKey.WRITE = (_write_ConsumerGroupTargetAssignmentMemberKey_0,)
ConsumerGroupTargetAssignmentMemberKey.WRITE_STEPS = (None,)
ConsumerGroupTargetAssignmentMemberValue.READ = (_read_ConsumerGroupTargetAssignmentMemberValue_0,)
ConsumerGroupTargetAssignmentMemberValue.READ_STEPS = (_read_steps_ConsumerGroupTargetAssignmentMemberValue_0,)
ConsumerGroupTargetAssignmentMemberValue.WRITE = (_write_ConsumerGroupTargetAssignmentMemberValue_0,)
ConsumerGroupTargetAssignmentMemberValue.WRITE_STEPS = (_write_steps_ConsumerGroupTargetAssignmentMemberValue_0,)
ConsumerGroupTargetAssignmentMetadataKey.READ = (_read_ConsumerGroupTargetAssignmentMetadataKey_0,)
ConsumerGroupTargetAssignmentMetadataKey.READ_STEPS = (None,)
ConsumerGroupTargetAssignmentMetadataKey.WRITE = (_write_ConsumerGroupTargetAssignmentMetadataKey_0,)
ConsumerGroupTargetAssignmentMetadataKey.WRITE_STEPS = (None,)
ConsumerGroupTargetAssignmentMetadataValue.READ = (_read_ConsumerGroupTargetAssignmentMetadataValue_0,)
ConsumerGroupTargetAssignmentMetadataValue.READ_STEPS = (None,)
ConsumerGroupTargetAssignmentMetadataValue.WRITE = (_write_ConsumerGroupTargetAssignmentMetadataValue_0,)
ConsumerGroupTargetAssignmentMetadataValue.WRITE_STEPS = (None,)
GroupMetadataKey.READ = (_read_GroupMetadataKey_0,)
GroupMetadataKey.READ_STEPS = (None,)
GroupMetadataKey.WRITE = (_write_GroupMetadataKey_0,)
GroupMetadataKey.WRITE_STEPS = (None,)
GroupMetadataValue.READ = (_read_GroupMetadataValue_0, _read_GroupMetadataValue_1, _read_GroupMetadataValue_2, _read_GroupMetadataValue_3, _read_GroupMetadataValue_4,)
GroupMetadataValue.READ_STEPS = (_read_steps_GroupMetadataValue_0, _read_steps_GroupMetadataValue_1, _read_steps_GroupMetadataValue_2, _read_steps_GroupMetadataValue_3, _read_steps_GroupMetadataValue_4,)
GroupMetadataValue.WRITE = (_write_GroupMetadataValue_0, _write_GroupMetadataValue_1, _write_GroupMetadataValue_2, _write_GroupMetadataValue_3, _write_GroupMetadataValue_4,)
GroupMetadataValue.WRITE_STEPS = (_write_steps_GroupMetadataValue_0, _write_steps_GroupMetadataValue_1, _write_steps_GroupMetadataValue_2, _write_steps_GroupMetadataValue_3, _write_steps_GroupMetadataValue_4,)
LegacyOffsetCommitKey.READ = (_read_LegacyOffsetCommitKey_0,)
LegacyOffsetCommitKey.READ_STEPS = (None,)
LegacyOffsetCommitKey.WRITE = (_write_LegacyOffsetCommitKey_0,)
LegacyOffsetCommitKey.WRITE_STEPS = (None,)
LegacyOffsetCommitValue.READ = (_read_LegacyOffsetCommitValue_0,)
LegacyOffsetCommitValue.READ_STEPS = (None,)
LegacyOffsetCommitValue.WRITE = (_write_LegacyOffsetCommitValue_0,)
LegacyOffsetCommitValue.WRITE_STEPS = (None,)
OffsetCommitKey.READ = (_read_OffsetCommitKey_0,)
OffsetCommitKey.READ_STEPS = (None,)
OffsetCommitKey.WRITE = (_write_OffsetCommitKey_0,)
OffsetCommitKey.WRITE_STEPS = (None,)
OffsetCommitValue.READ = (_read_OffsetCommitValue_0, _read_OffsetCommitValue_1, _read_OffsetCommitValue_0, _read_OffsetCommitValue_3, _read_OffsetCommitValue_4,)
OffsetCommitValue.READ_STEPS = (None, None, None, None, None,)
OffsetCommitValue.WRITE = (_write_OffsetCommitValue_0, _write_OffsetCommitValue_1, _write_OffsetCommitValue_0, _write_OffsetCommitValue_3, _write_OffsetCommitValue_4,)
OffsetCommitValue.WRITE_STEPS = (None, None, None, None, None,)
ShareGroupCurrentMemberAssignmentKey.READ = (_read_ShareGroupCurrentMemberAssignmentKey_0,)
ShareGroupCurrentMemberAssignmentKey.READ_STEPS = (None,)
ShareGroupCurrentMemberAssignmentKey.WRITE = (_write_ShareGroupCurrentMemberAssignmentKey_0,)
ShareGroupCurrentMemberAssignmentKey.WRITE_STEPS = (None,)
ShareGroupCurrentMemberAssignmentValue.READ = (_read_ShareGroupCurrentMemberAssignmentValue_0,)
ShareGroupCurrentMemberAssignmentValue.READ_STEPS = (_read_steps_ShareGroupCurrentMemberAssignmentValue_0,)
ShareGroupCurrentMemberAssignmentValue.WRITE = (_write_ShareGroupCurrentMemberAssignmentValue_0,)
ShareGroupCurrentMemberAssignmentValue.WRITE_STEPS = (_write_steps_ShareGroupCurrentMemberAssignmentValue_0,)
ShareGroupMemberMetadataKey.READ = (_read_ShareGroupMemberMetadataKey_0,)
ShareGroupMemberMetadataKey.READ_STEPS = (None,)
ShareGroupMemberMetadataKey.WRITE = (_write_ShareGroupMemberMetadataKey_0,)
ShareGroupMemberMetadataKey.WRITE_STEPS = (None,)
ShareGroupMemberMetadataValue.READ = (_read_ShareGroupMemberMetadataValue_0,)
ShareGroupMemberMetadataValue.READ_STEPS = (_read_steps_ShareGroupMemberMetadataValue_0,)
ShareGroupMemberMetadataValue.WRITE = (_write_ShareGroupMemberMetadataValue_0,)
ShareGroupMemberMetadataValue.WRITE_STEPS = (_write_steps_ShareGroupMemberMetadataValue_0,)
ShareGroupMetadataKey.READ = (_read_ShareGroupMetadataKey_0,)
ShareGroupMetadataKey.READ_STEPS = (None,)
ShareGroupMetadataKey.WRITE = (_write_ShareGroupMetadataKey_0,)
ShareGroupMetadataKey.WRITE_STEPS = (None,)
ShareGroupMetadataValue.READ = (_read_ShareGroupMetadataValue_0,)
ShareGroupMetadataValue.READ_STEPS = (None,)
ShareGroupMetadataValue.WRITE = (_write_ShareGroupMetadataValue_0,)
ShareGroupMetadataValue.WRITE_STEPS = (None,)
ShareGroupStatePartitionMetadataKey.READ = (_read_ShareGroupStatePartitionMetadataKey_0,)
ShareGroupStatePartitionMetadataKey.READ_STEPS = (None,)
ShareGroupStatePartitionMetadataKey.WRITE = (_write_ShareGroupStatePartitionMetadataKey_0,)
ShareGroupStatePartitionMetadataKey.WRITE_STEPS = (None,)
ShareGroupStatePartitionMetadataValue.READ = (_read_ShareGroupStatePartitionMetadataValue_0,)
ShareGroupStatePartitionMetadataValue.READ_STEPS = (_read_steps_ShareGroupStatePartitionMetadataValue_0,)
ShareGroupStatePartitionMetadataValue.WRITE = (_write_ShareGroupStatePartitionMetadataValue_0,)
ShareGroupStatePartitionMetadataValue.WRITE_STEPS = (_write_steps_ShareGroupStatePartitionMetadataValue_0,)
ShareGroupTargetAssignmentMemberKey.READ = (_read_ShareGroupTargetAssignmentMemberKey_0,)
ShareGroupTargetAssignmentMemberKey.READ_STEPS = (None,)
ShareGroupTargetAssignmentMemberKey.WRITE = (_write_ShareGroupTargetAssignmentMemberKey_0,)
ShareGroupTargetAssignmentMemberKey.WRITE_STEPS = (None,)
ShareGroupTargetAssignmentMemberValue.READ = (_read_ShareGroupTargetAssignmentMemberValue_0,)
ShareGroupTargetAssignmentMemberValue.READ_STEPS = (_read_steps_ShareGroupTargetAssignmentMemberValue_0,)
ShareGroupTargetAssignmentMemberValue.WRITE = (_write_ShareGroupTargetAssignmentMemberValue_0,)
ShareGroupTargetAssignmentMemberValue.WRITE_STEPS = (_write_steps_ShareGroupTargetAssignmentMemberValue_0,)
ShareGroupTargetAssignmentMetadataKey.READ = (_read_ShareGroupTargetAssignmentMetadataKey_0,)
ShareGroupTargetAssignmentMetadataKey.READ_STEPS = (None,)
ShareGroupTargetAssignmentMetadataKey.WRITE = (_write_ShareGroupTargetAssignmentMetadataKey_0,)
ShareGroupTargetAssignmentMetadataKey.WRITE_STEPS = (None,)
ShareGroupTargetAssignmentMetadataValue.READ = (_read_ShareGroupTargetAssignmentMetadataValue_0,)
ShareGroupTargetAssignmentMetadataValue.READ_STEPS = (None,)
ShareGroupTargetAssignmentMetadataValue.WRITE = (_write_ShareGroupTargetAssignmentMetadataValue_0,)
ShareGroupTargetAssignmentMetadataValue.WRITE_STEPS = (None,)
StreamsGroupCurrentMemberAssignmentKey.READ = (_read_StreamsGroupCurrentMemberAssignmentKey_0,)
StreamsGroupCurrentMemberAssignmentKey.READ_STEPS = (None,)
StreamsGroupCurrentMemberAssignmentKey.WRITE = (_write_StreamsGroupCurrentMemberAssignmentKey_0,)
StreamsGroupCurrentMemberAssignmentKey.WRITE_STEPS = (None,)
StreamsGroupCurrentMemberAssignmentValue.READ = (_read_StreamsGroupCurrentMemberAssignmentValue_0,)
StreamsGroupCurrentMemberAssignmentValue.READ_STEPS = (_read_steps_StreamsGroupCurrentMemberAssignmentValue_0,)
StreamsGroupCurrentMemberAssignmentValue.WRITE = (_write_StreamsGroupCurrentMemberAssignmentValue_0,)
StreamsGroupCurrentMemberAssignmentValue.WRITE_STEPS = (_write_steps_StreamsGroupCurrentMemberAssignmentValue_0,)
StreamsGroupMemberMetadataKey.READ = (_read_StreamsGroupMemberMetadataKey_0,)
StreamsGroupMemberMetadataKey.READ_STEPS = (None,)
StreamsGroupMemberMetadataKey.WRITE = (_write_StreamsGroupMemberMetadataKey_0,)
StreamsGroupMemberMetadataKey.WRITE_STEPS = (None,)
StreamsGroupMemberMetadataValue.READ = (_read_StreamsGroupMemberMetadataValue_0,)
StreamsGroupMemberMetadataValue.READ_STEPS = (_read_steps_StreamsGroupMemberMetadataValue_0,)
StreamsGroupMemberMetadataValue.WRITE = (_write_StreamsGroupMemberMetadataValue_0,)
StreamsGroupMemberMetadataValue.WRITE_STEPS = (_write_steps_StreamsGroupMemberMetadataValue_0,)
StreamsGroupMetadataKey.READ = (_read_StreamsGroupMetadataKey_0,)
StreamsGroupMetadataKey.READ_STEPS = (None,)
StreamsGroupMetadataKey.WRITE = (_write_StreamsGroupMetadataKey_0,)
StreamsGroupMetadataKey.WRITE_STEPS = (None,)
StreamsGroupMetadataValue.READ = (_read_StreamsGroupMetadataValue_0,)
StreamsGroupMetadataValue.READ_STEPS = (None,)
StreamsGroupMetadataValue.WRITE = (_write_StreamsGroupMetadataValue_0,)
StreamsGroupMetadataValue.WRITE_STEPS = (None,)
StreamsGroupTargetAssignmentMemberKey.READ = (_read_StreamsGroupTargetAssignmentMemberKey_0,)
StreamsGroupTargetAssignmentMemberKey.READ_STEPS = (None,)
StreamsGroupTargetAssignmentMemberKey.WRITE = (_write_StreamsGroupTargetAssignmentMemberKey_0,)
StreamsGroupTargetAssignmentMemberKey.WRITE_STEPS = (None,)
StreamsGroupTargetAssignmentMemberValue.READ = (_read_StreamsGroupTargetAssignmentMemberValue_0,)
StreamsGroupTargetAssignmentMemberValue.READ_STEPS = (_read_steps_StreamsGroupTargetAssignmentMemberValue_0,)
StreamsGroupTargetAssignmentMemberValue.WRITE = (_write_StreamsGroupTargetAssignmentMemberValue_0,)
StreamsGroupTargetAssignmentMemberValue.WRITE_STEPS = (_write_steps_StreamsGroupTargetAssignmentMemberValue_0,)
StreamsGroupTargetAssignmentMetadataKey.READ = (_read_StreamsGroupTargetAssignmentMetadataKey_0,)
StreamsGroupTargetAssignmentMetadataKey.READ_STEPS = (None,)
StreamsGroupTargetAssignmentMetadataKey.WRITE = (_write_StreamsGroupTargetAssignmentMetadataKey_0,)
StreamsGroupTargetAssignmentMetadataKey.WRITE_STEPS = (None,)
StreamsGroupTargetAssignmentMetadataValue.READ = (_read_StreamsGroupTargetAssignmentMetadataValue_0,)
StreamsGroupTargetAssignmentMetadataValue.READ_STEPS = (None,)
StreamsGroupTargetAssignmentMetadataValue.WRITE = (_write_StreamsGroupTargetAssignmentMetadataValue_0,)
StreamsGroupTargetAssignmentMetadataValue.WRITE_STEPS = (None,)
StreamsGroupTopologyKey.READ = (_read_StreamsGroupTopologyKey_0,)
StreamsGroupTopologyKey.READ_STEPS = (None,)
StreamsGroupTopologyKey.WRITE = (_write_StreamsGroupTopologyKey_0,)
StreamsGroupTopologyKey.WRITE_STEPS = (None,)
StreamsGroupTopologyValue.READ = (_read_StreamsGroupTopologyValue_0,)
StreamsGroupTopologyValue.READ_STEPS = (_read_steps_StreamsGroupTopologyValue_0,)
StreamsGroupTopologyValue.WRITE = (_write_StreamsGroupTopologyValue_0,)
StreamsGroupTopologyValue.WRITE_STEPS = (_write_steps_StreamsGroupTopologyValue_0,)
