"""The fencing rule that Fetch, ListOffsets and OffsetForLeaderEpoch share (KIP-320)."""

from broker.partition.partition import Partition
from protocol.errors import ErrorCode

NO_EPOCH = -1


def check_leader_epoch(requested: int, partition: Partition) -> ErrorCode:
    """Compare the epoch that a client believes in with the one in force; -1 asks for no check."""
    if requested in (NO_EPOCH, partition.leader_epoch):
        return ErrorCode.NONE
    if requested < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH
