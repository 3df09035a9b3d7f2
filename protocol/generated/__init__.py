"""Finds a class of a message, in the module that has it. Made by `headrace.protocol.generator`: change that, or its tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headrace.protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest as AddOffsetsToTxnRequest, AddOffsetsToTxnResponse as AddOffsetsToTxnResponse
    from headrace.protocol.generated.add_partitions_to_txn import AddPartitionsToTxnRequest as AddPartitionsToTxnRequest, AddPartitionsToTxnResponse as AddPartitionsToTxnResponse
    from headrace.protocol.generated.add_raft_voter import AddRaftVoterRequest as AddRaftVoterRequest, AddRaftVoterResponse as AddRaftVoterResponse
    from headrace.protocol.generated.alter_client_quotas import AlterClientQuotasRequest as AlterClientQuotasRequest, AlterClientQuotasResponse as AlterClientQuotasResponse
    from headrace.protocol.generated.alter_configs import AlterConfigsRequest as AlterConfigsRequest, AlterConfigsResponse as AlterConfigsResponse
    from headrace.protocol.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest as AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse as AlterPartitionReassignmentsResponse
    from headrace.protocol.generated.alter_replica_log_dirs import AlterReplicaLogDirsRequest as AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse as AlterReplicaLogDirsResponse
    from headrace.protocol.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest as AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse as AlterUserScramCredentialsResponse
    from headrace.protocol.generated.api_versions import ApiVersionsRequest as ApiVersionsRequest, ApiVersionsResponse as ApiVersionsResponse
    from headrace.protocol.generated.create_acls import CreateAclsRequest as CreateAclsRequest, CreateAclsResponse as CreateAclsResponse
    from headrace.protocol.generated.create_delegation_token import CreateDelegationTokenRequest as CreateDelegationTokenRequest, CreateDelegationTokenResponse as CreateDelegationTokenResponse
    from headrace.protocol.generated.create_partitions import CreatePartitionsRequest as CreatePartitionsRequest, CreatePartitionsResponse as CreatePartitionsResponse
    from headrace.protocol.generated.create_topics import CreateTopicsRequest as CreateTopicsRequest, CreateTopicsResponse as CreateTopicsResponse
    from headrace.protocol.generated.delete_acls import DeleteAclsRequest as DeleteAclsRequest, DeleteAclsResponse as DeleteAclsResponse
    from headrace.protocol.generated.delete_groups import DeleteGroupsRequest as DeleteGroupsRequest, DeleteGroupsResponse as DeleteGroupsResponse
    from headrace.protocol.generated.delete_records import DeleteRecordsRequest as DeleteRecordsRequest, DeleteRecordsResponse as DeleteRecordsResponse
    from headrace.protocol.generated.delete_topics import DeleteTopicsRequest as DeleteTopicsRequest, DeleteTopicsResponse as DeleteTopicsResponse
    from headrace.protocol.generated.describe_acls import DescribeAclsRequest as DescribeAclsRequest, DescribeAclsResponse as DescribeAclsResponse
    from headrace.protocol.generated.describe_client_quotas import DescribeClientQuotasRequest as DescribeClientQuotasRequest, DescribeClientQuotasResponse as DescribeClientQuotasResponse
    from headrace.protocol.generated.describe_cluster import DescribeClusterRequest as DescribeClusterRequest, DescribeClusterResponse as DescribeClusterResponse
    from headrace.protocol.generated.describe_configs import DescribeConfigsRequest as DescribeConfigsRequest, DescribeConfigsResponse as DescribeConfigsResponse
    from headrace.protocol.generated.describe_delegation_token import DescribeDelegationTokenRequest as DescribeDelegationTokenRequest, DescribeDelegationTokenResponse as DescribeDelegationTokenResponse
    from headrace.protocol.generated.describe_groups import DescribeGroupsRequest as DescribeGroupsRequest, DescribeGroupsResponse as DescribeGroupsResponse
    from headrace.protocol.generated.describe_log_dirs import DescribeLogDirsRequest as DescribeLogDirsRequest, DescribeLogDirsResponse as DescribeLogDirsResponse
    from headrace.protocol.generated.describe_producers import DescribeProducersRequest as DescribeProducersRequest, DescribeProducersResponse as DescribeProducersResponse
    from headrace.protocol.generated.describe_quorum import DescribeQuorumRequest as DescribeQuorumRequest, DescribeQuorumResponse as DescribeQuorumResponse
    from headrace.protocol.generated.describe_topic_partitions import DescribeTopicPartitionsRequest as DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse as DescribeTopicPartitionsResponse
    from headrace.protocol.generated.describe_transactions import DescribeTransactionsRequest as DescribeTransactionsRequest, DescribeTransactionsResponse as DescribeTransactionsResponse
    from headrace.protocol.generated.describe_user_scram_credentials import DescribeUserScramCredentialsRequest as DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse as DescribeUserScramCredentialsResponse
    from headrace.protocol.generated.elect_leaders import ElectLeadersRequest as ElectLeadersRequest, ElectLeadersResponse as ElectLeadersResponse
    from headrace.protocol.generated.end_txn import EndTxnRequest as EndTxnRequest, EndTxnResponse as EndTxnResponse
    from headrace.protocol.generated.expire_delegation_token import ExpireDelegationTokenRequest as ExpireDelegationTokenRequest, ExpireDelegationTokenResponse as ExpireDelegationTokenResponse
    from headrace.protocol.generated.fetch import FetchRequest as FetchRequest, FetchResponse as FetchResponse
    from headrace.protocol.generated.find_coordinator import FindCoordinatorRequest as FindCoordinatorRequest, FindCoordinatorResponse as FindCoordinatorResponse
    from headrace.protocol.generated.group_coordinator import ConsumerGroupCurrentMemberAssignmentKey as ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue as ConsumerGroupCurrentMemberAssignmentValue, ConsumerGroupMemberMetadataKey as ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue as ConsumerGroupMemberMetadataValue, ConsumerGroupMetadataKey as ConsumerGroupMetadataKey, ConsumerGroupMetadataValue as ConsumerGroupMetadataValue, ConsumerGroupPartitionMetadataKey as ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue as ConsumerGroupPartitionMetadataValue, ConsumerGroupRegularExpressionKey as ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue as ConsumerGroupRegularExpressionValue, ConsumerGroupTargetAssignmentMemberKey as ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue as ConsumerGroupTargetAssignmentMemberValue, ConsumerGroupTargetAssignmentMetadataKey as ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue as ConsumerGroupTargetAssignmentMetadataValue, GroupMetadataKey as GroupMetadataKey, GroupMetadataValue as GroupMetadataValue, LegacyOffsetCommitKey as LegacyOffsetCommitKey, LegacyOffsetCommitValue as LegacyOffsetCommitValue, OffsetCommitKey as OffsetCommitKey, OffsetCommitValue as OffsetCommitValue, ShareGroupCurrentMemberAssignmentKey as ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue as ShareGroupCurrentMemberAssignmentValue, ShareGroupMemberMetadataKey as ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue as ShareGroupMemberMetadataValue, ShareGroupMetadataKey as ShareGroupMetadataKey, ShareGroupMetadataValue as ShareGroupMetadataValue, ShareGroupStatePartitionMetadataKey as ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue as ShareGroupStatePartitionMetadataValue, ShareGroupTargetAssignmentMemberKey as ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue as ShareGroupTargetAssignmentMemberValue, ShareGroupTargetAssignmentMetadataKey as ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue as ShareGroupTargetAssignmentMetadataValue, StreamsGroupCurrentMemberAssignmentKey as StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue as StreamsGroupCurrentMemberAssignmentValue, StreamsGroupMemberMetadataKey as StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue as StreamsGroupMemberMetadataValue, StreamsGroupMetadataKey as StreamsGroupMetadataKey, StreamsGroupMetadataValue as StreamsGroupMetadataValue, StreamsGroupTargetAssignmentMemberKey as StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue as StreamsGroupTargetAssignmentMemberValue, StreamsGroupTargetAssignmentMetadataKey as StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue as StreamsGroupTargetAssignmentMetadataValue, StreamsGroupTopologyKey as StreamsGroupTopologyKey, StreamsGroupTopologyValue as StreamsGroupTopologyValue
    from headrace.protocol.generated.heartbeat import HeartbeatRequest as HeartbeatRequest, HeartbeatResponse as HeartbeatResponse
    from headrace.protocol.generated.incremental_alter_configs import IncrementalAlterConfigsRequest as IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse as IncrementalAlterConfigsResponse
    from headrace.protocol.generated.init_producer_id import InitProducerIdRequest as InitProducerIdRequest, InitProducerIdResponse as InitProducerIdResponse
    from headrace.protocol.generated.join_group import JoinGroupRequest as JoinGroupRequest, JoinGroupResponse as JoinGroupResponse
    from headrace.protocol.generated.leave_group import LeaveGroupRequest as LeaveGroupRequest, LeaveGroupResponse as LeaveGroupResponse
    from headrace.protocol.generated.list_config_resources import ListConfigResourcesRequest as ListConfigResourcesRequest, ListConfigResourcesResponse as ListConfigResourcesResponse
    from headrace.protocol.generated.list_groups import ListGroupsRequest as ListGroupsRequest, ListGroupsResponse as ListGroupsResponse
    from headrace.protocol.generated.list_offsets import ListOffsetsRequest as ListOffsetsRequest, ListOffsetsResponse as ListOffsetsResponse
    from headrace.protocol.generated.list_partition_reassignments import ListPartitionReassignmentsRequest as ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse as ListPartitionReassignmentsResponse
    from headrace.protocol.generated.list_transactions import ListTransactionsRequest as ListTransactionsRequest, ListTransactionsResponse as ListTransactionsResponse
    from headrace.protocol.generated.metadata import MetadataRequest as MetadataRequest, MetadataResponse as MetadataResponse
    from headrace.protocol.generated.offset_commit import OffsetCommitRequest as OffsetCommitRequest, OffsetCommitResponse as OffsetCommitResponse
    from headrace.protocol.generated.offset_delete import OffsetDeleteRequest as OffsetDeleteRequest, OffsetDeleteResponse as OffsetDeleteResponse
    from headrace.protocol.generated.offset_fetch import OffsetFetchRequest as OffsetFetchRequest, OffsetFetchResponse as OffsetFetchResponse
    from headrace.protocol.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest as OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse as OffsetForLeaderEpochResponse
    from headrace.protocol.generated.produce import ProduceRequest as ProduceRequest, ProduceResponse as ProduceResponse
    from headrace.protocol.generated.remove_raft_voter import RemoveRaftVoterRequest as RemoveRaftVoterRequest, RemoveRaftVoterResponse as RemoveRaftVoterResponse
    from headrace.protocol.generated.renew_delegation_token import RenewDelegationTokenRequest as RenewDelegationTokenRequest, RenewDelegationTokenResponse as RenewDelegationTokenResponse
    from headrace.protocol.generated.sasl_authenticate import SaslAuthenticateRequest as SaslAuthenticateRequest, SaslAuthenticateResponse as SaslAuthenticateResponse
    from headrace.protocol.generated.sasl_handshake import SaslHandshakeRequest as SaslHandshakeRequest, SaslHandshakeResponse as SaslHandshakeResponse
    from headrace.protocol.generated.share_coordinator import ShareSnapshotKey as ShareSnapshotKey, ShareSnapshotValue as ShareSnapshotValue, ShareUpdateKey as ShareUpdateKey, ShareUpdateValue as ShareUpdateValue
    from headrace.protocol.generated.sync_group import SyncGroupRequest as SyncGroupRequest, SyncGroupResponse as SyncGroupResponse
    from headrace.protocol.generated.transaction_coordinator import TransactionLogKey as TransactionLogKey, TransactionLogValue as TransactionLogValue
    from headrace.protocol.generated.txn_offset_commit import TxnOffsetCommitRequest as TxnOffsetCommitRequest, TxnOffsetCommitResponse as TxnOffsetCommitResponse
    from headrace.protocol.generated.unregister_broker import UnregisterBrokerRequest as UnregisterBrokerRequest, UnregisterBrokerResponse as UnregisterBrokerResponse
    from headrace.protocol.generated.unregister_controller import UnregisterControllerRequest as UnregisterControllerRequest, UnregisterControllerResponse as UnregisterControllerResponse
    from headrace.protocol.generated.update_features import UpdateFeaturesRequest as UpdateFeaturesRequest, UpdateFeaturesResponse as UpdateFeaturesResponse
    from headrace.protocol.generated.write_txn_markers import WriteTxnMarkersRequest as WriteTxnMarkersRequest, WriteTxnMarkersResponse as WriteTxnMarkersResponse

MODULES: Final = {
    "AddOffsetsToTxnRequest": "add_offsets_to_txn",
    "AddOffsetsToTxnResponse": "add_offsets_to_txn",
    "AddPartitionsToTxnRequest": "add_partitions_to_txn",
    "AddPartitionsToTxnResponse": "add_partitions_to_txn",
    "AddRaftVoterRequest": "add_raft_voter",
    "AddRaftVoterResponse": "add_raft_voter",
    "AlterClientQuotasRequest": "alter_client_quotas",
    "AlterClientQuotasResponse": "alter_client_quotas",
    "AlterConfigsRequest": "alter_configs",
    "AlterConfigsResponse": "alter_configs",
    "AlterPartitionReassignmentsRequest": "alter_partition_reassignments",
    "AlterPartitionReassignmentsResponse": "alter_partition_reassignments",
    "AlterReplicaLogDirsRequest": "alter_replica_log_dirs",
    "AlterReplicaLogDirsResponse": "alter_replica_log_dirs",
    "AlterUserScramCredentialsRequest": "alter_user_scram_credentials",
    "AlterUserScramCredentialsResponse": "alter_user_scram_credentials",
    "ApiVersionsRequest": "api_versions",
    "ApiVersionsResponse": "api_versions",
    "ConsumerGroupCurrentMemberAssignmentKey": "group_coordinator",
    "ConsumerGroupCurrentMemberAssignmentValue": "group_coordinator",
    "ConsumerGroupMemberMetadataKey": "group_coordinator",
    "ConsumerGroupMemberMetadataValue": "group_coordinator",
    "ConsumerGroupMetadataKey": "group_coordinator",
    "ConsumerGroupMetadataValue": "group_coordinator",
    "ConsumerGroupPartitionMetadataKey": "group_coordinator",
    "ConsumerGroupPartitionMetadataValue": "group_coordinator",
    "ConsumerGroupRegularExpressionKey": "group_coordinator",
    "ConsumerGroupRegularExpressionValue": "group_coordinator",
    "ConsumerGroupTargetAssignmentMemberKey": "group_coordinator",
    "ConsumerGroupTargetAssignmentMemberValue": "group_coordinator",
    "ConsumerGroupTargetAssignmentMetadataKey": "group_coordinator",
    "ConsumerGroupTargetAssignmentMetadataValue": "group_coordinator",
    "CreateAclsRequest": "create_acls",
    "CreateAclsResponse": "create_acls",
    "CreateDelegationTokenRequest": "create_delegation_token",
    "CreateDelegationTokenResponse": "create_delegation_token",
    "CreatePartitionsRequest": "create_partitions",
    "CreatePartitionsResponse": "create_partitions",
    "CreateTopicsRequest": "create_topics",
    "CreateTopicsResponse": "create_topics",
    "DeleteAclsRequest": "delete_acls",
    "DeleteAclsResponse": "delete_acls",
    "DeleteGroupsRequest": "delete_groups",
    "DeleteGroupsResponse": "delete_groups",
    "DeleteRecordsRequest": "delete_records",
    "DeleteRecordsResponse": "delete_records",
    "DeleteTopicsRequest": "delete_topics",
    "DeleteTopicsResponse": "delete_topics",
    "DescribeAclsRequest": "describe_acls",
    "DescribeAclsResponse": "describe_acls",
    "DescribeClientQuotasRequest": "describe_client_quotas",
    "DescribeClientQuotasResponse": "describe_client_quotas",
    "DescribeClusterRequest": "describe_cluster",
    "DescribeClusterResponse": "describe_cluster",
    "DescribeConfigsRequest": "describe_configs",
    "DescribeConfigsResponse": "describe_configs",
    "DescribeDelegationTokenRequest": "describe_delegation_token",
    "DescribeDelegationTokenResponse": "describe_delegation_token",
    "DescribeGroupsRequest": "describe_groups",
    "DescribeGroupsResponse": "describe_groups",
    "DescribeLogDirsRequest": "describe_log_dirs",
    "DescribeLogDirsResponse": "describe_log_dirs",
    "DescribeProducersRequest": "describe_producers",
    "DescribeProducersResponse": "describe_producers",
    "DescribeQuorumRequest": "describe_quorum",
    "DescribeQuorumResponse": "describe_quorum",
    "DescribeTopicPartitionsRequest": "describe_topic_partitions",
    "DescribeTopicPartitionsResponse": "describe_topic_partitions",
    "DescribeTransactionsRequest": "describe_transactions",
    "DescribeTransactionsResponse": "describe_transactions",
    "DescribeUserScramCredentialsRequest": "describe_user_scram_credentials",
    "DescribeUserScramCredentialsResponse": "describe_user_scram_credentials",
    "ElectLeadersRequest": "elect_leaders",
    "ElectLeadersResponse": "elect_leaders",
    "EndTxnRequest": "end_txn",
    "EndTxnResponse": "end_txn",
    "ExpireDelegationTokenRequest": "expire_delegation_token",
    "ExpireDelegationTokenResponse": "expire_delegation_token",
    "FetchRequest": "fetch",
    "FetchResponse": "fetch",
    "FindCoordinatorRequest": "find_coordinator",
    "FindCoordinatorResponse": "find_coordinator",
    "GroupMetadataKey": "group_coordinator",
    "GroupMetadataValue": "group_coordinator",
    "HeartbeatRequest": "heartbeat",
    "HeartbeatResponse": "heartbeat",
    "IncrementalAlterConfigsRequest": "incremental_alter_configs",
    "IncrementalAlterConfigsResponse": "incremental_alter_configs",
    "InitProducerIdRequest": "init_producer_id",
    "InitProducerIdResponse": "init_producer_id",
    "JoinGroupRequest": "join_group",
    "JoinGroupResponse": "join_group",
    "LeaveGroupRequest": "leave_group",
    "LeaveGroupResponse": "leave_group",
    "LegacyOffsetCommitKey": "group_coordinator",
    "LegacyOffsetCommitValue": "group_coordinator",
    "ListConfigResourcesRequest": "list_config_resources",
    "ListConfigResourcesResponse": "list_config_resources",
    "ListGroupsRequest": "list_groups",
    "ListGroupsResponse": "list_groups",
    "ListOffsetsRequest": "list_offsets",
    "ListOffsetsResponse": "list_offsets",
    "ListPartitionReassignmentsRequest": "list_partition_reassignments",
    "ListPartitionReassignmentsResponse": "list_partition_reassignments",
    "ListTransactionsRequest": "list_transactions",
    "ListTransactionsResponse": "list_transactions",
    "MetadataRequest": "metadata",
    "MetadataResponse": "metadata",
    "OffsetCommitKey": "group_coordinator",
    "OffsetCommitRequest": "offset_commit",
    "OffsetCommitResponse": "offset_commit",
    "OffsetCommitValue": "group_coordinator",
    "OffsetDeleteRequest": "offset_delete",
    "OffsetDeleteResponse": "offset_delete",
    "OffsetFetchRequest": "offset_fetch",
    "OffsetFetchResponse": "offset_fetch",
    "OffsetForLeaderEpochRequest": "offset_for_leader_epoch",
    "OffsetForLeaderEpochResponse": "offset_for_leader_epoch",
    "ProduceRequest": "produce",
    "ProduceResponse": "produce",
    "RemoveRaftVoterRequest": "remove_raft_voter",
    "RemoveRaftVoterResponse": "remove_raft_voter",
    "RenewDelegationTokenRequest": "renew_delegation_token",
    "RenewDelegationTokenResponse": "renew_delegation_token",
    "SaslAuthenticateRequest": "sasl_authenticate",
    "SaslAuthenticateResponse": "sasl_authenticate",
    "SaslHandshakeRequest": "sasl_handshake",
    "SaslHandshakeResponse": "sasl_handshake",
    "ShareGroupCurrentMemberAssignmentKey": "group_coordinator",
    "ShareGroupCurrentMemberAssignmentValue": "group_coordinator",
    "ShareGroupMemberMetadataKey": "group_coordinator",
    "ShareGroupMemberMetadataValue": "group_coordinator",
    "ShareGroupMetadataKey": "group_coordinator",
    "ShareGroupMetadataValue": "group_coordinator",
    "ShareGroupStatePartitionMetadataKey": "group_coordinator",
    "ShareGroupStatePartitionMetadataValue": "group_coordinator",
    "ShareGroupTargetAssignmentMemberKey": "group_coordinator",
    "ShareGroupTargetAssignmentMemberValue": "group_coordinator",
    "ShareGroupTargetAssignmentMetadataKey": "group_coordinator",
    "ShareGroupTargetAssignmentMetadataValue": "group_coordinator",
    "ShareSnapshotKey": "share_coordinator",
    "ShareSnapshotValue": "share_coordinator",
    "ShareUpdateKey": "share_coordinator",
    "ShareUpdateValue": "share_coordinator",
    "StreamsGroupCurrentMemberAssignmentKey": "group_coordinator",
    "StreamsGroupCurrentMemberAssignmentValue": "group_coordinator",
    "StreamsGroupMemberMetadataKey": "group_coordinator",
    "StreamsGroupMemberMetadataValue": "group_coordinator",
    "StreamsGroupMetadataKey": "group_coordinator",
    "StreamsGroupMetadataValue": "group_coordinator",
    "StreamsGroupTargetAssignmentMemberKey": "group_coordinator",
    "StreamsGroupTargetAssignmentMemberValue": "group_coordinator",
    "StreamsGroupTargetAssignmentMetadataKey": "group_coordinator",
    "StreamsGroupTargetAssignmentMetadataValue": "group_coordinator",
    "StreamsGroupTopologyKey": "group_coordinator",
    "StreamsGroupTopologyValue": "group_coordinator",
    "SyncGroupRequest": "sync_group",
    "SyncGroupResponse": "sync_group",
    "TransactionLogKey": "transaction_coordinator",
    "TransactionLogValue": "transaction_coordinator",
    "TxnOffsetCommitRequest": "txn_offset_commit",
    "TxnOffsetCommitResponse": "txn_offset_commit",
    "UnregisterBrokerRequest": "unregister_broker",
    "UnregisterBrokerResponse": "unregister_broker",
    "UnregisterControllerRequest": "unregister_controller",
    "UnregisterControllerResponse": "unregister_controller",
    "UpdateFeaturesRequest": "update_features",
    "UpdateFeaturesResponse": "update_features",
    "WriteTxnMarkersRequest": "write_txn_markers",
    "WriteTxnMarkersResponse": "write_txn_markers",
}


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        module = MODULES.get(name)
        if module is None:
            raise AttributeError(f"there is no message {name!r}")
        return getattr(import_module("headrace.protocol.generated." + module), name)
