"""Metrics and readiness of a controller as a member of the metadata quorum."""

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from headrace.broker.telemetry.families import counter, gauge
from headrace.broker.telemetry.readiness import CheckResult
from headrace.metadata.net.peer_links import PeerLinks
from headrace.metadata.publishing import PublishingStatistics
from headrace.metadata.quorum.status import QuorumStatus
from headrace.metadata.raft.effects import NOBODY, Role

MILLISECONDS = 1e-3


class QuorumCollector(Collector):
    """Reads a member's status at each scrape."""

    def __init__(self, status: Callable[[], QuorumStatus], links: PeerLinks) -> None:
        self._read = status
        self._links = links
        self._status = status()

    def refresh(self) -> None:
        """Take what may only be asked on the loop."""
        self._status = self._read()

    def describe(self) -> Iterable[Metric]:
        """Name nothing in advance."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        status = self._status
        role = GaugeMetricFamily(
            "headrace_quorum_role", "1 for the role that this controller has", labels=["role"]
        )
        for each in Role:
            role.add_metric([each.value], float(each is status.role))
        yield role
        for name, text, value in (
            ("term", "Term of the metadata quorum", status.term),
            ("leader_id", "Node that leads it; -1: not known", status.leader_id),
            ("commit_index", "Last entry known to be committed", status.commit_index),
            ("applied_index", "Last entry in this controller's image", status.applied_index),
            ("last_index", "Last entry in its log", status.last_index),
            ("durable_index", "Last entry that is durable there", status.durable_index),
            ("voters", "Controllers that count", len(status.voters)),
            ("learners", "Controllers that only follow", len(status.learners)),
        ):
            yield gauge(f"quorum_{name}", text, value)
        yield from self._followers()
        yield from self._totals()
        yield from self._network()

    def _followers(self) -> Iterator[Metric]:
        """What a leader knows of the others; nothing elsewhere."""
        lag = GaugeMetricFamily(
            "headrace_quorum_follower_lag_entries",
            "Entries of the leader's log that a controller is not known to have",
            labels=["follower"],
        )
        for node_id, match_index in sorted(self._status.followers.items()):
            behind = max(0, self._status.last_index - match_index)
            lag.add_metric([str(node_id)], behind)
        yield lag

    def _totals(self) -> Iterator[Metric]:
        totals = self._status.counters
        yield counter("quorum_elections", "Elections stood for", totals.elections_started)
        yield counter("quorum_leader_changes", "Leaders followed", totals.leader_changes)
        yield counter(
            "quorum_snapshots_installed",
            "Snapshots taken over in place of the log, having been behind",
            totals.snapshots_installed,
        )
        yield from _durations(
            "quorum_append",
            "writes of the metadata log",
            totals.appends,
            totals.append_ms_total,
        )
        yield from _durations(
            "quorum_commit",
            "commits that this controller has led, from the proposal to the image",
            totals.commits,
            totals.commit_ms_total,
        )

    def _network(self) -> Iterator[Metric]:
        links = self._links.statistics
        yield gauge("quorum_peers", "Other controllers of the quorum", links.peers)
        yield gauge("quorum_peers_connected", "Of these, connected", links.connected)
        yield counter("quorum_messages_sent", "Messages to other controllers", links.messages_sent)
        dropped = CounterMetricFamily(
            "headrace_quorum_messages_dropped",
            "Messages lost here, by direction; they are repeated where that matters",
            labels=["direction"],
        )
        dropped.add_metric(["out"], links.messages_dropped)
        dropped.add_metric(["in"], self._status.counters.messages_dropped)
        yield dropped
        yield counter("quorum_sent_bytes", "Bytes sent to other controllers", links.bytes_sent)


class PublishingCollector(Collector):
    """Shows what a controller has put into the bucket."""

    def __init__(self, statistics: PublishingStatistics) -> None:
        self._statistics = statistics

    def describe(self) -> Iterable[Metric]:
        """Name nothing in advance."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Read everything."""
        found = self._statistics
        yield counter(
            "metadata_snapshots_published", "Snapshots put into the bucket", found.published
        )
        yield counter(
            "metadata_publishing_failures", "Attempts at that which failed", found.failures
        )
        yield gauge("metadata_published_index", "Last entry in the newest one", found.index)
        yield gauge("metadata_published_bytes", "Size of it", found.size_bytes)
        yield gauge(
            "metadata_published_timestamp_seconds",
            "When it was put there, in seconds since 1970; 0: not by this process",
            found.published_ms * MILLISECONDS,
        )


def check_quorum(status: QuorumStatus) -> CheckResult:
    """Readiness: leads with a committed entry of its own term, or follows a leader and has its log.

    One that has none of it has just been started, or it lost its disk: then the quorum takes it for
    somebody else, and it must not count as one of those that another may be stopped beside.
    """
    if status.role is Role.LEADER:
        reason = f"leads in term {status.term}" if status.serving else "is about to lead"
        return CheckResult("controller", status.serving, reason)
    if status.leader_id != NOBODY:
        reason = f"follows {status.leader_id} in term {status.term}"
        if not status.applied_index:
            reason += ", and has nothing of its log; if that stays so, it lost its disk: remove it "
            reason += "from the quorum and add it again"
        return CheckResult("controller", ok=status.applied_index > 0, reason=reason)
    voters = ", ".join(map(str, status.voters)) or "none known: not added to a quorum yet"
    reason = f"no leader known in term {status.term} ({status.role.value}; voters: {voters})"
    return CheckResult("controller", ok=False, reason=reason)


def _durations(name: str, what: str, count: int, total_ms: float) -> Iterator[Metric]:
    """A count and a sum, of which the mean follows."""
    yield counter(f"{name}s", f"Number of {what}", count)
    yield counter(f"{name}_seconds", f"Time of all {what}", total_ms * MILLISECONDS)
