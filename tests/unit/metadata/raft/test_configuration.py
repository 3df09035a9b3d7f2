"""What follows from the members, worked out once for each configuration."""

from uuid import UUID

import msgspec
import pytest

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.records.members import Member

DISK = UUID(int=7)


def member(node_id: int, *, voter: bool = True) -> Member:
    return Member(node_id, DISK, "host", 9093, voter)


THREE = Configuration.of([member(3), member(1), member(2), member(4, voter=False)])


def test_voters_and_members() -> None:
    assert THREE.voters == (1, 2, 3)
    assert THREE.majority == 2
    assert [THREE.member(node_id) for node_id in (1, 4, 5)] == [
        member(1),
        member(4, voter=False),
        None,
    ]
    assert [THREE.is_voter(node_id) for node_id in (1, 4, 5)] == [True, False, False]
    assert THREE.accepts(4, DISK)
    assert not THREE.accepts(4, UUID(int=8))


@pytest.mark.parametrize(("nodes", "expected"), [({1}, False), ({1, 4}, False), ({1, 3}, True)])
def test_a_majority(nodes: set[int], expected: bool) -> None:
    assert THREE.has_majority(nodes) is expected
    assert not Configuration().has_majority(nodes)


def test_they_are_worked_out_once() -> None:
    configuration = Configuration(THREE.members)
    voters = configuration.voters
    assert configuration.voters is voters
    assert configuration.member(1) is configuration.member(1) is configuration.members[0]


def test_a_change_is_another_configuration() -> None:
    configuration = Configuration(THREE.members)
    assert configuration.voters == (1, 2, 3)
    assert configuration.with_member(member(4)).voters == (1, 2, 3, 4)
    assert configuration.without(1).voters == (2, 3)
    assert configuration.without(1).member(1) is None
    assert msgspec.structs.replace(configuration, members=(member(9),)).voters == (9,)
    assert configuration.voters == (1, 2, 3)


def test_what_was_worked_out_makes_no_difference() -> None:
    used, fresh = Configuration(THREE.members), Configuration(THREE.members)
    assert used.voters
    assert used.member(1)
    assert used.majority == 2
    assert used == fresh
    assert hash(used) == hash(fresh)
    assert repr(used) == repr(fresh)
    assert msgspec.msgpack.encode(used) == msgspec.msgpack.encode(fresh)


def test_of_two_members_of_one_id_the_first_counts() -> None:
    configuration = Configuration((member(1), member(1, voter=False)))
    assert configuration.member(1) == member(1)
