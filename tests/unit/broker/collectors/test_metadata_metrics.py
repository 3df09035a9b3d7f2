"""What a broker shows of its copy of the metadata."""

from types import SimpleNamespace

from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.metadata_metrics import MetadataCollector
from headrace.metadata.levels import METADATA_FEATURE, NEWEST


def test_a_broker_shows_how_current_it_is() -> None:
    client = SimpleNamespace(
        image=SimpleNamespace(index=40, features={METADATA_FEATURE: 1}),
        lag=2,
        node_epoch=7,
        lease_remaining_ms=lambda: 7_250,
    )
    registry = CollectorRegistry()
    registry.register(MetadataCollector(client))  # type: ignore[arg-type]
    page = generate_latest(registry).decode()
    for line in (
        "headrace_metadata_applied_index 40.0",
        "headrace_metadata_lag_entries 2.0",
        "headrace_metadata_level 1.0",
        f"headrace_metadata_level_supported {NEWEST}.0",
        "headrace_lease_remaining_seconds 7.25",
        "headrace_node_epoch 7.0",
    ):
        assert f"\n{line}\n" in page
