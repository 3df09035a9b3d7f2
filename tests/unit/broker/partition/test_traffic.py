"""Averages of traffic: of a steady rate, after a change, of a partition that is opened, and what is told."""

import pytest

from headrace.broker.partition.traffic import MAX_TOLD, Traffic, TrafficAverages, TrafficSample
from headrace.metadata.rpc.loads import Loads, PartitionLoad, TrafficRates
from headrace.steps import completed

WINDOW_MS = 300_000
STEP_MS = 10_000


class Broker:
    """Partitions by stream id, each with bytes/s in, bytes/s out and requests/s, and the counters."""

    def __init__(self) -> None:
        self.rates: dict[int, tuple[int, int, int]] = {}
        self.averages = TrafficAverages(WINDOW_MS)
        self.counters: dict[int, Traffic] = {}
        self.now_ms = 5
        self.loads: Loads | None = None

    def go_on(self, looks: int) -> list[PartitionLoad]:
        for _ in range(looks):
            for stream_id, rate in self.rates.items():
                counter = self.counters.setdefault(stream_id, Traffic())
                for name, each in zip(("bytes_in", "bytes_out", "requests"), rate, strict=True):
                    setattr(counter, name, getattr(counter, name) + each * STEP_MS // 1000)
            self.now_ms += STEP_MS
            self.loads = completed(
                self.averages.take(
                    [
                        TrafficSample(it, counter.bytes_in, counter.bytes_out, counter.requests)
                        for it, counter in self.counters.items()
                    ],
                    self.now_ms,
                )
            )
        assert self.loads is not None
        return list(self.loads.partitions)


def test_a_steady_rate_is_told_as_it_is() -> None:
    broker = Broker()
    broker.go_on(1)
    broker.rates = {7: (1_000, 2_000, 30)}
    for _ in range(50):
        assert broker.go_on(1) == [PartitionLoad(7, TrafficRates(1_000, 2_000, 30))]


def test_what_is_a_window_old_counts_about_a_third() -> None:
    broker = Broker()
    broker.rates = {7: (1_000, 0, 1)}
    broker.go_on(200)
    broker.rates = {}
    (load,) = broker.go_on(WINDOW_MS // STEP_MS)
    assert load.rates.bytes_in == pytest.approx(368, abs=2)
    (load,) = broker.go_on(10 * WINDOW_MS // STEP_MS)
    assert load.rates.bytes_in == 0


def test_a_partition_that_is_closed_is_forgotten_and_one_that_is_opened_again_begins_anew() -> None:
    broker = Broker()
    broker.rates = {7: (1_000, 0, 1)}
    broker.go_on(10)
    counter, broker.rates = broker.counters.pop(7), {}
    assert broker.go_on(1) == []
    broker.counters[7] = counter  # opened again: its counters would have begun at zero
    (load,) = broker.go_on(1)
    assert load.rates.bytes_in == counter.bytes_in * 1000 // STEP_MS


def test_the_busiest_are_told_by_name_and_the_rest_as_a_sum() -> None:
    broker = Broker()
    broker.go_on(1)
    broker.rates = {it: (1_000 * it, 0, 1) for it in range(1, MAX_TOLD + 3)}
    told = broker.go_on(1)
    assert len(told) == MAX_TOLD
    assert told[0].stream_id == MAX_TOLD + 2
    assert broker.loads is not None
    assert (broker.loads.others, broker.loads.others_rates) == (2, TrafficRates(3_000, 0, 2))


def test_requests_cost_as_bytes_do() -> None:
    assert TrafficRates(bytes_in=1 << 20, bytes_out=2 << 20, requests=32).cost == 4 << 20


def test_appends_and_reads_are_counted() -> None:
    traffic = Traffic()
    traffic.appended(100)
    traffic.read(30)
    traffic.read(0)
    assert (traffic.bytes_in, traffic.bytes_out, traffic.requests) == (100, 30, 3)
