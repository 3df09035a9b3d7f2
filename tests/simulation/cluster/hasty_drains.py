"""Drainers with a mistake, which tell the end of a drain too early: before the last commit, or when it is another's."""

import asyncio

from headrace.metadata.errors import MetadataError
from headrace.metadata.images.logs import Drain, LogImage
from headrace.metadata.rpc.requests import FinishDrain
from headrace.metadata.rpc.responses import Done
from tests.simulation.cluster import inspection
from tests.simulation.cluster.cluster import Cluster, Host

ASK_S = 3.0


async def finish_early(cluster: Cluster, owner: Host) -> None:
    """Have the drainer of a broker's log tell that it is done, with more in the log than is committed."""
    log = inspection.log_of(cluster, owner)
    if log is not None and log.drain is not None:
        await _finish(cluster, log, log.drain, ahead=1)


async def finish_for_another(cluster: Cluster, owner: Host) -> None:
    """Have a broker tell that it is done with a log that another one drains by now."""
    log = inspection.log_of(cluster, owner)
    if log is None or log.drain is None:
        return
    for host in cluster.brokers:
        role = inspection.broker_of(host)
        if host.node_id in {log.owner, log.drain.node_id} or role is None or role._parts is None:
            continue
        earlier = Drain(log.drain.epoch - 1, host.node_id, role._parts._client.node_epoch)
        await _finish(cluster, log, earlier, ahead=0)


async def _finish(cluster: Cluster, log: LogImage, drain: Drain, *, ahead: int) -> None:
    """Tell the end of a drain, with streams that are to be committed so many offsets further than they are."""
    drainer = next(it for it in cluster.brokers if it.node_id == drain.node_id)
    image, process, role = (
        inspection.newest_image(cluster),
        drainer.process,
        inspection.broker_of(drainer),
    )
    if image is None or process is None or not drainer.is_running:
        return
    if role is None or role._parts is None:
        return
    streams = [it for it in image.streams.values() if it.opened and it.node_id == log.owner]
    request = FinishDrain(
        drain.node_id,
        drain.node_epoch,
        log.log_id,
        drain.epoch,
        log.uploaded_offset,
        tuple((it.stream_id, it.end_offset + ahead) for it in streams),
    )
    change = role._parts._client.change(request, Done)
    asked = cluster.loop.create_task(change, context=process.context)
    await asyncio.wait([asked], timeout=ASK_S)  # a process that was killed never answers
    if not asked.done():
        asked.cancel()
    elif (error := asked.exception()) is not None:
        assert isinstance(error, MetadataError), error
        cluster.counts[f"finished early: {getattr(error, 'code', error)!s}"] += 1
