"""OffsetCommit and OffsetDelete: which requests are accepted.

| group | generation of the request | OffsetCommit |
|---|---|---|
| missing | < 0 | accepted: creates a simple group |
| missing | >= 0 | GROUP_ID_NOT_FOUND from v9 on, ILLEGAL_GENERATION before |
| Empty | < 0 | accepted |
| not Empty | < 0, neither member id nor instance id | UNKNOWN_MEMBER_ID |
| any | any, member not known | UNKNOWN_MEMBER_ID |
| any | any, instance id held by another | FENCED_INSTANCE_ID |
| any | not the present one | ILLEGAL_GENERATION |
| CompletingRebalance | present | REBALANCE_IN_PROGRESS: there is no assignment yet |
| PreparingRebalance, Stable | present | accepted, and keeps the session alive |

Source: `ClassicGroup.validateOffsetCommit`, `validateOffsetDelete`, `OffsetMetadataManager` of
Apache Kafka.
"""

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.requests import NO_MEMBER_ID, CommitRequest
from headrace.broker.coordinator.runtime.record_fields import fits_string
from headrace.protocol.errors import ErrorCode

_REBALANCING_OR_STABLE = frozenset(
    {GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE, GroupState.STABLE}
)


def check_commit(group: ClassicGroup | None, request: CommitRequest) -> ErrorCode:
    """Whether this member may commit offsets to this group now."""
    if group is None:
        if request.generation < 0:
            return ErrorCode.NONE
        if request.knows_group_id_not_found:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION
    if request.generation < 0 and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    is_anonymous = request.member_id == NO_MEMBER_ID and request.group_instance_id is None
    if request.generation < 0 and is_anonymous:
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = group.check_member(request.member_id, request.group_instance_id)
    if error is not ErrorCode.NONE:
        return error
    if request.generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    if group.state is GroupState.COMPLETING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def check_metadata(metadata: str, max_length: int) -> ErrorCode:
    """Whether a commit's metadata may be stored; Kafka counts its characters."""
    if len(metadata) > max_length or not fits_string(metadata):
        return ErrorCode.OFFSET_METADATA_TOO_LARGE
    return ErrorCode.NONE


def check_offset_delete(group: ClassicGroup | None) -> ErrorCode:
    """Whether offsets of this group may be deleted at all; each topic is checked by itself."""
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state in _REBALANCING_OR_STABLE and not group.is_consumer_group:
        return ErrorCode.NON_EMPTY_GROUP
    return ErrorCode.NONE
