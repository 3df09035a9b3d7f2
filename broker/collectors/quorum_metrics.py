"""Metrics and readiness of a controller as a member of the metadata quorum."""

from collections.abc import Callable, Iterator

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import (
    counter,
    counter_by,
    counters,
    gauge,
    gauge_by,
    gauges,
)
from headrace.broker.telemetry.readiness import CheckResult
from headrace.metadata.leader.publishing import PublishingStatistics
from headrace.metadata.net.peer_links import PeerLinks
from headrace.metadata.quorum.status import QuorumStatus
from headrace.metadata.raft.effects import NOBODY, Role

MILLISECONDS = 1e-3


class QuorumCollector(Collector):
    """Reads a member's status at each scrape."""

    def __init__(self, status: Callable[[], QuorumStatus], links: PeerLinks) -> None:
        self._read = status
        self._links = links
        self._status = status()

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        status = self._status = self._read()
        roles = ((role.value, float(role is status.role)) for role in Role)
        yield gauge_by("role", "quorum_role", "1 for the role that this controller has", roles)
        yield from gauges(
            ("term", "Term of the metadata quorum", status.term),
            ("leader_id", "Node id of the quorum's leader; -1: not known", status.leader_id),
            ("commit_index", "Last entry known to be committed", status.commit_index),
            ("applied_index", "Last entry in this controller's image", status.applied_index),
            ("last_index", "Last entry in its log", status.last_index),
            ("durable_index", "Last entry that is durable in its log", status.durable_index),
            ("voters", "Controllers that vote", len(status.voters)),
            ("learners", "Controllers that follow without a vote", len(status.learners)),
            ("outdated", "Controllers whose directories are old copies", len(status.outdated)),
            prefix="quorum_",
        )  # fmt: skip
        yield from self._followers()
        yield from self._totals()
        yield from self._network()

    def _followers(self) -> Iterator[Metric]:
        """Lag of the other controllers; only a leader knows it."""
        last_index, followers = self._status.last_index, sorted(self._status.followers.items())
        yield gauge_by(
            "follower",
            "quorum_follower_lag_entries",
            "Entries of the leader's log that a controller is not known to have",
            ((str(node_id), max(0, last_index - matched)) for node_id, matched in followers),
        )

    def _totals(self) -> Iterator[Metric]:
        totals = self._status.counters
        yield from counters(
            ("quorum_elections", "Elections that this controller started", totals.elections_started),
            ("quorum_leader_changes", "Changes of the leader that this controller follows", totals.leader_changes),
            ("quorum_snapshots_installed", "Snapshots installed because this controller was too far behind the log",
             totals.snapshots_installed),
        )  # fmt: skip
        yield from _durations(
            "quorum_append",
            "writes of the metadata log",
            totals.appends,
            totals.append_ms_total,
        )
        yield from _durations(
            "quorum_commit",
            "commits as leader, from the proposal to the image",
            totals.commits,
            totals.commit_ms_total,
        )

    def _network(self) -> Iterator[Metric]:
        links = self._links.statistics
        yield gauge("quorum_peers", "Other controllers of the quorum", links.peers)
        yield gauge(
            "quorum_peers_connected", "Other controllers that are connected", links.connected
        )
        yield counter("quorum_messages_sent", "Messages to other controllers", links.messages_sent)
        yield counter_by(
            "direction",
            "quorum_messages_dropped",
            "Messages dropped by this controller, by direction; they are repeated where needed",
            (("out", links.messages_dropped), ("in", self._status.counters.messages_dropped)),
        )
        yield counter("quorum_sent_bytes", "Bytes sent to other controllers", links.bytes_sent)


class PublishingCollector(Collector):
    """Shows the snapshots that a controller has published in the bucket."""

    def __init__(self, statistics: PublishingStatistics) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        found = self._statistics
        yield from gauges(
            ("metadata_published_index", "Last entry in the newest published snapshot", found.index),
            ("metadata_published_bytes", "Size of the newest published snapshot", found.size_bytes),
            ("metadata_published_timestamp_seconds",
             "When it was published, in seconds since 1970; 0: this process has published none",
             found.published_ms * MILLISECONDS),
        )  # fmt: skip
        yield from counters(
            ("metadata_snapshots_published", "Snapshots put into the bucket", found.published),
            ("metadata_publishing_failures", "Attempts to publish a snapshot that failed", found.failures),
        )  # fmt: skip


def check_quorum(status: QuorumStatus) -> CheckResult:
    """Readiness: leads with a committed entry of its own term, or follows a leader and has its log.

    A controller without any entry has just been started, or it lost its disk. In that case the quorum takes it for
    a new member, and it must not be counted among those that make it safe to stop another one.
    """
    if status.role is Role.LEADER:
        reason = (
            f"leads in term {status.term}"
            if status.serving
            else f"elected in term {status.term}, not serving yet"
        )
        return CheckResult("controller", status.serving, reason)
    if status.leader_id != NOBODY:
        reason = f"follows {status.leader_id} in term {status.term}"
        if not status.applied_index:
            reason += (
                ", and has none of its log yet; if this persists, this controller lost its disk: "
            )
            reason += "remove it from the quorum and add it again"
        return CheckResult("controller", ok=status.applied_index > 0, reason=reason)
    voters = ", ".join(map(str, status.voters)) or "none known: not added to a quorum yet"
    reason = f"no leader known in term {status.term} ({status.role.value}; voters: {voters})"
    return CheckResult("controller", ok=False, reason=reason)


def _durations(name: str, what: str, count: int, total_ms: float) -> Iterator[Metric]:
    """A count and a sum, from which the mean can be computed."""
    yield counter(f"{name}s", f"Number of {what}", count)
    yield counter(f"{name}_seconds", f"Time of all {what}", total_ms * MILLISECONDS)
