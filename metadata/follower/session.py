"""A broker's session with the controller: registration, heartbeats, lease and fencing."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

import msgspec

from headrace.config.node import Endpoint, MetadataConfig
from headrace.metadata.controller.brokers import require_broker
from headrace.metadata.errors import (
    ControllerUnavailableError,
    MetadataError,
    MetadataFormatError,
    NodeFencedError,
    RefusedError,
)
from headrace.metadata.follower.lease import BrokerLease, lease_length_ms
from headrace.metadata.follower.requester import NotLeadingError, NotReachedError, Requester
from headrace.metadata.image import MetadataImage
from headrace.metadata.levels import READ_HERE
from headrace.metadata.proof import incarnation_of, recorded_lock
from headrace.metadata.records.brokers import BrokerEndpoint
from headrace.metadata.rpc.loads import Loads
from headrace.metadata.rpc.requests import (
    BrokerGoal,
    Heartbeat,
    RegisterBroker,
)
from headrace.metadata.rpc.responses import BrokerRegistered
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.metadata")

NO_EPOCH: Final = -1
HEARTBEAT_RETRIES: Final = 4  # per heartbeat interval, while the controller does not answer
LEADER_SEARCH_MS: Final = 100  # pause between attempts, while the controllers elect a leader

# Errors of the controller that mean that this registration is over.
FENCED: Final = frozenset({ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED})


class BrokerIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """How a broker registers."""

    node_id: int
    endpoints: tuple[Endpoint, ...]  # as advertised to clients, one for each listener's name
    rack: str = ""
    cluster_id: str = ""  # empty: the controller's
    locks: tuple[str, ...] = ()  # that this process holds until it ends; see `RegisterBroker`


class BrokerSession:
    """One registration of a broker. Once fenced it stays fenced: what follows is another registration."""

    def __init__(
        self,
        config: MetadataConfig,
        requester: Requester,
        identity: BrokerIdentity,
        secret: bytes,
        *,
        boot_clock_ms: Callable[[], int],
        on_fenced: Callable[[str], None],
    ) -> None:
        self._config = config
        self._requester = requester
        self._identity = identity
        self._boot_clock_ms = boot_clock_ms
        self._on_fenced = on_fenced
        self._incarnation_id = incarnation_of(secret)
        lease_ms = lease_length_ms(config.broker_session_timeout_ms)
        self.lease = BrokerLease(lease_ms, boot_clock_ms)
        self.node_id: Final = identity.node_id
        self.node_epoch = NO_EPOCH  # before the registration
        self._goal = BrokerGoal.STAY_FENCED
        self.awaited_snapshot = -1  # see `Heartbeat`
        self._due = asyncio.Event()
        self._fenced_because: str | None = None
        self.on_renewed: Callable[[], None] = _ignore_renewal  # after each extension of the lease
        self.take_loads: Callable[[], Loads | None] = _no_loads  # what the next heartbeat reports
        self.bytes_before_moves: Callable[[], int] = _nothing  # likewise
        self.is_able: Callable[[], bool] = lambda: True  # likewise

    @property
    def fenced(self) -> bool:
        """Whether this process must stop."""
        return self._fenced_because is not None

    async def register(self) -> int:
        """Start a new epoch; return the index of the log that includes it.

        Raises:
            NodeFencedError: an earlier attempt, whose answer was lost, has registered it, and that is over.
            RefusedError: the controller does not accept this broker.
            ControllerUnavailableError: it did not answer in `request_timeout_ms`.
        """
        identity = self._identity
        endpoints = tuple(BrokerEndpoint(it.name, it.host, it.port) for it in identity.endpoints)
        registration = RegisterBroker(
            identity.cluster_id,
            identity.node_id,
            self._incarnation_id,
            endpoints,
            identity.rack,
            self._config.broker_session_timeout_ms,
            tuple(map(recorded_lock, identity.locks)),
            READ_HERE,
            identity.locks,
        )
        try:
            answer = await self._requester.call(registration, self._config.request_timeout_ms)
        except RefusedError as error:
            if error.code in FENCED:
                self.fence(error.message)
                self.require_unfenced()
            raise
        if not isinstance(answer.body, BrokerRegistered):
            msg = f"unexpected answer of the controller: {type(answer.body).__name__}"
            raise MetadataFormatError(msg)
        self.node_epoch = answer.body.node_epoch
        return answer.log_index

    def aim_to_serve(self) -> None:
        """Ask to be unfenced, with an immediate heartbeat and all later ones."""
        self._goal = BrokerGoal.SERVE
        self._due.set()

    async def run(self, applied_index: Callable[[], int]) -> None:
        """Send heartbeats until cancelled or shut down.

        Args:
            applied_index: returns how far this node has applied the metadata log.

        Raises:
            NodeFencedError: this process must stop.
        """
        interval_ms = self._config.broker_heartbeat_interval_ms
        while self._goal != BrokerGoal.SHUT_DOWN:
            self.require_unfenced()
            self._due.clear()
            answered = await self.heartbeat(applied_index())
            delay_ms = interval_ms if answered else interval_ms // HEARTBEAT_RETRIES
            try:
                async with asyncio.timeout(delay_ms / 1000):
                    await self._due.wait()
            except TimeoutError:
                continue

    async def heartbeat(self, applied_index: int) -> bool:
        """Send one heartbeat; False when it was not answered in time.

        Raises:
            NodeFencedError: this process must stop.
        """
        try:
            sent_at_ms = await self._reach_leader(applied_index)
        except RefusedError as error:
            if error.code in FENCED and self._goal != BrokerGoal.SHUT_DOWN:
                self.fence(error.message)
                self.require_unfenced()
            logger.warning(
                "the controller refused a heartbeat, trying again", extra={"reason": error.message}
            )
            return False
        except ControllerUnavailableError as error:
            logger.warning(
                "no controller answered a heartbeat, trying again", extra={"reason": str(error)}
            )
            return False
        self.lease.extend(sent_at_ms)
        self.on_renewed()
        return True

    async def shutdown(self, applied_index: int) -> None:
        """End the lease, and the epoch if the controller can be reached."""
        self._goal = BrokerGoal.SHUT_DOWN
        self._due.set()
        self.lease.end()
        if self.node_epoch == NO_EPOCH or self.fenced:
            return
        try:
            async with asyncio.timeout(self._config.broker_heartbeat_interval_ms / 1000):
                await self._reach_leader(applied_index)
        except (MetadataError, TimeoutError) as error:
            reason = str(error) or "no controller answered in time"
            logger.warning(
                "the controller did not record the shutdown; it fences this broker when the session ends",
                extra={"reason": reason},
            )

    def follow(self, image: MetadataImage) -> None:
        """Stop if this process's epoch has ended, without waiting for the next heartbeat's answer."""
        if not NO_EPOCH < self.node_epoch <= image.index or self._goal == BrokerGoal.SHUT_DOWN:
            return
        try:
            require_broker(image, self.node_id, self.node_epoch)
        except RefusedError as error:
            self.fence(error.message)

    def fence(self, reason: str) -> None:
        """Stop for good: nothing is acknowledged from now on."""
        if self.fenced:
            return
        self._fenced_because = reason
        self.lease.end()
        self._due.set()
        logger.error("broker fenced", extra={"broker": self.node_id, "reason": reason})
        self._on_fenced(reason)

    def require_unfenced(self) -> None:
        """Return only if this process is not fenced.

        Raises:
            NodeFencedError: it must stop.
        """
        if self._fenced_because is not None:
            raise NodeFencedError(self._fenced_because)

    async def _reach_leader(self, applied_index: int) -> int:
        """Ask one controller after the other until the leader answers; return when that request was sent.

        A controller that does not answer in an interval is not reached: its connection may well stay up while what this
        broker sends gets lost. The search for the leader takes an interval at most, too.

        Raises:
            RefusedError: the leader refuses the heartbeat.
            ControllerUnavailableError: no leader has answered.
        """
        interval_ms = self._config.broker_heartbeat_interval_ms
        loop = asyncio.get_running_loop()
        until_s = loop.time() + interval_ms / 1000
        while True:
            sent_at_ms = self._boot_clock_ms()
            try:
                await self._requester.attempt(self._request(applied_index), within_ms=interval_ms)
            except (NotLeadingError, NotReachedError) as error:
                if loop.time() + LEADER_SEARCH_MS / 1000 >= until_s:
                    raise ControllerUnavailableError(str(error)) from error
                await asyncio.sleep(LEADER_SEARCH_MS / 1000)
            else:
                return sent_at_ms

    def _request(self, applied_index: int) -> Heartbeat:
        return Heartbeat(
            self.node_id,
            self.node_epoch,
            applied_index,
            self._goal,
            self.awaited_snapshot,
            READ_HERE,
            self.take_loads(),
            self.bytes_before_moves(),
            self.is_able(),
        )


def _ignore_renewal() -> None:
    """No listener is set."""


def _no_loads() -> Loads | None:
    """Ignores the reports of loads."""
    return None


def _nothing() -> int:
    """No partition moves."""
    return 0
