"""Logs in the metadata image: who owns each, and who may act in its name. Pure.

| state    | meaning                                             | commits and closes in its name           |
|----------|-----------------------------------------------------|------------------------------------------|
| ACTIVE   | in use, or its owner has ended and no one drains it | the newest registration of its owner     |
| EMPTY    | shut down; nothing in it is needed                  | the same                                 |
| DRAINING | another broker brings to the bucket what it holds   | the registration that it is assigned to  |
| DRAINED  | all of it is in the bucket; its streams are closed  | nobody                                   |
| LOST     | given up by an operator; its streams are closed     | nobody                                   |

The streams of a log are those that its owner has open. The epoch of a drain is the index of the entry
that assigned it, so drains and registrations of the owner are ordered by their epochs.
"""

from enum import IntEnum
from typing import Final

import msgspec

from headrace.invariants import InvariantError, require
from headrace.metadata.images.brokers import Brokers
from headrace.metadata.records.logs import (
    LogAssignedRecord,
    LogDrainedRecord,
    LogEmptiedRecord,
    LogLostRecord,
    LogMedium,
    LogReach,
    LogRecord,
    LogRefusedRecord,
    LogReleasedRecord,
    LogUploadedRecord,
    RemoveLogRecord,
)
from headrace.persistent_map import PersistentMap

NO_POSITION: Final = -1
# Of a log that has ended without having been registered; no log that is in use has it.
UNKNOWN_GENERATION: Final = "0" * 16


class LogState(IntEnum):
    """States of a log; see the table above."""

    ACTIVE = 0
    EMPTY = 1
    DRAINING = 2
    DRAINED = 3
    LOST = 4


class Drain(msgspec.Struct, frozen=True, gc=False):
    """A drain, by one registration of a broker."""

    epoch: int
    node_id: int
    node_epoch: int


class DrainRefusal(msgspec.Struct, frozen=True, gc=False):
    """Why one registration of a broker could not drain a log."""

    node_id: int
    node_epoch: int
    reason: str
    refused_ms: int


class LogImage(msgspec.Struct, frozen=True, gc=False):
    """One log in its newest generation."""

    log_id: int
    owner: int
    epoch: int  # registration of the owner that began the generation
    generation: str
    medium: LogMedium
    places: tuple[str, ...]
    uploaded_offset: int
    state: LogState = LogState.ACTIVE
    drain: Drain | None = None  # the one under way or, of a drained log, the one that ended
    assigned_ms: int = 0  # when that drain began, by the wall clock of the controller
    position: int = NO_POSITION  # of a drained log: up to which it was read
    refusals: tuple[DrainRefusal, ...] = ()  # the newest of each broker
    damage_accepted: bool = False  # a drain leaves out what it cannot read

    @property
    def settled(self) -> bool:
        """Whether nothing that it holds is needed."""
        return self.state in (LogState.EMPTY, LogState.DRAINED, LogState.LOST)


Logs = PersistentMap[int, LogImage]


def log_record(log: LogImage) -> LogRecord:
    """Return the record that begins the generation that a log is in."""
    return LogRecord(
        log.log_id,
        log.owner,
        log.epoch,
        log.generation,
        log.medium,
        log.places,
        log.uploaded_offset,
    )


def log_of(logs: Logs, node_id: int) -> LogImage | None:
    """Return the log that a node owns."""
    return next((it for it in logs.values() if it.owner == node_id), None)


def about_to_end(brokers: Brokers, logs: Logs) -> set[int]:
    """Return the brokers (node ids) that have begun to stop.

    Such a broker reports that it can drain no logs any more, and later empties its own.
    """
    return {
        log.owner
        for log in logs.values()
        if (broker := brokers.get(log.owner)) is not None
        and log.epoch == broker.epoch
        and (log.state == LogState.EMPTY or not broker.reach)
    }


def drains_of(logs: Logs, node_id: int, node_epoch: int) -> list[LogImage]:
    """Return the logs that this registration has to drain, by log id."""
    return sorted(
        (
            it
            for it in logs.values()
            if it.state == LogState.DRAINING
            and it.drain is not None
            and (it.drain.node_id, it.drain.node_epoch) == (node_id, node_epoch)
        ),
        key=lambda it: it.log_id,
    )


def is_reached(log: LogImage, reach: tuple[LogReach, ...]) -> bool:
    """Whether a broker with this reach can open the log at one of its locations."""
    return bool(reached_places(log, reach))


