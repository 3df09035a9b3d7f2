"""How many connections are accepted, while operators change that."""

from headrace.broker.network.listener import Listener
from headrace.config.dynamic_keys import MAX_CONNECTIONS_KEY, MAX_CONNECTIONS_PER_IP_KEY
from headrace.config.node import NodeConfig
from headrace.metadata.image import MetadataImage


class ConnectionSettings:
    """Applies dynamic configs to the listener of a broker; without one, the static config holds."""

    def __init__(self, config: NodeConfig, listener: Listener) -> None:
        self._node_id = config.node_id
        self._listener = listener
        self._static = (config.network.max_connections, config.network.max_connections_per_ip)
        self._known = self._static

    def follow(self, old: MetadataImage, new: MetadataImage) -> None:
        """Look at another image of the metadata."""
        if old.configs is new.configs:
            return
        layers = (new.broker_config(self._node_id), new.broker_config(""))

        def current(key: str, static: int) -> int:
            return next((int(it[key]) for it in layers if key in it), static)

        found = (
            current(MAX_CONNECTIONS_KEY, self._static[0]),
            current(MAX_CONNECTIONS_PER_IP_KEY, self._static[1]),
        )
        if found != self._known:
            self._known = found
            self._listener.change_bounds(*found)
