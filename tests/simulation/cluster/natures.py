"""Natures of runs with one kind of fault, by name: three controllers and three brokers that keep much in their WALs."""

import random
from dataclasses import replace

from headrace.metadata.levels import OLDEST
from headrace.storage.cache.log_cache import RECORD_OVERHEAD_BYTES
from tests.simulation.cluster.bucket import Weather
from tests.simulation.cluster.nature import (
    BUCKET_LOST,
    DRAINED,
    EACH_WAY_LONG,
    MAX_DRIFT,
    MOVE_DISTURBED,
    ONE_WAY_LONG,
    Nature,
    draw,
)
from tests.simulation.cluster.network import Links


def nature(*faults: str, weather: Weather | None = None) -> Nature:
    """Return a nature in which nothing is wrong but these faults, close together."""
    return replace(
        draw(random.Random(0)),
        controllers=3,
        brokers=3,
        faults=faults,
        pause_s=(0.2, 1.0),
        links=Links(),
        weather=weather or Weather(),
        upload_interval_ms=5_000,
        upload_threshold_bytes=2 << 20,
        record_bytes=1_000,
        send_pause_s=0.02,
        sync_s=0.002,
        wal="volume",
        reach="/shared",
        clock_drift=0.0,
        shares_kernel=False,
        move_pause_s=None,
        balances=False,
    )


MOVE_PAUSE_S = (0.05, 0.3)
SELDOM_MOVES_S = (4.0, 9.0)  # longer than a broker rests in the balance
SLOW_BUCKET = Weather(delay_s=(0.1, 0.5))
SLOW_READS = Weather(delay_s=(0.02, 0.2))
SMALL_CACHE_BYTES = 256 << 10
SLOW_UPLOADS = Weather(put_s=(0.6, 1.0))
# That a drain reads into, and counts with the first record of a segment.
DRAIN_BUFFER_BYTES = 1_310_720

