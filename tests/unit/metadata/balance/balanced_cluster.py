"""A pure controller whose brokers tell loads, for tests of the balance's state."""

from headrace.metadata.balance.cluster import BalancePlan
from headrace.metadata.balance.state import BalanceSettings, BalanceState, DecidedMove
from headrace.metadata.controller.balancing import WantedMove, begin_wanted
from headrace.metadata.controller.moves import take_back
from headrace.metadata.rpc.loads import Loads, PartitionLoad, TrafficRates
from headrace.metadata.rpc.requests import (
    AlterReassignments,
    FinishMove,
    Reassignment,
    StreamToClose,
)
from headrace.steps import completed
from tests.unit.metadata.pure_controller import PureController

MIB = 1 << 20
WINDOW_MS = 300_000
REST_MS = 2 * WINDOW_MS


class BalancedCluster:
    """Broker 1 leads all partitions of `orders`; time passes as the test says."""

    def __init__(self, nodes=2, partitions=12, cost=10 * MIB, enabled=True):
        self.controller = PureController()
        for node_id in range(1, nodes + 1):
            self.controller.register(node_id)
            self.controller.begin_log(node_id)
        self.controller.led_by(1, "orders", partitions=partitions)
        for it in self.partitions():
            self.controller.open(it.meta_stream_id)
        self.cost = cost
        self.now_ms = 50
        self.state = BalanceState(BalanceSettings(enabled, WINDOW_MS), self.now_ms)

    @property
    def image(self):
        return self.controller.image

    def partitions(self):
        return self.image.topic("orders").partitions

    def led(self, node_id):
        return [it.partition for it in self.partitions() if it.leader == node_id]

    def do(self, change, *arguments):
        """Change the metadata, and have the state follow."""
        before = self.image
        answer = change(*arguments)
        self.state.follow(before, self.image, self.now_ms)
        return answer

    def tell(self, *node_ids):
        for node_id in node_ids or self.image.brokers:
            mine = [it for it in self.partitions() if it.leader == node_id]
            loads = [PartitionLoad(it.data_stream_id, TrafficRates(self.cost)) for it in mine]
            self.state.note(node_id, Loads(tuple(loads), 0, TrafficRates()), self.now_ms)

    def pass_window(self):
        self.now_ms += WINDOW_MS
        self.tell()

    def waits_for(self):
        return self.state.waits_for(self.image, self.now_ms)

    def plan(self) -> BalancePlan:
        view = completed(self.state.view(self.image, self.now_ms))
        return completed(self.state.plan_for(view))

    def go_on(self) -> list[DecidedMove]:
        """One round of the driver."""
        if self.waits_for() is not None:
            return []
        if not self.state.has_plan:
            self.state.adopt(self.plan(), self.now_ms)
        taken = self.state.take(self.image, self.now_ms)
        wanted = [
            WantedMove(it.move.topic, it.move.partition, it.move.source, it.move.target)
            for it in taken
        ]
        inputs = self.controller.inputs()
        self.do(lambda: self.controller.commit(begin_wanted(wanted, 5, self.image, inputs)))
        self.state.settle(taken)
        return taken

    def move(self, index, target):
        """A client asks for a move."""
        asked = AlterReassignments((Reassignment("orders", index, (target,)),))
        self.do(self.controller.do, asked)

    def finish(self, index):
        """The leader finishes a move, and the target opens the partition."""
        it, topic_id = self.partitions()[index], self.image.topic("orders").topic_id
        move = self.image.moves[topic_id, index]
        streams = [
            StreamToClose(s, it.leader_epoch, 0) for s in (it.data_stream_id, it.meta_stream_id)
        ]
        sender = self.controller.sender(it.leader)
        self.do(
            self.controller.do,
            FinishMove(*sender, topic_id, index, it.leader_epoch, move.epoch, tuple(streams)),
        )
        for each in streams:
            self.controller.open(each.stream_id, it.leader_epoch + 1, move.target)

    def finish_all(self):
        for _, index in sorted(self.image.moves):
            self.finish(index)

    def take_back_all(self):
        moves = list(self.image.moves.values())
        self.do(lambda: self.controller.commit(take_back(moves, self.image)))
