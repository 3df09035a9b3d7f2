"""Judges each change of the metadata: who drains a log, what a drain leaves, and who leads after whom. Pure.

Many mistakes here do no harm at once, as another rule refuses what follows from them. So they are looked for where
they happen. Where entries are missing, a change may be of several: only what no order of entries explains is wrong.
"""

from collections.abc import Iterator

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import has_ended
from headrace.metadata.images.logs import Drain, LogImage, LogState

_LEFT = (LogState.DRAINED, LogState.LOST)  # nobody acts for such a log


def wrong_changes(old: MetadataImage, new: MetadataImage) -> list[str]:
    """Return what is wrong from one image to a later one."""
    wrong: list[str] = []
    if old.logs is not new.logs or old.brokers is not new.brokers:
        for log_id, log in new.logs.items():
            before = old.logs.get(log_id)
            wrong += _of_drain(before, log, new)
            wrong += _of_uploads(before, log, old, new)
            if log.state in _LEFT and (before is None or before.state != log.state):
                wrong += _left_behind(log, new)
    if old.topics is not new.topics:
        wrong += _of_leaders(old, new)
    return wrong


def _of_drain(before: LogImage | None, log: LogImage, image: MetadataImage) -> Iterator[str]:
    """A log is drained by one broker at a time, and not once its owner has registered."""
    drain = log.drain
    if log.state != LogState.DRAINING or drain is None:
        return
    owner = image.brokers.get(log.owner)
    if owner is not None and owner.epoch > drain.epoch:
        yield f"log {log.log_id} is drained by {drain}: its owner has registered at {owner.epoch}"
    last = None if before is None or before.state != LogState.DRAINING else before.drain
    if last is not None and last != drain and not _is_over(last, log, image):
        yield f"log {log.log_id} is drained by {drain} while {last} goes on"


def _is_over(drain: Drain, log: LogImage, image: MetadataImage) -> bool:
    """Whether a drain before the one under way has ended by itself."""
    owner = image.brokers.get(log.owner)
    return (
        has_ended(image.brokers, drain.node_id, drain.node_epoch)
        or any(
            (it.node_id, it.node_epoch) == (drain.node_id, drain.node_epoch) for it in log.refusals
        )
        or log.damage_accepted  # forgets refusals
        or (owner is not None and owner.epoch > drain.epoch)
    )


def _of_uploads(
    before: LogImage | None, log: LogImage, old: MetadataImage, new: MetadataImage
) -> Iterator[str]:
    """An owner commits nothing once its epoch has ended."""
    over = (old.brokers.get(log.owner), new.brokers.get(log.owner))
    if before is None or over[0] is None or over[1] is None or over[0].epoch != over[1].epoch:
        return
    if over[0].epoch_ended and log.uploaded_offset > before.uploaded_offset:
        yield f"the owner of log {log.log_id} commits, though its epoch {over[0].epoch} has ended"


def _left_behind(log: LogImage, image: MetadataImage) -> Iterator[str]:
    """With the entry that ends a log, its owner leads nothing, and has no stream open."""
    if not has_ended(image.brokers, log.owner):
        return  # it is back
    for stream in image.streams.values():
        if stream.opened and stream.node_id == log.owner:
            yield f"stream {stream.stream_id} of log {log.log_id} is open: {log.state.name}"
    for topic in image.topics.values():
        for it in topic.partitions:
            if it.leader == log.owner:
                yield f"{topic.name}-{it.partition} is led by the owner of log {log.log_id}"


def _of_leaders(old: MetadataImage, new: MetadataImage) -> Iterator[str]:
    """A new leader leads in a new epoch."""
    for topic_id, topic in new.topics.items():
        before = old.topics.get(topic_id)
        if before is None or before is topic:
            continue
        known = {it.partition: it for it in before.partitions}
        for now in topic.partitions:
            last = known.get(now.partition)
            if last is None or last.leader == now.leader:
                continue
            if now.leader_epoch <= last.leader_epoch:
                yield f"{topic.name}-{now.partition} is led by {now.leader} in the epoch of {last.leader}"
