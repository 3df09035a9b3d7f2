"""What must hold behind every event, whatever the network, the disks and the clocks do.

The names are those of the catalogue in docs/reliability.md. A ghost log remembers what was first
committed at each index, by whichever leader; nothing in the nodes reads it.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.effects import Effects, HardState, ReadReady, Role, SnapshotWanted
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    RaftMessage,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from headrace.metadata.records.entry import LogEntry, SnapshotId
from headrace.metadata.records.members import NO_DIRECTORY
from tests.simulation.raft_world import World
from tests.simulation.raft_writes import Seen, WriteRules

if TYPE_CHECKING:
    from tests.simulation.raft_node import Node

_CHECK_QUORUM_TIMEOUTS = 3.5  # a leader has stepped down by then; it looks once in a timeout


class AskedRead(NamedTuple):
    """What was true when a read was asked for."""

    committed: int
    configuration: Configuration
    ahead: tuple[int, ...]  # nodes that had durably gone on to a later term


class Invariants(WriteRules):
    """Watches all nodes: what they show, what they say, and (see there) what they write."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.nodes: dict[int, Node] = {}
        self.committed_in: dict[int, int] = {}  # by term of the leader: how far it committed
        self.payloads: set[bytes] = set()  # proposed ones that were committed
        self.votes: dict[tuple[object, int], int] = {}  # (directory, term): for whom
        self.granted: dict[tuple[int, int], set[tuple[int, object]]] = {}
        self.reads_answered = 0
        self.installed = 0
        self.refused = 0  # old copies

    def started(self, node: "Node") -> None:
        """A process began with what its disk holds."""
        core = node.core
        assert core is not None
        self.seen[node.node_id] = Seen(node)
        self.conflicts[node.node_id] = []
        self.named[node.node_id] = node.log.configurations()
        if core.term != node.log.hard_state.term:
            self.fail(
                "R-6", f"node {node.node_id} starts in term {core.term}, its disk has another"
            )
        if core.last_index != node.log.last_index:
            self.fail("R-7", f"node {node.node_id} starts with other entries than its disk has")

    # --- behind every input

    def before_message(self, node: "Node", message: RaftMessage) -> None:
        """A message is about to be handed in."""
        self.seen[node.node_id].heard_ms[message.source] = node.now_ms()
        if isinstance(message, AppendRequest) and message.entries:
            self.conflicts[node.node_id].append(message)

    def after(self, node: "Node", message: RaftMessage | None) -> None:
        """An input was handled: a message, or the clock, the disk, or somebody's wish (None)."""
        core = node.core
        assert core is not None
        seen = self.seen[node.node_id]
        term, commit, role = core.term, core.commit_index, core.role
        self.world.mix(node.node_id, term, commit, core.last_index)
        if term != seen.term:
            self._term_changed(node, seen, message)
        if commit != seen.commit:
            if commit < seen.commit:
                self.fail("R-14", f"node {node.node_id} commits to {commit} after {seen.commit}")
            self._committed(node, seen.commit, commit)
            seen.commit = commit
        if role is Role.LEADER:
            if seen.role is not Role.LEADER or term != seen.term:
                self._elected(node)
                seen.since_ms = node.now_ms()
            elif core.last_index < seen.last_index:
                self.fail("R-2", f"leader {node.node_id} forgets entries of its own")
            seen.last_index = core.last_index
            if core.serving and node.log.term_at(commit) != term:
                self.fail("R-13", f"leader {node.node_id} serves before it commits in term {term}")
        elif core.serving:
            self.fail("R-13", f"node {node.node_id} serves though it does not lead")
        if core.outdated is not None:
            self.refused += 1
            if not node.log.is_copy:
                self.fail("R-17", f"node {node.node_id} takes its disk for a copy: {core.outdated}")
        seen.term, seen.role = term, role

    def _term_changed(self, node: "Node", seen: Seen, message: RaftMessage | None) -> None:
        core = node.core
        assert core is not None
        if core.term < seen.term:
            self.fail("R-14", f"node {node.node_id} goes back from term {seen.term} to {core.term}")
        if message is None:
            if core.configuration.voters != (node.node_id,):
                self.fail("R-15", f"node {node.node_id} disturbs: term {core.term} unasked")
            return
        if isinstance(message, VoteRequest) and message.pre:
            self.fail("R-15", f"node {node.node_id} takes a term over from a pre-vote")
        allowed = max(message.term, seen.term + isinstance(message, TimeoutNow))
        if core.term > allowed:
            self.fail("R-15", f"node {node.node_id} goes to term {core.term} on {message}")

    def ticked(self, node: "Node") -> None:
        """Time has passed: a leader that nobody answers steps down."""
        core, seen = node.core, self.seen[node.node_id]
        assert core is not None
        if core.role is not Role.LEADER:
            return
        oldest_ms = node.now_ms() - _CHECK_QUORUM_TIMEOUTS * self.world.swarm.election_timeout_ms
        voters = core.configuration.voters
        if voters != seen.voters:
            seen.voters, seen.since_ms = voters, node.now_ms()
        if seen.since_ms > oldest_ms:
            return
        heard = {it for it, at in seen.heard_ms.items() if at > oldest_ms} | {node.node_id}
        if not core.configuration.has_majority(heard):
            self.fail("R-15", f"leader {node.node_id} goes on without a majority")

    def _elected(self, node: "Node") -> None:
        core = node.core
        assert core is not None
        term, configuration = core.term, core.configuration
        first = self.leaders.setdefault(term, node.node_id)
        self.world.note(node.node_id, f"leads term {term}")
        if node.log.is_copy:
            self.fail("R-18", f"node {node.node_id} leads term {term} with an old copy of its disk")
        if first != node.node_id:
            self.fail("R-1", f"nodes {first} and {node.node_id} both lead term {term}")
        if node.log.hard_state != HardState(term, node.node_id):
            self.fail("R-6", f"leader {node.node_id} of term {term} has no durable vote for itself")
        granted = {
            voter
            for voter, directory in self.granted.get((term, node.node_id), ())
            if configuration.accepts(voter, directory)
        }
        if not configuration.has_majority(granted | {node.node_id}):
            self.fail("R-11", f"node {node.node_id} leads term {term} by the votes of {granted}")
        needed = max((to for it, to in self.committed_in.items() if it < term), default=0)
        if core.last_index < needed:
            self.fail("R-4", f"leader {node.node_id} of term {term} lacks entry {needed}")
        found = node.log.term_at(needed) if needed else None
        if found not in (None, self.term_of(needed) if needed else 0):
            self.fail("R-4", f"leader {node.node_id} of term {term} has another entry {needed}")

    def _committed(self, node: "Node", old: int, commit: int) -> None:
        core = node.core
        assert core is not None
        if commit > len(self.ghost):
            self._first_committed(node, commit)
        if self.leaders.get(core.term) == node.node_id:
            self.committed_in[core.term] = max(commit, self.committed_in.get(core.term, 0))
        found = node.log.term_at(commit)
        if found is not None and found != self.term_of(commit):
            pending = node.writing.persist if node.writing is not None else None
            if pending is None and not self._rewrites(node, commit):
                self.fail("R-8", f"node {node.node_id} commits its entry {commit} of term {found}")
        if commit > core.last_index:
            self.fail("R-8", f"node {node.node_id} commits to {commit}, it has {core.last_index}")

    def _rewrites(self, node: "Node", index: int) -> bool:
        """Whether a message since the last effects had the committed entry."""
        term = self.term_of(index)
        return any(
            entry.index == index and entry.term == term
            for message in self.conflicts[node.node_id]
            for entry in message.entries
        )

    def _first_committed(self, node: "Node", commit: int) -> None:
        core = node.core
        assert core is not None
        if self.leaders.get(core.term) != node.node_id:  # which may leave with what it commits
            self.fail("R-8", f"node {node.node_id} commits {commit}, no leader has")
        newest = node.log.entry(commit)
        if newest is None:
            self.fail(
                "R-7", f"leader {node.node_id} commits {commit}, which is not on its own disk"
            )
            return
        if newest.term != core.term:
            self.fail("R-8", f"leader {node.node_id} commits entry {commit} of term {newest.term}")
        configuration = core.configuration
        durable = {
            it for it in configuration.voters if self._has_durably(it, configuration, newest)
        }
        if not configuration.has_majority(durable):
            self.fail("R-7", f"entry {commit} is committed, only {sorted(durable)} have it on disk")
        for index in range(len(self.ghost) + 1, commit + 1):
            entry = node.log.entry(index)
            assert entry is not None
            self.ghost.append(entry)
            if entry.payload[:1] == b"D":
                if entry.payload in self.payloads:
                    self.fail("R-5", f"entry {index} was committed before")
                self.payloads.add(entry.payload)

    def _has_durably(self, node_id: int, configuration: Configuration, entry: LogEntry) -> bool:
        member = configuration.member(node_id)
        if member is None:
            return False
        unknown = member.directory_id == NO_DIRECTORY
        log = self.nodes[node_id].log if unknown else self.world.logs.get(member.directory_id)
        return log is not None and log.holds(entry.index, entry.term)

    # --- effects

    def taken(self, node: "Node", effects: Effects) -> None:
        """Effects were taken; nothing of them is done yet."""
        core = node.core
        assert core is not None
        seen = self.seen[node.node_id]
        if effects.persist is not None:
            self.persist(node, effects.persist)
        self.tells_disk_all(node, effects.persist)
        seen.led_at_take = core.term if core.role is Role.LEADER else -1
        if effects.role is not None and effects.role.term > core.term:
            self.fail("R-14", f"node {node.node_id} tells of a later term")
        self.conflicts[node.node_id].clear()

    # --- what goes out

    def sent(self, node: "Node", message: RaftMessage) -> None:
        """A message goes out."""
        log = node.log
        pre = isinstance(message, VoteRequest | VoteResponse) and message.pre
        if message.source != node.node_id or message.source_directory != log.directory_id:
            self.fail("R-11", f"node {node.node_id} speaks as somebody else: {message}")
        if not pre and message.term > log.hard_state.term:
            self.fail(
                "R-6", f"node {node.node_id} speaks of term {message.term} before it is durable"
            )
        if isinstance(message, AppendResponse):
            if message.success:
                self._confirmed(node, message)
        elif isinstance(message, AppendRequest):
            if self.leaders.get(message.term) != node.node_id:
                self.fail("R-1", f"node {node.node_id} appends in term {message.term}")
        elif isinstance(message, VoteRequest):
            if not pre:
                self._vote(node, message.term, node.node_id)
        elif isinstance(message, VoteResponse) and message.granted and not pre:
            self._vote(node, message.term, message.target)

    def _vote(self, node: "Node", term: int, candidate: int) -> None:
        if node.log.is_copy:
            return  # it may vote, but nobody may count it
        hard, directory = node.log.hard_state, node.log.directory_id
        if hard.term == term and hard.voted_for != candidate:
            self.fail("R-6", f"node {node.node_id} votes for {candidate}, its disk says {hard}")
        first = self.votes.setdefault((directory, term), candidate)
        if first != candidate:
            self.fail(
                "R-6", f"node {node.node_id} votes for {first} and {candidate} in term {term}"
            )
        self.granted.setdefault((term, candidate), set()).add((node.node_id, directory))

    def _confirmed(self, node: "Node", message: AppendResponse) -> None:
        index = message.match_index
        if index > node.log.last_index:
            self.fail("R-7", f"node {node.node_id} confirms {index}, it has {node.log.last_index}")
        leader = self.nodes[message.target]
        if self.leaders.get(message.term) != message.target:
            return  # an answer to a leader of an earlier term
        found = node.log.term_at(index)
        core = leader.core
        leads = core is not None and core.role is Role.LEADER and core.term == message.term
        theirs = leader.log.term_at(index)
        if leads and found is not None and theirs is not None and found != theirs:
            self.fail("R-7", f"node {node.node_id} confirms {index} of term {found}, not {theirs}")

    def applied(self, node: "Node", entry: LogEntry) -> None:
        """A committed entry was handed over."""
        if entry.index != node.applied + 1:
            self.fail("R-5", f"node {node.node_id} applies {entry.index} behind {node.applied}")
        if entry.index > len(self.ghost) or self.ghost[entry.index - 1] != entry:
            self.fail("R-5", f"node {node.node_id} applies another entry {entry.index}")

    # --- snapshots

    def snapshot_of(
        self, node: "Node", wanted: SnapshotWanted
    ) -> tuple[SnapshotId, Configuration | None] | None:
        """What a node reads from another; None: it could not."""
        source, world = self.nodes[wanted.source], self.world
        links = ((wanted.source, node.node_id), (node.node_id, wanted.source))
        if source.core is None or source.paused or any(link in world.blocked for link in links):
            return None
        if source.log.snapshot != wanted.snapshot:
            return None  # it has a newer one by now
        if not world.calm and world.rng.random() < world.swarm.fetch_failure:
            return None
        return source.log.snapshot, source.log.snapshot_configuration

    def installing(
        self, node: "Node", snapshot: SnapshotId, configuration: Configuration | None
    ) -> None:
        """A snapshot replaces the log."""
        self.installed += 1
        self.named[node.node_id] = (
            [] if configuration is None else [(snapshot.index, configuration)]
        )
        if snapshot.index > len(self.ghost) or self.term_of(snapshot.index) != snapshot.term:
            self.fail("R-10", f"node {node.node_id} installs what was never committed: {snapshot}")
        if snapshot.index <= node.applied:
            self.fail("R-10", f"node {node.node_id} goes back to {snapshot} from {node.applied}")
        log = node.log
        if log.term_at(snapshot.index) == snapshot.term and log.last_index > snapshot.index:
            self.fail("R-10", f"node {node.node_id} loses entries behind {snapshot}")

    # --- reads

    def read_asked(self, node: "Node", token: int) -> None:
        """A leader took a read."""
        core = node.core
        assert core is not None
        ahead = tuple(
            it.node_id for it in self.nodes.values() if self._term_reached(it) > core.term
        )
        node.reads[token] = AskedRead(len(self.ghost), core.configuration, ahead)

    def _term_reached(self, node: "Node") -> int:
        """The term on its disk; if that is an old copy, on the disk whose place it took."""
        return self.world.logs[node.log.directory_id].hard_state.term

    def read_ready(self, node: "Node", ready: ReadReady) -> None:
        """A read may be answered."""
        asked: AskedRead | None = node.reads.pop(ready.token, None)
        if asked is None:
            self.fail("R-12", f"node {node.node_id} answers read {ready.token} twice, or unasked")
            return
        self.reads_answered += 1
        if ready.index < asked.committed:
            self.fail("R-12", f"a read at {ready.index}, {asked.committed} was committed before it")
        if ready.index > len(self.ghost):
            self.fail("R-12", f"a read at {ready.index}, which is not committed")
        assert node.core is not None
        # It may have been confirmed by the members of either time: their majorities overlap.
        configurations = (asked.configuration, node.core.configuration)
        if not any(
            it.has_majority(set(it.voters).difference(asked.ahead)) for it in configurations
        ):
            self.fail(
                "R-12", f"node {node.node_id} did not lead any more when the read was asked for"
            )

    def read_lost(self, node: "Node", token: int) -> None:
        """A read cannot be answered."""
        if node.reads.pop(token, None) is None:
            self.fail("R-12", f"node {node.node_id} gives read {token} up twice, or unasked")


def majority_is_whole(configuration: Configuration, nodes: Iterable["Node"]) -> bool:
    """Whether a majority of the voters still has the disk that it is known by, and no old copy of it."""
    return configuration.has_majority(
        [
            it.node_id
            for it in nodes
            if configuration.accepts(it.node_id, it.log.directory_id) and not it.log.is_copy
        ]
    )
