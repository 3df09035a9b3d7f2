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
        if host.node_id == log.owner or role is None or role._parts is None:
            continue
        # Another broker, and this one at an earlier time.
        epoch = log.drain.epoch - (host.node_id == log.drain.node_id)
        wrong = Drain(epoch, host.node_id, role._parts._client.node_epoch)
        if await _finish(cluster, log, wrong, ahead=0):
            cluster.failures.append(f"{host.name} ends a drain that is not its own")


async def _finish(cluster: Cluster, log: LogImage, drain: Drain, *, ahead: int) -> bool:
    """Tell the end of a drain, with streams that are to be committed so many offsets further than they are.

    Returns whether that was accepted.
    """
    drainer = next(it for it in cluster.brokers if it.node_id == drain.node_id)
    image, process = inspection.newest_image(cluster), drainer.process
    role = inspection.broker_of(drainer) if drainer.is_running else None
    if image is None or process is None or role is None or role._parts is None:
        return False
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
        return False
    if (error := asked.exception()) is not None:
        assert isinstance(error, MetadataError), error
        cluster.counts[f"finished early: {getattr(error, 'code', error)!s}"] += 1
    return asked.exception() is None
