"""A group as DescribeGroups and ListGroups show it.

Source: `GroupMetadataManager.describeGroups`, `ClassicGroup.asListedGroup` of Apache Kafka.
"""

from headrace.broker.coordinator.group.classic.classic_group import ClassicGroup
from headrace.broker.coordinator.group.classic.states import GroupState
from headrace.broker.coordinator.group.requests import DescribedGroup, DescribedMember, ListedGroup


def describe_group(group: ClassicGroup) -> DescribedGroup:
    """Describe a group; protocol and metadata only while Stable, because they change otherwise."""
    protocol = group.protocol if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group.group_id,
        group.state.value,
        group.protocol_type or "",
        protocol or "",
        tuple(
            DescribedMember(
                member_id,
                member.group_instance_id,
                member.client_id,
                member.client_host,
                b"" if protocol is None else member.metadata(protocol),
                group.assignment(member_id),
            )
            for member_id, member in group.members.items()
        ),
    )


def list_group(group: ClassicGroup) -> ListedGroup:
    """Describe a group for ListGroups."""
    return ListedGroup(group.group_id, group.protocol_type or "", group.state.value)
