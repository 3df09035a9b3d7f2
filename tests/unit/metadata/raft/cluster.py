"""Several cores in one thread, with a network, disks and a clock that a test moves by hand."""

import random
from collections import deque
from uuid import UUID

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.disks import next_start
from headrace.metadata.raft.effects import (
    FRESH,
    DurableState,
    Effects,
    HardState,
    Persist,
    RaftSettings,
    Role,
)
from headrace.metadata.raft.messages import (
    AppendRequest,
    AppendResponse,
    SnapshotOffer,
    TimeoutNow,
    VoteRequest,
    VoteResponse,
)
from headrace.metadata.records.codec import decode_members, encode_members
from headrace.metadata.records.entry import NO_SNAPSHOT, LogEntry, SnapshotId
from headrace.metadata.records.members import NO_DIRECTORY, Member

NO_MEMBERS = Configuration()
ELECTION_MS = 500
HEARTBEAT_MS = 100


def directory(node_id, generation=0):
    """The directory of a node; another generation: its disk was lost."""
    return UUID(int=(node_id << 32) + generation + 1)


def member(node_id, *, voter=True, directory_id=None):
    directory_id = directory(node_id) if directory_id is None else directory_id
    return Member(node_id, directory_id, f"controller-{node_id}", 9093, voter)


def quorum(*voters, learners=(), named=True):
    """A configuration whose members' directories are known, or not."""
    members = [member(it) for it in voters] + [member(it, voter=False) for it in learners]
    if not named:
        members = [Member(it.node_id, NO_DIRECTORY, it.host, it.port, it.voter) for it in members]
    return Configuration.of(members)


def settings(node_id, **changes):
    defaults = {
        "node_id": node_id,
        "directory_id": directory(node_id),
        "election_timeout_ms": ELECTION_MS,
        "heartbeat_interval_ms": HEARTBEAT_MS,
    }
    return RaftSettings(**(defaults | changes))


def make_core(node_id, state=None, *, initial=None, now_ms=0, seed=0, **changes):
    return RaftCore(
        settings(node_id, **changes),
        DurableState() if state is None else state,
        initial=quorum(1, 2, 3) if initial is None else initial,
        members_of=decode_members,
        encode_members=encode_members,
        open_term=lambda term, last_index: f"open {term} after {last_index}".encode(),
        rng=random.Random(seed * 1_000 + node_id),
        now_ms=now_ms,
    )


def entries(*terms, first=1):
    """Entries of these terms; the payload names both index and term."""
    return tuple(
        LogEntry(index, term, f"{index}/{term}".encode())
        for index, term in enumerate(terms, start=first)
    )


def naming(index, term, configuration):
    """An entry that names members."""
    return LogEntry(index, term, encode_members(configuration.members))


def state_of(*terms, term=None, voted_for=-1, snapshot=NO_SNAPSHOT, members=None):
    """A disk with a log of these terms; one more entry names the members, if they are given."""
    log = entries(*terms, first=snapshot.index + 1)
    if members is not None:
        log = (*log, naming(snapshot.index + len(log) + 1, terms[-1], members))
    term = max((*terms, snapshot.term)) if term is None else term
    return DurableState(HardState(term, voted_for), snapshot, None, log)


# --- messages by hand; `source` speaks with the directory that the quorum names


def append(source, target, term, *, previous=(0, 0), new=(), commit=0, round_=0, directory_id=None):
    return AppendRequest(
        source=source,
        target=target,
        term=term,
        source_directory=directory(source) if directory_id is None else directory_id,
        previous_index=previous[0],
        previous_term=previous[1],
        entries=tuple(new),
        commit_index=commit,
        round=round_,
    )


def answer(
    source,
    target,
    term,
    *,
    match=0,
    success=True,
    conflict=(-1, 0),
    round_=0,
    fetching=False,
    directory_id=None,
):
    return AppendResponse(
        source=source,
        target=target,
        term=term,
        source_directory=directory(source) if directory_id is None else directory_id,
        success=success,
        match_index=match,
        conflict_term=conflict[0],
        conflict_index=conflict[1],
        round=round_,
        fetching_snapshot=fetching,
    )


def offer(source, target, term, snapshot, *, round_=0):
    return SnapshotOffer(
        source=source,
        target=target,
        term=term,
        source_directory=directory(source),
        snapshot_index=snapshot.index,
        snapshot_term=snapshot.term,
        round=round_,
    )


