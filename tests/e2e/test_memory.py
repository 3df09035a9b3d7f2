"""What many clients make a broker hold goes when they go, and large answers take little more than their bytes."""

from pathlib import Path

from bench.process_usage import Usage, usage
from tests.e2e.broker_process import HeadraceProcess
from tests.e2e.floods import Floods, Size, wait_until

MIB = 1 << 20
SIZE = Size(partitions=4_000, sessions=60, groups=2, answers=100, wide_topics=0)
# The sessions take 120 MiB, the caches and what lives among what is freed some of these.
MAX_LEFT_BYTES = 60 * MIB
MAX_OF_ANSWER_BYTES = 6  # of memory, to each of an answer


def test_memory_of_fetch_sessions_and_of_large_answers(tmp_path: Path) -> None:
    settings = {"s3.wal.cache.size": str(64 * MIB), "s3.wal.upload.threshold": str(16 * MIB)}
    with HeadraceProcess(tmp_path / "broker", overrides=settings) as broker:

        def now() -> Usage:
            return usage(broker.process.process_id)

        before = now().rss_bytes
        floods = Floods(broker.port, SIZE)
        steps = [(done, now()) for done in floods.steps()]
        full, answered = steps[-2][1].rss_bytes, steps[-1][1].rss_peak_bytes
        assert full > before + 2 * MAX_LEFT_BYTES, "nothing was filled"
        assert answered - full < MAX_OF_ANSWER_BYTES * SIZE.answers * floods.answer_bytes
        floods.withdraw()
        wait_until(
            lambda: now().rss_bytes < before + MAX_LEFT_BYTES,
            f"{before} bytes at the start, {full} at most, and as much a minute after",
        )
