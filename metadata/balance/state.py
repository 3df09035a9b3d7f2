"""What the leading controller remembers to keep brokers even: loads, rests, the plan, and its last decisions. Pure.

All of it is soft: a new leader begins with nothing, and moves nothing for a whole window, in which brokers report to it
their loads. It does not know when partitions moved last. One that has had another leader before, or whose leader has
registered again, counts as moved when the term began.
"""

from collections import Counter, deque
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from headrace.metadata.balance.cluster import (
    BalancePlan,
    BalanceView,
    BrokerView,
    Goal,
    PartitionKey,
    PartitionView,
    PlannedMove,
    Rules,
)
from headrace.metadata.balance.planner import PlanSteps, plan
from headrace.metadata.balance.told_loads import ToldLoads
from headrace.metadata.controller.placement import active_brokers
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage, MoveImage, PartitionImage, TopicImage
from headrace.metadata.images.configs import TOPIC_RESOURCE
from headrace.metadata.images.draining import is_drained
from headrace.metadata.images.moves import ended_moves
from headrace.metadata.levels import LEVEL_FEATURE, MOVES_LEVEL, level_of
from headrace.metadata.rpc.loads import Loads
from headrace.steps import Steps

TOPIC_SWITCH: Final = "headrace.balance.enable"
MAX_DECISIONS: Final = 100  # remembered
PLAN_MS: Final = 60_000  # what has not begun by then is planned again, with newer loads
LOADS_PER_WINDOW: Final = 5  # loads that are older than a window's part are not used
# Nothing is planned for this part of a window after a broker has come or gone: others may follow, as in a restart of
# all of them.
CALMS_PER_WINDOW: Final = 10
MAX_TAKEN_BACK: Final = (
    5  # own moves one after the other: then nothing moves until these would have rested
)
STEP_TOPICS: Final = 500
STEP_PARTITIONS: Final = 2_000

_Key = tuple[UUID, int]


class BalanceSettings(NamedTuple):
    """Settings of this node."""

    enabled: bool
    window_ms: int

    @property
    def rules(self) -> Rules:
        """The planner's bounds."""
        return Rules(rest_ms=2 * self.window_ms)


class DecidedMove(msgspec.Struct):
    """A move that was decided on, and what has become of it."""

    at_ms: int  # boot clock
    move: PlannedMove
    outcome: str = "proposed"  # begun, moved, taken back, not begun


