"""What compaction has done and is doing."""

from dataclasses import dataclass


@dataclass(slots=True)
class CompactionStatistics:
    """Counted since the start."""

    rounds: int = 0  # begun
    rounds_finished: int = 0
    groups: int = 0  # merged and committed
    objects_in: int = 0
    objects_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    copied_bytes: int = 0  # of `bytes_out`, what was copied within the bucket
    cleaned_streams: int = 0  # passes that came to their end
    cleaned_bytes_in: int = 0  # of `bytes_in`, what was cleaned
    cleaned_bytes_out: int = 0
    failures: int = 0
    damaged_objects: int = 0  # left out from now on
    throttled_seconds: float = 0.0
    # The current group; 0 when there is none.
    group_bytes: int = 0
    group_done_bytes: int = 0

    @property
    def is_running(self) -> bool:
        """Whether a round is running."""
        return self.rounds > self.rounds_finished
