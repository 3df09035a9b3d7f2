"""What a controller shows of itself as a member of the quorum."""

from types import SimpleNamespace

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from headrace.broker.collectors.quorum_metrics import QuorumCollector, check_quorum
from headrace.metadata.net.peer_links import PeerStatistics
from headrace.metadata.quorum.status import QuorumCounters, QuorumStatus
from headrace.metadata.raft.effects import NOBODY, Role


def status(**changes: object) -> QuorumStatus:
    fields: dict[str, object] = {
        "role": Role.LEADER,
        "term": 4,
        "leader_id": 1,
        "serving": True,
        "commit_index": 90,
        "applied_index": 89,
        "last_index": 100,
        "durable_index": 95,
        "voters": (1, 2, 3),
        "learners": (4,),
        "outdated": (),
        "followers": {2: 100, 3: 60},
        "leader_silent_ms": 0,
        "counters": QuorumCounters(
            elections_started=2,
            leader_changes=5,
            appends=10,
            append_ms_total=250,
            commits=3,
            commit_ms_total=500,
            messages_dropped=7,
        ),
    }
    return QuorumStatus(**(fields | changes))  # type: ignore[arg-type]


LINKS = SimpleNamespace(
    statistics=PeerStatistics(
        peers=3,
        connected=2,
        messages_sent=40,
        messages_dropped=1,
        bytes_sent=4_000,
        dials=3,
        disconnects=1,
    )
)


def page(collector: QuorumCollector) -> list[str]:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode().splitlines()


def test_a_leader_shows_the_quorum() -> None:
    lines = page(QuorumCollector(status, LINKS))  # type: ignore[arg-type]
    for line in (
        'headrace_quorum_role{role="leader"} 1.0',
        'headrace_quorum_role{role="follower"} 0.0',
        "headrace_quorum_term 4.0",
        "headrace_quorum_leader_id 1.0",
        "headrace_quorum_commit_index 90.0",
        "headrace_quorum_last_index 100.0",
        "headrace_quorum_voters 3.0",
        "headrace_quorum_learners 1.0",
        'headrace_quorum_follower_lag_entries{follower="2"} 0.0',
        'headrace_quorum_follower_lag_entries{follower="3"} 40.0',
        "headrace_quorum_elections_total 2.0",
        "headrace_quorum_leader_changes_total 5.0",
        "headrace_quorum_appends_total 10.0",
        "headrace_quorum_append_seconds_total 0.25",
        "headrace_quorum_commit_seconds_total 0.5",
        "headrace_quorum_peers_connected 2.0",
        'headrace_quorum_messages_dropped_total{direction="in"} 7.0',
        'headrace_quorum_messages_dropped_total{direction="out"} 1.0',
    ):
        assert line in lines


def test_each_page_has_the_status_of_its_time() -> None:
    now = status()
    collector = QuorumCollector(lambda: now, LINKS)  # type: ignore[arg-type]
    assert "headrace_quorum_term 4.0" in page(collector)
    now = status(term=5)
    assert "headrace_quorum_term 5.0" in page(collector)


@pytest.mark.parametrize(
    ("changes", "ok", "reason"),
    [
        ({}, True, "leads in term 4"),
        ({"serving": False}, False, "elected in term 4, not serving yet"),
        ({"role": Role.FOLLOWER, "leader_id": 2}, True, "follows 2 in term 4"),
        (
            {"role": Role.FOLLOWER, "leader_id": 2, "applied_index": 0},
            False,
            "follows 2 in term 4, and has none of its log yet; if this persists, this controller "
            "lost its disk: remove it from the quorum and add it again",
        ),
        (
            {"role": Role.CANDIDATE, "leader_id": NOBODY},
            False,
            "no leader known in term 4 (candidate; voters: 1, 2, 3)",
        ),
        (
            {"role": Role.FOLLOWER, "leader_id": NOBODY, "voters": ()},
            False,
            "no leader known in term 4 (follower; voters: none known: not added to a quorum yet)",
        ),
    ],
)
def test_a_controller_is_ready_when_it_leads_or_follows(
    changes: dict[str, object], ok: bool, reason: str
) -> None:
    result = check_quorum(status(**changes))
    assert (result.name, result.ok, result.reason) == ("controller", ok, reason)
