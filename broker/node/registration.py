"""Registers a broker without taking anything from a living process with the same node id.

Before the registration, which ends an earlier one: this process holds the WAL's lock, the WAL is of this
node, and the metadata know of no other WAL that may hold records of it. A controller refuses a second
process while the session of the first lasts, unless a lock proves that the first has ended.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from headrace.broker.adapters.wal_registry import require_known_wal
from headrace.broker.adapters.write_ahead_log import LogLocation
from headrace.broker.node.lifecycle import running
from headrace.config.node import NodeConfig
from headrace.config.quorum import controller_addresses
from headrace.metadata.errors import ControllerUnavailableError, RefusedError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.protocol.errors import ErrorCode
from headrace.wal.errors import WalIdentityError, WalInUseError, WalLockedError

logger = logging.getLogger("headrace")

WAITING_LOG_MS: Final = 5_000  # how often a start that waits logs what it waits for
ASK_AGAIN_MS: Final = 500
# A fenced process of this node learns of it with its next heartbeat, and its role then ends within 5 s, as does a role
# before this one in this process: its lock goes with its last write.
LOG_LOCK_WAIT_MS: Final = 15_000
LOG_LOCK_RETRY_MS: Final = 250


class Registration:
    """Of one start of a broker. Order of use: `hold_log`, then `locks`, `register`."""

    def __init__(
        self, config: NodeConfig, log_location: LogLocation, *, controller_lock: str
    ) -> None:
        """Prepare; `controller_lock` names the lock on the metadata log of this node, if it has one."""
        self._config = config
        self._log_location = log_location
        self._controller_lock = controller_lock

    async def hold_log(self) -> None:
        """Take the WAL's lock, once a previous process of this node has released it.

        Raises:
            WalLockedError: another process still holds it; nothing has changed for that process.
            WalError, OSError: the WAL cannot be used.
        """
        loop = asyncio.get_running_loop()
        next_log_s = loop.time()
        until_s = next_log_s + LOG_LOCK_WAIT_MS / 1000
        while True:
            try:
                return await self._log_location.hold()
            except WalLockedError as error:
                if isinstance(error, WalInUseError) or loop.time() > until_s:
                    raise
                if loop.time() >= next_log_s:
                    next_log_s = loop.time() + WAITING_LOG_MS / 1000
                    logger.warning(
                        "waiting for the WAL: another process still has it open",
                        extra={"reason": str(error)},
                    )
            await asyncio.sleep(LOG_LOCK_RETRY_MS / 1000)

    def locks(self) -> tuple[str, ...]:
        """Names of the locks that this process holds until it ends: of the WAL, and of the metadata log."""
        return tuple(filter(None, (self._log_location.lock_name, self._controller_lock)))

    async def register(self, client: MetadataClient) -> None:
        """Register; waits without a limit for a controller, and for the end of another process's session.

        Raises:
            RefusedError: the controller does not accept this broker; with DUPLICATE_BROKER_REGISTRATION,
                another process with this node id has kept its session for `registration_timeout_ms`.
            WalMissingError: this node has used another WAL.
            WalIdentityError: the WAL is of another cluster.
        """
        loop = asyncio.get_running_loop()
        until_s = 0.0
        while True:
            try:
                return await answered(self._config, lambda: client.start(self._check_log))
            except RefusedError as error:
                if error.code == ErrorCode.INCONSISTENT_CLUSTER_ID and not self._config.cluster_id:
                    raise self._of_another_cluster(error) from error
                if error.code != ErrorCode.DUPLICATE_BROKER_REGISTRATION:
                    raise
                if not until_s:
                    timeout_ms = self._config.metadata.registration_timeout_ms
                    until_s = loop.time() + timeout_ms / 1000
                    logger.warning(
                        "another process has this node id; waiting for the end of its session",
                        extra={"reason": error.message, "timeout_ms": timeout_ms},
                    )
                if loop.time() > until_s:
                    advice = f"{error.message}. Give each node an id of its own (node.id)"
                    raise RefusedError(error.code, advice) from error
            await asyncio.sleep(ASK_AGAIN_MS / 1000)

    def _check_log(self, image: MetadataImage) -> None:
        """Refuse a WAL that is not the one which this node used last; the controller refuses another cluster's."""
        found, wal = self._log_location.found, self._config.wal
        is_ours = found is None or found.cluster_id == image.cluster_id
        if is_ours and not self._log_location.is_bucket:
            require_known_wal(
                image,
                self._config.node_id,
                wal.path,
                None if found is None else found.node_epoch,
                accepted=wal.accept_loss_generation,
            )

    def _of_another_cluster(self, error: RefusedError) -> WalIdentityError:
        path = self._config.wal.path
        return WalIdentityError(
            f"WAL {path} is not of this cluster: {error.message}. If its records are not needed, "
            f"erase it with `headrace wal format --force {path}`"
        )


async def answered(config: NodeConfig, ask: Callable[[], Awaitable[None]]) -> None:
    """Call `ask` until a controller answers; it waits without a limit.

    Raises:
        RefusedError: the answer is a refusal.
    """
    refused: RefusedError
    async with running(_log_waiting(config)):
        while True:
            try:
                return await ask()
            except ControllerUnavailableError as error:
                logger.info("no controller answers; trying again", extra={"reason": str(error)})
            except RefusedError as error:
                refused = error
                break
            await asyncio.sleep(ASK_AGAIN_MS / 1000)
    raise refused  # not in a group


async def _log_waiting(config: NodeConfig) -> None:
    addresses = controller_addresses(config)
    at = ", ".join(f"{host}:{port}" for host, port in addresses) or "this node"
    while True:
        await asyncio.sleep(WAITING_LOG_MS / 1000)
        logger.warning("waiting for a controller", extra={"at": at})
