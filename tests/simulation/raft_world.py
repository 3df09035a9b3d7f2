"""Time, the network between simulated controllers, and the record of what happened. Pure: a seed is a run."""

import random
from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any
from uuid import UUID

from headrace.metadata.raft.messages import RaftMessage
from tests.simulation.raft_disk import SimulatedLog
from tests.simulation.raft_story import brief
from tests.simulation.raft_swarm import Swarm

TRACE_LINES = 60


class ViolationError(AssertionError):
    """Something happened that never may."""

    def __init__(self, invariant: str, what: str) -> None:
        super().__init__(f"{invariant}: {what}")
        self.invariant = invariant
        self.what = what


class World:
    """Everything that is not inside a node."""

    def __init__(self, swarm: Swarm, rng: random.Random, trace_lines: int | None) -> None:
        self.swarm = swarm
        self.rng = rng
        self.now_us = 0
        self.events = 0
        self.calm = False  # from then on nothing fails
        self.digest = 0  # of everything that happened, in order
        self.trace: deque[tuple[int, int, str, Any]] = deque(maxlen=trace_lines)
        self.logs: dict[UUID, SimulatedLog] = {}  # every disk there ever was
        self.blocked: set[tuple[int, int]] = set()  # (source, target)
        self.receive: dict[int, Callable[[RaftMessage], None]] = {}
        self._loss, self._tail, self._duplication = swarm.loss, swarm.tail, swarm.duplication
        self._delay_us = swarm.delay_us
        self._arrived: dict[tuple[int, int], int] = {}
        self._heap: list[tuple[int, int, Callable[[Any], None], Any]] = []
        self._number = 0

    # --- time

    def after(self, delay_us: float, act: Callable[[Any], None], argument: Any = None) -> None:
        """Do something later."""
        self._number += 1
        heappush(self._heap, (self.now_us + int(delay_us), self._number, act, argument))

    def advance(self) -> None:
        """Go on to what happens next."""
        self.now_us, _, act, argument = heappop(self._heap)
        self.events += 1
        act(argument)

    def new_directory(self) -> SimulatedLog:
        """Put a blank disk into the world."""
        log = SimulatedLog(UUID(int=self.rng.getrandbits(128)))
        self.logs[log.directory_id] = log
        return log

    def note(self, node_id: int, what: str, detail: Any = None) -> None:
        """Add a line to the trace."""
        self.trace.append((self.now_us, node_id, what, detail))

    def mix(self, *numbers: int) -> None:
        """Make the digest depend on numbers."""
        self.digest = hash((self.digest, self.now_us, numbers))

    def story(self) -> list[str]:
        """The end of the trace, in words."""
        return [
            f"{at / 1000:11.3f} ms  node {node_id}  {what} {brief(detail)}"
            for at, node_id, what, detail in self.trace
        ]

    # --- network

    def send(self, message: RaftMessage) -> None:
        """Let a message go; what becomes of it is the network's affair."""
        if (message.source, message.target) in self.blocked:
            return
        if self._loss and self.rng.random() < self._loss:
            return
        self._fly(message)
        if self._duplication and self.rng.random() < self._duplication:
            self._fly(message)

    def _fly(self, message: RaftMessage) -> None:
        delay_us = self._delay_us * (0.5 + self.rng.random())
        if self._tail and self.rng.random() < self._tail:
            longest_us = 3 * self.swarm.timeout_us
            delay_us += min(longest_us, self.swarm.timeout_us / 20 * self.rng.paretovariate(0.7))
        if self.swarm.in_order:
            link = (message.source, message.target)
            arrival_us = max(self.now_us + int(delay_us), self._arrived.get(link, 0) + 1)
            self._arrived[link] = arrival_us
            delay_us = arrival_us - self.now_us
        self.after(delay_us, self._deliver, message)

    def _deliver(self, message: RaftMessage) -> None:
        if (message.source, message.target) not in self.blocked:
            self.receive[message.target](message)

    def lose_messages_to(self, node_id: int) -> None:
        """What is under way to a node goes with its connections."""
        self._heap = [
            event for event in self._heap if event[2] != self._deliver or event[3].target != node_id
        ]
        heapify(self._heap)

    def calm_down(self) -> None:
        """From now on nothing is lost, doubled or late."""
        self.calm = True
        self.blocked.clear()
        self._loss = self._tail = self._duplication = 0.0
        self._delay_us = min(self._delay_us, self.swarm.timeout_us / 200)
        latest_us = self.now_us + self.swarm.timeout_us // 10
        self._heap = [
            (min(at, latest_us) if act == self._deliver else at, number, act, argument)
            for at, number, act, argument in self._heap
        ]
        heapify(self._heap)
        self._arrived.clear()
