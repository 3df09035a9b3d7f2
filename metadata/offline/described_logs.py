"""Logs as an operator sees them, with the partitions that wait for each. Pure."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import active_brokers, has_ended
from headrace.metadata.images.logs import LogImage, LogState, is_reached, log_of

UNREGISTERED: Final = "unregistered"
NO_LOG: Final = "none"

# Offline partitions of an owner: topic -> their numbers.
Offline = Mapping[str, tuple[int, ...]]


class DescribedLog(NamedTuple):
    """One log, its owner, and who waits for it; the fields of `GET /logs`."""

    log_id: int
    owner: int
    owner_state: str
    owner_ended_ms: int | None  # None: it has not, or it is not known when
    state: str
    generation: str
    medium: str
    places: tuple[str, ...]
    drainer: int | None
    draining_since_ms: int | None
    waiting: str | None  # why it is not being drained, although its owner has ended
    damage_accepted: bool
    refusals: tuple[str, ...]  # of brokers that could not read it
    offline_partitions: int
    partitions: Offline  # those


def describe_logs(image: MetadataImage) -> list[DescribedLog]:
    """Describe all logs, by id. It goes through all partitions if the epoch of an owner has ended."""
    offline = offline_by_owner(image)
    return [
        _described(it, image, offline.get(it.owner, {})) for _, it in sorted(image.logs.items())
    ]


def offline_by_owner(image: MetadataImage) -> Mapping[int, Offline]:
    """Find the partitions whose broker's epoch has ended, by broker."""
    leaders = {log.owner for log in image.logs.values()} | set(image.brokers)
    return _offline_of({it for it in leaders if has_ended(image.brokers, it)}, image)


def _offline_of(ended: set[int], image: MetadataImage) -> Mapping[int, Offline]:
    found: dict[int, dict[str, tuple[int, ...]]] = {}
    if not ended:
        return {}
    for topic in sorted(image.topics.values(), key=lambda it: it.name):
        for leader in {it.leader for it in topic.partitions} & ended:
            numbers = tuple(it.partition for it in topic.partitions if it.leader == leader)
            found.setdefault(leader, {})[topic.name] = numbers
    return found


def log_state(image: MetadataImage, node_id: int) -> str:
    """Name the state of a broker's log."""
    log = log_of(image.logs, node_id)
    return NO_LOG if log is None else log.state.name.lower()


def waiting_logs(image: MetadataImage) -> list[str]:
    """Say of each log why partitions may wait for it: its owner has ended, and they have not moved.

    It goes through all partitions if a broker has ended whose log is not known.
    """
    waiting = [
        f"log {log.log_id} of broker {log.owner}, generation {log.generation}, {_step(log, image)}"
        for _, log in sorted(image.logs.items())
        if _is_awaited(log, image)
    ]
    waiting += [
        f"broker {owner} has ended, and its log is not known: its partitions wait until it is started again"
        for owner in _leading_without_log(image)
    ]
    return waiting


def _leading_without_log(image: MetadataImage) -> list[int]:
    ended = {
        it
        for it in image.brokers
        if has_ended(image.brokers, it) and log_of(image.logs, it) is None
    }
    return sorted(_offline_of(ended, image))


def _is_awaited(log: LogImage, image: MetadataImage) -> bool:
    over = log.state in (LogState.DRAINED, LogState.LOST)
    return not over and has_ended(image.brokers, log.owner)


def _described(log: LogImage, image: MetadataImage, offline: Offline) -> DescribedLog:
    owner = image.brokers.get(log.owner)
    drains = log.state == LogState.DRAINING and log.drain is not None
    return DescribedLog(
        log.log_id,
        log.owner,
        UNREGISTERED if owner is None else owner.state.name.lower(),
        (owner.ended_ms or None) if owner is not None and owner.epoch_ended else None,
        log.state.name.lower(),
        log.generation,
        log.medium.name.lower(),
        log.places,
        log.drain.node_id if drains and log.drain is not None else None,
        log.assigned_ms if drains else None,
        _why_waiting(log, image) if not drains and _is_awaited(log, image) else None,
        log.damage_accepted,
        tuple(f"broker {it.node_id}: {it.reason}" for it in log.refusals),
        sum(map(len, offline.values())),
        offline,
    )


def _step(log: LogImage, image: MetadataImage) -> str:
    if log.state == LogState.DRAINING and log.drain is not None:
        return f"is drained by broker {log.drain.node_id}"
    return _why_waiting(log, image)


def _why_waiting(log: LogImage, image: MetadataImage) -> str:
    """Say why the log of an owner that has ended is not being drained."""
    active = [image.brokers[it] for it in active_brokers(image.brokers)]
    reaching = {it.node_id: it.epoch for it in active if is_reached(log, it.reach)}
    if log.state == LogState.EMPTY:
        return "is empty, and its partitions move as soon as a broker that can drain logs is active"
    if not any(it.reach for it in active):
        why = "no active broker can drain logs"
    elif not reaching:
        why = f"no active broker reaches {', '.join(log.places) or 'its place, which is not known'}"
    else:
        told = [
            f"broker {it.node_id}: {it.reason}"
            for it in log.refusals
            if reaching.get(it.node_id) == it.node_epoch
        ]
        why = "; ".join(told) or "those that reach it drain others"
    return f"waits for its owner, a broker that can drain it, or the acceptance of its loss ({why})"