def ask_vote(
    source, target, term, *, last=(0, 0), pre=False, transfer=False, means=None, directory_id=None
):
    return VoteRequest(
        source=source,
        target=target,
        term=term,
        source_directory=directory(source) if directory_id is None else directory_id,
        pre=pre,
        last_index=last[0],
        last_term=last[1],
        target_directory=directory(target) if means is None else means,
        transfer=transfer,
    )


def vote(source, target, term, *, granted=True, pre=False, directory_id=None):
    return VoteResponse(
        source=source,
        target=target,
        term=term,
        source_directory=directory(source) if directory_id is None else directory_id,
        pre=pre,
        granted=granted,
    )


def timeout_now(source, target, term):
    return TimeoutNow(source=source, target=target, term=term, source_directory=directory(source))


# --- one core by hand


def finish(core, now_ms=0):
    """Do all that a core wants done, its writes included; returns everything, in order."""
    done = []
    while effects := core.take_effects():
        done.append(effects)
        if effects.persist is not None:
            core.persisted(now_ms)
    return done


def messages(done, kind=None, target=None):
    """Messages of some effects."""
    sent = [it for effects in done for it in effects.messages]
    return [
        it for it in sent if (kind is None or isinstance(it, kind)) and target in (None, it.target)
    ]


def committed(done):
    return [it for effects in done for it in effects.committed]


def elect(core, now_ms=None, *, voters=(2,)):
    """Let a core win an election by the votes of others; returns the time and all its effects."""
    now_ms = core.next_tick_ms if now_ms is None else now_ms
    core.tick(now_ms)
    done = finish(core, now_ms)
    for voter in voters:
        core.step(vote(voter, core_id(core), core.term + 1, pre=True), now_ms)
    done += finish(core, now_ms)
    for voter in voters:
        core.step(vote(voter, core_id(core), core.term), now_ms)
    assert core.role is Role.LEADER
    return now_ms, done + finish(core, now_ms)


def core_id(core):
    return core._state.node_id


# --- several


class Disk:
    """What survives a crash."""

    def __init__(self):
        self.hard_state = FRESH
        self.snapshot = NO_SNAPSHOT
        self.snapshot_configuration = None
        self.entries = []
        self.start = 0
        self.remembered = ()

    def persist(self, persist: Persist):
        if persist.hard_state is not None:
            assert persist.hard_state.term >= self.hard_state.term
            self.hard_state = persist.hard_state
        if persist.truncate_from is not None:
            self.entries = [it for it in self.entries if it.index < persist.truncate_from]
        for entry in persist.entries:
            assert entry.index == self.last_index + 1, "a hole in the log"
            self.entries.append(entry)

    def install(self, snapshot, configuration):
        self.snapshot, self.snapshot_configuration, self.entries = snapshot, configuration, []

    @property
    def last_index(self):
        return self.entries[-1].index if self.entries else self.snapshot.index

    @property
    def state(self):
        behind = tuple(it for it in self.entries if it.index > self.snapshot.index)
        return DurableState(
            self.hard_state,
            self.snapshot,
            self.snapshot_configuration,
            behind,
            self.start,
            self.remembered,
        )


class Node:
    """A core with a disk. `slow`: writes end only by `finish_write`."""

    def __init__(self, node_id, initial, now_ms, generation=0, **changes):
        self.node_id = node_id
        self.initial = initial
        self.generation = generation
        self.changes = changes
        self.disk = Disk()
        self.slow = False
        self.starts = 0
        self.start(now_ms)

    def start(self, now_ms):
        self.starts += 1
        self.writing: Effects | None = None
        self.applied = {}  # by index
        self.reads = {}  # index by token
        self.reads_lost = []
        self.roles = []
        self.wanted = None
        self.disk.start = next_start(self.disk.start, self.starts)
        self.core = make_core(
            self.node_id,
            self.disk.state,
            initial=self.initial,
            now_ms=now_ms,
            seed=self.starts,
            directory_id=directory(self.node_id, self.generation),
            **self.changes,
        )

    def work(self, now_ms, send):
        """Do what the core wants, until it waits for its disk or for others."""
        while self.writing is None and (effects := self.core.take_effects()):
            self.writing = effects
            if effects.persist is None or not self.slow:
                self.finish_write(now_ms, send)

    def finish_write(self, now_ms, send):
        effects, self.writing = self.writing, None
        self.disk.remembered = self.core.remembered
        if effects.persist is not None:
            self.disk.persist(effects.persist)
            self.core.persisted(now_ms)
        for message in effects.messages:
            send(message)
        for entry in effects.committed:
            assert entry.index not in self.applied, "applied twice"
            self.applied[entry.index] = entry
        self.reads |= {it.token: it.index for it in effects.reads}
        self.reads_lost += effects.reads_lost
        if effects.role is not None:
            self.roles.append(effects.role)
        if effects.fetch_snapshot is not None:
            self.wanted = effects.fetch_snapshot