def reached_places(log: LogImage, reach: tuple[LogReach, ...]) -> list[str]:
    """Return the locations of a log that a broker with this reach can open, in their order."""
    prefixes = [it.prefix for it in reach if it.medium == log.medium]
    return [it for it in log.places if any(_is_below(it, prefix) for prefix in prefixes)]


def _is_below(place: str, prefix: str) -> bool:
    return not prefix or place == prefix or place.startswith(prefix.removesuffix("/") + "/")


class LogsDelta:
    """Replays the records about logs on top of an image."""

    def __init__(self, logs: Logs) -> None:
        self._logs = logs

    def begin(self, record: LogRecord) -> None:
        """Begin a generation, or add to the newest one."""
        known = self._logs.get(record.log_id)
        require(
            known is None or (known.owner == record.owner and known.epoch <= record.epoch),
            f"log {record.log_id} keeps its owner, and its epochs only grow",
        )
        self._set(
            LogImage(
                record.log_id,
                record.owner,
                record.epoch,
                record.generation,
                record.medium,
                record.places,
                record.uploaded_offset,
            )
        )

    def raise_uploaded(self, record: LogUploadedRecord) -> None:
        """Raise the offset up to which the log is in the bucket."""
        log = self._existing(record.log_id)
        require(record.uploaded_offset >= log.uploaded_offset, "what is uploaded only grows")
        self._set(msgspec.structs.replace(log, uploaded_offset=record.uploaded_offset))

    def empty(self, record: LogEmptiedRecord) -> None:
        """Note that nothing in the log is needed."""
        log = self._existing(record.log_id)
        require(log.state == LogState.ACTIVE, f"log {log.log_id} is in use")
        self._set(msgspec.structs.replace(log, state=LogState.EMPTY))

    def assign(self, record: LogAssignedRecord) -> None:
        """Begin a drain, which ends another one."""
        log = self._existing(record.log_id)
        require(
            log.state in (LogState.ACTIVE, LogState.DRAINING), f"log {log.log_id} is to be drained"
        )
        before = log.epoch if log.drain is None else log.drain.epoch
        require(record.drain_epoch > before, "epochs of drains only grow")
        drain = Drain(record.drain_epoch, record.node_id, record.node_epoch)
        self._set(
            msgspec.structs.replace(
                log, state=LogState.DRAINING, drain=drain, assigned_ms=record.assigned_ms
            )
        )

    def release(self, record: LogReleasedRecord) -> None:
        """End a drain; the log is as it was before, but for what was committed."""
        log = self._draining(record.log_id)
        require(
            log.drain is not None and log.drain.epoch == record.drain_epoch,
            f"log {log.log_id} is drained at epoch {record.drain_epoch}",
        )
        self._set(msgspec.structs.replace(log, state=LogState.ACTIVE, drain=None, assigned_ms=0))

    def refuse(self, record: LogRefusedRecord) -> None:
        """Remember who could not read the log."""
        log = self._existing(record.log_id)
        others = [it for it in log.refusals if it.node_id != record.node_id]
        refusal = DrainRefusal(record.node_id, record.node_epoch, record.reason, record.refused_ms)
        self._set(msgspec.structs.replace(log, refusals=(*others, refusal)))

    def finish_drain(self, record: LogDrainedRecord) -> None:
        """Note that all of the log is in the bucket."""
        log = self._existing(record.log_id)
        require(
            log.state in (LogState.DRAINING, LogState.EMPTY), f"log {log.log_id} has been drained"
        )
        self._set(msgspec.structs.replace(log, state=LogState.DRAINED, position=record.position))

    def lose(self, record: LogLostRecord) -> None:
        """Accept the loss of the log, or of what is damaged in it."""
        log = self._existing(record.log_id)
        if record.damaged_only:
            self._set(msgspec.structs.replace(log, refusals=(), damage_accepted=True))
            return
        require(log.state == LogState.ACTIVE, f"log {log.log_id} is not being drained")
        self._set(msgspec.structs.replace(log, state=LogState.LOST))

    def remove(self, record: RemoveLogRecord) -> None:
        """Remove a log, none of whose streams is open."""
        self._logs = self._logs.delete(self._existing(record.log_id).log_id)

    def finish(self) -> Logs:
        """Return the new map; the old one when nothing has changed."""
        return self._logs

    def _draining(self, log_id: int) -> LogImage:
        log = self._existing(log_id)
        require(log.state == LogState.DRAINING, f"log {log_id} is being drained")
        return log

    def _existing(self, log_id: int) -> LogImage:
        log = self._logs.get(log_id)
        if log is None:
            raise InvariantError(f"log {log_id} exists")
        return log

    def _set(self, log: LogImage) -> None:
        self._logs = self._logs.set(log.log_id, log)
