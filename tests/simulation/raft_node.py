"""A simulated controller: the driver around the core, with a disk, a clock and a state machine."""

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.disks import next_start
from headrace.metadata.raft.effects import Effects, RaftSettings, SnapshotWanted
from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.records.codec import decode_members, encode_members
from headrace.metadata.records.entry import LogEntry, SnapshotId
from tests.simulation.raft_disk import SimulatedLog
from tests.simulation.raft_world import ViolationError, World

if TYPE_CHECKING:
    from tests.simulation.raft_invariants import Invariants

_MAX_BACKLOG = 300  # messages that wait for a paused process; more are lost
_MAX_TICKS_IN_VAIN = 50


def open_term(term: int, last_index: int) -> bytes:
    """The leader's no-op."""
    return b"O%d,%d" % (term, last_index)


class Node:
    """One node id: its process comes and goes, its disk may be lost."""

    def __init__(
        self, world: World, invariants: "Invariants", node_id: int, initial: Configuration
    ) -> None:
        self.world, self.invariants = world, invariants
        self.node_id = node_id
        self.initial = initial
        self.log = world.new_directory()
        self.backup: SimulatedLog | None = None  # of the directory, as it was at some time
        self.core: RaftCore | None = None
        self.life = 0  # counts starts of the process
        self.rate = 1 + world.rng.uniform(-1, 1) * world.swarm.clock_skew
        self.disk_factor = 1.0
        self.disk_full = False
        world.receive[node_id] = self.receive

    # --- the process

    def start(self) -> None:
        """Start with what is on the disk."""
        world, swarm = self.world, self.world.swarm
        self.life += 1
        self.started_us = world.now_us
        self.clock_ms = world.rng.randrange(10**6)
        self.paused = False
        self.deferred: list[tuple[Callable[[Any], None], Any]] = []
        self.busy = False
        self.waking = False  # effects are about to be taken
        self.driving = False  # they are being taken
        self.writing: Effects | None = None
        self.operation = 0  # numbers disk operations
        self.fetch_number = 0
        self.fetched: tuple[SnapshotId, Configuration | None] | None = None
        self.installing = False
        self.snapshotting = False
        self.reads: dict[int, Any] = {}
        self.tick_at_us = -1
        self.vain_ticks = 0
        self.applied = self.log.snapshot.index
        self.configuration = self.log.snapshot_configuration
        self.log.start = next_start(self.log.start, self.life)
        self.core = RaftCore(
            RaftSettings(
                node_id=self.node_id,
                directory_id=self.log.directory_id,
                election_timeout_ms=swarm.election_timeout_ms,
                heartbeat_interval_ms=swarm.election_timeout_ms // 5,
                max_append_bytes=swarm.max_append_bytes,
                max_appends_inflight=swarm.max_appends_inflight,
                compaction_slack_bytes=swarm.max_append_bytes,
                max_uncommitted_bytes=swarm.max_uncommitted_bytes,
                max_committed_bytes=swarm.max_committed_bytes,
                max_reads_pending=swarm.max_reads_pending,
            ),
            self.log.recovered(),
            initial=self.initial,
            members_of=decode_members,
            encode_members=encode_members,
            open_term=open_term,
            rng=random.Random(world.rng.getrandbits(32)),
            now_ms=self.now_ms(),
        )
        world.note(self.node_id, "starts", f"with entries to {self.log.last_index}")
        self.invariants.started(self)
        self.wake()

    def crash(self, steps: int | None = None) -> None:
        """End the process. Of a write under way the first steps are durable; None: all of it."""
        assert self.core is not None
        writing = None if self.writing is None else self.writing.persist
        if writing is not None:
            self.log.perform(writing, steps)
        elif self.installing and self.fetched is not None and steps is None:
            self.log.install(*self.fetched)
        self.world.note(
            self.node_id, "crashes", f"within a write, at step {steps}" if writing else None
        )
        self.core = None
        self.life += 1
        self.disk_full = False  # somebody makes room before it starts again
        down_us = self.world.rng.choice((0.1, 1.0, 6.0)) * self.world.swarm.timeout_us
        self.world.after(down_us * self.world.rng.random(), self.restart, self.life)

    def restart(self, life: int) -> None:
        """Start again, unless that has happened; a directory that is refused is emptied first."""
        if self.core is None and self.life == life:
            if self.log.condemned:
                self.lose_disk()
            self.start()

    @property
    def is_blank(self) -> bool:
        """Whether its disk holds no log."""
        return self.log.last_index == 0

    def lose_disk(self) -> None:
        """Come back later, with nothing and another directory id."""
        assert self.core is None
        self.world.note(self.node_id, "loses its disk")
        self.world.lose_messages_to(self.node_id)
        self.log = self.world.new_directory()
        self.backup = None

    def put_back(self) -> None:
        """Come back later, with the directory as it was when it was backed up."""
        assert self.core is None
        assert self.backup is not None
        self.world.note(
            self.node_id, "gets an old copy", f"with entries to {self.backup.last_index}"
        )
        self.world.lose_messages_to(self.node_id)
        self.log, self.backup = self.backup, None
        self.log.is_copy = True

    def _end_as_old_copy(self) -> None:
        """What the driver does with a directory that the core takes for an old copy."""
        assert self.core is not None
        self.world.note(self.node_id, "is an old copy:", str(self.core.outdated))
        self.log.condemned = True
        self.crash(0)

    def pause(self) -> None:
        """SIGSTOP."""
        self.world.note(self.node_id, "pauses")
        self.paused = True

    def resume(self, life: int) -> None:
        """SIGCONT: everything that has happened meanwhile happens to the process now."""
        if self.life != life or not self.paused:
            return
        self.world.note(self.node_id, "resumes")
        self.paused = False
        deferred, self.deferred = self.deferred, []
        for act, argument in deferred:
            if self.life == life:
                act(argument)

    def now_ms(self) -> int:
        """This node's clock, which goes on while it is paused."""
        return self.clock_ms + int((self.world.now_us - self.started_us) * self.rate / 1000)

    def _in_process(self, life: int, act: Callable[[Any], None], argument: Any) -> bool:
        """Whether something reaches the process now; if it is paused, it does later."""
        if self.life != life:
            return False
        if self.paused:
            self.deferred.append((act, argument))
            return False
        return True

    # --- inputs

    def receive(self, message: RaftMessage) -> None:
        """Hand a message to the core."""
        core = self.core
        if core is None:
            return
        if self.paused:
            if len(self.deferred) < _MAX_BACKLOG:
                self.deferred.append((self.receive, message))
            return
        self.world.note(self.node_id, "<-", message)
        self.invariants.before_message(self, message)
        core.step(message, self.now_ms())
        self.invariants.after(self, message)
        if core.outdated is not None:
            self._end_as_old_copy()
            return
        self.wake()

    def _arm_tick(self) -> None:
        core = self.core
        if core is None:
            return
        due_ms = core.next_tick_ms - self.clock_ms
        due_us = self.started_us + int(due_ms * 1000 / self.rate) + 1
        due_us = max(due_us, self.world.now_us + 1000)
        if self.world.now_us < self.tick_at_us <= due_us:
            return
        self.tick_at_us = due_us
        late_us = 0.0
        if not self.world.calm and self.world.rng.random() < 0.05:
            late_us = self.world.rng.random() * self.world.swarm.timeout_us / 10
        self.world.after(due_us - self.world.now_us + late_us, self._tick, (self.life, due_us))

    def _tick(self, argument: tuple[int, int]) -> None:
        life, due_us = argument
        if not self._in_process(life, self._tick, argument) or due_us != self.tick_at_us:
            return
        core = self.core
        assert core is not None
        self.tick_at_us = -1
        now_ms = self.now_ms()
        core.tick(now_ms)
        self.vain_ticks = self.vain_ticks + 1 if core.next_tick_ms <= now_ms else 0
        if self.vain_ticks > _MAX_TICKS_IN_VAIN:
            raise ViolationError("driver", f"node {self.node_id}: wants ticks in the past for ever")
        self.invariants.after(self, None)
        self.invariants.ticked(self)
        self.wake()

    # --- effects

    def wake(self) -> None:
        """Take effects, at once or when some more have gathered."""
        gather_us = self.world.swarm.gather_us
        if not gather_us:
            self._drive(self.life)
        elif not self.waking:
            self.waking = True
            self.world.after(self.world.rng.random() * gather_us, self._drive, self.life)
        self._arm_tick()

    def _drive(self, life: int) -> None:
        if not self._in_process(life, self._drive, life):
            return
        self.waking = False
        core = self.core
        assert core is not None
        self.driving = True
        while not self.busy:
            if self.fetched is not None:
                self._install()
                break
            effects = core.take_effects()
            if not effects:
                break
            self.invariants.taken(self, effects)
            self.busy = True
            if effects.persist is None:
                self._finish((life, effects))
            else:
                self.writing = effects
                self._start_operation(self._written)
        self.driving = False
        self._arm_tick()

    def _start_operation(self, done: Callable[[Any], None]) -> None:
        self.operation += 1
        self.operation_done = done
        rng, swarm = self.world.rng, self.world.swarm
        took_us = swarm.disk_us * (0.5 + rng.random()) * self.disk_factor
        self.world.after(took_us, done, (self.life, self.operation))

    def unblock_disk(self) -> None:
        """A write that hangs goes on."""
        self.disk_factor = 1.0
        self.disk_full = False
        if self.core is not None and self.busy and self.operation:
            self.world.after(
                self.world.swarm.disk_us, self.operation_done, (self.life, self.operation)
            )

    def _written(self, argument: tuple[int, int]) -> None:
        life, operation = argument
        if not self._in_process(life, self._written, argument):
            return
        if operation != self.operation or self.writing is None:
            return
        self.operation += 1
        world, effects, core = self.world, self.writing, self.core
        assert core is not None
        assert effects.persist is not None
        if self.disk_full and effects.persist.entries:
            self.crash(world.rng.randrange(2 + len(effects.persist.entries)))
            return
        self.writing = None
        self.log.perform(effects.persist)
        world.note(self.node_id, "has on disk", effects.persist)
        core.persisted(self.now_ms())
        self.invariants.after(self, None)
        if not world.calm and world.rng.random() < world.swarm.stall:
            stall_us = world.rng.random() * world.swarm.timeout_us / 5
            world.after(stall_us, self._finish, (life, effects))
            return
        self._finish((life, effects))

    def _finish(self, argument: tuple[int, Effects]) -> None:
        """Do what comes behind the write."""
        life, effects = argument
        if not self._in_process(life, self._finish, argument):
            return
        for message in effects.messages:
            self.world.note(self.node_id, "->", message)
            self.invariants.sent(self, message)
            self.world.send(message)
        for entry in effects.committed:
            self._apply(entry)
        for ready in effects.reads:
            self.invariants.read_ready(self, ready)
        for token in effects.reads_lost:
            self.invariants.read_lost(self, token)
        if effects.fetch_snapshot is not None:
            self._fetch(effects.fetch_snapshot)
        assert self.core is not None
        self.log.disks = self.core.remembered
        self.busy = False
        self._snapshot_at_need()
        if not self.driving:
            self.wake()

    def _apply(self, entry: LogEntry) -> None:
        self.invariants.applied(self, entry)
        self.applied = entry.index
        members = decode_members(entry.payload)
        if members is not None:
            self.configuration = Configuration.of(members)

    # --- snapshots

    def _snapshot_at_need(self) -> None:
        every = self.world.swarm.snapshot_entries
        if not every or self.snapshotting or self.applied - self.log.snapshot.index < every:
            return
        self.snapshotting = True
        snapshot = SnapshotId(self.applied, self.invariants.term_of(self.applied))
        took_us = self.world.swarm.disk_us * 3 * self.world.rng.random()
        self.world.after(took_us, self._snapshotted, (self.life, snapshot, self.configuration))

    def _snapshotted(self, argument: tuple[int, SnapshotId, Configuration | None]) -> None:
        life, snapshot, configuration = argument
        if not self._in_process(life, self._snapshotted, argument):
            return
        self.snapshotting = False
        if snapshot.index <= self.log.snapshot.index or self.log.term_at(snapshot.index) is None:
            return  # another was installed meanwhile, or the entries are not on the disk yet
        assert self.core is not None
        self.log.compact(snapshot, configuration)
        self.world.note(self.node_id, "has a snapshot of its own", snapshot)
        self.core.compacted(snapshot)
        self.invariants.after(self, None)
        self.wake()

    def _fetch(self, wanted: SnapshotWanted) -> None:
        self.fetch_number += 1
        self.world.note(self.node_id, "fetches", wanted)
        took_us = self.world._delay_us * 4 * (0.5 + self.world.rng.random())
        self.world.after(took_us, self._fetch_done, (self.life, self.fetch_number, wanted))

    def _fetch_done(self, argument: tuple[int, int, SnapshotWanted]) -> None:
        life, number, wanted = argument
        if not self._in_process(life, self._fetch_done, argument) or number != self.fetch_number:
            return
        assert self.core is not None
        self.fetched = self.invariants.snapshot_of(self, wanted)
        if self.fetched is None:
            self.world.note(self.node_id, "could not fetch", wanted)
            self.core.snapshot_failed(self.now_ms())
            self.invariants.after(self, None)
        self.wake()

    def _install(self) -> None:
        """Between two effects, as one more disk operation."""
        self.busy = self.installing = True
        self._start_operation(self._installed)

    def _installed(self, argument: tuple[int, int]) -> None:
        life, operation = argument
        if not self._in_process(life, self._installed, argument):
            return
        if operation != self.operation or not self.installing or self.fetched is None:
            return
        self.operation += 1
        self.installing = False
        assert self.core is not None
        snapshot, configuration = self.fetched
        self.fetched = None
        self.invariants.installing(self, snapshot, configuration)
        self.log.install(snapshot, configuration)
        self.world.note(self.node_id, "has installed", snapshot)
        self.applied = snapshot.index
        self.configuration = configuration
        self.core.snapshot_installed(snapshot, configuration or self.initial, self.now_ms())
        self.busy = False
        self.invariants.after(self, None)
        self.wake()
