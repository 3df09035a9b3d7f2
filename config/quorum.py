"""What a node's settings say about the metadata quorum: who founds it, and where it is found. Pure.

The members of a quorum are in its log from its first leader on. What is configured counts before:
for the first start of the first controllers, and for nodes that look for them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.config.node import Endpoint, NodeConfig, Voter

# An empty host, or one of these, is every address of a machine: no node can connect to it.
EVERY_HOST = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared with, never bound
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

Address = tuple[str, int]  # host, port


def is_broker(config: "NodeConfig") -> bool:
    """Whether this node serves clients."""
    return "broker" in config.process_roles


def is_controller(config: "NodeConfig") -> bool:
    """Whether this node keeps the metadata log."""
    return "controller" in config.process_roles


def own_voter(config: "NodeConfig") -> "Voter | None":
    """What `controller.quorum.voters` says of this node."""
    voters = config.metadata.quorum_voters
    return next((voter for voter in voters if voter.node_id == config.node_id), None)


def controller_endpoint(config: "NodeConfig") -> "Endpoint | None":
    """The controller's listener as advertised, or as bound; None without one."""
    metadata = config.metadata
    return next(
        iter((*metadata.controller_advertised_listeners, *metadata.controller_listeners)), None
    )


def founds_quorum(config: "NodeConfig") -> bool:
    """Whether a controller with an empty directory may start a cluster, alone or with the voters named.

    It may not when only addresses of other controllers are set: then it waits until it is added.
    Bootstrap servers that are all this very node name no others.
    """
    metadata = config.metadata
    if metadata.quorum_voters:
        return True
    return all(_is_own(config, address) for address in metadata.quorum_bootstrap_servers)


def has_other_nodes(config: "NodeConfig") -> bool:
    """Whether the settings name controllers other than this node."""
    voters = config.metadata.quorum_voters
    others = any(voter.node_id != config.node_id for voter in voters)
    return others or not is_controller(config) or not founds_quorum(config)


def controller_address(config: "NodeConfig", bound_port: int) -> Address:
    """Where other nodes reach this controller.

    Args:
        config: of a controller.
        bound_port: of its listener, which may have been asked for port 0.

    Returns:
        Host and port; an empty host and 0 where no other node is expected.
    """
    voter = own_voter(config)
    if voter is not None:
        return voter.host, voter.port or bound_port
    endpoint = controller_endpoint(config)
    if endpoint is None:
        return "", 0
    if endpoint.host not in EVERY_HOST:
        return endpoint.host, endpoint.port or bound_port
    own = (it for it in config.metadata.quorum_bootstrap_servers if _is_own(config, it))
    return next(own, ("", 0))


def controller_addresses(config: "NodeConfig") -> tuple[Address, ...]:
    """Where other controllers can be looked for, each once: the voters named, then the bootstrap servers."""
    metadata = config.metadata
    voters = (it for it in metadata.quorum_voters if it.node_id != config.node_id)
    servers = (it for it in metadata.quorum_bootstrap_servers if not _is_own(config, it))
    return tuple(dict.fromkeys((*((it.host, it.port) for it in voters), *servers)))


def _is_own(config: "NodeConfig", address: Address) -> bool:
    """Whether an address is that of this node's controller, according to its settings."""
    metadata = config.metadata
    endpoints = (*metadata.controller_advertised_listeners, *metadata.controller_listeners)
    host, port = address
    return any(
        port == endpoint.port
        and (host == endpoint.host or (endpoint.host in EVERY_HOST and host in _LOOPBACK_HOSTS))
        for endpoint in endpoints
    )
