"""Who founds a quorum, and where its controllers are."""

import pytest

from headrace.config.node import Endpoint, MetadataConfig, NetworkConfig, NodeConfig, Voter
from headrace.config.quorum import controller_address, controller_addresses, founds_quorum

VOTERS = (Voter(1, "h", 9093), Voter(2, "i", 9093))
ANYWHERE = Endpoint("CONTROLLER", "", 9093)
HERE = Endpoint("CONTROLLER", "h", 9093)


def controller(node_id=1, **metadata):
    return NodeConfig(
        node_id=node_id,
        process_roles=("controller",),
        network=NetworkConfig(listeners=()),
        metadata=MetadataConfig(**metadata),
    )


@pytest.mark.parametrize(
    ("listener", "advertised", "servers", "founds"),
    [
        (HERE, (), (), True),
        (HERE, (), (("h", 9093),), True),
        (ANYWHERE, (HERE,), (("h", 9093),), True),
        (ANYWHERE, (), (("localhost", 9093),), True),
        (HERE, (), (("i", 9093),), False),
        (HERE, (), (("h", 9093), ("i", 9093)), False),
        (HERE, (), (("h", 9094),), False),
        (HERE, (), (("localhost", 9093),), False),
    ],
)
def test_a_controller_that_is_told_of_no_other_founds_the_cluster(
    listener, advertised, servers, founds
):
    config = controller(
        controller_listeners=(listener,),
        controller_advertised_listeners=advertised,
        quorum_bootstrap_servers=servers,
    )
    assert founds_quorum(config) is founds


def test_voters_found_it_together():
    assert founds_quorum(controller(controller_listeners=(HERE,), quorum_voters=VOTERS))
    assert founds_quorum(NodeConfig())


def test_the_entry_among_the_voters_counts_for_the_address():
    config = controller(controller_listeners=(ANYWHERE,), quorum_voters=VOTERS)
    assert controller_address(config, 9093) == ("h", 9093)


def test_else_what_is_advertised_and_then_what_is_bound():
    advertised = Endpoint("CONTROLLER", "outside", 19093)
    config = controller(
        controller_listeners=(ANYWHERE,), controller_advertised_listeners=(advertised,)
    )
    assert controller_address(config, 9093) == ("outside", 19093)
    free_port = controller(controller_listeners=(Endpoint("CONTROLLER", "h", 0),))
    assert controller_address(free_port, 40_000) == ("h", 40_000)


def test_a_bootstrap_server_tells_of_a_controller_that_listens_everywhere():
    config = controller(
        controller_listeners=(ANYWHERE,), quorum_bootstrap_servers=(("localhost", 9093),)
    )
    assert controller_address(config, 9093) == ("localhost", 9093)


def test_without_a_listener_there_is_no_address():
    assert controller_address(NodeConfig(), 0) == ("", 0)


def test_controllers_are_looked_for_at_voters_and_servers_each_once():
    config = NodeConfig(
        node_id=9,
        process_roles=("broker",),
        metadata=MetadataConfig(
            quorum_voters=VOTERS, quorum_bootstrap_servers=(("j", 1), ("h", 9093))
        ),
    )
    assert controller_addresses(config) == (("h", 9093), ("i", 9093), ("j", 1))


def test_nobody_looks_for_itself():
    assert controller_addresses(NodeConfig()) == ()
    config = controller(
        node_id=2,
        controller_listeners=(Endpoint("CONTROLLER", "i", 9093),),
        quorum_voters=VOTERS,
        quorum_bootstrap_servers=(("i", 9093), ("k", 1)),
    )
    assert controller_addresses(config) == (("h", 9093), ("k", 1))
