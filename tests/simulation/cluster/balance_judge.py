"""Judges the balance: how many of its moves are under way, which partitions rest, and who leads how many. Pure.

The bounds are those that docs/operations.md states, and not what the product has for them, which could be the mistake.
An entry does not say who has begun a move. It is of the balance if no client has asked for it and its source stays: the
leading controller moves partitions by itself only to even out brokers, and away from those that leave.
"""

from collections.abc import Callable, Iterator
from typing import Final
from uuid import UUID

from headrace.metadata.controller.placement import active_brokers, partitions_led
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage, MoveImage
from headrace.metadata.images.draining import closed_brokers
from tests.simulation.cluster.entries import Step
from tests.simulation.cluster.records import Place

MAX_MOVES: Final = 5  # under way, those of others included
START_PERCENT: Final = 20  # from the mean, or one partition: then brokers are evened out
# By how much the end of a move may be seen too late: a leading controller that is stopped for less than an election
# takes so long to tell.
SLACK_S: Final = 2.0

_Key = tuple[UUID, int]


class BalanceMoves:
    """All of one run."""

    def __init__(
        self,
        now_s: Callable[[], float],
        rest_s: float,
        was_asked: Callable[[Place, int], bool],
        begun: Callable[[], None],
    ) -> None:
        """Begin.

        Args:
            now_s: the time, soon after an entry was committed.
            rest_s: how long a partition rests after a move.
            was_asked: whether a client has asked for a move of a partition to a broker.
            begun: called for each move of the balance.
        """
        self._now_s = now_s
        self._rest_s = rest_s
        self._was_asked = was_asked
        self._begun = begun
        # When the last move of a partition has ended, and the term; none: it has another leader, in whatever term.
        self._ended: dict[_Key, tuple[float, int | None]] = {}

    def wrong(self, step: Step) -> Iterator[str]:
        """Judge an entry."""
        old, new = step.old, step.new
        if old.moves is new.moves:
            return
        begun = [it for key, it in new.moves.items() if self._is_begun(key, it, step)]
        going_on = sum(old.moves.get(key) == it for key, it in new.moves.items())
        if begun and going_on + len(begun) > MAX_MOVES:
            yield f"the balance begins {len(begun)} moves, and {going_on} are under way"
        for move in begun:
            self._begun()
            ended_s, term = self._ended.get((move.topic_id, move.partition), (None, None))
            rested_s = None if ended_s is None else self._now_s() - ended_s
            if rested_s is None or term not in (None, new.term):
                continue  # a new leading controller does not know of moves that were taken back before its term
            if rested_s < self._rest_s - SLACK_S:
                name = new.topics[move.topic_id].name
                yield f"the balance moves {name}-{move.partition} {rested_s:.2f} s after its last move"
        for key, move in old.moves.items():
            if new.moves.get(key) != move:
                has_moved = _leader(new, key) == move.target
                self._ended[key] = (self._now_s(), None if has_moved else new.term)

    def _is_begun(self, key: _Key, move: MoveImage, step: Step) -> bool:
        """Whether the entry begins this move, and nobody else has asked for it."""
        old = step.old
        if old.moves.get(key) == move:
            return False
        topic = step.new.topics[move.topic_id]
        source = _leader(old, key)
        return source not in closed_brokers(
            old.brokers, old.logs, old.configs
        ) and not self._was_asked((topic.name, move.partition), move.target)


def uneven(image: MetadataImage) -> list[str]:
    """Return the brokers of which the balance would begin to even out the number of partitions."""
    try:
        brokers = active_brokers(image)
    except RefusedError:
        return []
    led = partitions_led(image)
    total = sum(led[it] for it in brokers)
    allowed = max(total * START_PERCENT // 100, len(brokers))  # times the number of brokers
    return [
        f"broker {it} leads {led[it]} partitions of the {total} of {len(brokers)} brokers"
        for it in brokers
        if abs(led[it] * len(brokers) - total) > allowed
    ]


def _leader(image: MetadataImage, key: _Key) -> int | None:
    """Who leads a partition; None once its topic is deleted."""
    topic = image.topics.get(key[0])
    return None if topic is None else topic.partitions[key[1]].leader
