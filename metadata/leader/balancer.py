"""Keeps brokers even while this controller leads: plans now and then, and begins moves as earlier ones end."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from headrace.metadata.balance.described import described
from headrace.metadata.balance.state import BalanceSettings, BalanceState
from headrace.metadata.controller.balancing import WantedMove, begin_wanted
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.commits import Committer
from headrace.metadata.quorum.description import Clocks
from headrace.metadata.rpc.loads import Loads
from headrace.metadata.rpc.requests import (
    DescribeBalance,
)
from headrace.metadata.rpc.responses import BalanceDescribed
from headrace.turns import Work, turns_of

logger = logging.getLogger("headrace.controller")


class Balancer:
    """The balance of one term."""

    def __init__(
        self,
        image: Callable[[], MetadataImage],
        committer: Committer,
        settings: BalanceSettings,
        interval_ms: int,
        clocks: Clocks,
    ) -> None:
        self._image = image
        self._committer = committer
        self._interval_ms = interval_ms
        self._clocks = clocks
        self._max_moves = settings.rules.max_moves
        self._has_room = asyncio.Event()
        self._told_unreached: frozenset[str] = frozenset()
        self.state = BalanceState(settings, clocks.boot_ms())

    def note(self, node_id: int, loads: Loads) -> None:
        """A broker has reported its loads."""
        self.state.note(node_id, loads, self._clocks.boot_ms())

    def follow(self, old: MetadataImage, new: MetadataImage) -> None:
        """Note moves that have begun and ended; the next ones begin."""
        self.state.follow(old, new, self._clocks.boot_ms())
        if self.state.has_plan and len(new.moves) < min(len(old.moves), self._max_moves):
            self._has_room.set()

    async def run(self) -> None:
        """Plan and begin moves until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._interval_ms / 1000):
                    await self._has_room.wait()
            self._has_room.clear()
            try:
                await self.go_on()
            except (RefusedError, ControllerUnavailableError) as error:
                # Too many requests wait, or another node leads. What has not begun is planned again.
                logger.warning(
                    "cannot begin moves that would even out the brokers, trying again",
                    extra={"reason": str(error)},
                )

    async def go_on(self) -> None:
        """Begin the next moves of the plan; make one if there is none.

        Raises:
            RefusedError: the controller is overloaded or stopping; do it again.
            ControllerUnavailableError: it is no longer the leader; whether the moves begin is unknown.
        """
        state = self.state
        if state.waits_for(self._image(), self._clocks.boot_ms()) is not None:
            state.drop_plan()
            return
        if not state.has_plan and len(self._image().moves) < self._max_moves:
            turns = turns_of(Work.UPKEEP)
            view = await turns.run(state.view(self._image(), self._clocks.boot_ms()))
            state.adopt(await turns.run(state.plan_for(view)), self._clocks.boot_ms())
            self._tell_unreached()
        taken = state.take(self._image(), self._clocks.boot_ms())
        if not taken:
            return
        for it in taken:
            move = it.move
            logger.info(
                "moving a partition to even out the brokers",
                extra={
                    "topic": move.topic,
                    "partition": move.partition,
                    "source": move.source,
                    "target": move.target,
                    "goal": move.goal.value,
                    "reason": move.reason,
                },
            )
        wanted = [
            WantedMove(it.move.topic, it.move.partition, it.move.source, it.move.target)
            for it in taken
        ]
        try:
            await self._committer.propose(partial(begin_wanted, wanted, self._max_moves))
        finally:
            state.settle(taken)

    def _tell_unreached(self) -> None:
        """Log what no move helps, once until that changes."""
        plan = self.state.last_plan
        unreached = {} if plan is None else {it.partition(":")[0]: it for it in plan.unreached}
        for goal, reason in unreached.items():
            if goal not in self._told_unreached:
                logger.info("brokers are not even, and no move helps", extra={"reason": reason})
        self._told_unreached = frozenset(unreached)

    async def describe(self, request: DescribeBalance) -> BalanceDescribed:
        """Describe the balance, and for a dry run what it would do now."""
        turns = turns_of(Work.UPKEEP)
        now_ms = self._clocks.boot_ms()
        waits_for = self.state.waits_for(self._image(), now_ms)
        view = await turns.run(self.state.view(self._image(), now_ms))
        planned = await turns.run(self.state.plan_for(view)) if request.dry_run else None
        boot_to_wall_ms = self._clocks.wall_ms() - self._clocks.boot_ms()
        return described(self.state, view, waits_for, planned, boot_to_wall_ms)
