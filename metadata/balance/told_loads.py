"""What brokers have reported of their partitions' traffic. Pure."""

from typing import Final, NamedTuple

from headrace.metadata.rpc.loads import Loads

MAX_PARTITIONS: Final = 10_000  # of one broker that are kept; brokers name far fewer


class _OfBroker(NamedTuple):
    costs: dict[int, int]  # by data stream
    others_cost: int  # of each partition that was not named, on average
    told_ms: int


class ToldLoads:
    """The last message of each broker, and the loads of partitions that have moved since."""

    def __init__(self, window_ms: int) -> None:
        self._window_ms = window_ms
        self._of_brokers: dict[int, _OfBroker] = {}
        # By data stream: the cost that its former leader reported, and until when it counts. The new leader has not
        # looked at it for a window yet.
        self._moved: dict[int, tuple[int, int]] = {}

    def note(self, node_id: int, loads: Loads, now_ms: int) -> None:
        """Take a message in."""
        costs = {it.stream_id: it.rates.cost for it in loads.partitions[:MAX_PARTITIONS]}
        others = loads.others_rates.cost // loads.others if loads.others else 0
        self._of_brokers[node_id] = _OfBroker(costs, others, now_ms)

    def forget(self, node_id: int) -> None:
        """Forget a broker whose epoch has ended."""
        self._of_brokers.pop(node_id, None)

    def told_ms(self, node_id: int) -> int | None:
        """When a broker reported its loads last; None: it has not yet."""
        found = self._of_brokers.get(node_id)
        return None if found is None else found.told_ms

    def move(self, stream_id: int, source: int, now_ms: int) -> None:
        """A partition has moved: its former leader's report counts for a window."""
        self._moved[stream_id] = (self.cost(stream_id, source, now_ms), now_ms + self._window_ms)

    def prune(self, now_ms: int) -> None:
        """Drop what does not count any more."""
        self._moved = {key: it for key, it in self._moved.items() if it[1] > now_ms}

    def cost(self, stream_id: int, leader: int, now_ms: int) -> int:
        """The cost of a partition, in bytes/s; 0 if nothing is known."""
        moved = self._moved.get(stream_id)
        if moved is not None and now_ms < moved[1]:
            return moved[0]
        found = self._of_brokers.get(leader)
        return 0 if found is None else found.costs.get(stream_id, found.others_cost)
