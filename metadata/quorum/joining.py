"""Finds the members of the quorum, for a controller that waits to be added.

The leader dials a new member, but answers go over this node's own connections: while the log names
no members, their addresses are requested from the configured bootstrap controllers.
"""

import asyncio
import logging
from typing import Final

from headrace.links.ends import Address
from headrace.metadata.errors import MetadataError
from headrace.metadata.follower.requester import Requester
from headrace.metadata.quorum.addresses import MemberAddresses
from headrace.metadata.rpc.requests import DescribeQuorum
from headrace.metadata.rpc.responses import QuorumDescribed

logger = logging.getLogger("headrace.controller")

ASK_INTERVAL_MS: Final = 2_000


async def find_members(requester: Requester, addresses: MemberAddresses) -> None:
    """Ask for the members repeatedly, until the log names them."""
    reported = ""
    while not addresses.known:
        try:
            answer = await requester.call(DescribeQuorum(), ASK_INTERVAL_MS)
        except MetadataError as error:
            if str(error) != reported:
                reported = str(error)
                logger.warning(
                    "cannot find the quorum through the bootstrap controllers, trying again",
                    extra={"reason": reported},
                )
        else:
            if isinstance(answer.body, QuorumDescribed):
                addresses.found(
                    {it.node_id: Address(it.host, it.port) for it in answer.body.voters}
                )
        await asyncio.sleep(ASK_INTERVAL_MS / 1000)
