"""`headrace wal resize` on a broker that real clients use: nothing lost, nothing doubled, a short pause.

The clients are the crash test's: an idempotent producer and a committing consumer in processes of their own, which
write down what was acknowledged. At the end each record is where it belongs, once, with its bytes.
"""

import json
import random
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from itertools import cycle
from pathlib import Path
from statistics import median

from confluent_kafka.admin import AdminClient, NewTopic

from tests.e2e.test_crash import MIB, PARTITIONS, RING_BYTES, TOPIC, CrashTest, wait_for_commits
from tests.environment.paths import ROOT

SEED = 11
LOAD_BYTES_PER_S = 12 * MIB
RESIZES = 10
MAX_PAUSE_MS = 1000
SIZES = (128 * MIB, 32 * MIB, 96 * MIB + 4096, 17 * MIB, RING_BYTES)
KILLED_IN_THE_MIDDLE = 3
MAX_KILLS = 20


def begin(directory: Path) -> CrashTest:
    """Start a broker and make its topic."""
    crash = CrashTest(directory, SEED)
    crash.broker.start()
    admin = AdminClient({"bootstrap.servers": crash.broker.bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(30)
    return crash


def resize(crash: CrashTest, size: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    admin = f"127.0.0.1:{crash.broker.admin_port}"
    command = [
        sys.executable,
        "-m",
        "headrace.broker",
        "wal",
        "resize",
        size,
        "--admin",
        admin,
        *options,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def let_work(crash: CrashTest, size_bytes: int) -> None:
    """Wait until the clients have written so much more."""
    appended = "headrace_appends_confirmed_bytes_total"
    wanted = crash.broker.metrics()[appended] + size_bytes
    deadline = time.monotonic() + 60
    while crash.broker.metrics()[appended] < wanted:
        assert time.monotonic() < deadline, "the clients write no more"
        time.sleep(0.1)


def test_resizes_under_load_lose_nothing_and_hold_up_producers_for_less_than_a_second(
    tmp_path: Path,
) -> None:
    crash = begin(tmp_path)
    wal = tmp_path / "broker" / "data" / "wal"
    answers = []
    with crash.load(LOAD_BYTES_PER_S) as (producer, consumer):
        wait_for_commits(crash)
        for _, size in zip(range(RESIZES), cycle(SIZES), strict=False):
            let_work(crash, 2 * MIB)
            done = resize(crash, str(size), "-o", "json")
            assert done.returncode == 0, done.stderr
            answers.append(json.loads(done.stdout))
            assert answers[-1]["new"] == wal.stat().st_size == size
            assert f"\ns3.wal.path=0@file://{wal}?capacity={size}\n" in done.stderr
            assert producer.poll() is None, "the producer found a fault, see its output"
        let_work(crash, 2 * MIB)
        metrics = crash.broker.metrics()
        producer.terminate()
        assert producer.wait(120) == 0, "the producer found a fault, see its output"
        consumer.terminate()
        assert consumer.wait(60) == 0, "the consumer found a fault, see its output"
    pauses = sorted(answer["pause_ms"] for answer in answers)
    print(f"pauses of {RESIZES} resizes under load: p50 {median(pauses)} ms, max {pauses[-1]} ms")
    assert pauses[-1] < MAX_PAUSE_MS
    assert sum(answer["uploaded_bytes"] for answer in answers) > 0
    assert metrics["headrace_wal_capacity_bytes"] == RING_BYTES - 8192
    assert metrics["headrace_wal_resizes_total"] == RESIZES
    assert metrics["headrace_admission_refused_total"] == 0
    crash.broker.kill()
    crash.broker.start()
    assert crash.check_everything() > 0
    crash.broker.stop()


def test_what_cannot_be_is_refused_with_the_reason(tmp_path: Path) -> None:
    crash = begin(tmp_path)
    for size, reason in (
        ("1MiB", "a WAL of 1048576 bytes is too small"),
        ("16383KiB", "at least 16777216 (16 MiB)"),
        ("512TiB", "cannot allocate 562949953421312 bytes"),
    ):
        done = resize(crash, size)
        assert done.returncode == 1, done.stdout
        assert reason in done.stderr
    assert resize(crash, "1GB").returncode == 2
    assert crash.broker.metrics()["headrace_wal_capacity_bytes"] == RING_BYTES - 8192
    crash.broker.stop()


class Attempt(threading.Thread):
    """A resize that may be answered, refused, or cut off."""

    def __init__(self, crash: CrashTest, size: int) -> None:
        super().__init__()
        self.outcome = ""
        self.answered_s = 0.0
        self._request = urllib.request.Request(
            crash.broker.admin_url("/wal/resize"),
            data=json.dumps({"capacity_bytes": size}).encode(),
            headers={"Content-Type": "application/json"},
        )

    def run(self) -> None:
        """Ask, and note what became of it."""
        begin_s = time.perf_counter()
        try:
            with urllib.request.urlopen(self._request, timeout=60) as answer:
                self.outcome = f"answered {answer.status}"
                self.answered_s = time.perf_counter() - begin_s
        except urllib.error.HTTPError as error:
            self.outcome = f"refused {error.code} {error.read().decode()}"
        except OSError:
            self.outcome = "cut off"


def test_a_kill_in_the_middle_of_a_resize_loses_nothing(tmp_path: Path) -> None:
    crash = begin(tmp_path)
    rng = random.Random()
    cut_off = 0
    with crash.load(LOAD_BYTES_PER_S) as (producer, consumer):
        wait_for_commits(crash)
        longest_s = 0.2
        for _, size in zip(range(MAX_KILLS), cycle(SIZES[:-1]), strict=False):
            let_work(crash, 2 * MIB)
            attempt = Attempt(crash, size)
            attempt.start()
            attempt.join(rng.uniform(0, longest_s))
            crash.broker.kill()
            attempt.join()
            assert not attempt.outcome.startswith("refused"), attempt.outcome
            crash.broker.start()
            crash.check_ends()
            if attempt.answered_s:  # too late, so the next kill comes earlier than that
                longest_s = min(longest_s, attempt.answered_s)
            cut_off += attempt.outcome == "cut off"
            if cut_off == KILLED_IN_THE_MIDDLE:
                break
        producer.terminate()
        assert producer.wait(120) == 0, "the producer found a fault, see its output"
        consumer.terminate()
        assert consumer.wait(60) == 0, "the consumer found a fault, see its output"
    assert cut_off == KILLED_IN_THE_MIDDLE
    assert crash.check_everything() > 0
    crash.broker.stop()
