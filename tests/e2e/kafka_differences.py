"""What is meant to differ between our answers and those of Apache Kafka 4.4.0, each with its reason.

A field of an answer is named as `tests.e2e.beside_kafka` names it. Nothing else may differ, and every line is needed.
"""

from typing import Final

from tests.e2e.beside_kafka import ABSENT, Difference

_CLOSED = "the connection is closed"
_ACLS = (
    "Kafka gives up the connection of a rule that it cannot read; there are no rules to look for"
)
_NOT_KEPT = "what nobody would apply is refused, not kept"
_CONFIG = "Kafka looks at names before it looks for repeated ones, or at neither; both are refused"
_ELR = (
    "Kafka sets min.insync.replicas for the cluster when its eligible leader replicas are enabled"
)
_OWN = "a setting that Kafka does not have"
_MADE = "ids are drawn at random"

DIFFERENCES: Final = (
    Difference("*", "*error_message", "messages are in our own words"),
    Difference("*", "error_message", "messages are in our own words"),
    Difference("*", "*port", "they are two brokers"),
    Difference("*", "cluster_id", _MADE),
    Difference("*", "*topic_id", _MADE),
    Difference("DescribeLogDirs *", "results[[]*", "our log directory is the bucket"),
    # Requests that no client sends.
    Difference("DescribeAcls *", "answer", _ACLS, "one", _CLOSED),
    Difference("CreateAcls *", "answer", _ACLS, "one", _CLOSED),
    Difference("DeleteAcls *", "answer", _ACLS, "one", _CLOSED),
    Difference("AlterConfigs *", "responses[[]*].error_code", _CONFIG, 42, 40),
    Difference("IncrementalAlterConfigs *", "responses[[]*].error_code", _CONFIG, 42, -1),
    Difference(
        "AlterPartitionReassignments 1 #0",
        "allow_replication_factor_change",
        "Kafka answers its default where nothing is to move",
        False,
        True,
    ),
    Difference(
        "AlterPartitionReassignments * #2",
        "responses[[]*].partitions[[]*].error_code",
        "a partition that is named twice is refused both times",
        42,
    ),
    Difference("Fetch * #2", "*", "Kafka fails on negative sizes, which stand for nothing here"),
    Difference(
        "Fetch *",
        "responses[[]*].aborted_transactions",
        "null and none are the same to clients; there are no transactions in an error",
    ),
    Difference("Metadata 1[01] #2", "brokers*", "a refused request is told the brokers, too"),
    Difference("Metadata 1[01] #2", "controller_id", "a refused request is told the brokers, too"),
    Difference(
        "Metadata 13 #2",
        "topics[[]known]*",
        "Kafka drops the names of a request that has ids as well",
        kafkas=ABSENT,
    ),
    # Features that are off, or are not there.
    Difference("AlterClientQuotas *", "entries[[]*].error_code", _NOT_KEPT, 35, 0),
    Difference("AlterUserScramCredentials *", "results[[]*].error_code", _NOT_KEPT, 35, 0),
    Difference("AlterUserScramCredentials *", "results[[]*].error_code", _NOT_KEPT, 91, 0),
    Difference(
        "DescribeTransactions *",
        "transaction_states[[]*].error_code",
        "no broker coordinates transactions, so that none need be asked first",
        105,
        16,
    ),
    Difference(
        "ListTransactions *", "error_code", "there is nothing that a pattern could match", 0, 128
    ),
    Difference(
        "IncrementalAlterConfigs *",
        "responses[[]*].error_code",
        "groups and client metrics have no configs to change",
        42,
        0,
    ),
    # Values.
    Difference("CreateTopics *", "*[[]headrace.*", _OWN, kafkas=ABSENT),
    Difference("CreateTopics *", "*[[]min.insync.replicas].config_source", _ELR, 5, 3),
    Difference(
        "DescribeConfigs *",
        "*[[]max.connections]*value",
        "the default is what a process can have, not the largest number",
    ),
)

_SHARE = "share groups and streams groups are not there"
_TRANSACTIONS = "no broker coordinates transactions"
_UNSUPPORTED, _INVALID = "UnsupportedVersionException", "InvalidRequestException"
_MISSING = "GroupIdNotFoundException"
# What differs: ours, Kafka's, and why.
METHODS_THAT_DIFFER: Final = {
    "describeShareGroups": (_UNSUPPORTED, _MISSING, _SHARE),
    "describeStreamsGroups": (_UNSUPPORTED, _MISSING, _SHARE),
    "listShareGroupOffsets": (_UNSUPPORTED, "{no-Share-group={}}", _SHARE),
    "alterShareGroupOffsets": (_UNSUPPORTED, "None", _SHARE),
    "deleteShareGroups": (_MISSING, "None", _SHARE),
    "deleteShareGroupOffsets": (_UNSUPPORTED, "None", _SHARE),
    "alterClientQuotas": (_UNSUPPORTED, "None", "quotas that nobody would apply are not kept"),
    "describeTransactions": (_INVALID, "TransactionalIdNotFoundException", _TRANSACTIONS),
    "abortTransaction": (_UNSUPPORTED, "None", _TRANSACTIONS),
    "fenceProducers": (_INVALID, "None", _TRANSACTIONS),
    "forceTerminateTransaction": (_INVALID, "None", _TRANSACTIONS),
    "removeRaftVoter": (
        "VoterNotFoundException",
        _UNSUPPORTED,
        "Kafka's quorum has no members that change when its configuration names them",
    ),
}
