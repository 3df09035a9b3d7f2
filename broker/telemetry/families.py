"""Metrics of one sample, with the prefix that all series have."""

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily


def gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    """Something that goes up and down."""
    return GaugeMetricFamily(f"headrace_{name}", text, value=value)


def counter(name: str, text: str, value: float) -> CounterMetricFamily:
    """Something that only grows; the exposition adds `_total`."""
    return CounterMetricFamily(f"headrace_{name}", text, value=value)
