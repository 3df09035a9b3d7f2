"""The status of a member of the quorum: for metrics, readiness and DescribeQuorum."""

import asyncio
import logging
from collections.abc import Mapping

import msgspec

from headrace.metadata.log.store import LogStore
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.effects import NOBODY, Role

logger = logging.getLogger("headrace.controller")


class QuorumCounters(msgspec.Struct):
    """Totals since the start of the process."""

    elections_started: int = 0
    leader_changes: int = 0
    appends: int = 0  # writes of the log
    append_ms_total: float = 0.0
    commits: int = 0  # groups that this node has proposed as the leader
    commit_ms_total: float = 0.0
    snapshots_installed: int = 0  # snapshots that replaced the log of this lagging member
    messages_dropped: int = 0  # because too many waited

    def appended(self, duration_s: float) -> None:
        """Count a write."""
        self.appends += 1
        self.append_ms_total += duration_s * 1000

    def committed(self, duration_s: float) -> None:
        """Count a group, from its proposal until its image is published."""
        self.commits += 1
        self.commit_ms_total += duration_s * 1000


class LeaderWatch:
    """Counts elections and leader changes, wakes those who wait for another leader, logs old copies."""

    def __init__(self, counters: QuorumCounters) -> None:
        self._counters = counters
        self._stood_in = 0
        self._followed = (0, NOBODY)
        self._changed = asyncio.Event()  # replaced by a new one whenever it is set
        self._outdated: dict[int, int] = {}  # the start that was logged last, by node id

    def look(self, core: RaftCore) -> None:
        """Compare with the current state of the core."""
        if core.role in (Role.CANDIDATE, Role.LEADER) and core.term > self._stood_in:
            self._stood_in = core.term
            self._counters.elections_started += 1
        if core.leader_id != NOBODY and (core.term, core.leader_id) != self._followed:
            self._followed = (core.term, core.leader_id)
            self._counters.leader_changes += 1
            self._changed.set()
            self._changed = asyncio.Event()
        for node_id, it in core.outdated_nodes.items():
            if self._outdated.get(node_id) != it.found.start:
                self._outdated[node_id] = it.found.start
                logger.warning(
                    "dropping messages of another controller: its metadata directory is an old copy, "
                    "or they are of an earlier start",
                    extra={"node": node_id, "reason": str(it)},
                )

    async def another_leader(self) -> None:
        """Wait until this node becomes leader, or follows a leader that it did not follow before."""
        await self._changed.wait()


async def require_current(core: RaftCore, store: LogStore) -> None:
    """Refuse to go on with an old copy of this node's directory, also after every later start.

    Raises:
        MetadataIdentityError: it is one.
        OSError: that could not be recorded.
    """
    if core.outdated is not None:
        await store.condemn(str(core.outdated))


class QuorumStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one member at one time. Times in milliseconds."""

    role: Role
    term: int
    leader_id: int  # -1: not known
    serving: bool  # it leads, and has committed and applied an entry of its own term
    commit_index: int
    applied_index: int
    last_index: int
    durable_index: int
    voters: tuple[int, ...]
    learners: tuple[int, ...]
    outdated: tuple[int, ...]  # members that are not counted: old copies of their directories
    followers: Mapping[int, int]  # at the leader: match index of each other member
    leader_silent_ms: int | None  # since a message of the leader (0: this node); None: never
    counters: QuorumCounters


def status_of(
    core: RaftCore,
    counters: QuorumCounters,
    *,
    serving: bool,
    applied_index: int,
    leader_silent_ms: int | None,
) -> QuorumStatus:
    """The current status of a member with this core."""
    return QuorumStatus(
        role=core.role,
        term=core.term,
        leader_id=core.leader_id,
        serving=serving,
        commit_index=core.commit_index,
        applied_index=applied_index,
        last_index=core.last_index,
        durable_index=core.durable_index,
        voters=core.configuration.voters,
        learners=tuple(it.node_id for it in core.configuration.members if not it.voter),
        outdated=tuple(core.outdated_nodes),
        followers={
            node_id: it.match_index
            for node_id, it in core.progress().items()
            if node_id != core.leader_id  # this node
        },
        leader_silent_ms=0 if core.role is Role.LEADER else leader_silent_ms,
        counters=msgspec.structs.replace(counters),
    )
