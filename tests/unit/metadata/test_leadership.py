"""What a controller has while it leads, and what becomes of those who asked when it does not any more."""

import asyncio
import random

import pytest

from headrace.config.node import MetadataConfig
from headrace.links.ends import Address
from headrace.metadata.controller.decision import ConfigRules, Decision, Inputs
from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.leadership import Leadership
from headrace.metadata.quorum.alone import NoPeers
from headrace.metadata.quorum.description import Clocks
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import scenario


class Quorum:
    """Never commits anything."""

    image = MetadataImage(term=1)
    own_address = Address("", 0)

    async def image_at_end(self):
        await asyncio.Event().wait()


def new_leadership():
    inputs = Inputs(0, random.Random(1), ConfigRules(validate_topic=lambda name, value: None))
    clocks = Clocks(lambda: 0, lambda: 0)
    return Leadership(MetadataConfig(), Quorum(), NoPeers(), inputs=lambda: inputs, clocks=clocks)


def propose(leadership):
    return asyncio.ensure_future(
        leadership.committer.propose(lambda image, inputs: Decision((), Done()))
    )


async def is_refused(asked):
    with pytest.raises(RefusedError) as refused:
        await asyncio.wait_for(asked, 1)
    return refused.value.code == ErrorCode.NOT_CONTROLLER


@scenario
async def test_who_waits_is_answered_in_the_moment_in_which_it_is_over():
    leadership = new_leadership()
    running = asyncio.ensure_future(leadership.run())
    asked = propose(leadership)
    await asyncio.sleep(0)
    leadership.end()

    assert await is_refused(asked)
    await running
    assert await is_refused(propose(leadership))


@pytest.mark.parametrize("runs", [True, False])
@scenario
async def test_who_asked_is_answered_though_it_was_over_before_its_work_began(runs):
    """Elected and deposed at once: its tasks never take a step, or there are none."""
    leadership = new_leadership()
    asked = propose(leadership)
    await asyncio.sleep(0)
    leadership.end()
    if runs:
        await leadership.run()

    assert await is_refused(asked)
