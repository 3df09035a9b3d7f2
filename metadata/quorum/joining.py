"""How a controller that is to be added finds those who will speak to it.

The leader dials whom it adds, but answers go over connections of our own: as long as no members are
known here, they are asked for where the configuration says that controllers are found.
"""

import asyncio
import logging
from typing import Final

from headrace.metadata.errors import MetadataError
from headrace.metadata.quorum.addresses import MemberAddresses
from headrace.metadata.requester import Requester
from headrace.metadata.rpc.requests import DescribeQuorum
from headrace.metadata.rpc.responses import QuorumDescribed
from headrace.metadata.transport import Address

logger = logging.getLogger("headrace.controller")

ASK_INTERVAL_MS: Final = 2_000


async def find_members(requester: Requester, addresses: MemberAddresses) -> None:
    """Ask who the members are, again and again until the log says so."""
    told = ""
    while not addresses.known:
        try:
            answer = await requester.call(DescribeQuorum(), ASK_INTERVAL_MS)
        except MetadataError as error:
            if str(error) != told:
                told = str(error)
                logger.warning("the quorum is not found", extra={"reason": told})
        else:
            if isinstance(answer.body, QuorumDescribed):
                addresses.found(
                    {it.node_id: Address(it.host, it.port) for it in answer.body.voters}
                )
        await asyncio.sleep(ASK_INTERVAL_MS / 1000)
