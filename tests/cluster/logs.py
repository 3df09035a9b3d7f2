"""The brokers' logs as a node tells them on its admin endpoint."""

import json
from typing import Any

from tests.cluster.cluster import SESSION_MS, Cluster
from tests.cluster.node import Node

_SEEN_WITHIN_S = SESSION_MS / 1000 + 30


class Logs:
    """Asks whichever node answers."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def of(self, owner: Node) -> dict[str, Any]:
        """Return what is known of a broker's log; nothing if no node answers."""
        for node in self._cluster.nodes:
            if node is not owner and node.is_running and not node.is_paused:
                try:
                    known = json.loads(node.get("/logs"))["logs"]
                except (OSError, ValueError):
                    continue
                return next((it for it in known if it["owner"] == owner.node_id), {})
        return {}

    def wait_for_drainer(self, owner: Node) -> Node:
        """Wait until the log of a broker that has died is being drained, and return by whom."""
        found: list[Node] = []

        def is_drained() -> bool:
            drainer = self.of(owner).get("drainer")
            found[:] = [it for it in self._cluster.brokers if it.node_id == drainer]
            return bool(found)

        what = f"somebody drains the log of {owner.name}"
        self._cluster.wait_until(is_drained, what, timeout_s=_SEEN_WITHIN_S)
        return found[0]
