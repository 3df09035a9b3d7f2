"""One running member of the quorum: feeds the Raft core, and performs its effects.

Three tasks, so that independent work never waits for each other:

| task    | does                                                  | while it waits                 |
|---------|-------------------------------------------------------|--------------------------------|
| inputs  | messages and time, into the core                      |                                |
| effects | persist, then send, hand over, answer: in this order  | the core continues in memory   |
| applier | replays committed entries                             | heartbeats and writes continue |

A loss of the leadership takes effect as soon as the core knows it, even while a write of this node
hangs: callers that wait for a commit or a confirmation get an error at once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

from headrace.links.ends import Address
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.log.store import LogStore
from headrace.metadata.quorum.addresses import MemberAddresses
from headrace.metadata.quorum.applied import AppliedLog
from headrace.metadata.quorum.inputs import CoreInputs
from headrace.metadata.quorum.read_rounds import ReadRounds
from headrace.metadata.quorum.snapshots import Snapshots
from headrace.metadata.quorum.status import (
    LeaderWatch,
    QuorumCounters,
    QuorumStatus,
    require_current,
    status_of,
)
from headrace.metadata.quorum.waiters import EntryWaiters
from headrace.metadata.raft.changes import MemberChange
from headrace.metadata.raft.configuration import Configuration
from headrace.metadata.raft.core import RaftCore
from headrace.metadata.raft.effects import NOBODY, Persist, Role
from headrace.metadata.raft.errors import NotLeaderError, QuorumBusyError
from headrace.metadata.raft.messages import RaftMessage
from headrace.metadata.raft.progress import ProgressView
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.transport import PeerNetwork
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.controller")


class Hooks(NamedTuple):
    """Callbacks of a member of the quorum."""

    accept: Callable[[MetadataImage], Awaitable[None]]  # before publication; an error ends `run`
    on_leading: Callable[[], None]  # the image includes everything committed before the term
    on_deposed: Callable[[], None]


class QuorumNode:
    """Order of use: `start`, then `run` in a task; everything else while it runs."""

    def __init__(  # noqa: PLR0913 - keyword arguments: the parts of a member
        self,
        core: RaftCore,
        store: LogStore,
        network: PeerNetwork,
        applied: AppliedLog,
        *,
        node_id: int,
        own_address: Address,
        addresses: Mapping[int, Address],
        clock_ms: Callable[[], int],
        hooks: Hooks,
    ) -> None:
        """Join the parts.

        Args:
            core: the Raft core; used by this node only.
            store: the open log.
            network: to the other members.
            applied: at the store's snapshot.
            node_id: of this node.
            own_address: where others reach this node; port 0 if no other node does.
            addresses: of members whose addresses in the log are overridden.
            clock_ms: also runs in suspend.
            hooks: the callbacks.
        """
        self._core = core
        self._store = store
        self._network = network
        self._applied = applied
        self.node_id = node_id
        self.own_address = own_address
        self.addresses = MemberAddresses(core, network, node_id=node_id, configured=addresses)
        self._clock_ms = clock_ms
        self._hooks = hooks
        self._counters = QuorumCounters()
        self._watch = LeaderWatch(self._counters)
        self._inputs = CoreInputs(core, self._counters, clock_ms=clock_ms, on_input=self._notice)
        self._work = asyncio.Event()
        self._leading_term: int | None = None
        self._ended = False  # effects are no longer performed
        self._waiters = EntryWaiters()
        self._rounds = ReadRounds(core, applied, clock_ms=clock_ms, on_input=self._notice)
        self.snapshots = Snapshots(
            core,
            store,
            network,
            applied,
            self._counters,
            clock_ms=clock_ms,
            on_input=self._notice,
        )

    @property
    def image(self) -> MetadataImage:
        """The newest image of committed entries."""
        return self._applied.image

    @property
    def leading(self) -> bool:
        """Whether this node leads, as far as it knows, and has applied everything committed before."""
        return self._leading_term is not None

    @property
    def configuration(self) -> Configuration:
        """The newest in the log, committed or not."""
        return self._core.configuration

    @property
    def holds_members_only(self) -> bool:
        """Whether no entry after the snapshot is about anything else, committed or not."""
        return self._core.holds_members_only

    def progress(self) -> Mapping[int, ProgressView]:
        """The leader's progress of the other members, by node id."""
        return self._core.progress()

    async def start(self) -> None:
        """Perform the first effects: a sole voter leads when this returns.

        Raises:
            MetadataLogFailedError, OSError: the log cannot be written.
        """
        self._core.tick(self._clock_ms())
        self._notice()
        while await self._take_turn() or await self._apply_batch():
            pass

    async def run(self, snapshot_bytes: int) -> None:
        """Take part until cancelled; take a snapshot at the latest when the log has grown by `snapshot_bytes`.

        Raises:
            ExceptionGroup: of a fatal error: the log cannot be written, an image is not
                accepted, an entry cannot be read.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._inputs.run(), name="quorum-inputs")
                tasks.create_task(self._perform_effects(), name="quorum-effects")
                tasks.create_task(self._apply_batches(), name="quorum-applier")
                tasks.create_task(self.snapshots.run(snapshot_bytes), name="quorum-snapshots")
                tasks.create_task(self.snapshots.run_fetches(), name="quorum-snapshot-fetches")
        finally:
            self._ended = True
            self._depose("the controller is stopping")
            self._waiters.fail("the controller is stopping", after_index=-1)

    def receive(self, message: RaftMessage) -> None:
        """Receive a message of another member."""
        self._inputs.receive(message)

    async def image_at_end(self) -> MetadataImage:
        """Wait until everything in the log at the call is committed and applied; later entries do not count.

        Raises:
            LeadershipLostError: this node does not lead.
        """
        if self._applied.image.index < self._core.last_index:
            await self._waiters.wait(self._core.last_index, None)
        return self._applied.image

    async def replicate(
        self, entries: Sequence[LogEntry], images: Mapping[int, MetadataImage]
    ) -> bool:
        """Return when these entries are committed and `image` includes them.

        Args:
            entries: of this term, following the log's end.
            images: the image after each of them, by index.

        Returns:
            False when an entry about the members was appended first: nothing has changed.

        Raises:
            RefusedError: this node does not lead, or is overloaded; nothing has changed.
            LeadershipLostError: it led when they were written. Their outcome is unknown.

        Cancellation: as LeadershipLostError.
        """
        core = self._core
        if not self.leading or core.term != entries[0].term:
            raise RefusedError(ErrorCode.NOT_CONTROLLER, "this node no longer leads the quorum")
        if core.last_index != entries[0].index - 1:
            return False
        started_s = self._now_s()
        try:
            position = core.propose([it.payload for it in entries], self._clock_ms())
        except NotLeaderError as error:
            raise self._not_leading() from error
        except QuorumBusyError as error:
            raise RefusedError(ErrorCode.THROTTLING_QUOTA_EXCEEDED, str(error)) from error
        self._applied.keep_precomputed(images)
        self._notice()
        try:
            await self._waiters.wait(position.index, position.term)
        finally:
            self._applied.keep_precomputed({})
        self._counters.committed(self._now_s() - started_s)
        return True

    async def change_members(self, change: MemberChange) -> None:
        """Return when this change of the quorum is committed.

        Raises:
            RefusedError: NOT_CONTROLLER; nothing has changed.
            ChangeRefusedError: it is not possible, or not now; nothing has changed.
            LeadershipLostError: whether it takes effect is unknown.
        """
        try:
            position = self._core.change_members(change, self._clock_ms())
        except NotLeaderError as error:
            raise self._not_leading() from error
        self._notice()
        await self._waiters.wait(position.index, position.term)

    async def confirm_leadership(self) -> None:
        """Return once it is proven that this node led after the call, with an image of that time or later.

        Raises:
            RefusedError: NOT_CONTROLLER; it does not lead, or that is not known.
        """
        if not self.leading:
            raise self._not_leading()
        if self.configuration.voters != (self.node_id,):
            await self._rounds.join()
        # Otherwise no other node can lead, and a disk that stalls must not cost brokers their leases.

    async def hand_over(self, timeout_ms: int) -> None:
        """Transfer the leadership to another voter, if this node leads and there is one.

        Returns once that voter leads, since until then it may need this node's vote; or after `timeout_ms`.
        """
        if self._core.role is not Role.LEADER or self._core.configuration.voters == (self.node_id,):
            return
        self._core.transfer_leadership(self._clock_ms())
        self._notice()
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while self._core.leader_id in (NOBODY, self.node_id):
                    await self._watch.another_leader()
        except TimeoutError:
            logger.warning("leadership transfer timed out", extra={"waited_ms": timeout_ms})

    def status(self) -> QuorumStatus:
        """The status of this member."""
        return status_of(
            self._core,
            self._counters,
            serving=self.leading,
            applied_index=self._applied.image.index,
            leader_silent_ms=self._inputs.leader_silent_ms,
        )

    def _notice(self) -> None:
        """React to changes by an input; to be called after each."""
        core = self._core
        self._work.set()
        self._store.remember(core.remembered)
        self.addresses.look()
        self._watch.look(core)
        leads = core.role is Role.LEADER and not self._ended
        if self._leading_term is not None and not (leads and core.term == self._leading_term):
            self._depose("this node no longer leads the quorum")
        elif self._leading_term is None and leads and _has_opened_term(core, self.image):
            self._leading_term = core.term
            self._hooks.on_leading()

    def _depose(self, reason: str) -> None:
        """Fail all waiters: this node does not lead."""
        self._rounds.fail(reason)
        # Entries that were committed while it led are applied shortly.
        self._waiters.fail(reason, after_index=self._core.commit_index)
        if self._leading_term is not None:
            self._leading_term = None
            self._hooks.on_deposed()

    # Effects

    async def _perform_effects(self) -> None:
        while True:
            self._work.clear()
            while await self._take_turn():
                pass
            await self._work.wait()

    async def _take_turn(self) -> bool:
        """Perform the next effects; False when there are none."""
        await require_current(self._core, self._store)
        if await self.snapshots.install_fetched(self._hooks.accept):
            return True
        effects = self._core.take_effects()
        if not effects:
            return False
        if effects.persist is not None:
            await self._persist(effects.persist)
        for message in effects.messages:
            self._network.send(message)
        if effects.committed:
            self._applied.committed(effects.committed)
        for read in effects.reads:
            self._rounds.confirmed(read)
        self._rounds.lost(effects.reads_lost, "this node may no longer lead the quorum")
        if effects.role is not None:
            role, term, leader_id = effects.role
            logger.info(
                "role in the metadata quorum changed",
                extra={"role": role.value, "term": term, "leader": leader_id},
            )
        if effects.fetch_snapshot is not None:
            self.snapshots.fetch(effects.fetch_snapshot)
        return True

    async def _persist(self, persist: Persist) -> None:
        started_s = self._now_s()
        await self._store.persist(persist)
        self._counters.appended(self._now_s() - started_s)
        self._core.persisted(self._clock_ms())
        self._notice()

    # Committed entries, and snapshots that replace them

    async def _apply_batches(self) -> None:
        while True:
            await self._applied.wait_for_batch()
            await self._apply_batch()

    async def _apply_batch(self) -> bool:
        batch = self._applied.next_batch
        if batch is None:
            return False
        image = await self._applied.compute(batch)
        await self._hooks.accept(image)
        await self._applied.collect_gone(image)
        if self._applied.publish(batch, image):
            self._waiters.applied(batch)
            self._rounds.look()
            self._notice()
        return True

    def _not_leading(self) -> RefusedError:
        self._notice()  # the core may have noticed just now
        return RefusedError(ErrorCode.NOT_CONTROLLER, "this node does not lead the quorum")

    def _now_s(self) -> float:
        return asyncio.get_running_loop().time()


def _has_opened_term(core: RaftCore, image: MetadataImage) -> bool:
    """Whether the first entry of our term is applied, and with it everything committed before."""
    return core.serving and image.index >= core.opening_index
