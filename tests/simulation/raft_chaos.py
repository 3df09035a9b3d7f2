"""What is done to a simulated quorum: faults, clients, and an operator who changes its members."""

from collections.abc import Callable

from headrace.metadata.raft.changes import AddLearner, MemberChange, Promote, Remove, UpdateMember
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.disks import is_older, next_start
from headrace.metadata.raft.effects import Role
from headrace.metadata.raft.errors import ChangeRefusedError, NotLeaderError, QuorumBusyError
from headrace.metadata.raft.messages import Disk
from headrace.metadata.records.members import NO_DIRECTORY, Member
from tests.simulation.raft_disk import SimulatedLog
from tests.simulation.raft_invariants import Invariants, majority_is_whole
from tests.simulation.raft_node import Node
from tests.simulation.raft_swarm import MAX_NODES
from tests.simulation.raft_world import World

REFUSALS = (NotLeaderError, QuorumBusyError, ChangeRefusedError)


def member(node: Node, *, voter: bool, port: int = 9093) -> Member:
    """A node as its quorum knows it."""
    return Member(node.node_id, node.log.directory_id, f"controller-{node.node_id}", port, voter)


class Chaos:
    """Acts at random, all from the world's generator."""

    def __init__(self, world: World, invariants: Invariants) -> None:
        self.world, self.rng, self.swarm = world, world.rng, world.swarm
        self.invariants = invariants
        self.nodes = invariants.nodes
        self.founders = Configuration.of(
            Member(it, NO_DIRECTORY, f"controller-{it}", 9093, voter=True)
            for it in range(1, self.swarm.nodes + 1)
        )
        self.proposals = self.reads = self.changes = 0
        self.done: dict[str, int] = {}
        self._acts: dict[str, Callable[[Node], bool]] = {
            "crash": self._crash,
            "pause": self._pause,
            "partition": self._partition,
            "one way": self._one_way,
            "cut link": self._cut_link,
            "slow disk": self._slow_disk,
            "hanging disk": self._hanging_disk,
            "disk full": self._disk_full,
            "lost disk": self._lose_disk,
            "membership": self._change_members,
            "transfer": self._transfer,
            "old copy": self._put_back,
        }

    def begin(self) -> None:
        """Start nodes and everything that happens to them."""
        for node_id in self.founders.voters:
            self._add_node(node_id, self.founders)
        self.world.after(self._about(self.swarm.client_interval_us), self._client)
        if self.swarm.faults:
            self.world.after(self._about(self.swarm.fault_interval_us), self._fault)
        if {"lost disk", "old copy"} & set(self.swarm.faults):
            self.world.after(self._about(self.swarm.timeout_us), self._repair)

    def _add_node(self, node_id: int, initial: Configuration) -> Node:
        node = Node(self.world, self.invariants, node_id, initial)
        self.nodes[node_id] = node
        node.start()
        return node

    def _about(self, interval_us: float) -> float:
        return self.rng.expovariate(1 / interval_us)

    def leaders(self) -> list[Node]:
        """Nodes that take themselves for leaders."""
        return [
            it
            for it in self.nodes.values()
            if it.core is not None and not it.paused and it.core.role is Role.LEADER
        ]

    def _somebody(self) -> Node:
        return self.rng.choice(list(self.nodes.values()))

    # --- clients

    def _client(self, _: object) -> None:
        if self.world.calm:
            return
        self.world.after(self._about(self.swarm.client_interval_us), self._client)
        leaders = self.leaders()
        node = (
            self.rng.choice(leaders) if leaders and self.rng.random() < 0.95 else self._somebody()
        )
        if node.core is None or node.paused:
            return
        if self.rng.random() < 0.45:
            self.read(node)
        else:
            self.propose(node, self.rng.choice((1, 1, 1, 3)))

    def propose(self, node: Node, number: int) -> bytes | None:
        """Have entries appended; return the last payload, None when refused."""
        assert node.core is not None
        payloads = []
        for _ in range(number):
            self.proposals += 1
            padding = self.rng.randrange(self.swarm.max_entry_bytes)
            payloads.append(b"D%d," % self.proposals + bytes(padding))
        try:
            position = node.core.propose(payloads, node.now_ms())
        except REFUSALS:
            return None
        for back, payload in enumerate(reversed(payloads)):
            self.invariants.proposed[position.index - back, position.term] = payload
        self.world.note(node.node_id, f"takes {number} proposals", position)
        self.invariants.after(node, None)
        node.wake()
        return payloads[-1]

    def read(self, node: Node) -> None:
        """Ask for a read."""
        assert node.core is not None
        self.reads += 1
        self.invariants.read_asked(node, self.reads)
        try:
            node.core.request_read(self.reads, node.now_ms())
        except REFUSALS:
            del node.reads[self.reads]
            return
        self.world.note(node.node_id, "is asked for read", self.reads)
        self.invariants.after(node, None)
        node.wake()

    # --- faults

    def _fault(self, _: object) -> None:
        if self.world.calm:
            return
        self.world.after(self._about(self.swarm.fault_interval_us), self._fault)
        fault = self.rng.choice(self.swarm.faults)
        victims = [self.nodes[it] for it in self.swarm.victims or self.nodes]
        leaders = [it for it in self.leaders() if it in victims]
        node = self.rng.choice(leaders if leaders and self.rng.random() < 0.4 else victims)
        if fault in ("membership", "transfer") and leaders:
            node = self.rng.choice(leaders)
        # A copy that is started again before it meets anybody may pass for a later start of the disk.
        if node.log.is_copy and fault in ("crash", "disk full"):
            return
        if node.core is not None and self._acts[fault](node):
            self.done[fault] = self.done.get(fault, 0) + 1

    def _lasting_us(self) -> float:
        return self.swarm.timeout_us * self.rng.choice((0.3, 2.0, 8.0)) * self.rng.random()

    def _crash(self, node: Node) -> bool:
        persist = None if node.writing is None else node.writing.persist
        whole = 2 if persist is None else 2 + len(persist.entries)
        node.crash(self.rng.choice((0, None, self.rng.randrange(1, whole + 1))))
        return True

    def _pause(self, node: Node) -> bool:
        if node.paused:
            return False
        node.pause()
        self.world.after(self._lasting_us(), node.resume, node.life)
        return True

    def _block(self, links: set[tuple[int, int]], what: str) -> bool:
        links -= self.world.blocked
        self.world.blocked |= links
        self.world.note(0, what, sorted(links))
        self.world.after(self._lasting_us(), self._unblock, links)
        return bool(links)

    def _unblock(self, links: set[tuple[int, int]]) -> None:
        if not self.world.calm:
            self.world.note(0, "mends", sorted(links))
        self.world.blocked -= links

    def _partition(self, node: Node) -> bool:
        alone = bool(self.swarm.victims) or self.rng.random() < 0.5
        side = {it for it in self.nodes if not alone and self.rng.random() < 0.5} ^ {node.node_id}
        other = self.nodes.keys() - side
        return self._block(
            {link for a in side for b in other for link in ((a, b), (b, a))}, "parts"
        )

    def _one_way(self, node: Node) -> bool:
        others = self.nodes.keys() - {node.node_id}
        deaf = self.rng.random() < 0.5
        links = {(it, node.node_id) if deaf else (node.node_id, it) for it in others}
        return self._block(links, "makes deaf" if deaf else "makes dumb")

    def _cut_link(self, node: Node) -> bool:
        other = self._somebody()
        links = {(node.node_id, other.node_id)}
        if self.rng.random() < 0.5:
            links.add((other.node_id, node.node_id))
        return self._block(links, "cuts")

    def _slow_disk(self, node: Node) -> bool:
        typical_us = self.swarm.timeout_us * self.rng.choice((0.05, 0.3, 1.0))
        node.disk_factor = typical_us / self.swarm.disk_us
        self.world.note(node.node_id, "has a slow disk")
        self.world.after(self._lasting_us(), self._mend_disk, node)
        return True

    def _hanging_disk(self, node: Node) -> bool:
        node.disk_factor = 1000 * self.swarm.timeout_us / self.swarm.disk_us
        self.world.note(node.node_id, "has a disk that hangs")
        self.world.after(self._lasting_us(), self._mend_disk, node)
        return True

    def _mend_disk(self, node: Node) -> None:
        node.unblock_disk()

    def _disk_full(self, node: Node) -> bool:
        node.disk_full = True
        self.world.note(node.node_id, "has a full disk")
        return True

    def _lose_disk(self, node: Node) -> bool:
        if not self._is_dispensable(node):
            return False
        node.crash(0)
        node.lose_disk()
        return True

    def _is_dispensable(self, node: Node) -> bool:
        """As long as a majority of each configuration there is keeps its disks, and knows them by name.

        Nor may a majority of the founders be blank: these would found a second quorum.
        """
        others = [it for it in self.nodes.values() if it is not node]
        if self.founders.has_majority(
            [node.node_id, *(it.node_id for it in others if it.is_blank)]
        ):
            return False
        for it in self.nodes.values():
            named = self._named(it)
            if any(m.directory_id == NO_DIRECTORY for m in named[-1].members):
                return False
            if not all(majority_is_whole(configuration, others) for configuration in named):
                return False
        return True

    def _named(self, node: Node) -> list[Configuration]:
        named = [named for _, named in node.log.configurations()] or [node.initial]
        if node.core is not None:
            named.append(node.core.configuration)
        return named

    def _put_back(self, node: Node) -> bool:
        """Copies of all directories are taken; put one back of which all other members remember a later state."""
        for it in self.nodes.values():
            if it.backup is None or (it is node and self.rng.random() < 0.1):
                it.backup = it.log.copy()
        found = [it for it in self.nodes.values() if self._is_known_as_old(it)]
        if not found:
            return False
        chosen = self.rng.choice(found)
        chosen.crash(self.rng.choice((0, None)))
        chosen.put_back()
        return True

    def _is_known_as_old(self, node: Node) -> bool:
        if node.core is None or node.backup is None or node.log.is_copy:
            return False
        return self._is_dispensable(node) and self._is_remembered(node, node.backup)

    def _is_remembered(self, node: Node, copy: SimulatedLog) -> bool:
        """Whether the disks of all other members would give a copy away at its next start.

        And it must need one of them to lead: a copy of the time when others were the voters, or none, needs nobody
        who remembers.
        """
        found = Disk(copy.directory_id, next_start(copy.start, 0), copy.last_index, 0)
        members = {
            m.directory_id for it in self.nodes.values() for m in self._named(it)[-1].members
        }
        others = [
            it
            for it in self.nodes.values()
            if it is not node and not it.log.is_copy and it.log.directory_id in members
        ]
        named = copy.configurations()
        strangers = self.nodes.keys() - {it.node_id for it in others}
        if not named or named[-1][1].has_majority(strangers):
            return False
        remembered = [
            disk for it in others for disk in it.log.disks if disk.directory_id == copy.directory_id
        ]
        return len(remembered) == len(others) and all(is_older(found, it) for it in remembered)

    def _transfer(self, node: Node) -> bool:
        assert node.core is not None
        if node.paused or node.core.role is not Role.LEADER:
            return False
        self.world.note(node.node_id, "is to hand leadership over")
        node.core.transfer_leadership(node.now_ms())
        self.invariants.after(node, None)
        node.wake()
        return True

    # --- the operator

    def _repair(self, _: object) -> None:
        """Replace members whose disk is lost."""
        if self.world.calm:
            return
        self.world.after(self._about(self.swarm.timeout_us), self._repair)
        leaders = self.leaders()
        if leaders:
            self._change_members(self.rng.choice(leaders))

    def _change_members(self, node: Node) -> bool:
        if node.paused or node.core is None or node.core.role is not Role.LEADER:
            return False
        change = self._some_change(node.core.configuration)
        if change is None:
            return False
        try:
            node.core.change_members(change, node.now_ms())
        except REFUSALS as error:
            self.world.note(node.node_id, f"refuses {change}:", error)
            return False
        self.changes += 1
        self.world.note(node.node_id, "changes members:", change)
        self.invariants.after(node, None)
        node.wake()
        return True

    def _some_change(self, current: Configuration) -> MemberChange | None:
        lost = [
            it
            for it in current.members
            if not current.accepts(it.node_id, self.nodes[it.node_id].log.directory_id)
        ]
        if lost:
            gone = self.rng.choice(lost)
            return self._allowed(
                current.without(gone.node_id), Remove(gone.node_id, gone.directory_id)
            )
        learners = [it for it in current.members if not it.voter]
        if learners and self.rng.random() < 0.6:
            learner = self.rng.choice(learners)
            now = Member(
                learner.node_id, learner.directory_id, learner.host, learner.port, voter=True
            )
            return self._allowed(current.with_member(now), Promote(learner.node_id))
        absent = [
            it
            for it in range(1, MAX_NODES + 1)
            if current.member(it) is None and not (it in self.nodes and self.nodes[it].log.is_copy)
        ]
        kind = self.rng.random()
        if absent and kind < 0.45:
            node_id = self.rng.choice(absent)
            node = self.nodes.get(node_id) or self._add_node(node_id, Configuration())
            return AddLearner(member(node, voter=False))
        chosen = self.rng.choice(current.members)
        if kind < 0.55:
            node = self.nodes[chosen.node_id]
            return UpdateMember(
                member(node, voter=chosen.voter, port=self.rng.randrange(9093, 9099))
            )
        if len(current.members) == 1:
            return None
        return self._allowed(
            current.without(chosen.node_id), Remove(chosen.node_id, chosen.directory_id)
        )

    def _allowed(self, after: Configuration, change: Promote | Remove) -> Promote | Remove | None:
        return change if majority_is_whole(after, self.nodes.values()) else None
