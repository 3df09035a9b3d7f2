"""What the coordinator's partitions on this node have done since the start. Plain counters, read at each scrape."""

from dataclasses import dataclass


@dataclass(slots=True)
class CoordinatorStatistics:
    """Counters of all partitions together."""

    loads_total: int = 0
    loaded_records_total: int = 0
    loads_past_damage_total: int = 0
    rewrites_total: int = 0
    rewritten_records_total: int = 0
    given_up_records_total: int = 0
    given_up_bytes_total: int = 0
