"""Membership changes of the quorum, one at a time (Ongaro's thesis, 4.1). Pure."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.errors import ChangeRefusedError
from headrace.metadata.records.members import NO_DIRECTORY, Member


class AddLearner(NamedTuple):
    """A new learner: it gets the log but has no vote; its field `voter` is ignored."""

    member: Member


class Promote(NamedTuple):
    """Makes a learner that has the log a voter."""

    node_id: int


class Remove(NamedTuple):
    """Removes a voter or a learner. The directory id identifies the member."""

    node_id: int
    directory_id: UUID


class UpdateMember(NamedTuple):
    """Changes the address of a member; its field `voter` is ignored."""

    member: Member


MemberChange = AddLearner | Promote | Remove | UpdateMember


def changed(configuration: Configuration, change: MemberChange) -> Configuration:
    """The members after a change.

    Raises:
        ChangeRefusedError: the change is not possible with these members.
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


def with_directories(
    configuration: Configuration, directory_ids: Mapping[int, UUID]
) -> Configuration:
    """Record the directory ids from members' messages, where none was known. The voters stay the same."""
    found = []
    for member in configuration.members:
        directory_id = member.directory_id
        if directory_id == NO_DIRECTORY:
            directory_id = directory_ids.get(member.node_id, NO_DIRECTORY)
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
    """The configuration, if all voters' directories are known: an unknown one may be empty, which cannot vote."""
    for member in configuration.members:
        if member.voter and member.directory_id == NO_DIRECTORY:
            raise ChangeRefusedError(f"voter {member.node_id} has not contacted the quorum yet")
    return configuration


def _with_vote(member: Member, *, voter: bool) -> Member:
    return Member(member.node_id, member.directory_id, member.host, member.port, voter)
