"""Whether what clients saw of one register can be explained by one order of their operations. Pure.

The search is Wing and Gong's with Lowe's memory of the configurations that were tried ("Testing for
linearizability", 2017): operations are put into an order one by one, each only after all that must
precede it, and the state that they lead to must allow what each was answered. Registers are checked
one by one, which is enough (Herlihy and Wing, locality).

| operation                    | must come after                                                 |
|------------------------------|-----------------------------------------------------------------|
| strict                       | everything that was answered before it was asked                |
| read of a copy (`copy` set)  | what the same copy had answered before: copies may lag, each by |
|                              | itself, but none ever goes back                                 |
| unknown outcome (`ended_ns`  | likewise; it takes effect at any later time, or never           |
| is None)                     |                                                                 |
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

# A topic can be deleted and created anew by two calls whose outcome nobody knows.
_MAX_UNKNOWN_IN_A_ROW = 2
MAX_STEPS = 500_000  # configurations of one search; histories of tests need thousands

State = Hashable


@dataclass(frozen=True, slots=True)
class Operation:
    """One call and its answer; times are of one clock, in ns."""

    begun_ns: int
    ended_ns: int | None
    call: str
    argument: Hashable = None
    answer: Hashable = None
    # Which node answered. A read says so with `lags`: its node has a copy that may be old.
    node: Hashable = None
    lags: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the search found. `longest`: the longest order that fits; `stuck`: what fits nowhere after it."""

    explained: bool
    longest: tuple[Operation, ...] = ()
    stuck: tuple[Operation, ...] = ()


class UndecidedError(Exception):
    """The search met its bound before it found an order, or that there is none."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a register is. `follow`: the states to which an operation with its answer can lead; none: impossible.

    `looks`: the operation, with this answer, changes nothing in whichever state it is possible.
    """

    follow: Callable[[State, Operation], Iterable[State]]
    looks: Callable[[Operation], bool]


def check(
    operations: Sequence[Operation], model: Model, initial: State, *, max_steps: int = MAX_STEPS
) -> Verdict:
    """Look for an order of the operations of one register.

    Raises:
        UndecidedError: `max_steps` configurations were tried.
    """
    return _Search(operations, model, max_steps).run(initial)


class _Search:
    """Depth first; a configuration is the set of operations that have their place, and the state."""

    def __init__(self, operations: Sequence[Operation], model: Model, max_steps: int) -> None:
        self._operations = sorted(operations, key=lambda it: it.begun_ns)
        self._model = model
        self._max_steps = max_steps
        self._before = [_mask_before(it, self._operations) for it in self._operations]
        answered = (i for i, it in enumerate(self._operations) if it.ended_ns is not None)
        self._needed = sum(1 << i for i in answered)
        looks = (i for i, it in enumerate(self._operations) if model.looks(it))
        self._looks = self._needed & sum(1 << i for i in looks)

    def run(self, initial: State) -> Verdict:
        # By operations placed and state: which of the unknown ones that took. With fewer, all is possible
        # that is possible with more.
        tried: dict[tuple[int, State], list[int]] = {}
        steps = 0
        best: tuple[int, ...] = ()
        best_stuck: tuple[int, ...] = ()
        stack: list[tuple[int, State, tuple[int, ...]]] = [(0, initial, ())]
        while stack:
            done, state, order = stack.pop()
            done, order = self._place_reads(done, state, order)
            if done & self._needed == self._needed:
                return Verdict(explained=True)
            spent = tried.setdefault((done & self._needed, state), [])
            if any(fewer & ~done == 0 for fewer in spent):
                continue
            spent.append(done & ~self._needed)
            steps += 1
            if steps > self._max_steps:
                msg = f"{len(self._operations)} operations: undecided after {steps} steps"
                raise UndecidedError(msg)
            candidates = self._candidates(done)
            certain = [i for i in candidates if self._needed >> i & 1]
            if not best_stuck or len(order) > len(best):
                best, best_stuck = order, tuple(certain)
            for i in reversed(certain):
                for taken, following in self._ways(state, i, candidates):
                    mask = sum(1 << j for j in taken)
                    stack.append((done | mask, following, (*order, *taken)))
        return Verdict(
            explained=False,
            longest=tuple(self._operations[i] for i in best),
            stuck=tuple(self._operations[i] for i in best_stuck),
        )

    def _ways(
        self, state: State, i: int, candidates: Sequence[int]
    ) -> list[tuple[tuple[int, ...], State]]:
        """How operation `i` can come next: by itself, or else after as few unknown ones as make it possible.

        An unknown operation that `i` does not need can wait, or never happen. Of those that lead to the same
        state one is enough: nothing comes after an unknown operation, so that they are interchangeable.
        """
        chains: dict[State, tuple[int, ...]] = {state: ()}
        for _ in range(_MAX_UNKNOWN_IN_A_ROW + 1):
            ways = [
                ((*chain, i), following)
                for reached, chain in chains.items()
                for following in self._model.follow(reached, self._operations[i])
            ]
            if ways:
                return ways
            longer: dict[State, tuple[int, ...]] = {}
            for reached, chain in chains.items():
                for j in candidates:
                    if not self._needed >> j & 1 and j not in chain:
                        for following in self._model.follow(reached, self._operations[j]):
                            if following != reached:
                                longer.setdefault(following, (*chain, j))
            chains = longer
        return []

    def _place_reads(
        self, done: int, state: State, order: tuple[int, ...]
    ) -> tuple[int, tuple[int, ...]]:
        """Place what fits and only looks: doing so later could help no other operation."""
        while True:
            placed = [
                i
                for i in self._candidates(done)
                if self._looks >> i & 1
                and list(self._model.follow(state, self._operations[i])) == [state]
            ]
            if not placed:
                return done, order
            done |= sum(1 << i for i in placed)
            order = (*order, *placed)

    def _candidates(self, done: int) -> list[int]:
        """Operations without a place all of whose predecessors have one, by the time they began."""
        found = []
        for i, before in enumerate(self._before):
            if not done >> i & 1 and not before & ~done:
                found.append(i)
        return found


def _mask_before(operation: Operation, operations: Sequence[Operation]) -> int:
    mask = 0
    for i, other in enumerate(operations):
        if other.begun_ns > operation.begun_ns:
            break
        if other.ended_ns is None or other.ended_ns >= operation.begun_ns:
            continue
        if not operation.lags or other.node == operation.node:
            mask |= 1 << i
    return mask


def _follow_topic(state: State, operation: Operation) -> Iterable[State]:
    answer, known = operation.answer, operation.ended_ns is not None
    match operation.call:
        case "create" if state is None:
            return [answer if known else "?"] if answer != "exists" else []
        case "create":
            return [state] if answer == "exists" else []
        case "delete" if state is None:
            return [state] if answer == "absent" else []
        case "delete":
            return [None] if answer == "deleted" or not known else []
        case "describe" if state == "?" and answer is not None:
            return [answer]
        case "describe":
            return [state] if answer == state else []
        case _:
            raise AssertionError(operation)


def _follow_value(state: State, operation: Operation) -> Iterable[State]:
    if operation.call == "write":
        return [operation.argument]
    return [state] if operation.answer == state else []


# A topic by its name: its id, "?" for an id that nobody has been told, or None. `create` answers an id
# or "exists", `delete` answers "deleted" or "absent", `describe` an id or None.
TOPIC = Model(_follow_topic, lambda it: it.call == "describe" or it.answer in ("exists", "absent"))
# One value: `write` sets it to its argument, `read` answers it.
VALUE = Model(_follow_value, lambda it: it.call == "read")
