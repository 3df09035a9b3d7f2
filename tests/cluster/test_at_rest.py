"""What a cluster does when nobody disturbs it."""

import statistics

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.probe import Probe

# Loose: a slow machine must not fail this. The figure is printed here, and measured by `make bench-cluster`.
SEEN_WITHIN_MS = 2_000

pytestmark = pytest.mark.timeout(180)


def test_a_change_is_seen_at_every_broker(resting: Cluster) -> None:
    probe = Probe(resting)
    times_ms = [probe.ns_until_seen(broker) / 1e6 for _ in range(10) for broker in resting.brokers]
    median_ms = statistics.median(times_ms)
    print(f"\nseen everywhere after {median_ms:.1f} ms (median), {max(times_ms):.1f} ms at most")
    assert max(times_ms) < SEEN_WITHIN_MS
