"""What a node takes from its process and machine."""

import os
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.metadata.log.directory import Directory
from headrace.metadata.log.os_directory import OsDirectory
from headrace.network import Network, SocketNetwork
from headrace.storage.object_store.factory import BucketOpener, open_bucket
from headrace.storage.sweep.swept_bucket import SweptBucket, open_swept_bucket
from headrace.wal.device.file_device import look_at
from headrace.wal.device.lock_names import free_lock
from headrace.wal.device.open_device import DeviceOpener, open_device
from headrace.wal.fence.make import FenceMaker, make_fence
from headrace.wal.ring.wake_timer import WakeTimerFactory, precise_timer


@dataclass(frozen=True, slots=True)
class NodeEnvironment:
    """All that a node opens, asks the time of or draws at random; tests and simulations pass their own."""

    wall_clock_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000
    # Continues in suspend and never jumps: leases are measured with it.
    boot_clock_ms: Callable[[], int] = lambda: (
        time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000
    )
    # One clock, fine and monotonic, in seconds and nanoseconds: it measures requests and paces the WAL.
    monotonic_s: Callable[[], float] = time.perf_counter
    monotonic_ns: Callable[[], int] = time.perf_counter_ns
    thread_time_s: Callable[[], float] = time.thread_time
    wake_timer: WakeTimerFactory = precise_timer
    rng: random.Random = field(default_factory=random.SystemRandom)
    network: Network = field(default_factory=SocketNetwork)
    open_device: DeviceOpener = open_device
    look_at_device: Callable[[Path], None] = look_at  # may block
    make_fence: FenceMaker = make_fence
    open_metadata_directory: Callable[[Path], Directory] = OsDirectory
    free_lock: Callable[[Path], str] = free_lock  # its name, if it is not held; may block
    open_bucket: BucketOpener = open_bucket
    # The lists of the same bucket that a sweep needs; None: it is not swept.
    open_swept_bucket: Callable[[str, Mapping[str, str]], SweptBucket | None] = open_swept_bucket
    variables: dict[str, str] = field(default_factory=lambda: dict(os.environ))
