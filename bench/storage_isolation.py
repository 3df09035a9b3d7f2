"""Effect of a cold consumer on a producer that runs at half of its maximum rate.

    python -m bench.storage_isolation [--store file|minio] [--runs 5] [--seconds 6] [--batch 16384]

The maximum is the rate of one producer at the same broker, measured first (median of three). Then, `runs` times in turn:
the producer at half of that, alone (`alone`), and beside a consumer that reads a topic of `--cold-mib` from its beginning,
repeatedly; the broker was restarted after that topic was written, and its BlockCache is much smaller than the topic. A
record's latency is the time from when it was due to its acknowledgement. `--cold-pace 2` limits the consumer to twice
the produced bytes; 0 means no limit.

Like S3, the bucket is not on the WAL's disk: by default it is in memory, and takes what all the runs produce, some
15 GB. On the same disk each upload's flush delays the WAL's writes by 10 to 30 ms, with or without a reader.

The marks: p99 beside the reader at most 1.5 times that alone, throughput at least 0.95 of it, the reader at least at
twice the producer's rate. Broker, producer and consumer share the machine's cores, whose number is printed: the
processor time of the consumer itself affects the ratio as well.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench import load_program
from bench.cold_topic import MIB, RECORD_BYTES, STORES, broker_on, create_topic, fill
from bench.process_usage import usage
from tests.e2e.broker_process import HeadraceProcess

WAL_BYTES = 512 * MIB
UPLOAD_THRESHOLD_BYTES = 96 * MIB
LOG_CACHE_BYTES = 384 * MIB
BLOCK_CACHE_BYTES = 128 * MIB
COLD, HOT = "cold", "hot"
GIB = 1024 * MIB
BUCKET_BYTES = 18 * GIB  # at least: twice the cold topic, and everything that is produced
MEMORY = Path("/dev/shm")  # noqa: S108 - a file system
MAX_RATIO_P99 = 1.5
MIN_RATIO_THROUGHPUT = 0.95
MIN_COLD_SHARE = 2.0


@dataclass(frozen=True)
class Run:
    """One run of the producer."""

    produced_mb_s: float
    p50_ms: float
    p99_ms: float
    p999_ms: float
    cold_mb_s: float
    broker_cores: float


class ColdConsumer(threading.Thread):
    """Reads a topic from its beginning, repeatedly, until `stop`."""

    def __init__(self, bootstrap: str, topic: str, records: int, pace_bytes_per_s: float) -> None:
        super().__init__(daemon=True)
        self._arguments = (bootstrap, topic)
        self._records = records
        self._settings = (f"bench.pace={pace_bytes_per_s:.0f}",) if pace_bytes_per_s else ()
        self._stopping = threading.Event()
        self.bytes = 0.0
        self.seconds = 0.0

    def run(self) -> None:
        while not self._stopping.is_set():
            began = time.monotonic()
            read = load_program.consume(
                *self._arguments, records=self._records, partitions=1, settings=self._settings
            )
            self.bytes += read["bytes"]
            self.seconds += time.monotonic() - began

    def stop(self) -> float:
        """Stop after the current pass; return bytes/s of all passes, including the start of each."""
        self._stopping.set()
        self.join()
        return self.bytes / self.seconds


class Isolation:
    """The runs on one broker."""

    def __init__(self, broker: HeadraceProcess, options: argparse.Namespace) -> None:
        self._broker = broker
        self._options = options
        self._cold_records = 0
        self._rate = 0.0

    def prepare(self) -> None:
        """Write the cold topic, and find the producer's maximum."""
        options = self._options
        self._cold_records = fill(
            self._broker, COLD, options.cold_mib * MIB, batch_bytes=options.cold_batch
        )
        create_topic(self._broker.bootstrap, HOT)
        rates = []
        for _ in range(3):
            found = self._produce(options.max_mib * MIB // RECORD_BYTES, rate=0)
            rates.append(found["records"] / found["seconds"])
        self._rate = statistics.median(rates) / 2
        megabytes = [rate * RECORD_BYTES / 1e6 for rate in sorted(rates)]
        print(f"maximum {megabytes[1]:.0f} MB/s ({megabytes[0]:.0f} to {megabytes[2]:.0f})")
        if options.rate:
            self._rate = options.rate * 1e6 / RECORD_BYTES
        print(f"paced at {self._rate * RECORD_BYTES / 1e6:.0f} MB/s", flush=True)

    def run(self, *, beside: bool) -> Run:
        """One paced run."""
        consumer = None
        if beside:
            pace = self._options.cold_pace * self._rate * RECORD_BYTES
            consumer = ColdConsumer(self._broker.bootstrap, COLD, self._cold_records, pace)
            consumer.start()
            time.sleep(1)  # time for the reader to connect, and for its first read-ahead
        before, began = usage(self._broker.process.process_id), time.monotonic()
        found = self._produce(round(self._rate * self._options.seconds), rate=self._rate)
        elapsed_s = time.monotonic() - began
        used_s = usage(self._broker.process.process_id).cpu_s - before.cpu_s
        return Run(
            produced_mb_s=found["bytes"] / found["seconds"] / 1e6,
            p50_ms=found["p50_ms"],
            p99_ms=found["p99_ms"],
            p999_ms=found["p999_ms"],
            cold_mb_s=consumer.stop() / 1e6 if consumer else 0.0,
            broker_cores=used_s / elapsed_s,
        )

    def _produce(self, records: int, *, rate: float) -> dict[str, float]:
        return load_program.produce(
            self._broker.bootstrap,
            HOT,
            records=records,
            record_bytes=RECORD_BYTES,
            batch_bytes=self._options.batch,
            linger_ms=5,
            rate=rate,
        )


def available_memory() -> int:
    """Memory in bytes that is available to processes and memory file systems."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return 0


def refusal(bucket_directory: Path, memory_bytes: int) -> str:
    """Return why the bucket does not fit into a directory, and what to do; empty if it fits.

    Args:
        bucket_directory: the directory of the bucket.
        memory_bytes: available memory, which a bucket in memory uses.
    """
    free_bytes, what = shutil.disk_usage(bucket_directory).free, f"in {bucket_directory}"
    if bucket_directory == MEMORY and memory_bytes < free_bytes:
        free_bytes, what = memory_bytes, "of memory"
    if free_bytes >= BUCKET_BYTES:
        return ""
    return (
        f"the bucket needs up to {BUCKET_BYTES / GIB:.0f} GiB, but only "
        f"{free_bytes / GIB:.1f} GiB {what} are free: give a directory with enough space with "
        "--bucket-directory DIR, if possible on another disk than the broker's (--directory), since "
        "uploads to the same disk slow down the WAL and so the producer"
    )


def median(runs: list[Run], field: str) -> float:
    return statistics.median([float(getattr(run, field)) for run in runs])


def report(alone: list[Run], beside: list[Run]) -> int:
    """Print medians, ranges and the verdict; return the exit code."""
    print(f"\n{'figure':16}{'alone':>28}{'beside a cold reader':>28}{'ratio':>9}")
    for field in Run.__dataclass_fields__:
        cells, medians = [], []
        for runs in (alone, beside):
            values = [getattr(run, field) for run in runs]
            medians.append(statistics.median(values))
            cells.append(f"{medians[-1]:,.2f} ({min(values):,.2f}-{max(values):,.2f})")
        ratio = f"{medians[1] / medians[0]:9.2f}" if medians[0] else ""
        print(f"{field:16}{cells[0]:>28}{cells[1]:>28}{ratio}")
    found = (
        ("p99 ratio", median(beside, "p99_ms") / median(alone, "p99_ms"), MAX_RATIO_P99, False),
        (
            "throughput ratio",
            median(beside, "produced_mb_s") / median(alone, "produced_mb_s"),
            MIN_RATIO_THROUGHPUT,
            True,
        ),
        (
            "cold reader / producer",
            median(beside, "cold_mb_s") / median(beside, "produced_mb_s"),
            MIN_COLD_SHARE,
            True,
        ),
    )
    met = True
    for name, value, bound, at_least in found:
        is_met = value >= bound if at_least else value <= bound
        met = met and is_met
        sign = "at least" if at_least else "at most"
        print(f"{name}: {value:.2f}, {sign} {bound} required: {'met' if is_met else 'MISSED'}")
    return 0 if met else 1


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.storage_isolation", description=__doc__)
    parser.add_argument("--store", choices=STORES, default="file")
    parser.add_argument("--runs", type=int, default=5, help="alternating runs of each kind")
    parser.add_argument("--seconds", type=float, default=6, help="length of a paced run")
    parser.add_argument("--batch", type=int, default=16_384, help="batch.size of the producer")
    parser.add_argument(
        "--rate",
        type=float,
        default=0,
        help="rate of the producer in MB/s; default: half of the maximum",
    )
    parser.add_argument(
        "--cold-pace",
        type=float,
        default=2.5,
        help="limit of the reader, in multiples of the producer's rate; 0: none",
    )
    parser.add_argument("--cold-mib", type=int, default=4096)
    parser.add_argument(
        "--cold-batch", type=int, default=16_384, help="batch.size of the cold topic"
    )
    parser.add_argument("--max-mib", type=int, default=1024, help="volume of a run at the maximum")
    parser.add_argument("--directory", type=Path, help="data directory of the broker")
    parser.add_argument(
        "--bucket-directory", type=Path, help="directory of the bucket; default: in memory (18 GiB)"
    )
    options = parser.parse_args()
    bucket_directory = options.bucket_directory or MEMORY
    lacking = refusal(bucket_directory, available_memory())
    if lacking:
        parser.error(lacking)
    load_program.build()
    settings = {
        "s3.wal.cache.size": str(LOG_CACHE_BYTES),
        "s3.wal.upload.threshold": str(UPLOAD_THRESHOLD_BYTES),
        "s3.block.cache.size": str(BLOCK_CACHE_BYTES),
    }
    print(
        f"{options.store} bucket in {bucket_directory}; WAL {WAL_BYTES // MIB} MiB, LogCache {LOG_CACHE_BYTES // MIB} MiB, BlockCache "
        f"{BLOCK_CACHE_BYTES // MIB} MiB, cold topic {options.cold_mib} MiB; records of {RECORD_BYTES} bytes in batches of "
        f"{options.batch}, acks=all; {os.cpu_count()} cores shared by broker and clients",
        flush=True,
    )
    prefix = "headrace-bench-"
    with (
        tempfile.TemporaryDirectory(dir=options.directory, prefix=prefix) as scratch,
        tempfile.TemporaryDirectory(dir=bucket_directory, prefix=prefix) as away,
    ):
        wal = f"0@file://{Path(scratch) / 'node/data/wal'}?capacity={WAL_BYTES}"
        settings["s3.wal.path"] = wal
        with broker_on(
            options.store, Path(scratch), settings, bucket_directory=Path(away)
        ) as broker:
            isolation = Isolation(broker, options)
            isolation.prepare()
            alone: list[Run] = []
            beside: list[Run] = []
            for number in range(options.runs):
                for runs in (alone, beside) if number % 2 == 0 else (beside, alone):
                    runs.append(isolation.run(beside=runs is beside))
                    name = "beside" if runs is beside else "alone"
                    print(f"  run {number + 1} {name:7} {runs[-1]}", flush=True)
    return report(alone, beside)


if __name__ == "__main__":
    sys.exit(main())
