"""What a simulated controller may write to its disk, and when."""

from typing import TYPE_CHECKING, NoReturn

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import NOBODY, Persist, Role
from headrace.metadata.raft.messages import AppendRequest
from headrace.metadata.records.codec import decode_members
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.members import NO_DIRECTORY
from tests.simulation.raft_world import ViolationError, World

if TYPE_CHECKING:
    from tests.simulation.raft_node import Node


class Seen:
    """What one life of a node has shown so far."""

    __slots__ = (
        "commit",
        "heard_ms",
        "last_index",
        "led_at_take",
        "role",
        "since_ms",
        "term",
        "voters",
    )

    def __init__(self, node: "Node") -> None:
        assert node.core is not None
        self.term = node.core.term
        self.commit = node.core.commit_index
        self.role = Role.FOLLOWER
        self.last_index = 0
        self.led_at_take = -1  # the term
        self.heard_ms: dict[int, int] = {}
        self.since_ms = 0  # it leads these voters
        self.voters: tuple[int, ...] = ()


class WriteRules:
    """What is known of all logs, and the rules for what comes into them."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.ghost: list[LogEntry] = []  # what was first committed
        self.leaders: dict[int, int] = {}  # by term
        # By index and term: the payload, and the term of the entry before it.
        self.entries: dict[tuple[int, int], tuple[bytes, int]] = {}
        self.proposed: dict[tuple[int, int], bytes] = {}
        self.seen: dict[int, Seen] = {}
        # By node: requests with entries that came since it last told its disk something.
        self.conflicts: dict[int, list[AppendRequest]] = {}
        # By node: the members that its disk names, and the indices where it does.
        self.named: dict[int, list[tuple[int, Configuration]]] = {}

    def fail(self, invariant: str, what: str) -> NoReturn:
        """Say what must not be."""
        raise ViolationError(invariant, what)

    def term_of(self, index: int) -> int:
        """The term of a committed entry."""
        return self.ghost[index - 1].term

    def tells_disk_all(self, node: "Node", persist: Persist | None) -> None:
        """What a core has in mind when its effects are taken is what its disk has once they are written."""
        core, log = node.core, node.log
        assert core is not None
        hard, last_index = log.hard_state, log.last_index
        if persist is not None:
            hard = persist.hard_state or hard
            if persist.truncate_from is not None:
                last_index = persist.truncate_from - 1
            if persist.entries:
                last_index = persist.entries[-1].index
        if core.last_index != last_index or core.term != hard.term:
            self.fail("R-7", f"node {node.node_id} does not tell its disk all that it has in mind")
        named = self.named[node.node_id]
        configuration = named[-1][1] if named else node.initial
        if core.configuration != configuration:
            self.fail("R-11", f"node {node.node_id} goes by other members than its log names")

    def persist(self, node: "Node", persist: Persist) -> None:
        core = node.core
        assert core is not None
        hard, old = persist.hard_state, node.log.hard_state
        if hard is not None:
            if hard.term < old.term:
                self.fail("R-6", f"node {node.node_id} writes term {hard.term} over {old.term}")
            voted = old.voted_for
            if hard.term == old.term and voted not in (NOBODY, hard.voted_for):
                self.fail("R-6", f"node {node.node_id} forgets its vote for {voted}")
        named = self.named[node.node_id]
        if persist.truncate_from is not None:
            self._truncation(node, persist)
            while named and named[-1][0] >= persist.truncate_from:
                named.pop()
        for entry in persist.entries:
            self._entry_written(node, persist, entry)
            members = decode_members(entry.payload)
            if members is not None:
                named.append((entry.index, Configuration.of(members)))

    def _truncation(self, node: "Node", persist: Persist) -> None:
        core, cut = node.core, persist.truncate_from
        assert core is not None
        assert cut is not None
        if core.role is Role.LEADER and self.seen[node.node_id].led_at_take == core.term:
            self.fail("R-2", f"leader {node.node_id} cuts its log at {cut}")
        if cut <= node.applied:
            self.fail("R-2", f"node {node.node_id} cuts at {cut}, it has applied {node.applied}")
        old = node.log.term_at(cut)
        committed = cut <= len(self.ghost) and cut <= core.commit_index
        if committed and old == self.term_of(cut):
            self.fail(
                "R-2", f"node {node.node_id} cuts at {cut}, it commits to {core.commit_index}"
            )
        if not persist.entries or persist.entries[0].index != cut:
            self.fail("R-9", f"node {node.node_id} cuts at {cut} and puts nothing there")
        real = any(
            entry.index == cut and entry.term != old
            for message in self.conflicts[node.node_id]
            for entry in message.entries
        )
        if old == persist.entries[0].term and not real:
            self.fail("R-9", f"node {node.node_id} cuts at {cut}, where nothing conflicts")

    def _entry_written(self, node: "Node", persist: Persist, entry: LogEntry) -> None:
        core = node.core
        assert core is not None
        key = (entry.index, entry.term)
        known = self.entries.get(key)
        position = entry.index - persist.entries[0].index
        if position:
            before = persist.entries[position - 1].term
        else:
            before = node.log.term_at(entry.index - 1)
            if before is None:
                self.fail("R-9", f"node {node.node_id} leaves a hole before entry {entry.index}")
                return
        if known is None:
            self.entries[key] = (entry.payload, before)
            self._new_entry(node, persist, entry)
        elif known != (entry.payload, before):
            self.fail(
                "R-3", f"node {node.node_id} has another entry {entry.index} of term {entry.term}"
            )

    def _new_entry(self, node: "Node", persist: Persist, entry: LogEntry) -> None:
        """An entry that its leader writes: nobody else can have it before."""
        core = node.core
        assert core is not None
        if self.leaders.get(entry.term) != node.node_id:
            self.fail("R-3", f"node {node.node_id} makes entry {entry.index} of term {entry.term}")
        proposed = self.proposed.get((entry.index, entry.term))
        if proposed is not None and proposed != entry.payload:
            self.fail("R-5", f"entry {entry.index} is not what was proposed for it")
        members = decode_members(entry.payload)
        if members is None or core.role is not Role.LEADER or core.term != entry.term:
            return
        old_index, old = named[-1] if (named := self.named[node.node_id]) else (0, None)
        new = Configuration.of(members)
        self.world.note(node.node_id, f"changes members in entry {entry.index} to", new)
        if old is not None and _names_disks_only(old, new):
            return
        if old_index > core.commit_index:
            self.fail(
                "R-11", f"leader {node.node_id} changes members again before {old_index} commits"
            )
        if old_index and not core.serving:
            self.fail(
                "R-11", f"leader {node.node_id} changes members before it commits in its term"
            )
        if old is not None and len(_changed_voters(old, new)) > 1:
            self.fail("R-11", f"leader {node.node_id} changes several voters at once")


def _changed_voters(old: Configuration, new: Configuration) -> set[int]:
    """Voters that are in one of both only; another disk is another voter."""
    changed = set(old.voters) ^ set(new.voters)
    for node_id in set(old.voters) & set(new.voters):
        before, now = old.member(node_id), new.member(node_id)
        assert before is not None
        assert now is not None
        if before.directory_id not in (NO_DIRECTORY, now.directory_id):
            changed |= {node_id, -node_id}
    return changed


def _names_disks_only(old: Configuration, new: Configuration) -> bool:
    """Whether the same members count, some of them now with the disk that they had: no change of quorums."""
    same = old.voters == new.voters and len(old.members) == len(new.members)
    return same and all(
        new.accepts(it.node_id, it.directory_id) or it.directory_id == NO_DIRECTORY
        for it in old.members
    )
