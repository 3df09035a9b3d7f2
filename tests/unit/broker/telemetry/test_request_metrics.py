"""Counts and latencies of requests by API."""

import pytest

from headrace.broker.telemetry.request_metrics import LATENCY_BUCKETS_S, RequestMetrics
from headrace.protocol.api_keys import ApiKey


class Clock:
    now_s = 5.0

    def __call__(self) -> float:
        return self.now_s


def samples(metrics: RequestMetrics, api: str) -> dict[str, float]:
    """Sum, count and buckets of one API."""
    (family,) = metrics.latencies.collect()
    found = {}
    for sample in family.samples:
        if sample.labels["api"] == api:
            name = sample.name.removeprefix("headrace_request_duration_seconds_")
            found[sample.labels.get("le", name)] = sample.value
    return found


def test_a_latency_falls_into_its_bucket() -> None:
    metrics = RequestMetrics(Clock())
    metrics.observers[ApiKey.PRODUCE](0.003)
    found = samples(metrics, "produce")
    assert (found["0.002"], found["0.004"], found["+Inf"]) == (0, 1, 1)
    assert found["sum"] == pytest.approx(0.003)


def test_every_api_is_observed_by_itself() -> None:
    metrics = RequestMetrics(Clock())
    for key in ApiKey:
        metrics.observers[key](1.0)
    assert all(samples(metrics, key.name.lower())["count"] == 1 for key in ApiKey)


def test_two_nodes_in_one_process_count_apart() -> None:
    one, two = RequestMetrics(Clock()), RequestMetrics(Clock())
    one.observers[ApiKey.FETCH](1.0)
    assert samples(one, "fetch")["count"] == 1
    assert samples(two, "fetch") == {}


def test_buckets_reach_from_a_wal_write_to_a_request_time_out() -> None:
    assert list(LATENCY_BUCKETS_S) == sorted(LATENCY_BUCKETS_S)
    assert (LATENCY_BUCKETS_S[0], LATENCY_BUCKETS_S[-1]) == (0.000_05, 30)
