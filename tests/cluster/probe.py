"""How long the cluster's metadata cannot be changed, and how long a change takes to be seen everywhere."""

import threading
from itertools import count

from tests.cluster.client_errors import TOPIC_ALREADY_EXISTS
from tests.cluster.clock import now_ns
from tests.cluster.cluster import Cluster
from tests.cluster.node import Node
from tests.cluster.wire_calls import create_topic, set_topic_config, topic_config

_TOPIC = "probe"
_KEY = "retention.ms"
_ATTEMPT_S = 1.0
_PAUSE_S = 0.01
_WITHIN_S = 30


class Probe:
    """Writes to one key of a topic of its own."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._values = count(1_000_000_000)
        with cluster.connect(cluster.brokers[0]) as connection:
            error, _ = create_topic(connection, _TOPIC)
        assert error in (0, TOPIC_ALREADY_EXISTS), error

    def ns_until_written(self, since_ns: int, *, within_s: float = _WITHIN_S) -> int:
        """Return the time from `since_ns` until a write that began after now, at any broker, is answered."""
        answered: list[int] = []
        done = threading.Event()

        def ask(broker: Node) -> None:
            while not done.is_set():
                try:
                    with self._cluster.connect(broker, timeout_s=_ATTEMPT_S) as connection:
                        if set_topic_config(connection, _TOPIC, _KEY, str(next(self._values))) == 0:
                            answered.append(now_ns())
                            done.set()
                except (OSError, ValueError):
                    pass
                done.wait(_PAUSE_S)

        brokers = [it for it in self._cluster.brokers if it.is_running and not it.is_paused]
        threads = [threading.Thread(target=ask, args=(it,), daemon=True) for it in brokers]
        for thread in threads:
            thread.start()
        if not done.wait(within_s):
            done.set()
            msg = f"no metadata was written for {within_s} s\n{self._cluster.log_tails()}"
            raise AssertionError(msg)
        for thread in threads:
            thread.join(2 * _ATTEMPT_S)
        return min(answered) - since_ns

    def ns_until_seen(self, written_at: Node) -> int:
        """Write at one broker; return the time from its answer until every other shows the value."""
        value = str(next(self._values))
        seen: dict[str, int] = {}

        def watch(broker: Node) -> None:
            deadline = now_ns() + _WITHIN_S * 10**9
            with self._cluster.connect(broker) as connection:
                while now_ns() < deadline:
                    if topic_config(connection, _TOPIC, _KEY) == (0, value):
                        seen[broker.name] = now_ns()
                        return

        others = [it for it in self._cluster.brokers if it is not written_at]
        threads = [threading.Thread(target=watch, args=(it,), daemon=True) for it in others]
        for thread in threads:
            thread.start()
        with self._cluster.connect(written_at) as connection:
            error = set_topic_config(connection, _TOPIC, _KEY, value)
        answered_ns = now_ns()
        assert error == 0, error
        for thread in threads:
            thread.join(_WITHIN_S)
        assert len(seen) == len(others), f"{value} is not seen at all of {others}: {seen}"
        return max(0, max(seen.values()) - answered_ns)
