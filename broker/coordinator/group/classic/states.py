"""The states of a classic group and the moves between them.

    Empty --join--> PreparingRebalance --all joined--> CompletingRebalance --leader syncs--> Stable
      ^                |    ^                             |                                    |
      +--nobody left---+    +------- join, leave, expiry -+------------------------------------+

Dead is reached from every state by a tombstone. DescribeGroups also answers it for a group that does
not exist.

Source: `ClassicGroupState` of Apache Kafka.
"""

from enum import Enum
from typing import Final


class GroupState(Enum):
    """A state, by the name that clients are shown."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


# Empty -> Empty and Stable -> Stable: a generation is written again (a new group; a static member's
# new id).
TRANSITIONS: Final[dict[GroupState, frozenset[GroupState]]] = {
    GroupState.EMPTY: frozenset(
        {GroupState.PREPARING_REBALANCE, GroupState.EMPTY, GroupState.DEAD}
    ),
    GroupState.PREPARING_REBALANCE: frozenset(
        {GroupState.COMPLETING_REBALANCE, GroupState.EMPTY, GroupState.DEAD}
    ),
    GroupState.COMPLETING_REBALANCE: frozenset(
        {GroupState.STABLE, GroupState.PREPARING_REBALANCE, GroupState.DEAD}
    ),
    GroupState.STABLE: frozenset(
        {GroupState.PREPARING_REBALANCE, GroupState.STABLE, GroupState.DEAD}
    ),
    GroupState.DEAD: frozenset(),
}

REBALANCEABLE: Final = frozenset(
    {GroupState.STABLE, GroupState.COMPLETING_REBALANCE, GroupState.EMPTY}
)
