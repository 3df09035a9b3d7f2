"""Metrics: their names, which operators build on, and where their values come from."""

from dataclasses import fields

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from headrace.storage.stats import EngineStats
from tests.unit.broker.telemetry.node_parts import FakeEngine, node_collector

GAUGES = {
    "wal_capacity_bytes",
    "wal_used_bytes",
    "wal_resize_last_pause_seconds",
    "wal_next_offset",
    "wal_confirmed_offset",
    "wal_trim_offset",
    "wal_queue_depth",
    "wal_io",
    "wal_unflushed_bytes",
    "partitions_damaged",
    "wal_oldest_unflushed_age_seconds",
    "log_cache_capacity_bytes",
    "log_cache_bytes",
    "log_cache_unuploaded_bytes",
    "log_cache_oldest_unuploaded_age_seconds",
    "streams_open",
    "appends_open",
    "admission_waiting",
    "uploads_in_flight",
    "object_store_failing_seconds",
    "object_store_answered_age_seconds",
    "connections",
    "partitions_open",
}
COUNTERS = {
    "log_cache_hits",
    "log_cache_misses",
    "appends_confirmed",
    "appends_confirmed_bytes",
    "admission_refused",
    "uploaded_blocks",
    "uploaded_objects",
    "uploaded_bytes",
    "upload_retries",
    "upload_expired",
    "wal_resizes",
    "wal_writes",
    "wal_written_bytes",
    "wal_superblock_writes",
    "wal_io_errors",
    "object_store_requests",
    "object_store_put_bytes",
    "object_store_copied_bytes",
    "object_store_get_bytes",
    "object_store_retries",
    "object_store_errors",
    "object_store_failures",
    "connections_accepted",
    "connections_refused",
    "requests",
    "produce_refused",
    "cold_reads_failed",
}


HISTOGRAMS = {
    "wal_write_duration_seconds",
    "wal_append_duration_seconds",
    "request_duration_seconds",
}


def page(engine: FakeEngine | None = None) -> dict[str, float]:
    """The page as a scraper reads it: samples by name and labels."""
    registry = CollectorRegistry()
    registry.register(node_collector(engine))
    text = generate_latest(registry).decode()
    return {
        sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_names_that_dashboards_build_on_stay() -> None:
    found = {name.split()[0] for name in page()}
    expected = {f"headrace_{name}" for name in GAUGES}
    expected |= {f"headrace_{name}_total" for name in COUNTERS}
    expected |= {
        f"headrace_{name}_{part}" for name in HISTOGRAMS for part in ("bucket", "sum", "count")
    }
    # Those of requests have no samples before there were some.
    assert {name for name in expected if "request_duration" not in name} <= found
    assert {name for name in found if not name.endswith("_created")} <= expected


def test_values_are_those_of_the_parts_in_the_units_of_their_names() -> None:
    found = page()
    assert found["headrace_wal_written_bytes_total"] == 9_000
    assert (found["headrace_wal_io aio"], found["headrace_wal_io threads"]) == (0, 1)
    assert found["headrace_wal_write_duration_seconds_sum"] == pytest.approx(60.0028)
    assert found["headrace_wal_write_duration_seconds_count"] == 8
    assert found["headrace_wal_write_duration_seconds_bucket 0.0003"] == 0
    assert found["headrace_wal_write_duration_seconds_bucket 0.0005"] == 7
    assert found["headrace_wal_write_duration_seconds_bucket 30.0"] == 7
    assert found["headrace_wal_append_duration_seconds_count"] == 17
    assert found["headrace_wal_superblock_writes_total"] == 15
    assert found["headrace_wal_io_errors_total"] == 16
    assert found["headrace_wal_queue_depth"] == 18
    assert found["headrace_wal_unflushed_bytes"] == 11
    assert found["headrace_wal_oldest_unflushed_age_seconds"] == pytest.approx(1.9)
    assert found["headrace_object_store_requests_total put"] == 3
    assert found["headrace_object_store_requests_total get"] == 4
    assert found["headrace_object_store_failures_total throttled"] == 2
    assert found["headrace_object_store_failures_total timeout"] == 0
    assert found["headrace_object_store_failing_seconds put"] == 40
    assert found["headrace_object_store_failing_seconds get"] == 0
    assert found["headrace_object_store_answered_age_seconds"] == 79
    assert found["headrace_requests_total metadata"] == 6
    assert found["headrace_produce_refused_total corrupt_message"] == 7
    assert found["headrace_cold_reads_failed_total kafka_storage_error"] == 8
    assert (found["headrace_connections"], found["headrace_partitions_open"]) == (12, 11)
    assert found["headrace_connections_refused_total"] == 14
    names = [field.name for field in fields(EngineStats)]
    age_ms = 1_000 + names.index("oldest_unuploaded_age_ms")
    age_s = found["headrace_log_cache_oldest_unuploaded_age_seconds"]
    assert age_s == pytest.approx(age_ms / 1_000)
    assert found["headrace_wal_used_bytes"] == 1_000 + names.index("wal_used_bytes")
    assert found["headrace_uploads_in_flight"] == 1_000 + names.index("uploads_inflight")


def test_every_statistic_of_the_engine_has_a_place() -> None:
    """Each has a value of its own, so what is left out is missing among the values."""
    rounded = {round(value, 6) for value in page().values()}
    numbers = {name.name: 1_000 + it for it, name in enumerate(fields(EngineStats))}
    del numbers["failed"]  # what readiness is for
    missing = {name for name, number in numbers.items() if not rounded & {number, number / 1_000}}
    assert missing == set()
