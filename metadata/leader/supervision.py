"""The leader's supervision of brokers and deadlines: heartbeats, fencing, drains, expiry."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

from headrace.metadata.controller.brokers import fence_broker, require_broker, unfence_broker
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.drains import due_logs, is_drain_over, settle_log
from headrace.metadata.controller.leaving import Departures
from headrace.metadata.controller.moves import MoveDeadlines, lost_moves, take_back
from headrace.metadata.controller.objects import expire_objects
from headrace.metadata.controller.sessions import BrokerSessions, Registered, tick_interval_ms
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.image import BrokerImage, BrokerState, MetadataImage
from headrace.metadata.leader.commits import Committed, Committer, Decide
from headrace.metadata.levels import LevelRange
from headrace.metadata.quorum.description import LastHeartbeat
from headrace.metadata.records.brokers import FenceReason
from headrace.metadata.rpc.loads import Loads
from headrace.metadata.rpc.requests import (
    BrokerGoal,
    Heartbeat,
)
from headrace.metadata.rpc.responses import HeartbeatAnswer
from headrace.protocol.errors import ErrorCode
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.controller")


def _ignore_loads(node_id: int, loads: Loads) -> None:
    """Does not balance brokers."""


class QuorumLeader(Protocol):
    """What the supervision needs of the quorum."""

    @property
    def image(self) -> MetadataImage:
        """The newest image of committed entries."""
        ...

    async def confirm_leadership(self) -> None:
        """Return once it is proven that this node led after the call.

        Raises:
            RefusedError: NOT_CONTROLLER; it does not lead, or that is not known.
        """
        ...


class BrokerSupervision:
    """The sessions of one term. Every broker that may hold a lease begins with a full session."""

    def __init__(
        self,
        quorum: QuorumLeader,
        committer: Committer,
        *,
        session_timeout_ms: int,
        wall_clock_ms: Callable[[], int],
        boot_clock_ms: Callable[[], int],
        on_loads: Callable[[int, Loads], None] = _ignore_loads,
    ) -> None:
        self._quorum = quorum
        self._committer = committer
        self._tick_ms = tick_interval_ms(session_timeout_ms)
        self._wall_clock_ms = wall_clock_ms
        self._boot_clock_ms = boot_clock_ms
        self._on_loads = on_loads
        self._may_be_due = asyncio.Event()
        self._last_heartbeats: dict[
            int, LastHeartbeat
        ] = {}  # by node id; of registered brokers only
        live = (it for it in quorum.image.brokers.values() if not it.epoch_ended)
        self._sessions = BrokerSessions(session_timeout_ms, map(_registered, live), boot_clock_ms())
        self._move_deadlines = MoveDeadlines(quorum.image.moves, boot_clock_ms())
        self._departures = Departures()
        self.unable: frozenset[int] = frozenset()  # brokers, by their last heartbeats; see `Inputs`

    async def heartbeat(self, request: Heartbeat) -> Committed:
        """Renew a session and, if asked and possible, change the broker's state.

        The answer extends the broker's lease, so it waits for a round of the quorum that begins
        after the heartbeat arrived: a deposed leader that does not know it extends no lease.

        Raises:
            RefusedError: STALE_BROKER_EPOCH or BROKER_ID_NOT_REGISTERED: the sender must stop;
                NOT_CONTROLLER: another controller leads.
        """
        node_id, epoch = request.node_id, request.node_epoch
        self._sessions.renew(node_id, epoch, self._boot_clock_ms())
        # Refusals wait for it as well, since a refused broker stops for good.
        await self._quorum.confirm_leadership()
        broker = require_broker(self._quorum.image, node_id, epoch)
        if not self._sessions.is_open(node_id, epoch):
            raise RefusedError(
                ErrorCode.STALE_BROKER_EPOCH,
                f"the session of broker {node_id} at epoch {epoch} has expired",
            )
        self._last_heartbeats[node_id] = LastHeartbeat(
            request.applied_index,
            self._wall_clock_ms(),
            request.awaited_snapshot,
            epoch,
            request.reads,
        )
        if request.is_able == (node_id in self.unable):
            self.unable ^= {node_id}
            logger.info(
                "a broker can open partitions again"
                if request.is_able
                else "a broker cannot open partitions now; it gets none while others can",
                extra={"broker": node_id},
            )
        if request.loads is not None:
            self._on_loads(node_id, request.loads)
        now_ms = self._boot_clock_ms()
        self._move_deadlines.note(node_id, request.bytes_before_moves, now_ms)
        if request.goal == BrokerGoal.SHUT_DOWN:
            return await self._committer.propose(_fence(node_id, epoch, FenceReason.SHUT_DOWN))
        # The epoch is the index of its registration: a broker that has applied it knows which streams to recover.
        caught_up = request.applied_index >= broker.epoch
        starting = broker.state == BrokerState.STARTING
        if request.goal == BrokerGoal.SERVE and starting and caught_up:
            return await self._committer.propose(
                lambda image, _: unfence_broker(node_id, epoch, image)
            )
        return Committed(HeartbeatAnswer(fenced=broker.fenced), self._quorum.image.index)

    def last_heartbeats(self) -> Mapping[int, LastHeartbeat]:
        """The last heartbeat of each broker whose epoch has not ended, by node id."""
        brokers = self._quorum.image.brokers
        return {
            node_id: heartbeat
            for node_id, heartbeat in self._last_heartbeats.items()
            if not brokers[node_id].epoch_ended
        }

    def told_levels(self) -> dict[tuple[int, int], LevelRange]:
        """The levels that each broker reads, by node id and epoch, as of its last heartbeat."""
        return {
            (node_id, it.node_epoch): it.reads for node_id, it in self.last_heartbeats().items()
        }

    def follow(self, old: MetadataImage, new: MetadataImage) -> None:
        """Begin and end sessions according to committed registrations and fencings; look at what may be due."""
        now_ms = self._boot_clock_ms()
        self._move_deadlines.follow(old, new, now_ms)
        self._departures.follow(old, new, now_ms)
        if is_drain_over(old, new):
            self._may_be_due.set()
        may_leave = old.moves is not new.moves or old.configs is not new.configs
        if may_leave and self._departures.are_due(new, self.unable, now_ms):
            self._may_be_due.set()
        if old.brokers is new.brokers:
            return
        self._may_be_due.set()
        for node_id in [it for it in self._last_heartbeats if it not in new.brokers]:
            del self._last_heartbeats[node_id]
        for broker in new.brokers.values():
            known = old.brokers.get(broker.node_id)
            if broker.epoch_ended:
                self.unable -= {broker.node_id}
                self._sessions.end(broker.node_id, broker.epoch)
            elif known is None or known.epoch != broker.epoch:
                self._sessions.begin(_registered(broker), self._boot_clock_ms())

    async def run(self) -> None:
        """Check deadlines regularly until cancelled; at once when a log may be assigned that waits."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._tick_ms / 1000):
                    await self._may_be_due.wait()
            self._may_be_due.clear()
            try:
                await self.check_deadlines()
            except (RefusedError, ControllerUnavailableError) as error:
                # Too many requests wait, or another node leads. Sessions stay ended, so the next
                # round proposes it again.
                logger.warning(
                    "cannot fence brokers or expire objects that are due, trying again",
                    extra={"reason": str(error)},
                )

    async def check_deadlines(self) -> None:
        """Fence brokers whose session has ended, assign their logs, end moves, expire objects never committed.

        Raises:
            RefusedError: the controller is overloaded or stopping; do it again.
            ControllerUnavailableError: it is no longer the leader; whether it was done is unknown.
        """
        self._sessions.tick(self._boot_clock_ms())
        for broker in self._quorum.image.brokers.values():
            if not broker.epoch_ended and not self._sessions.is_open(broker.node_id, broker.epoch):
                logger.warning(
                    "broker session expired, fencing the broker",
                    extra={"broker": broker.node_id, "epoch": broker.epoch},
                )
                await self._committer.propose(
                    _fence(broker.node_id, broker.epoch, FenceReason.SESSION_EXPIRED)
                )
        now_ms = self._wall_clock_ms()
        for log_id in due_logs(self._quorum.image, now_ms):
            await self._committer.propose(_settle(log_id))
        await self._take_moves_back()
        if self._departures.are_due(self._quorum.image, self.unable, self._boot_clock_ms()):
            await self._committer.propose(self._departures.move_away)
        prepared = self._quorum.image.objects.prepared
        if any(expires_ms <= now_ms for expires_ms in prepared.values()):
            await self._committer.propose(
                lambda image, inputs: expire_objects(image, inputs.now_ms)
            )

    async def _take_moves_back(self) -> None:
        """Take back the moves whose targets have ended, and those that do not get on."""
        image = self._quorum.image
        overdue = self._move_deadlines.overdue(image, self._boot_clock_ms())
        reasons = dict.fromkeys(overdue, "it does not get on")
        reasons |= {it: f"broker {it.target} has ended" for it in lost_moves(image)}
        if not reasons:
            return
        ended = sorted(reasons, key=lambda it: (it.topic_id, it.partition))
        turns = turns_of(Work.METADATA)
        for move in ended:
            logger.warning(
                "taking back the move of a partition",
                extra={
                    "topic": image.topics[move.topic_id].name,
                    "partition": move.partition,
                    "target": move.target,
                    "reason": reasons[move],
                },
            )
            await turns.pause()
        await self._committer.propose(lambda image, _: take_back(ended, image))


def _registered(broker: BrokerImage) -> Registered:
    return Registered(broker.node_id, broker.epoch, broker.session_timeout_ms)


def _settle(log_id: int) -> Decide:
    def decide(image: MetadataImage, inputs: Inputs) -> Decision | DecisionSteps:
        return settle_log(log_id, image, inputs)

    return decide


def _fence(node_id: int, epoch: int, reason: FenceReason) -> Decide:
    def decide(image: MetadataImage, inputs: Inputs) -> Decision:
        return fence_broker(node_id, epoch, reason, image, inputs)

    return decide
