"""Finds brokers of this machine whose process has ended, long before their sessions end.

A broker registers with the names of locks that its process holds until it ends. One of them is that of its WAL, and
a broker that can drain that WAL can look at its lock. The kernel releases it after the last write of the process,
however it ended; a process that is stopped or hangs keeps it. An ended connection proves nothing of that kind.
"""

import asyncio
import logging
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Final

from headrace.daemon_threads import DaemonThreads
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.metadata.images.brokers import BrokerImage
from headrace.metadata.images.logs import LogState, is_reached
from headrace.metadata.proof import recorded_lock
from headrace.metadata.records.logs import LogMedium
from headrace.metadata.rpc.requests import ReportEnd
from headrace.metadata.rpc.responses import Done

logger = logging.getLogger("headrace")

LOOK_MS: Final = 200
# One that is started again takes the lock at once: only what is free twice counts.
LOOKS: Final = 2
MAX_LOCKS_WATCHED: Final = 64


class EndedBrokers:
    """Reports them to the controller, which ends their epochs."""

    def __init__(self, client: MetadataClient, free_lock: Callable[[Path], str]) -> None:
        """Use the client's registration; `free_lock` is asked in a thread: a shared file system may hang."""
        self._client = client
        self._free_lock = free_lock
        self._seen: dict[tuple[int, int], int] = {}  # looks at a free lock, by node id and epoch

    async def run(self) -> None:
        """Look regularly, until cancelled.

        Raises:
            NodeFencedError: this process must stop.
        """
        thread = DaemonThreads(1, "lock-watch")
        try:
            await self._look_regularly(thread)
        finally:
            thread.shutdown(wait=False)

    async def _look_regularly(self, thread: DaemonThreads) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK_MS / 1000)
            watched = dict(
                islice(
                    watched_locks(self._client.image, self._client.node_id).items(),
                    MAX_LOCKS_WATCHED,
                )
            )
            if watched:
                try:
                    free = await loop.run_in_executor(thread, self._free_of, list(watched))
                except (RuntimeError, MemoryError) as error:  # no thread can be started now
                    logger.info("locks are not looked at", extra={"reason": repr(error)})
                    continue
                await self._note({watched[path]: lock for path, lock in free.items()})

    def _free_of(self, paths: list[Path]) -> dict[Path, str]:
        return {path: self._free_lock(path) for path in paths}

    async def _note(self, free: dict[int, str]) -> None:
        """Take in which owners' WALs have a free lock, by node id."""
        image = self._client.image
        seen, self._seen = self._seen, {}
        for node_id, lock in free.items():
            broker = image.brokers.get(node_id)
            recorded = [it for it in (recorded_lock(lock), lock) if broker and it in broker.locks]
            if broker is None or broker.epoch_ended or not recorded:
                continue
            looks = seen.get((node_id, broker.epoch), 0) + 1
            self._seen[node_id, broker.epoch] = looks
            if looks >= LOOKS:
                await self._report(broker, recorded[0], lock)

    async def _report(self, broker: BrokerImage, lock: str, lock_name: str) -> None:
        client = self._client
        sender = client.node_id, client.node_epoch
        report = ReportEnd(*sender, broker.node_id, broker.epoch, lock, lock_name)
        try:
            await client.change(report, Done)
        except (ControllerUnavailableError, RefusedError) as error:
            logger.info("cannot report a broker that has ended", extra={"reason": str(error)})
            return  # the next look does
        logger.warning(
            "the process of a broker has ended: its WAL is no longer locked",
            extra={"broker": broker.node_id, "epoch": broker.epoch},
        )


def watched_locks(image: MetadataImage, node_id: int) -> dict[Path, int]:
    """Return the lock files of registered brokers, which show whether their processes live, with the brokers' ids."""
    own = image.brokers.get(node_id)
    if own is None or own.fenced:
        return {}
    found: dict[Path, int] = {}
    for log in image.logs.values():
        owner = image.brokers.get(log.owner)
        if (
            owner is not None
            and not owner.epoch_ended
            and log.owner != node_id
            and log.epoch == owner.epoch
            and log.state == LogState.ACTIVE
            and log.medium != LogMedium.BUCKET
            and is_reached(log, own.reach)
        ):
            found |= {Path(place): log.owner for place in log.places}
    return found
