"""The leader's description of the quorum, for operators."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from headrace.metadata.levels import UNTOLD, LevelRange
from headrace.metadata.quorum.node import QuorumNode
from headrace.metadata.records.members import NO_DIRECTORY, Member
from headrace.metadata.rpc.responses import QuorumDescribed, QuorumMember

NOT_KNOWN: Final = -1


class LastHeartbeat(NamedTuple):
    """The last heartbeat of a broker."""

    applied_index: int
    wall_clock_ms: int
    awaited_snapshot: int = -1  # see `Heartbeat`
    node_epoch: int = NOT_KNOWN
    reads: LevelRange = UNTOLD


class Clocks(NamedTuple):
    """The clocks of this node."""

    wall_ms: Callable[[], int]
    boot_ms: Callable[[], int]


def describe(
    quorum: QuorumNode, last_heartbeats: Mapping[int, LastHeartbeat], clocks: Clocks
) -> QuorumDescribed:
    """Describe how far each voter, learner and broker has replicated the log.

    Args:
        quorum: the status of the leader.
        last_heartbeats: of brokers, by node id.
        clocks: of the leader.
    """
    node_id = quorum.node_id
    status = quorum.status()
    progress = quorum.progress()
    now_ms = clocks.wall_ms()
    boot_to_wall_ms = now_ms - clocks.boot_ms()

    def described(member: Member) -> QuorumMember:
        known = (member.node_id, member.directory_id, member.host, member.port)
        if member.node_id == node_id:
            return QuorumMember(*known, status.last_index, now_ms, now_ms)
        view = progress.get(member.node_id)
        if view is None:
            return QuorumMember(*known, NOT_KNOWN, NOT_KNOWN, NOT_KNOWN)
        caught_up_ms = view.last_caught_up_ms
        return QuorumMember(
            *known,
            view.match_index,
            view.last_contact_ms + boot_to_wall_ms,
            caught_up_ms + boot_to_wall_ms if caught_up_ms else NOT_KNOWN,
        )

    members = quorum.configuration.members
    brokers = (
        _broker(broker_id, heartbeat, status.commit_index)
        for broker_id, heartbeat in sorted(last_heartbeats.items())
        if quorum.configuration.member(broker_id) is None
    )
    return QuorumDescribed(
        leader_id=node_id,
        term=status.term,
        commit_index=status.commit_index,
        voters=tuple(described(it) for it in members if it.voter),
        observers=(*(described(it) for it in members if not it.voter), *brokers),
    )


def _broker(broker_id: int, heartbeat: LastHeartbeat, commit_index: int) -> QuorumMember:
    caught_up = heartbeat.applied_index >= commit_index
    return QuorumMember(
        broker_id,
        NO_DIRECTORY,
        "",
        0,
        heartbeat.applied_index,
        heartbeat.wall_clock_ms,
        heartbeat.wall_clock_ms if caught_up else NOT_KNOWN,
    )
