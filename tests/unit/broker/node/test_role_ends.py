"""Which ends of a role are fencings, and when another role follows."""

import errno
from itertools import pairwise

import pytest

from headrace.broker.node.role_ends import is_fencing, leaves, was_fenced
from headrace.broker.node.role_restarts import (
    MAX_RESTARTS,
    MAX_UNSERVED_ROLES,
    MIN_PAUSE_MS,
    RESTARTS_WINDOW_MS,
    RoleRestarts,
)
from headrace.metadata.errors import MetadataDivergedError, NodeFencedError
from headrace.storage.errors import CommitRefusedError, EngineFailedError, FencedError
from headrace.wal.errors import WalFailedError, WalLockedError
from headrace.wal.objects.errors import WalFencedError


def behind(cause: BaseException, *passed_on: Exception) -> BaseException:
    """The last of those that pass a cause on, each to the next."""
    for error in passed_on:
        error.__cause__ = cause
        cause = error
    return cause


TAKEN = OSError(errno.EBADE, "another machine has reserved the device")
BROKEN = OSError(errno.EIO, "input/output error")
FENCINGS = (
    NodeFencedError("expired"),
    FencedError("another owner"),
    WalFencedError("taken over"),
    behind(WalFencedError("taken over"), EngineFailedError("the WAL has failed")),
    behind(TAKEN, WalFailedError("a write"), EngineFailedError("the WAL has failed")),
)
OTHERS = (
    behind(BROKEN, WalFailedError("a write"), EngineFailedError("the WAL has failed")),
    behind(NodeFencedError("expired"), KeyError("a bug")),  # a bug, whatever it was met with
    EngineFailedError("the WAL has failed"),
    WalLockedError("another process writes"),
    CommitRefusedError("a gap"),
    MetadataDivergedError("another log"),
    BROKEN,
    KeyError("a bug"),
)


@pytest.mark.parametrize("failure", FENCINGS, ids=repr)
def test_a_fencing_is_known_through_all_that_pass_it_on(failure: BaseException) -> None:
    assert is_fencing(failure)
    group = BaseExceptionGroup("", [BaseExceptionGroup("", [failure]), NodeFencedError("expired")])
    assert was_fenced(group)
    assert leaves(group)[0] is failure


@pytest.mark.parametrize("failure", OTHERS, ids=repr)
def test_any_other_failure_is_none_also_beside_one(failure: BaseException) -> None:
    assert not is_fencing(failure)
    assert not was_fenced(BaseExceptionGroup("", [NodeFencedError("expired"), failure]))


def test_a_role_that_has_served_is_followed_at_once() -> None:
    restarts = RoleRestarts()
    pauses = [restarts.pause_ms(number, has_served=True) for number in range(MAX_RESTARTS)]
    assert pauses == [0] * MAX_RESTARTS
    assert restarts.total == MAX_RESTARTS


def test_roles_that_do_not_come_to_serve_are_followed_ever_later_and_then_no_more() -> None:
    restarts = RoleRestarts()
    pauses = [restarts.pause_ms(0, has_served=False) for _ in range(MAX_UNSERVED_ROLES)]
    assert pauses[0] == MIN_PAUSE_MS
    assert pauses[-1] is None
    for one, next_one in pairwise(pauses[:-1]):
        assert one is not None
        assert next_one == 2 * one
    assert restarts.total == MAX_UNSERVED_ROLES - 1


def test_one_that_serves_ends_a_row_of_those_that_did_not() -> None:
    restarts = RoleRestarts()
    for _ in range(MAX_UNSERVED_ROLES - 1):
        assert restarts.pause_ms(0, has_served=False) is not None
    assert restarts.pause_ms(0, has_served=True) == 0
    assert restarts.pause_ms(0, has_served=False) == MIN_PAUSE_MS


def test_too_many_in_a_short_time_end_the_process_and_older_ones_do_not_count() -> None:
    restarts = RoleRestarts()
    for number in range(MAX_RESTARTS):
        assert restarts.pause_ms(number, has_served=True) == 0
    assert restarts.pause_ms(RESTARTS_WINDOW_MS - 1, has_served=True) is None
    assert restarts.pause_ms(RESTARTS_WINDOW_MS, has_served=True) == 0
