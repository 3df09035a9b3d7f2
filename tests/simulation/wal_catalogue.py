"""The table of workloads."""

from dataclasses import replace
from functools import partial
from typing import Any

from headrace.wal.layout import PAGE_BYTES, RING_POSITION
from tests.simulation import wal_scripts as scripts
from tests.simulation.disk import newest_first, oldest_first, oldest_last
from tests.simulation.wal_run import KIB, SMALL
from tests.simulation.wal_workloads import FRAME_BYTES, Workload

PAGE = PAGE_BYTES - FRAME_BYTES  # bodies that fill what they are in
BLOCK = SMALL.block_bytes - FRAME_BYTES
MIXED = (1, 200, 900, 2000, 3000, PAGE, 5000, 9000)
LITTLE = range(1, 3000)
LARGE = range(9000, 15_000)
HALF_BLOCK = range(3000, 7900)


def ring(pages: int, **changes: Any) -> Any:
    return replace(SMALL, capacity_bytes=RING_POSITION + pages * PAGE_BYTES, **changes)


def small(**changes: Any) -> Any:
    return replace(SMALL, **changes)


def row(name: str, script: Any, sizes: scripts.Sizes | None = None, **keywords: Any) -> Workload:
    """One row; keywords that a `Workload` has are its own, the others are the script's."""
    own = {
        key: keywords.pop(key)
        for key in ("config", "policy", "latency_s", "is_file", "disk_bytes")
        if key in keywords
    }
    if sizes is not None:
        keywords["sizes"] = sizes
    return Workload(name, partial(script, **keywords), **own)


appends, same_size, up_to_the_end = scripts.appends, scripts.same_size, scripts.up_to_the_end

