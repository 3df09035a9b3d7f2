"""What one seed's run is like: how many nodes, which faults, and knobs, some of them absurdly small."""

import random
from dataclasses import dataclass

FAULTS = (
    "crash",
    "pause",
    "partition",
    "one way",
    "cut link",
    "slow disk",
    "hanging disk",
    "disk full",
    "lost disk",
    "membership",
    "transfer",
    "old copy",
)
# What a minority may suffer without the others noticing for long.
OF_A_MINORITY = FAULTS[:8]
MAX_NODES = 7


@dataclass(frozen=True, slots=True)
class Swarm:
    """Drawn from the seed alone. Times in microseconds unless named otherwise."""

    nodes: int  # voters at first
    faults: tuple[str, ...]
    victims: tuple[
        int, ...
    ]  # a minority, to which alone all faults happen; none: they happen to all
    fault_interval_us: float
    election_timeout_ms: int
    clock_skew: float  # a clock's rate is off by at most this part
    delay_us: float
    tail: float  # part of the messages that are much later
    loss: float
    duplication: float
    in_order: bool
    disk_us: float
    gather_us: int  # how long the driver lets inputs gather before it takes effects
    stall: float  # part of the writes behind which the driver is held up
    client_interval_us: float
    max_entry_bytes: int
    snapshot_entries: int  # applied since the last snapshot; 0: never one
    fetch_failure: float
    max_append_bytes: int
    max_appends_inflight: int
    max_uncommitted_bytes: int
    max_committed_bytes: int
    max_reads_pending: int

    @property
    def timeout_us(self) -> int:
        """The election timeout."""
        return self.election_timeout_ms * 1000


def draw(rng: random.Random) -> Swarm:
    """Draw a run's nature."""
    timeout_ms = rng.choice((150, 500, 1000))
    timeout_us = timeout_ms * 1000
    nodes = rng.choices((1, 2, 3, 4, 5, 6, 7), (4, 4, 40, 6, 34, 4, 8))[0]
    victims = tuple(rng.sample(range(1, nodes + 1), (nodes - 1) // 2)) if rng.random() < 0.2 else ()
    some = rng.random() < 0.9  # now and then nothing is wrong at all
    all_over = some and not victims
    kinds = (OF_A_MINORITY if victims else FAULTS[:-1]) if some else ()
    faults = tuple(fault for fault in kinds if rng.random() < 0.45)
    if {"lost disk", "membership"} & set(
        faults
    ):  # without them members do not know each other's disks
        faults += FAULTS[-1:]
    return Swarm(
        nodes=nodes,
        faults=faults,
        victims=victims,
        fault_interval_us=timeout_us * rng.choice((0.3, 0.7, 2.0)),
        election_timeout_ms=timeout_ms,
        clock_skew=rng.choice((0.0, 0.001, 0.05)),
        delay_us=timeout_us * rng.choice((0.0002, 0.002, 0.01, 0.04)),
        tail=rng.choice((0.0, 0.0, 0.01, 0.1)) if all_over else 0.0,
        loss=rng.choice((0.0, 0.0, 0.02, 0.3)) if all_over else 0.0,
        duplication=rng.choice((0.0, 0.0, 0.05, 0.3)),
        in_order=rng.random() < 0.4,
        disk_us=timeout_us * rng.choice((0.0002, 0.002, 0.02)),
        gather_us=rng.choice((0, 0, timeout_us // 500, timeout_us // 30)),
        stall=rng.choice((0.0, 0.0, 0.05)),
        client_interval_us=timeout_us * rng.choice((0.03, 0.2, 0.5, 0.5 if victims else 2.0)),
        max_entry_bytes=rng.choice((20, 200)),
        snapshot_entries=rng.choice((0, 3, 10, 40)),
        fetch_failure=rng.choice((0.0, 0.3)),
        max_append_bytes=rng.choice((1, 100, 1000, 4 << 20)),
        max_appends_inflight=rng.choice((1, 2, 16)),
        max_uncommitted_bytes=rng.choice((300, 3000, 64 << 20)),
        max_committed_bytes=rng.choice((1, 100, 16 << 20)),
        max_reads_pending=rng.choice((1, 5, 10_000)),
    )
