"""A baseline without a WAL: writes to a file through the page cache, then fsync.

It has the same schedule of arrivals as the WAL's benchmark; all records that are due share one fsync. The writer is
for comparison only: it has no headers, no checksums and no recovery.
"""

import os
import time
from array import array

from headrace.wal.tools.benchmark.figures import DeviceWork, Figures, Load, summarise

OPEN_BYTES = 4 << 20  # at full speed, this many bytes are written before each fsync
MAX_VECTORS = 1000  # of one writev


class BufferedWriter:
    """Overwrites an existing file from its start to its end, repeatedly."""

    def __init__(self, path: str, capacity_bytes: int) -> None:
        self._fd = os.open(path, os.O_RDWR)
        self._capacity_bytes = capacity_bytes
        self._position = 0

    def close(self) -> None:
        os.close(self._fd)

    def measure(self, load: Load, seconds: float) -> Figures:
        """One run; a device write is an fsync here."""
        payload = os.urandom(load.record_bytes)
        latencies = array("q")
        syncs = written = busy_ns = arrived = 0
        interval_ns = (
            load.record_bytes * 1e9 / load.bytes_per_second if load.bytes_per_second else 0
        )
        batch = load.max_open or max(1, OPEN_BYTES // load.record_bytes)
        began_ns, began_cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        end_ns = began_ns + int(seconds * 1e9)
        while (now_ns := time.perf_counter_ns()) < end_ns:
            if interval_ns:
                due = int((now_ns - began_ns) / interval_ns) + 1
                if due == arrived:
                    time.sleep(max(0.0, (began_ns + arrived * interval_ns - now_ns) / 1e9))
                    continue
                count = min(due - arrived, batch)
                times = [began_ns + int((arrived + n) * interval_ns) for n in range(count)]
            else:
                count, times = batch, [now_ns] * batch
            self._write(payload, count)
            os.fsync(self._fd)
            done_ns = time.perf_counter_ns()
            latencies.extend(done_ns - at for at in times)
            arrived += count
            syncs += 1
            written += count * load.record_bytes
            busy_ns += done_ns - now_ns
        return summarise(
            latencies,
            record_bytes=load.record_bytes,
            work=DeviceWork(syncs, written, busy_ns),
            elapsed_ns=time.perf_counter_ns() - began_ns,
            cpu_ns=time.process_time_ns() - began_cpu_ns,
        )

    def _write(self, payload: bytes, count: int) -> None:
        if self._position + count * len(payload) > self._capacity_bytes:
            self._position = 0
        while count:
            vectors = [payload] * min(count, MAX_VECTORS)
            written = os.pwritev(self._fd, vectors, self._position)
            assert written == len(vectors) * len(payload)
            self._position += written
            count -= len(vectors)
