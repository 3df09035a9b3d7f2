"""The handlers of all APIs that a client's first Produce and Fetch do without.

They and their messages take as long to load as the opening of hundreds of partitions, so `headrace.broker.api.registry`
does it later.
"""

from headrace.broker.api.add_raft_voter import AddRaftVoterHandler
from headrace.broker.api.alter_client_quotas import AlterClientQuotasHandler
from headrace.broker.api.alter_configs import AlterConfigsHandler
from headrace.broker.api.alter_partition_reassignments import AlterPartitionReassignmentsHandler
from headrace.broker.api.alter_replica_log_dirs import AlterReplicaLogDirsHandler
from headrace.broker.api.alter_user_scram_credentials import AlterUserScramCredentialsHandler
from headrace.broker.api.create_acls import CreateAclsHandler
from headrace.broker.api.create_delegation_token import CreateDelegationTokenHandler
from headrace.broker.api.create_partitions import CreatePartitionsHandler
from headrace.broker.api.create_topics import CreateTopicsHandler
from headrace.broker.api.delete_acls import DeleteAclsHandler
from headrace.broker.api.delete_groups import DeleteGroupsHandler
from headrace.broker.api.delete_records import DeleteRecordsHandler
from headrace.broker.api.delete_topics import DeleteTopicsHandler
from headrace.broker.api.describe_acls import DescribeAclsHandler
from headrace.broker.api.describe_client_quotas import DescribeClientQuotasHandler
from headrace.broker.api.describe_cluster import DescribeClusterHandler
from headrace.broker.api.describe_configs import DescribeConfigsHandler
from headrace.broker.api.describe_delegation_token import DescribeDelegationTokenHandler
from headrace.broker.api.describe_groups import DescribeGroupsHandler
from headrace.broker.api.describe_log_dirs import DescribeLogDirsHandler
from headrace.broker.api.describe_producers import DescribeProducersHandler
from headrace.broker.api.describe_quorum import DescribeQuorumHandler
from headrace.broker.api.describe_topic_partitions import DescribeTopicPartitionsHandler
from headrace.broker.api.describe_transactions import DescribeTransactionsHandler
from headrace.broker.api.describe_user_scram_credentials import DescribeUserScramCredentialsHandler
from headrace.broker.api.elect_leaders import ElectLeadersHandler
from headrace.broker.api.expire_delegation_token import ExpireDelegationTokenHandler
from headrace.broker.api.find_coordinator import FindCoordinatorHandler
from headrace.broker.api.heartbeat import HeartbeatHandler
from headrace.broker.api.incremental_alter_configs import IncrementalAlterConfigsHandler
from headrace.broker.api.init_producer_id import InitProducerIdHandler
from headrace.broker.api.join_group import JoinGroupHandler
from headrace.broker.api.leave_group import LeaveGroupHandler
from headrace.broker.api.list_config_resources import ListConfigResourcesHandler
from headrace.broker.api.list_groups import ListGroupsHandler
from headrace.broker.api.list_offsets import ListOffsetsHandler
from headrace.broker.api.list_partition_reassignments import ListPartitionReassignmentsHandler
from headrace.broker.api.list_transactions import ListTransactionsHandler
from headrace.broker.api.offset_commit import OffsetCommitHandler
from headrace.broker.api.offset_delete import OffsetDeleteHandler
from headrace.broker.api.offset_fetch import OffsetFetchHandler
from headrace.broker.api.offset_for_leader_epoch import OffsetForLeaderEpochHandler
from headrace.broker.api.remove_raft_voter import RemoveRaftVoterHandler
from headrace.broker.api.renew_delegation_token import RenewDelegationTokenHandler
from headrace.broker.api.sasl_authenticate import SaslAuthenticateHandler
from headrace.broker.api.sasl_handshake import SaslHandshakeHandler
from headrace.broker.api.services import Services
from headrace.broker.api.sync_group import SyncGroupHandler
from headrace.broker.api.unregister_broker import UnregisterBrokerHandler
from headrace.broker.api.unregister_controller import UnregisterControllerHandler
from headrace.broker.api.update_features import UpdateFeaturesHandler
from headrace.broker.cluster.producer_ids import ProducerIds
from headrace.broker.network.request_context import Handler
from headrace.metadata.follower.quorum_admin import QuorumAdmin
from headrace.protocol.api_keys import ApiKey


def later_handlers(services: Services) -> dict[ApiKey, Handler]:
    """Make them."""
    client, cluster = services.client, services.cluster
    coordinator, partitions = services.coordinator, services.partitions
    quorum = QuorumAdmin(client)
    handlers: list[Handler] = [
        ListOffsetsHandler(partitions),
        OffsetForLeaderEpochHandler(partitions),
        CreateTopicsHandler(services.creation, services.config),
        DeleteTopicsHandler(client),
        DeleteRecordsHandler(partitions),
        CreatePartitionsHandler(client, partitions),
        DescribeTopicPartitionsHandler(cluster),
        DescribeClusterHandler(cluster),
        DescribeConfigsHandler(client, services.config),
        IncrementalAlterConfigsHandler(client),
        DescribeLogDirsHandler(partitions, services.config.storage.bucket_uri),
        ElectLeadersHandler(cluster),
        AlterPartitionReassignmentsHandler(client),
        ListPartitionReassignmentsHandler(cluster),
        InitProducerIdHandler(ProducerIds(client)),
        FindCoordinatorHandler(services.offsets_logs),
        JoinGroupHandler(coordinator, services.config.groups),
        SyncGroupHandler(coordinator),
        HeartbeatHandler(coordinator),
        LeaveGroupHandler(coordinator),
        OffsetCommitHandler(coordinator, cluster),
        OffsetFetchHandler(coordinator, cluster),
        OffsetDeleteHandler(coordinator, cluster),
        DescribeGroupsHandler(coordinator),
        ListGroupsHandler(coordinator),
        DeleteGroupsHandler(coordinator),
        DescribeQuorumHandler(quorum),
        AddRaftVoterHandler(quorum),
        RemoveRaftVoterHandler(quorum),
        UnregisterBrokerHandler(quorum),
        UpdateFeaturesHandler(quorum),
        SaslHandshakeHandler(),
        SaslAuthenticateHandler(),
        DescribeAclsHandler(),
        CreateAclsHandler(),
        DeleteAclsHandler(),
        AlterConfigsHandler(client),
        AlterReplicaLogDirsHandler(partitions, services.config.storage.bucket_uri),
        CreateDelegationTokenHandler(),
        RenewDelegationTokenHandler(),
        ExpireDelegationTokenHandler(),
        DescribeDelegationTokenHandler(),
        DescribeClientQuotasHandler(),
        AlterClientQuotasHandler(),
        DescribeUserScramCredentialsHandler(),
        AlterUserScramCredentialsHandler(),
        DescribeProducersHandler(partitions),
        DescribeTransactionsHandler(),
        ListTransactionsHandler(),
        ListConfigResourcesHandler(cluster),
        UnregisterControllerHandler(quorum),
    ]
    return {handler.api_key: handler for handler in handlers}