_SIZES = (
    row("one-byte records", appends, range(1, 4), records=200, burst=20),
    row("empty and one-byte records", appends, (0, 1, 0, 3000), records=50, burst=6),
    row("small records", appends, LITTLE),
    row("mixed records", appends, MIXED),
    row("large records", appends, LARGE, records=25),
    row("a page exactly", appends, (PAGE,)),
    row("a byte less than a page", appends, (PAGE - 1,)),
    row("a byte more than a page", appends, (PAGE + 1,)),
    row("a block exactly", appends, (BLOCK,), records=30),
    row("a byte less than a block", appends, (BLOCK - 1,), records=30),
    row("a byte more than a block", appends, (BLOCK + 1,), records=30),
    row("a block exactly, of two records", appends, ((BLOCK - 24) // 2,), records=40, burst=6),
    row("around a page and a block", appends, (*range(PAGE - 2, PAGE + 3), *range(BLOCK - 2, BLOCK + 3))),
    row("the largest record", scripts.too_large),
    row("the largest record of a wide window", scripts.too_large, config=small(max_window_bytes=64 * KIB)),
    row("sparse", scripts.sparse, MIXED),
)  # fmt: skip
_LAPS = (
    row("ends with the ring", up_to_the_end, rest_bytes=8 * KIB, last=8 * KIB - FRAME_BYTES),
    row("a byte too long for the ring", up_to_the_end, rest_bytes=8 * KIB, last=8 * KIB - FRAME_BYTES + 1),
    row("a hole of a page", up_to_the_end, rest_bytes=4 * KIB, last=PAGE + 1),
    row("a hole wider than a block", up_to_the_end, rest_bytes=12 * KIB, last=15_000),
    row("a hole as wide as the record", up_to_the_end, rest_bytes=12 * KIB, last=12 * KIB - FRAME_BYTES + 1),
    row("stale blocks of a page everywhere", same_size, (PAGE,), laps=2),
    row("stale blocks everywhere", same_size, (BLOCK,)),
    row("stale blocks at other boundaries", same_size, (3 * PAGE_BYTES - FRAME_BYTES,)),
    row("many laps", appends, (900, 4000, 11_000, 15_000), records=45, trim=scripts.everything),
    row("the smallest ring", appends, MIXED, config=ring(8), trim=scripts.everything),
    row("a ring of an odd number of pages", appends, MIXED, config=ring(13)),
)  # fmt: skip
_WINDOW = (
    row("the window grows in steps", scripts.window_in_steps, sizes=HALF_BLOCK,
        config=ring(32, window_bytes_initial=4 * KIB, max_window_bytes=96 * KIB, io_depth=8)),
    row("the window grows by exact fits", scripts.window_in_steps, sizes=(BLOCK,),
        config=ring(32, window_bytes_initial=8 * KIB, max_window_bytes=64 * KIB, io_depth=8)),
    row("the window is as large as it can be", appends, HALF_BLOCK, burst=6,
        config=small(window_bytes_initial=64 * KIB, max_window_bytes=64 * KIB)),
    row("the window is a page at first", appends, MIXED, config=small(window_bytes_initial=4 * KIB)),
    row("bursts that fill the IO depth", appends, HALF_BLOCK, burst=8, pause_ms=2.0),
)  # fmt: skip
_TRIMS = (
    row("trimmed at each confirmation", scripts.trim_at_each_confirmation, MIXED),
    row("trimmed between bursts", appends, MIXED, trim=scripts.everything),
    row("trimmed at need", appends, MIXED, trim=scripts.at_need),
    row("never trimmed", scripts.never_trimmed, LITTLE),
    row("trimmed in the turn of an append", scripts.trim_races_appends, MIXED),
    row("trimmed a record at a time", scripts.trim_one_record, (900, 3000, PAGE, 7000)),
    row("a full ring", scripts.full_ring, MIXED),
)
_DEVICES = (
    row("one write at a time", appends, MIXED, config=small(io_depth=1)),
    row("two writes at a time", appends, MIXED, config=small(io_depth=2), burst=5),
    row("eight writes at a time", appends, HALF_BLOCK, burst=8, config=ring(32, io_depth=8, max_window_bytes=96 * KIB)),
    row("blocks of a page", appends, MIXED, config=small(block_bytes=4 * KIB)),
    row("blocks of 16 KiB", appends, MIXED, burst=9, config=ring(32, block_bytes=16 * KIB, max_window_bytes=64 * KIB)),
    row("blocks of 32 KiB", appends, (900, 5000, 20_000), burst=9, records=60,
        config=ring(64, block_bytes=32 * KIB, max_window_bytes=128 * KIB)),
    row("completed in order", appends, HALF_BLOCK, burst=6, policy=oldest_first),
    row("completed in reverse", appends, HALF_BLOCK, burst=6, policy=newest_first),
    row("the oldest completed last", appends, HALF_BLOCK, burst=6, policy=oldest_last),
    row("a slow device", appends, LITTLE, burst=9, records=60, latency_s=0.02),
    row("a budget of operations", appends, MIXED, records=25, config=small(max_iops=300)),
    row("a budget of bytes", appends, HALF_BLOCK, records=25, config=small(max_bandwidth_bytes=2_000_000)),
    row("a device larger than used", appends, MIXED, disk_bytes=128 * KIB),
    row("zeroed in the background", scripts.zeroed, LITTLE, is_file=True, config=ring(48)),
    row("zeroed in the background, power cut", scripts.zeroed, LITTLE, is_file=True, config=ring(48), cuts=2),
)  # fmt: skip
_ENDS = (
    row("idle in between", scripts.idle_in_between, MIXED),
    row("shut down empty", scripts.shut_down, MIXED, release=True, wait=True),
    row("shut down with records", scripts.shut_down, MIXED, release=False, wait=True),
    row("shut down at once", scripts.shut_down, MIXED, release=True, wait=False),
    row("the process ends", scripts.end_of_process, MIXED),
    row("power cuts", scripts.power_cuts, LITTLE),
    row("power cuts, large records", scripts.power_cuts, LARGE),
    row("power cuts, ten in a row", scripts.power_cuts, MIXED, cuts=10, records=4),
    row("power cuts while beginning", scripts.power_cuts_while_beginning, MIXED),
    row("another capacity", scripts.capacities, LITTLE, ring_pages=(16, 12, 20, 8, 16), disk_bytes=128 * KIB),
    row("resized, larger", scripts.resizes, MIXED, ring_pages=(20, 24, 30), disk_bytes=128 * KIB),
    row("resized, smaller", scripts.resizes, MIXED, ring_pages=(14, 11, 8), disk_bytes=128 * KIB),
    row("resized up and down", scripts.resizes, MIXED, ring_pages=(11, 30, 16, 16), disk_bytes=128 * KIB),
    row("resized, a file", scripts.resizes, MIXED, ring_pages=(20, 9, 24), disk_bytes=128 * KIB, is_file=True),
    row("resized, a file, power cut", scripts.resizes, MIXED, ring_pages=(20, 9, 24, 11), disk_bytes=128 * KIB,
        is_file=True, cut=True),
    row("resized, given up", scripts.resizes, MIXED, ring_pages=(20, 9, 24, 10), disk_bytes=128 * KIB, cancel=True),
    row("resized, power cut", scripts.resizes, MIXED, ring_pages=(20, 9, 24, 10), disk_bytes=128 * KIB, cut=True),
)  # fmt: skip
_FAULTS = (
    row("a block cannot be written", scripts.write_fails, MIXED, superblock=False),
    row("the superblock cannot be written", scripts.write_fails, MIXED, superblock=True),
    row(
        "a write hangs",
        scripts.write_fails,
        MIXED,
        superblock=False,
        hangs=True,
        config=small(io_timeout_ms=20),
    ),
    row("a loss is accepted", scripts.loss_accepted, MIXED),
    row("no space", scripts.no_space, MIXED),
)

WORKLOADS = (*_SIZES, *_LAPS, *_WINDOW, *_TRIMS, *_DEVICES, *_ENDS, *_FAULTS)
BY_NAME = {workload.name: workload for workload in WORKLOADS}
assert len(BY_NAME) == len(WORKLOADS), "names are unique"
