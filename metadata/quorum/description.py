"""The quorum as its leader describes it to operators."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from headrace.metadata.quorum.node import QuorumNode
from headrace.metadata.records.members import NO_DIRECTORY, Member
from headrace.metadata.rpc.responses import QuorumDescribed, QuorumMember

NOT_KNOWN: Final = -1


class HeardOf(NamedTuple):
    """The last heartbeat of a broker."""

    applied_index: int
    wall_clock_ms: int


class Clocks(NamedTuple):
    """Of this node."""

    wall_ms: Callable[[], int]
    boot_ms: Callable[[], int]


def describe(
    quorum: QuorumNode, heard_of: Mapping[int, HeardOf], clocks: Clocks
) -> QuorumDescribed:
    """Tell how far everybody has come.

    Args:
        quorum: of a leader.
        heard_of: the last heartbeats of brokers, by node id.
        clocks: its own.
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
        _broker(broker_id, heard, status.commit_index)
        for broker_id, heard in sorted(heard_of.items())
        if quorum.configuration.member(broker_id) is None
    )
    return QuorumDescribed(
        leader_id=node_id,
        term=status.term,
        commit_index=status.commit_index,
        voters=tuple(described(it) for it in members if it.voter),
        observers=(*(described(it) for it in members if not it.voter), *brokers),
    )


def _broker(broker_id: int, heard: HeardOf, commit_index: int) -> QuorumMember:
    caught_up = heard.applied_index >= commit_index
    return QuorumMember(
        broker_id,
        NO_DIRECTORY,
        "",
        0,
        heard.applied_index,
        heard.wall_clock_ms,
        heard.wall_clock_ms if caught_up else NOT_KNOWN,
    )
