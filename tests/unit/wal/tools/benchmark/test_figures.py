"""Statistics of benchmark runs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.wal.tools.benchmark.figures import (
    Counted,
    DeviceWork,
    Figures,
    Load,
    PeerFigures,
    Row,
    Sample,
    count,
    medians,
    peer_depth,
    peer_request_bytes,
    percentile,
    summarise,
)

SECOND = 1_000_000_000
OURS = Figures(
    average_ms=3.0,
    p99_ms=5.0,
    max_ms=9.0,
    bytes_per_second=95e6,
    iops=2000.0,
    request_bytes=6200.0,
    depth=2.6,
    cpu_share=0.2,
)


def test_a_run_is_summarised() -> None:
    found = summarise(
        [5_000_000] + [1_000_000] * 98 + [2_000_000],
        record_bytes=1000,
        work=DeviceWork(writes=50, written_bytes=50 * 8192, busy_ns=SECOND),
        elapsed_ns=SECOND // 2,
        cpu_ns=SECOND // 10,
    )
    assert found == Figures(
        average_ms=1.05,
        p99_ms=2.0,
        max_ms=5.0,
        bytes_per_second=200_000,
        iops=100,
        request_bytes=8192,
        depth=2,
        cpu_share=0.2,
    )


def test_a_run_without_records_is_no_run() -> None:
    work = DeviceWork(0, 0, 0)
    with pytest.raises(ValueError, match="too short"):
        summarise([], record_bytes=1, work=work, elapsed_ns=SECOND, cpu_ns=0)


@given(st.lists(st.integers(0, 1000), min_size=1).map(sorted), st.integers(1, 100))
def test_a_percentile_is_not_exceeded_by_its_share(values: list[int], percent: int) -> None:
    found = percentile(values, percent)
    assert sum(value <= found for value in values) * 100 >= percent * len(values)
    assert sum(value < found for value in values) * 100 < percent * len(values)


def test_medians_are_of_each_figure() -> None:
    runs = [PeerFigures(1.0, 30.0), PeerFigures(3.0, 10.0), PeerFigures(2.0, 50.0)]
    assert medians(runs) == PeerFigures(2.0, 30.0)
    assert medians([OURS]) == OURS


def test_fio_is_asked_for_what_our_run_showed() -> None:
    assert peer_request_bytes(OURS) == 8192
    assert peer_depth(OURS) == 3
    idle = Figures(1, 1, 1, 1, 1, request_bytes=100, depth=0.1, cpu_share=0)
    assert (peer_request_bytes(idle), peer_depth(idle)) == (4096, 1)


def test_ratios_are_ours_to_fios() -> None:
    row = Row(Load(4096, 0), OURS, PeerFigures(bytes_per_second=100e6, average_ms=2.0))
    assert row.throughput_ratio == pytest.approx(0.95)
    assert row.latency_ratio == pytest.approx(1.5)
    alone = Row(Load(4096, 0), OURS, None)
    assert alone.throughput_ratio is None
    assert alone.latency_ratio is None


def test_a_second_is_slid_over_the_devices_counters() -> None:
    """600 writes around the turn of a second, which counting by whole seconds would divide."""
    samples = [
        Sample(0, 10, 0),
        Sample(9 * SECOND // 10, 10, 0),
        Sample(SECOND, 310, 3000),
        Sample(11 * SECOND // 10, 610, 6000),
        Sample(2 * SECOND, 612, 8000),
    ]
    assert count(samples) == Counted(
        max_writes_per_second=600, max_bytes_per_second=6000, bytes_per_second=4000
    )


@given(
    st.lists(st.tuples(st.integers(1, SECOND // 2), st.integers(0, 50)), min_size=1, max_size=40)
)
def test_no_second_between_samples_has_more(steps: list[tuple[int, int]]) -> None:
    samples = [Sample(0, 0, 0)]
    for pause_ns, writes in steps:
        last = samples[-1]
        samples.append(Sample(last.at_ns + pause_ns, last.writes + writes, 0))
    expected = max(
        late.writes - early.writes
        for early in samples
        for late in samples
        if 0 <= late.at_ns - early.at_ns <= SECOND
    )
    assert count(samples).max_writes_per_second == expected
