"""Metrics of partitions that move to other brokers. Plain counters, read at each scrape."""

from collections.abc import Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.partition.moving import MoveStatistics
from headrace.broker.telemetry.families import counters, gauge


class MoveCollector(Collector):
    """Shows the statistics of moves from this broker."""

    def __init__(self, moves: MoveStatistics) -> None:
        self._moves = moves

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        moves = self._moves
        yield gauge(
            "partition_move_freeze_seconds",
            "How long producers waited for the last partition that moved away",
            moves.last_freeze_ms / 1000,
        )
        yield from counters(
            ("partition_moves", "Partitions that have moved away", moves.moved_total),
            ("partition_moves_taken_back", "Moves of partitions that had begun here and were taken back",
             moves.taken_back_total),
        )  # fmt: skip
