"""Changes of the quorum's members, one at a time (Ongaro's thesis, 4.1), and what each asks for. Pure."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.errors import ChangeRefusedError
from headrace.metadata.records.members import NO_DIRECTORY, Member


class AddLearner(NamedTuple):
    """A new member that gets the log and does not count; its `voter` is not looked at."""

    member: Member


class Promote(NamedTuple):
    """A learner that has the log becomes a voter."""

    node_id: int


class Remove(NamedTuple):
    """A voter or a learner leaves. Its directory makes sure that it is the one that was meant."""

    node_id: int
    directory_id: UUID


class UpdateMember(NamedTuple):
    """A member is reached at another address; its `voter` is not looked at."""

    member: Member


MemberChange = AddLearner | Promote | Remove | UpdateMember


def changed(configuration: Configuration, change: MemberChange) -> Configuration:
    """The members after a change.

    Raises:
        ChangeRefusedError: these members cannot be changed so.
    """
    match change:
        case AddLearner(member):
            if configuration.member(member.node_id) is not None:
                raise ChangeRefusedError(f"node {member.node_id} is a member already")
            return configuration.with_member(_with_vote(member, voter=False))
        case Promote(node_id):
            learner = _member(configuration, node_id)
            if learner.voter:
                raise ChangeRefusedError(f"node {node_id} is a voter already")
            return _known(configuration.with_member(_with_vote(learner, voter=True)))
        case Remove(node_id, directory_id):
            _member_of_directory(configuration, node_id, directory_id)
            remaining = configuration.without(node_id)
            if not remaining.voters:
                raise ChangeRefusedError(f"node {node_id} is the last voter")
            return _known(remaining)
        case UpdateMember(member):
            known = _member_of_directory(configuration, member.node_id, member.directory_id)
            return configuration.with_member(_with_vote(member, voter=known.voter))


def with_directories(configuration: Configuration, spoken: Mapping[int, UUID]) -> Configuration:
    """Name the disks with which members have spoken, where none was known. Who counts stays the same."""
    found = []
    for member in configuration.members:
        directory_id = member.directory_id
        if directory_id == NO_DIRECTORY:
            directory_id = spoken.get(member.node_id, NO_DIRECTORY)
        found.append(Member(member.node_id, directory_id, member.host, member.port, member.voter))
    return Configuration(tuple(found))


def _member(configuration: Configuration, node_id: int) -> Member:
    member = configuration.member(node_id)
    if member is None:
        raise ChangeRefusedError(f"node {node_id} is not a member")
    return member


def _member_of_directory(configuration: Configuration, node_id: int, directory_id: UUID) -> Member:
    member = _member(configuration, node_id)
    if not configuration.accepts(node_id, directory_id):
        raise ChangeRefusedError(
            f"node {node_id} is a member with directory {member.directory_id}, not {directory_id}"
        )
    return member


def _known(configuration: Configuration) -> Configuration:
    """Voters whose disks are all known: one that is not has perhaps nothing, and then elects nobody."""
    for member in configuration.members:
        if member.voter and member.directory_id == NO_DIRECTORY:
            raise ChangeRefusedError(f"voter {member.node_id} has not been heard of yet")
    return configuration


def _with_vote(member: Member, *, voter: bool) -> Member:
    return Member(member.node_id, member.directory_id, member.host, member.port, voter)
