"""Which nature a seed has: one with every kind of fault, or one of `NATURES` with sizes of its own. Pure.

Where much is wrong at once, most of the judges must put up with much, and a cluster is busy with coming back. So most
seeds have few kinds of fault, or none, and then whatever should not have happened is a finding.
"""

import random
from dataclasses import replace
from typing import Final

from tests.simulation.cluster.bucket import Weather
from tests.simulation.cluster.nature import LOSSES, Nature, draw
from tests.simulation.cluster.natures import NATURES, SLOW_READS, SMALL_CACHE_BYTES

WIDE: Final = 0.2  # of the seeds
SIZED: Final = 0.5  # of the others
SEND_PAUSE_S: Final = 0.06  # of a producer, where there are readers


def drawn(seed: int) -> Nature:
    """Return the nature of a seed."""
    rng = random.Random(f"{seed} nature")
    found = draw(rng)
    if rng.random() >= WIDE:
        found = _narrow(found, rng)
    return _with_readers(found, rng)


def _narrow(wide: Nature, rng: random.Random) -> Nature:
    """One of those with few kinds of fault, and with sizes of the wide one."""
    found = NATURES[rng.choice(sorted(NATURES))]
    if rng.random() >= SIZED or _is_timed(found):
        return found
    return replace(
        found,
        election_timeout_ms=wide.election_timeout_ms,
        snapshot_log_bytes=wide.snapshot_log_bytes,
        checkpoint_interval_bytes=wide.checkpoint_interval_bytes,
        upload_interval_ms=wide.upload_interval_ms,
        record_bytes=wide.record_bytes,
        send_pause_s=wide.send_pause_s,
        shares_kernel=wide.shares_kernel,
        weather=SLOW_READS if found.weather == Weather() else found.weather,
    )


def _with_readers(found: Nature, rng: random.Random) -> Nature:
    readers, is_cold, is_short = rng.choice((0, 1, 2)), rng.random() < 0.5, rng.random() < 0.4
    if _is_timed(found):
        return replace(found, readers=min(readers, 1))
    readers = max(readers, found.readers)
    return replace(
        found,
        readers=readers,
        # Who reads all the time is work enough.
        send_pause_s=max(found.send_pause_s, SEND_PAUSE_S) if readers else found.send_pause_s,
        cache_bytes=SMALL_CACHE_BYTES if is_cold else found.cache_bytes,
        short_turns=is_short or found.short_turns,
        moves_back=found.moves_back or rng.choice((0.0, 0.3)),
    )


def _is_timed(found: Nature) -> bool:
    """Whether others must serve in time what brokers have led: with sizes that this was said of."""
    return bool(found.faults) and LOSSES.issuperset(found.faults)
