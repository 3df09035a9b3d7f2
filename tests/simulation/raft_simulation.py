"""One run of the quorum: chaos while everything is checked, then calm, in which it must come to one mind."""

import gc
import random
import traceback
from dataclasses import dataclass, field

from headrace.metadata.raft.effects import Role
from tests.simulation.raft_chaos import Chaos
from tests.simulation.raft_invariants import Invariants
from tests.simulation.raft_node import Node
from tests.simulation.raft_swarm import Swarm, draw
from tests.simulation.raft_world import TRACE_LINES, ViolationError, World

EVENTS = 2500  # before the calm
LEADER_TIMEOUTS = 10  # within so many election timeouts of calm there is a leader that all follow
HAND_OVER_TIMEOUTS = 1.5  # a transfer of leadership that was begun may take so long
STABLE_TIMEOUTS = 3  # and so long it must stay
STALL_TIMEOUTS = 12  # longer than that a minority holds nobody up
_MAX_CHAOS_TIMEOUTS = 300  # a run in which little happens ends, too


@dataclass(slots=True)
class Finding:
    """What went wrong in a run."""

    seed: int
    invariant: str
    what: str
    story: list[str]


@dataclass(slots=True)
class Report:
    """One run, or the sum of several."""

    runs: int = 0
    events: int = 0
    terms: int = 0
    committed: int = 0
    reads: int = 0
    changes: int = 0
    installed: int = 0
    refused: int = 0
    digest: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Add another."""
        self.runs += other.runs
        self.events += other.events
        self.terms += other.terms
        self.committed += other.committed
        self.reads += other.reads
        self.changes += other.changes
        self.installed += other.installed
        self.refused += other.refused
        self.digest = hash((self.digest, other.digest))
        self.findings += other.findings
        for fault, number in other.faults.items():
            self.faults[fault] = self.faults.get(fault, 0) + number

    def __str__(self) -> str:
        faults = ", ".join(f"{number:,} {fault}" for fault, number in sorted(self.faults.items()))
        return (
            f"{self.runs:,} runs, {self.events:,} events, {self.terms:,} leaders, "
            f"{self.committed:,} entries committed, {self.reads:,} reads, {self.changes:,} changes of members, "
            f"{self.installed:,} snapshots installed, {self.refused:,} old copies refused; "
            f"faults: {faults or 'none'}; {len(self.findings)} violations"
        )


class Run:
    """A world with its nodes."""

    def __init__(
        self, seed: int, events: int = EVENTS, trace_lines: int | None = TRACE_LINES
    ) -> None:
        self.seed, self.max_events = seed, events
        rng = random.Random(seed)
        self.swarm: Swarm = draw(rng)
        self.world = World(self.swarm, rng, trace_lines)
        self.invariants = Invariants(self.world)
        self.chaos = Chaos(self.world, self.invariants)

    def perform(self) -> Report:
        """Run to the end; what is found is in the report."""
        findings = []
        try:
            self._storm()
            self._calm()
        except ViolationError as violation:
            findings.append(self._finding(violation.invariant, violation.what))
        except Exception as error:
            where = traceback.format_exc(limit=-6)
            findings.append(self._finding("raised", f"{type(error).__name__}: {error}\n{where}"))
        seen = self.invariants
        return Report(
            runs=1,
            events=self.world.events,
            terms=len(seen.leaders),
            committed=len(seen.ghost),
            reads=seen.reads_answered,
            changes=self.chaos.changes,
            installed=seen.installed,
            refused=seen.refused,
            digest=self.world.digest,
            faults=self.chaos.done,
            findings=findings,
        )

    def _finding(self, invariant: str, what: str) -> Finding:
        return Finding(self.seed, invariant, what, self.world.story())

    def _storm(self) -> None:
        self.chaos.begin()
        if self.swarm.victims:
            self.world.after(0, self._watch, (0, 0))
        until_us = _MAX_CHAOS_TIMEOUTS * self.swarm.timeout_us
        while self.world.events < self.max_events and self.world.now_us < until_us:
            self.world.advance()

    def _watch(self, seen: tuple[int, int]) -> None:
        """While a majority is well, entries are committed.

        Not so while the quorum is founded: a member that has nothing yet votes for no log but one that names it.
        """
        if self.world.calm:
            return
        committed, since_us = seen
        founding = any(it.is_blank for it in self.invariants.nodes.values())
        if founding or len(self.invariants.ghost) > committed:
            committed, since_us = len(self.invariants.ghost), self.world.now_us
        if self.world.now_us - since_us > STALL_TIMEOUTS * self.swarm.timeout_us:
            what = f"nothing is committed behind {committed}, though only {self.swarm.victims} fail"
            raise ViolationError("R-15", what)
        self.world.after(self.swarm.timeout_us, self._watch, (committed, since_us))

    # --- calm

    def _calm(self) -> None:
        world, timeout_us = self.world, self.swarm.timeout_us
        world.note(0, "everything is well from now on")
        world.calm_down()
        for node in list(self.invariants.nodes.values()):
            if node.core is None:
                world.after(world.rng.random() * timeout_us / 4, node.restart, node.life)
                continue
            node.resume(node.life)
            node.unblock_disk()
        until_us = world.now_us + LEADER_TIMEOUTS * timeout_us
        self._advance_by(HAND_OVER_TIMEOUTS * timeout_us)
        leader = self._await_leader(until_us)
        while not self._stays(leader):
            leader = self._await_leader(world.now_us + LEADER_TIMEOUTS * timeout_us)
        self._await_agreement(leader)
        self._await_reads(leader)

    def _advance_by(self, step_us: float) -> None:
        until_us = self.world.now_us + step_us
        self.world.after(step_us, lambda _: None)
        while self.world.now_us < until_us:
            self.world.advance()

    def _await_leader(self, until_us: float) -> Node:
        while self.world.now_us < until_us:
            self._advance_by(self.swarm.timeout_us / 10)
            leaders = self.chaos.leaders()
            if len(leaders) == 1 and self._follows_all(leaders[0]):
                return leaders[0]
        states = [
            f"node {it.node_id}: {it.core.role.value} of term {it.core.term}, leader {it.core.leader_id}"
            for it in self.invariants.nodes.values()
            if it.core is not None
        ]
        raise ViolationError(
            "R-15", f"no leader in {LEADER_TIMEOUTS} election timeouts: {'; '.join(states)}"
        )

    def _stays(self, leader: Node) -> bool:
        """Whether a leader is still to lead when all that it has is committed; if not, it is awaited that it leaves."""
        core = leader.core
        assert core is not None
        if core.configuration.is_voter(leader.node_id):
            return True
        until_us = self.world.now_us + self._patience_us(leader)
        while core.role is Role.LEADER:
            if self.world.now_us > until_us:
                raise ViolationError("R-15", f"leader {leader.node_id} does not get itself removed")
            self._advance_by(self.swarm.timeout_us / 10)
        return False

    def _patience_us(self, leader: Node) -> float:
        """How long it may take until all have what the leader has."""
        assert leader.core is not None
        return (LEADER_TIMEOUTS + leader.core.last_index / 10) * self.swarm.timeout_us

    def _members(self, leader: Node) -> list[Node]:
        """Those with the disk that the leader knows them by."""
        assert leader.core is not None
        configuration = leader.core.configuration
        return [
            node
            for node in self.invariants.nodes.values()
            if configuration.accepts(node.node_id, node.log.directory_id)
        ]

    def _follows_all(self, leader: Node) -> bool:
        assert leader.core is not None
        term = leader.core.term
        return all(
            it.core is not None and it.core.term == term and it.core.leader_id == leader.node_id
            for it in self._members(leader)
        )

    def _await_agreement(self, leader: Node) -> None:
        """A new entry gets everywhere, and the leader stays."""
        world, timeout_us = self.world, self.swarm.timeout_us
        assert leader.core is not None
        term = leader.core.term
        until_us = world.now_us + self._patience_us(leader)
        marker = self.chaos.propose(leader, 1)
        while world.now_us < until_us:
            self._advance_by(timeout_us / 10)
            self._require_stable(leader, term)
            marker = marker or self.chaos.propose(leader, 1)
            if marker in self.invariants.payloads and self._agree(leader):
                break
        else:
            applied = {it.node_id: it.applied for it in self._members(leader)}
            raise ViolationError(
                "R-15", f"no agreement behind {len(self.invariants.ghost)}: {applied}"
            )
        for it in self._members(leader):
            if it.log.is_copy:
                self.invariants.fail("R-18", f"node {it.node_id} goes on with an old copy")
        for _ in range(STABLE_TIMEOUTS):
            self._advance_by(timeout_us)
            self._require_stable(leader, term)

    def _agree(self, leader: Node) -> bool:
        return all(it.applied == len(self.invariants.ghost) for it in self._members(leader))

    def _require_stable(self, leader: Node, term: int) -> None:
        core = leader.core
        if core is None or core.role is not Role.LEADER or core.term != term:
            raise ViolationError(
                "R-15", f"leader {leader.node_id} of term {term} loses office in calm"
            )

    def _await_reads(self, leader: Node) -> None:
        """A leader at rest answers a read, and no read is forgotten."""
        before = self.invariants.reads_answered
        self.chaos.read(leader)
        self._advance_by(self.swarm.timeout_us)
        if self.invariants.reads_answered == before:
            raise ViolationError("R-15", f"leader {leader.node_id} does not answer a read")
        forgotten = {it.node_id: len(it.reads) for it in self.invariants.nodes.values() if it.reads}
        if forgotten:
            raise ViolationError("R-12", f"reads were neither answered nor given up: {forgotten}")


def simulate(seed: int, events: int = EVENTS) -> Report:
    """Perform one run."""
    collects = gc.isenabled()
    gc.disable()  # a run is short, and its garbage has no cycles worth looking for meanwhile
    try:
        return Run(seed, events).perform()
    finally:
        if collects:
            gc.enable()