NATURES = {
    "kills": nature("kill"),
    "power cuts": replace(nature("power cut", "all controllers"), sync_s=0.03),
    "lost answers": replace(
        nature("connections reset"), pause_s=(0.02, 0.2), send_pause_s=0.005, sync_s=0.03
    ),
    # Some first batches are refused while leases are not valid, and what follows them comes when they are again.
    "new producers": replace(
        nature("leases end"), pause_s=(0.1, 0.3), producer_restarts=0.8, producer_linger_s=0.05
    ),
    "cut links": nature("isolate", "cut", "stop beyond the session"),
    "stormy bucket": replace(
        nature("kill", weather=Weather(late=0.1, reply_lost=0.05, repeated=0.1)),
        upload_interval_ms=300,
    ),
    "WALs in the bucket": replace(nature("kill", "stop beyond the session"), wal="bucket"),
    "WALs in a stormy bucket": replace(
        nature("kill", weather=Weather(lost=0.05, late=0.05)), wal="bucket"
    ),
    "lost WALs": nature("empty WAL", "kill"),
    "clients cut": nature("client cut", "slow host"),
    "brokers lost": nature("broker lost", "most brokers lost"),
    # Others see at the locks of WALs which processes have ended, before sessions do.
    "brokers lost, locks seen": replace(
        nature("broker lost", "most brokers lost"), shares_kernel=True
    ),
    "brokers lost, WALs in the bucket": replace(
        nature("broker lost", "most brokers lost"), wal="bucket"
    ),
    "drains": nature(
        "owner back in its drain", "drainer killed", "broker lost", weather=SLOW_BUCKET
    ),
    "drains, WALs in the bucket": replace(
        nature("owner back in its drain", "drainer killed", "broker lost"), wal="bucket"
    ),
    "drainers killed": nature("drainer killed", weather=SLOW_BUCKET),
    "hasty drainers": nature("drainer hasty", weather=SLOW_BUCKET),
    "two drainers": nature("second drainer", weather=SLOW_BUCKET),
    # What a drain has uploaded is compacted and deleted before it ends.
    "long drains": replace(
        nature("log drained, however long it takes", weather=SLOW_UPLOADS),
        pause_s=(2.0, 3.0),
        upload_threshold_bytes=DRAIN_BUFFER_BYTES + 8 * RECORD_OVERHEAD_BYTES,
        stream_split_bytes=16 << 20,
        compaction_interval_ms=300,
        delete_retention_ms=100,
    ),
    "level raised": replace(
        nature("stop beyond the session", "kill", "level raised"), founded_level=OLDEST
    ),
    "second processes": replace(nature("second process", "isolate"), wal="bucket"),
    "late commits": replace(nature("cut off beyond the session"), upload_interval_ms=300),
    "moves": replace(nature(), move_pause_s=MOVE_PAUSE_S),
    "moves, slow bucket": replace(nature(weather=SLOW_BUCKET), move_pause_s=MOVE_PAUSE_S),
    "moves and kills": replace(nature("kill", "power cut"), move_pause_s=MOVE_PAUSE_S),
    "moves and cut links": replace(
        nature("isolate", "cut", "stop beyond the session", "leases end"),
        move_pause_s=MOVE_PAUSE_S,
    ),
    "moves in a stormy bucket": replace(
        nature("kill", weather=Weather(late=0.1, reply_lost=0.05, repeated=0.1)),
        upload_interval_ms=300,
        move_pause_s=MOVE_PAUSE_S,
    ),
    "moves, WALs in the bucket": replace(
        nature("kill", "stop beyond the session"), wal="bucket", move_pause_s=MOVE_PAUSE_S
    ),
    "moves, lost answers": replace(
        nature("connections reset", "all controllers", "one-way cut"),
        pause_s=(0.02, 0.3),
        sync_s=0.03,
        move_pause_s=MOVE_PAUSE_S,
    ),
    # With it, moves to it are asked for, and taken back.
    "moves, bucket out of a broker's reach": replace(
        nature(BUCKET_LOST), move_pause_s=MOVE_PAUSE_S
    ),
    "rolling restarts": nature("broker stopped in order"),
    "rolling restarts and moves": replace(
        nature("broker stopped in order", "kill", "bucket down"), move_pause_s=MOVE_PAUSE_S
    ),
    "drained brokers": nature(DRAINED),
    # Who joins gets its share: without moves of others, after which a broker is left alone for a while.
    "balance": replace(
        nature("broker stopped in order", "kill"), pause_s=(3.0, 6.0), balances=True
    ),
    "balance, drained brokers": replace(nature(DRAINED), balances=True),
    # Who joins gets its share, beside moves and drains.
    "balance and every fault of a broker": replace(
        nature(
            DRAINED,
            "broker stopped in order",
            "broker lost",
            "kill",
            "stop beyond the session",
            "isolate",
            "bucket down",
        ),
        balances=True,
        move_pause_s=SELDOM_MOVES_S,
    ),
    "balance and changes of the controller": replace(
        nature("all controllers", "leader and another", "connections reset", DRAINED),
        pause_s=(2.0, 5.0),
        balances=True,
        move_pause_s=SELDOM_MOVES_S,
    ),
    "one-way cuts": nature(ONE_WAY_LONG),
    "each one-way cut": replace(nature(EACH_WAY_LONG), send_pause_s=0.1),
    # Somebody is always about to read what is just being written, moved or deleted.
    "readers": replace(nature(), readers=2, send_pause_s=0.06),
    "cold readers": replace(
        nature(weather=SLOW_READS),
        readers=2,
        cache_bytes=SMALL_CACHE_BYTES,
        upload_interval_ms=300,
        short_turns=True,
    ),
    "readers and moves": replace(
        nature(), readers=2, move_pause_s=MOVE_PAUSE_S, moves_back=0.3, short_turns=True
    ),
    "readers, leases end": replace(nature("leases end"), readers=2, short_turns=True),
    "readers, moves and kills": replace(
        nature("kill", "broker stopped in order"),
        readers=2,
        cache_bytes=SMALL_CACHE_BYTES,
        move_pause_s=MOVE_PAUSE_S,
        upload_interval_ms=300,
    ),
    "compacted": replace(
        nature("kill", "broker stopped in order", weather=Weather(late=0.05, reply_lost=0.05)),
        has_compacted=True,
        cache_bytes=SMALL_CACHE_BYTES,
        move_pause_s=MOVE_PAUSE_S,
        upload_interval_ms=100,
        compaction_interval_ms=200,
        delete_retention_ms=100,
        short_turns=True,
    ),
    "compacted, brokers replaced": replace(
        nature("stop beyond the session", "isolate", "broker lost", "leases end"),
        has_compacted=True,
        cache_bytes=SMALL_CACHE_BYTES,
        upload_interval_ms=100,
        compaction_interval_ms=200,
        delete_retention_ms=100,
    ),
    "moves disturbed": replace(
        nature(MOVE_DISTURBED), pause_s=(0.1, 0.5), move_pause_s=MOVE_PAUSE_S, moves_back=0.4
    ),
    "moves disturbed, brokers drained and lost": replace(
        nature(MOVE_DISTURBED, DRAINED, "broker lost", "broker stopped in order"),
        pause_s=(0.1, 0.6),
        move_pause_s=MOVE_PAUSE_S,
    ),
    "moves disturbed, slow bucket": replace(
        nature(MOVE_DISTURBED, weather=SLOW_READS),
        pause_s=(0.1, 0.5),
        move_pause_s=MOVE_PAUSE_S,
        moves_back=0.4,
        readers=1,
    ),
    "moves disturbed, controllers change": replace(
        nature(MOVE_DISTURBED, "all controllers", "leader and another", "connections reset"),
        pause_s=(0.1, 0.6),
        sync_s=0.03,
        move_pause_s=MOVE_PAUSE_S,
        moves_back=0.3,
    ),
    "clocks": replace(nature("wall clock set", "isolate"), clock_drift=MAX_DRIFT),
}
