"""The operations guide names series that there are."""

import re
from pathlib import Path
from types import SimpleNamespace

from prometheus_client.registry import Collector

from broker.partition.retention import RetentionStatistics
from broker.telemetry.background_metrics import BackgroundCollector
from broker.telemetry.block_cache_metrics import BlockCacheCollector
from broker.telemetry.metadata_metrics import MetadataCollector
from broker.telemetry.quorum_metrics import PublishingCollector, QuorumCollector
from metadata.publishing import PublishingStatistics
from storage.cache.data_blocks import DataBlockStatistics
from storage.cache.index_cache import IndexCacheStatistics
from storage.compaction.statistics import CompactionStatistics
from storage.deletion import DeletionStatistics
from storage.sweep.sweeper import SweepStatistics
from tests.unit.broker.telemetry.node_parts import node_collector
from tests.unit.broker.telemetry.test_quorum_metrics import LINKS, status

GUIDE = Path(__file__).parents[4] / "docs" / "operations.md"
CLIENT = SimpleNamespace(
    image=SimpleNamespace(index=0), lag=0, node_epoch=0, lease_remaining_ms=lambda: 0
)


def collectors() -> list[Collector]:
    of_node = node_collector(None)
    of_node.refresh()
    return [
        of_node,
        BackgroundCollector(
            RetentionStatistics(), CompactionStatistics(), DeletionStatistics(), SweepStatistics()
        ),
        BlockCacheCollector(DataBlockStatistics(), IndexCacheStatistics()),
        MetadataCollector(CLIENT),  # type: ignore[arg-type]
        QuorumCollector(status, LINKS),  # type: ignore[arg-type]
        PublishingCollector(PublishingStatistics()),
    ]


def test_what_the_operations_guide_names_is_shown() -> None:
    shown = set()
    for collector in collectors():
        for family in collector.collect():
            total = "_total" if family.type == "counter" else ""
            shown.add(f"{family.name}{total}")
    named = set(re.findall(r"headrace_[a-z_]*[a-z]", GUIDE.read_text()))
    assert len(named) > 30
    assert sorted(named - shown) == []