class RaftCluster:
    """Nodes 1 to n. Messages arrive in the order of sending, unless a test plays with `network`."""

    def __init__(self, count=3, *, initial=None, **changes):
        self.now_ms = 1_000
        self.network = deque()
        self.cut = set()  # (source, target) that do not hear each other
        self.down = set()
        self.keep_snapshots_back = False
        initial = quorum(*range(1, count + 1)) if initial is None else initial
        self.nodes = {}
        for member_ in initial.members:
            self.add(member_.node_id, initial, **changes)

    def add(self, node_id, initial=NO_MEMBERS, generation=0, **changes):
        self.nodes[node_id] = Node(node_id, initial, self.now_ms, generation, **changes)
        return self.nodes[node_id]

    def __getitem__(self, node_id):
        return self.nodes[node_id]

    def core(self, node_id):
        return self.nodes[node_id].core

    # --- the network

    def isolate(self, node_id):
        for other in self.nodes:
            self.cut |= {(node_id, other), (other, node_id)}

    def heal(self):
        self.cut.clear()

    def send(self, message):
        self.network.append(message)

    def deliver(self, message):
        arrives = (message.source, message.target) not in self.cut
        if arrives and message.target in self.nodes and message.target not in self.down:
            self.core(message.target).step(message, self.now_ms)

    def work(self):
        """Let all nodes work, delivering nothing."""
        for node_id, node in self.nodes.items():
            if node_id not in self.down:
                node.work(self.now_ms, self.send)
                self._fetch(node)

    def _fetch(self, node):
        if node.wanted is None or self.keep_snapshots_back:
            return
        source, wanted = node.wanted
        node.wanted = None
        disk = self.nodes[source].disk
        if source in self.down or disk.snapshot != wanted or (source, node.node_id) in self.cut:
            node.core.snapshot_failed(self.now_ms)
            return
        node.disk.install(disk.snapshot, disk.snapshot_configuration)
        node.core.snapshot_installed(wanted, disk.snapshot_configuration, self.now_ms)

    def settle(self):
        """Deliver everything until all is quiet."""
        for _ in range(10_000):
            self.work()
            if not self.network:
                return
            self.deliver(self.network.popleft())
        raise AssertionError("the cluster does not come to rest")

    # --- time

    def tick(self, *node_ids):
        for node_id in node_ids or self.nodes:
            if node_id not in self.down:
                self.core(node_id).tick(self.now_ms)

    def pass_time(self, duration_ms, step_ms=10):
        until_ms = self.now_ms + duration_ms
        while self.now_ms < until_ms:
            self.now_ms += step_ms
            self.tick()
            self.settle()

    def elect(self, node_id):
        """Have this node elected, by its timeout while the others' have not run out."""
        self.now_ms = max(self.now_ms + ELECTION_MS, self.core(node_id).next_tick_ms)
        self.tick(node_id)
        self.settle()
        assert self.core(node_id).role is Role.LEADER
        return self.core(node_id)

    # --- nodes

    def leaders(self):
        return [
            node_id
            for node_id, node in self.nodes.items()
            if node_id not in self.down and node.core.role is Role.LEADER
        ]

    def crash(self, node_id):
        """What was not durable is gone."""
        self.down.add(node_id)

    def restart(self, node_id):
        self.down.discard(node_id)
        self.nodes[node_id].start(self.now_ms)

    def wipe(self, node_id):
        """The disk is lost; the node comes back with another directory."""
        old = self.nodes[node_id]
        self.down.discard(node_id)
        return self.add(node_id, old.initial, old.generation + 1, **old.changes)

    def snapshot(self, node_id, index=None):
        """Take a snapshot of what was applied."""
        node = self.nodes[node_id]
        last = node.applied[max(node.applied) if index is None else index]
        named = [decode_members(it.payload) for i, it in node.applied.items() if i <= last.index]
        named = [Configuration.of(it) for it in named if it is not None]
        before = node.disk.snapshot_configuration
        node.disk.snapshot = SnapshotId(last.index, last.term)
        node.disk.snapshot_configuration = named[-1] if named else before
        node.core.compacted(node.disk.snapshot)

    def propose(self, node_id, *payloads):
        return self.core(node_id).propose(payloads, self.now_ms)
