"""Asks the other controllers which levels of `headrace.metadata.version` they read."""

import asyncio
from collections.abc import Collection
from typing import Final

from headrace.metadata.errors import MetadataFormatError
from headrace.metadata.levels import READ_HERE, LevelRange
from headrace.metadata.rpc.frames import decode_answer, encode_request
from headrace.metadata.rpc.requests import TellLevels
from headrace.metadata.rpc.responses import LevelsTold
from headrace.metadata.transport import PeerNetwork

ASK_TIMEOUT_S: Final = 2.0
_CORRELATION: Final = 1


async def told_levels(
    network: PeerNetwork, members: Collection[int], *, node_id: int
) -> dict[int, LevelRange]:
    """What each member reads, by node id; those that do not answer are missing.

    Args:
        network: to the other controllers.
        members: of the quorum.
        node_id: of this node, which is not asked.
    """
    others = [it for it in members if it != node_id]
    answers = await asyncio.gather(*(ask_levels(network, other) for other in others))
    told = {other: reads for other, reads in zip(others, answers, strict=True) if reads is not None}
    return {**told, node_id: READ_HERE}


async def ask_levels(network: PeerNetwork, node_id: int) -> LevelRange | None:
    """What one other controller reads; None: it does not answer in `ASK_TIMEOUT_S`."""
    request = encode_request(_CORRELATION, TellLevels())
    try:
        async with asyncio.timeout(ASK_TIMEOUT_S):
            answer = decode_answer(await network.request(node_id, request), _CORRELATION)
    except (OSError, MetadataFormatError):
        return None
    return answer.body.reads if isinstance(answer.body, LevelsTold) else None
