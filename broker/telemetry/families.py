"""Metrics with the prefix that all series have: of one sample, several such, or one for each value of a label."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeVar

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

_Family = TypeVar("_Family", GaugeMetricFamily, CounterMetricFamily)
Row: TypeAlias = tuple[str, str, float]  # name, what it is, value


def gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    """Something that goes up and down."""
    return GaugeMetricFamily(f"headrace_{name}", text, value=value)


def counter(name: str, text: str, value: float) -> CounterMetricFamily:
    """Something that only grows; the exposition adds `_total`."""
    return CounterMetricFamily(f"headrace_{name}", text, value=value)


def gauges(*rows: Row, prefix: str = "") -> Iterator[GaugeMetricFamily]:
    """Several gauges, whose names have a prefix in common."""
    for name, text, value in rows:
        yield gauge(prefix + name, text, value)


def counters(*rows: Row, prefix: str = "") -> Iterator[CounterMetricFamily]:
    """Several counters, whose names have a prefix in common."""
    for name, text, value in rows:
        yield counter(prefix + name, text, value)


def gauge_by(
    label: str, name: str, text: str, values: Iterable[tuple[str, float]]
) -> GaugeMetricFamily:
    """A gauge for each value of a label."""
    return _filled(GaugeMetricFamily(f"headrace_{name}", text, labels=[label]), values)


def counter_by(
    label: str, name: str, text: str, values: Iterable[tuple[str, float]]
) -> CounterMetricFamily:
    """A counter for each value of a label."""
    return _filled(CounterMetricFamily(f"headrace_{name}", text, labels=[label]), values)


def _filled(family: _Family, values: Iterable[tuple[str, float]]) -> _Family:
    for value, sample in values:
        family.add_metric([value], sample)
    return family
