"""A drainer with a mistake: it tells the end of a drain before its last commit."""

import asyncio

from headrace.metadata.errors import MetadataError
from headrace.metadata.rpc.requests import FinishDrain
from headrace.metadata.rpc.responses import Done
from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host

ASK_S = 3.0


async def finish_early(cluster: Cluster, owner: Host) -> None:
    """Have the drainer of a broker's log tell that it is done, with more in the log than is committed."""
    image, log = inspection.newest_image(cluster), inspection.log_of(cluster, owner)
    if image is None or log is None or log.drain is None:
        return
    drainer = next(it for it in cluster.brokers if it.node_id == log.drain.node_id)
    process, role = drainer.process, inspection.broker_of(drainer)
    if process is None or not drainer.is_running or role is None or role._parts is None:
        return
    streams = [it for it in image.streams.values() if it.opened and it.node_id == log.owner]
    drain = log.drain
    request = FinishDrain(
        drain.node_id,
        drain.node_epoch,
        log.log_id,
        drain.epoch,
        log.uploaded_offset,
        tuple((it.stream_id, it.end_offset + 1) for it in streams),
    )
    change = role._parts._client.change(request, Done)
    asked = cluster.loop.create_task(change, context=process.context)
    await asyncio.wait([asked], timeout=ASK_S)  # a process that was killed never answers
    if not asked.done():
        asked.cancel()
    elif (error := asked.exception()) is not None:
        assert isinstance(error, MetadataError), error
        cluster.counts[f"finished early: {getattr(error, 'code', error)!s}"] += 1
