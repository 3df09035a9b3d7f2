"""The operations guide names series that there are."""

import re
from pathlib import Path
from types import SimpleNamespace

from prometheus_client.registry import Collector

from headrace.broker.adapters.drained_log import DrainStatistics
from headrace.broker.collectors.background_metrics import BackgroundCollector
from headrace.broker.collectors.balance_metrics import BalanceCollector
from headrace.broker.collectors.block_cache_metrics import BlockCacheCollector
from headrace.broker.collectors.budget_metrics import BudgetCollector
from headrace.broker.collectors.cleaning_metrics import CleaningCollector
from headrace.broker.collectors.coordinator_metrics import CoordinatorCollector
from headrace.broker.collectors.drain_metrics import DrainCollector
from headrace.broker.collectors.metadata_metrics import MetadataCollector
from headrace.broker.collectors.move_metrics import MoveCollector
from headrace.broker.collectors.offline_metrics import OfflineCollector
from headrace.broker.collectors.quorum_metrics import PublishingCollector, QuorumCollector
from headrace.broker.collectors.relay_metrics import RelayCollector, TransportCollector
from headrace.broker.collectors.role_metrics import RoleCollector
from headrace.broker.coordinator.runtime.statistics import CoordinatorStatistics
from headrace.broker.partition.leadership import OpeningStatistics
from headrace.broker.partition.moving import MoveStatistics
from headrace.broker.partition.retention import RetentionStatistics
from headrace.broker.partition.topic_cleaner import CleaningStatistics
from headrace.broker.telemetry.loop_turns import LoopTurns
from headrace.broker.telemetry.unexpected_errors import UnexpectedErrors
from headrace.metadata.balance.cluster import BalancePlan
from headrace.metadata.balance.state import BalanceSettings, BalanceState
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.publishing import PublishingStatistics
from headrace.metadata.leader.relays import RelayStatistics
from headrace.metadata.net.quorum_transport import TransportStatistics
from headrace.storage.cache.data_blocks import DataBlockStatistics
from headrace.storage.cache.index_cache import IndexCacheStatistics
from headrace.storage.compaction.statistics import CompactionStatistics
from headrace.storage.deletion import DeletionStatistics
from headrace.storage.sweep.sweeper import SweepStatistics
from tests.unit.broker.collectors.test_quorum_metrics import LINKS, status
from tests.unit.broker.telemetry.node_parts import node_collector

GUIDE = Path(__file__).parents[4] / "docs" / "operations.md"
CLIENT = SimpleNamespace(
    image=SimpleNamespace(index=0, features={}), lag=0, node_epoch=0, lease_remaining_ms=lambda: 0
)

COORDINATOR = SimpleNamespace(log_bytes=0, live_records=0, statistics=CoordinatorStatistics())


BALANCE = BalanceState(BalanceSettings(enabled=True, window_ms=1), 0)
BALANCE.adopt(BalancePlan((), frozenset(), (), (), 0), 0)


def collectors() -> list[Collector]:
    return [
        node_collector(None),
        BackgroundCollector(
            OpeningStatistics(),
            RetentionStatistics(),
            CompactionStatistics(),
            DeletionStatistics(),
            SweepStatistics(),
            lambda: 0,
        ),
        CleaningCollector(CleaningStatistics(), lambda: 0.0),
        CoordinatorCollector(COORDINATOR),  # type: ignore[arg-type]
        BudgetCollector({}),
        BlockCacheCollector(DataBlockStatistics(), IndexCacheStatistics()),
        MetadataCollector(CLIENT),  # type: ignore[arg-type]
        DrainCollector(DrainStatistics()),
        MoveCollector(MoveStatistics()),
        QuorumCollector(status, LINKS),  # type: ignore[arg-type]
        RelayCollector(RelayStatistics()),
        TransportCollector(lambda: TransportStatistics(0, 0, 0, 0, 0)),
        OfflineCollector(status, MetadataImage),
        BalanceCollector(lambda: BALANCE),
        PublishingCollector(PublishingStatistics()),
        UnexpectedErrors(lambda _reason: None),
        LoopTurns(lambda: 0.0, lambda: 0.0),
        RoleCollector(lambda: 0),
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
