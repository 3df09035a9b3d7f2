"""What one seed's run is like: how many nodes, the weather, which faults, and settings. Pure."""

import random
from dataclasses import dataclass, replace

from headrace.metadata.levels import NEWEST
from tests.simulation.cluster.bucket import Weather
from tests.simulation.cluster.network import Links

KIB = 1024
FAULTS = (
    "kill",
    "power cut",
    "stop",
    "stop beyond the session",
    "cut",
    "one-way cut",
    "isolate",
    "all controllers",
    "leader and another",
    "bucket down",
    "empty controller",
    "second process",
    "connections reset",
    "client cut",
    "slow host",
    "wall clock set",
    "volume away",
    "empty WAL",
    "broker lost",
    "most brokers lost",
    "owner back in its drain",
    "drainer killed",
)
# After the others: what a seed draws of them stays the same.
LATER_FAULTS = ("broker stopped in order",)
DRAINED = "broker drained"
BUCKET_LOST = "bucket out of a broker's reach"
ONE_WAY_LONG = "one-way cut beyond the session"
EACH_WAY_LONG = "each one-way cut beyond the session"
MOVE_DISTURBED = "move disturbed"
# After these every process that has not been stopped goes on.
HARMLESS = frozenset(
    {
        *(*LATER_FAULTS, DRAINED, BUCKET_LOST, ONE_WAY_LONG, EACH_WAY_LONG),
        *("bucket down", "client cut", "kill", "power cut"),
    }
)
# Requests of clients take longer than else.
CLIENT_FAULTS = frozenset({"client cut", "slow host"})
# In these nothing else is wrong while brokers are lost: others must serve their partitions in time.
LOSSES = frozenset({"broker lost", "most brokers lost", "drainer killed"})


_FAST_BUCKET_S = 0.03
CACHE_BYTES = 16 << 20
MAX_DRIFT = 0.05  # two clocks are apart by less than the ninth that a lease has in hand


@dataclass(frozen=True, slots=True)
class Nature:
    """Drawn from the seed alone."""

    controllers: int
    brokers: int
    faults: tuple[str, ...]
    pause_s: tuple[float, float]  # between two faults
    links: Links
    weather: Weather
    election_timeout_ms: int
    snapshot_log_bytes: int
    upload_threshold_bytes: int
    upload_interval_ms: int
    stream_split_bytes: int
    compaction_interval_ms: int
    checkpoint_interval_bytes: int
    record_bytes: int
    send_pause_s: float  # of a producer
    sync_s: float  # of a disk, at most
    wal: str = "volume"  # or "bucket": where the WALs of brokers lie
    reach: str = "/shared"  # `headrace.wal.reach`: empty, or the volume
    clock_drift: float = 0.0  # a host's boot clock runs faster or slower by at most so much
    delete_retention_ms: int = 3_000  # of objects that were destroyed
    producer_restarts: float = (
        0.0  # probability that an idempotent one gets another id, before a batch
    )
    producer_linger_s: float = 0.0  # between batches that it sends without waiting for answers
    founded_level: int = NEWEST  # `headrace.metadata.version`, which an operator raises
    shares_kernel: bool = False  # hosts see at a WAL's lock that its owner has ended
    move_pause_s: tuple[float, float] | None = (
        None  # between moves of partitions; None: there are none
    )
    balances: bool = False  # the leading controller keeps brokers even
    readers: int = 0  # with fetch sessions that wait
    # Of records, and as much of blocks: what is not there is read from the bucket.
    cache_bytes: int = CACHE_BYTES
    short_turns: bool = (
        False  # of the event loop: whatever goes on in steps is interrupted at each of them
    )
    moves_back: float = 0.0  # probability that a partition is moved back at once
    has_compacted: bool = False  # one more topic, which is cleaned

    @property
    def sees_ends(self) -> bool:
        """Whether brokers see at the locks of WALs which processes have ended."""
        return self.shares_kernel and self.wal == "volume" and bool(self.reach)

    @property
    def may_fence(self) -> bool:
        """Whether a fault may end a process: another one takes its place or its log, or its log is gone."""
        return bool({*self.faults} - HARMLESS)

    @property
    def is_bucket_slow(self) -> bool:
        """Whether a partition that moves may be waited for in vain: the bucket takes too long."""
        return self.weather.delay_s[1] > _FAST_BUCKET_S

    @property
    def has_much_room(self) -> bool:
        """Whether producers need not wait until records are in the bucket."""
        return self.cache_bytes >= CACHE_BYTES

    @property
    def is_calm(self) -> bool:
        """Whether nothing but the faults is wrong."""
        return not self.links.loss and self.weather.is_fair


def draw(rng: random.Random) -> Nature:
    """Draw a run's nature."""
    controllers, brokers = rng.choices(((3, 3), (5, 5), (3, 5), (1, 2)), (80, 8, 6, 6))[0]
    is_calm = rng.random() < 0.05  # now and then nothing is wrong at all
    stormy = 0.0 if is_calm else rng.choice((0.0, 0.01, 0.04))
    lossy = 0.0 if is_calm else rng.choice((0.0, 0.0, 0.01))
    drawn = Nature(
        controllers=controllers,
        brokers=brokers,
        faults=() if is_calm else tuple(it for it in FAULTS if rng.random() < 0.6),
        pause_s=rng.choice(((0.2, 2.0), (0.5, 4.0), (0.05, 0.5))),
        links=Links(max_delay_s=rng.choice((0.001, 0.005, 0.03)), loss=lossy),
        weather=Weather(
            refused=stormy,
            lost=stormy / 2,
            reply_lost=stormy / 2,
            late=stormy / 2,
            repeated=stormy,
            delay_s=rng.choice(((0.005, 0.03), (0.02, 0.3))),
        ),
        election_timeout_ms=rng.choice((500, 500, 1000)),
        snapshot_log_bytes=rng.choice((20 * KIB, 100 * KIB, 20 << 20)),
        upload_threshold_bytes=rng.choice((128 * KIB, 512 * KIB, 2 << 20)),
        upload_interval_ms=rng.choice((300, 1_000, 5_000)),
        stream_split_bytes=rng.choice((32 * KIB, 256 * KIB, 16 << 20)),
        compaction_interval_ms=rng.choice((2_000, 5_000)),
        checkpoint_interval_bytes=rng.choice((64 * KIB, 512 * KIB, 8 << 20)),
        record_bytes=rng.choice((100, 1_000, 4_000)),
        send_pause_s=rng.choice((0.02, 0.06)),
        sync_s=rng.choice((0.002, 0.002, 0.02)),
        wal=rng.choices(("volume", "bucket"), (3, 1))[0],
        reach=rng.choices(("/shared", ""), (6, 1))[0],
        clock_drift=rng.choice((0.0, 0.0, MAX_DRIFT)),
        shares_kernel=rng.random() < 0.5,
        move_pause_s=rng.choice((None, (0.05, 0.3), (0.5, 3.0))),
    )
    faults = drawn.faults
    if not is_calm and rng.random() >= 0.5:
        faults += LATER_FAULTS
    if not is_calm and rng.random() < 0.5:
        faults += (DRAINED,)
    balances = rng.random() < 0.5
    if not is_calm and rng.random() < 0.5:
        faults += (ONE_WAY_LONG,)
    return replace(drawn, faults=faults, balances=balances)