class BalanceState:
    """The soft state of one term."""

    def __init__(self, settings: BalanceSettings, now_ms: int) -> None:
        self._settings = settings
        self._rules = settings.rules
        self._began_ms = now_ms
        self._loads = ToldLoads(settings.window_ms)
        self._moved_ms: dict[_Key, int] = {}
        self._emptied_ms: dict[int, int] = {}  # brokers that others moved partitions away from
        self._brokers_ms: int | None = None  # when one has come or gone
        self._taken_back = 0  # own moves since one has come to its end
        self._taken_back_ms = now_ms
        self._own: dict[_Key, DecidedMove] = {}  # proposed or begun, and not over
        self._plan: deque[PlannedMove] = deque()
        self._planned_ms = now_ms
        self.last_plan: BalancePlan | None = None
        self.decisions: deque[DecidedMove] = deque(maxlen=MAX_DECISIONS)  # the newest last
        self.moves_total: Counter[Goal] = Counter()
        self.taken_back_total = 0
        self.plans_total = 0

    @property
    def has_plan(self) -> bool:
        """Whether moves of the last plan have not begun."""
        return bool(self._plan)

    def note(self, node_id: int, loads: Loads, now_ms: int) -> None:
        """A broker has reported its loads."""
        self._loads.note(node_id, loads, now_ms)

    def follow(self, old: MetadataImage, new: MetadataImage, now_ms: int) -> None:
        """Note moves that have begun and ended from one image to a later one."""
        if old.brokers is not new.brokers:
            self._follow_brokers(old, new, now_ms)
        if old.configs is not new.configs:
            for node_id in new.brokers:
                if is_drained(old.configs, node_id) and not is_drained(new.configs, node_id):
                    self._emptied_ms.pop(node_id, None)
        if old.moves is new.moves:
            return
        for key, move in ended_moves(old.moves, new.moves):
            self._ended(key, move, old, new, now_ms)
        for key, move in new.moves.items():
            if old.moves.get(key) != move:
                self._begun(key, move, new, now_ms)

    def waits_for(self, image: MetadataImage, now_ms: int) -> str | None:
        """Why nothing is planned now, in words; None: it is."""
        if not self._settings.enabled:
            return "it is off: headrace.balance.enable is false on the leading controller"
        if level_of(image.features) < MOVES_LEVEL:
            return f"{LEVEL_FEATURE} is below {MOVES_LEVEL}: run `headrace cluster upgrade`"
        left_ms = self._began_ms + self._settings.window_ms - now_ms
        if left_ms > 0:
            return (
                "the leading controller has changed, and waits until it has heard of the load for long enough: "
                f"{-(-left_ms // 1000)} s are left"
            )
        brokers = self._taking_part(image, now_ms)
        if len(brokers) < 2:
            return "fewer than two brokers take part"
        if self._brokers_ms is not None:
            calm_ms = self._brokers_ms + self._settings.window_ms // CALMS_PER_WINDOW
            if now_ms < calm_ms:
                return f"a broker has come or gone: {-(-(calm_ms - now_ms) // 1000)} s are left"
        if self._taken_back >= MAX_TAKEN_BACK:
            rested_ms = self._taken_back_ms + self._rules.rest_ms
            if now_ms < rested_ms:
                return (
                    f"{self._taken_back} moves one after the other were taken back, see the brokers' logs: "
                    f"{-(-(rested_ms - now_ms) // 1000)} s are left"
                )
        oldest_ms = now_ms - self._settings.window_ms // LOADS_PER_WINDOW
        silent = [it for it in sorted(brokers) if (self._loads.told_ms(it) or -1) < oldest_ms]
        if silent:
            return f"brokers {silent} have not reported their loads lately: is headrace.balance.enable true on them?"
        return None

    def view(self, image: MetadataImage, now_ms: int) -> Steps[BalanceView]:
        """Make the planner's view of the cluster, in steps."""
        self._prune(now_ms)
        yield
        taking_part = self._taking_part(image, now_ms)
        partitions: list[PartitionView] = []
        moved_ms: dict[PartitionKey, int] = {}
        moving: list[PartitionKey] = []
        off = []
        looked_at = 0
        for topic in image.topics.values():
            if image.configs and _is_off(image, topic):
                off.append(topic.name)
            for it in topic.partitions:
                key = PartitionKey(topic.name, it.partition)
                move = image.moves.get((topic.topic_id, it.partition))
                if move is not None:
                    moving.append(key)
                cost = self._loads.cost(it.data_stream_id, it.leader, now_ms)
                at = it.leader if move is None else move.target
                partitions.append(PartitionView(topic.name, it.partition, at, cost))
                moved = self._last_move_ms(topic, it)
                if moved is not None:
                    moved_ms[key] = moved
            looked_at += STEP_PARTITIONS // STEP_TOPICS + len(topic.partitions)
            if looked_at >= STEP_PARTITIONS:
                looked_at = 0
                yield
        nodes = [
            BrokerView(it.node_id, it.rack, it.node_id in taking_part)
            for it in image.brokers.values()
            if not it.fenced
        ]
        nodes.sort()
        return BalanceView(nodes, partitions, now_ms, moving, moved_ms, off)

    def plan_for(self, view: BalanceView) -> PlanSteps:
        """Plan, in steps, without having it done."""
        evening = frozenset[Goal]() if self.last_plan is None else self.last_plan.evening
        return plan(view, evening, self._rules)

    def adopt(self, planned: BalancePlan, now_ms: int) -> None:
        """Have a plan done."""
        self.plans_total += 1
        self.last_plan = planned
        self._plan = deque(planned.moves)
        self._planned_ms = now_ms

    def drop_plan(self) -> None:
        """Begin no more moves of the last plan."""
        self._plan.clear()

    def take(self, image: MetadataImage, now_ms: int) -> list[DecidedMove]:
        """Take the moves of the plan that begin now: so many that no more than are allowed are under way."""
        if now_ms - self._planned_ms > PLAN_MS:
            self.drop_plan()
        taken: list[DecidedMove] = []
        room = self._rules.max_moves - len(image.moves)
        while self._plan and len(taken) < room:
            move = self._plan.popleft()
            topic = image.topic(move.topic)
            if topic is None:
                continue
            decided = DecidedMove(now_ms, move)
            self._own[topic.topic_id, move.partition] = decided
            self.decisions.append(decided)
            taken.append(decided)
        return taken

    def settle(self, taken: list[DecidedMove]) -> None:
        """The proposal is over: what has not begun will not."""
        for it in taken:
            if it.outcome == "proposed":
                it.outcome = "not begun"
        self._own = {key: it for key, it in self._own.items() if it.outcome != "not begun"}

    def _follow_brokers(self, old: MetadataImage, new: MetadataImage, now_ms: int) -> None:
        if _lives(old) != _lives(new):
            self._brokers_ms = now_ms
        for broker in old.brokers.values():
            known = new.brokers.get(broker.node_id)
            if known is None or known.epoch_ended or known.epoch != broker.epoch:
                # A broker that comes back gets its share at once.
                self._loads.forget(broker.node_id)
                self._emptied_ms.pop(broker.node_id, None)

    def _begun(self, key: _Key, move: MoveImage, image: MetadataImage, now_ms: int) -> None:
        own = self._own.get(key)
        if own is not None and own.move.target == move.target and own.outcome == "proposed":
            own.outcome = "begun"
            self.moves_total[own.move.goal] += 1
            return
        topic = image.topic_by_id(move.topic_id)
        if topic is not None:
            self._emptied_ms[topic.partitions[move.partition].leader] = now_ms

    def _ended(
        self, key: _Key, move: MoveImage, old: MetadataImage, new: MetadataImage, now_ms: int
    ) -> None:
        before, after = old.topic_by_id(move.topic_id), new.topic_by_id(move.topic_id)
        own = self._own.pop(key, None)
        if after is None or before is None:
            return
        source, now = before.partitions[move.partition], after.partitions[move.partition]
        # One that was taken back rests, too: it would not get on any better at once.
        self._moved_ms[key] = now_ms
        moved = now.leader == move.target
        if moved:
            self._loads.move(now.data_stream_id, source.leader, now_ms)
        if own is not None:
            own.outcome = "moved" if moved else "taken back"
            self.taken_back_total += not moved
            self._taken_back = 0 if moved else self._taken_back + 1
            self._taken_back_ms = now_ms

    def _last_move_ms(self, topic: TopicImage, partition: PartitionImage) -> int | None:
        found = self._moved_ms.get((topic.topic_id, partition.partition))
        if found is None and partition.leader_epoch > 0:
            return self._began_ms
        return found

    def _taking_part(self, image: MetadataImage, now_ms: int) -> set[int]:
        """Active brokers that get partitions, and from which none were moved away lately."""
        try:
            staying = active_brokers(image)
        except RefusedError:
            return set()
        since_ms = now_ms - self._rules.rest_ms
        return {it for it in staying if self._emptied_ms.get(it, since_ms) <= since_ms}

    def _prune(self, now_ms: int) -> None:
        since_ms = now_ms - self._rules.rest_ms
        self._moved_ms = {key: it for key, it in self._moved_ms.items() if it > since_ms}
        self._emptied_ms = {key: it for key, it in self._emptied_ms.items() if it > since_ms}
        self._loads.prune(now_ms)


def _lives(image: MetadataImage) -> set[tuple[int, int]]:
    """The brokers that have not ended, each with its epoch."""
    return {(it.node_id, it.epoch) for it in image.brokers.values() if not it.epoch_ended}


def _is_off(image: MetadataImage, topic: TopicImage) -> bool:
    overrides = image.configs.get((TOPIC_RESOURCE, topic.name))
    return overrides is not None and overrides.get(TOPIC_SWITCH, "true").lower() == "false"
