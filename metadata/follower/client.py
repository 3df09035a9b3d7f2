"""The broker's side of the control plane: registration, lease, image, and changes to it.

Order of use: `start` registers this process and reads the metadata. `run` (from then on, in a task
of the owner) keeps the session and follows the log; no change returns unless it runs. `serve` asks
the controller to unfence this broker, once it has recovered its WAL and opened its partitions.
`shutdown` ends the broker epoch when everything is uploaded and closed. A change returns only when
the local image includes it.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from headrace.config.node import MetadataConfig
from headrace.metadata.admin import (
    ConfigOperation,
    DeletionResult,
    NewTopic,
    TopicResult,
    config_change,
    error_of,
    topic_creation,
    topic_deletion,
    topic_result,
)
from headrace.metadata.errors import (
    ControllerUnavailableError,
    MetadataError,
    MetadataFormatError,
    RefusedError,
)
from headrace.metadata.follower.follower import Listener, LogFollower, Preparation
from headrace.metadata.follower.requester import Requester
from headrace.metadata.follower.session import FENCED, BrokerIdentity, BrokerSession
from headrace.metadata.image import BrokerState, MetadataImage
from headrace.metadata.levels import level_of, require_written
from headrace.metadata.proof import new_secret
from headrace.metadata.rpc.loads import Loads
from headrace.metadata.rpc.requests import (
    REQUEST_LEVELS,
    AllocateProducerIds,
    AlterConfigs,
    ConfigOp,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    Mutation,
    NodeMutation,
    QuorumRequest,
)
from headrace.metadata.rpc.responses import (
    Done,
    ProducerIdBlock,
    Response,
    TopicsCreated,
    TopicsDeleted,
)
from headrace.metadata.transport import Transport
from headrace.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

__all__ = [
    "BrokerIdentity",
    "ConfigOp",
    "ConfigOperation",
    "DeletionResult",
    "MetadataClient",
    "NewTopic",
    "TopicResult",
]

logger = logging.getLogger("headrace.metadata")

_Answered = TypeVar("_Answered", bound=Response)


def _accept_any(image: MetadataImage) -> None:
    """Check nothing."""


class MetadataClient:
    """One broker's registration, lease and copy of the metadata."""

    def __init__(
        self,
        config: MetadataConfig,
        transport: Transport,
        identity: BrokerIdentity,
        *,
        boot_clock_ms: Callable[[], int],
        rng: "Random",
        on_fenced: Callable[[str], None] | None = None,
        replayed: Callable[[], MetadataImage] = MetadataImage,
    ) -> None:
        """Make a client that has not started; `replayed`: see `LogFollower`."""
        self._config = config
        self._on_fenced = on_fenced
        secret = new_secret(rng)
        self._requester = Requester(transport, rng, secret)
        self._follower = LogFollower(self._requester, config.request_timeout_ms, replayed)
        self._session = BrokerSession(
            config,
            self._requester,
            identity,
            secret,
            boot_clock_ms=boot_clock_ms,
            on_fenced=self._fenced,
        )
        self._follower.subscribe(self._look_at_own_epoch)
        # Called for every acknowledged batch.
        self.is_lease_valid = self._session.lease.is_lease_valid
        self.lease_remaining_ms = self._session.lease.remaining_ms

    @property
    def image(self) -> MetadataImage:
        """The newest metadata that this node has. A request holds one image until it ends."""
        return self._follower.image

    @property
    def lag(self) -> int:
        """Entries of the metadata log that this node knows of and has not applied."""
        return self._follower.lag

    @property
    def node_id(self) -> int:
        """This broker."""
        return self._session.node_id

    @property
    def node_epoch(self) -> int:
        """The broker epoch of this process; -1 before the start."""
        return self._session.node_epoch

    @property
    def fenced(self) -> bool:
        """Whether this process is fenced and must stop. It stays fenced for good."""
        return self._session.fenced

    def subscribe(self, listener: Listener, prepare: Preparation | None = None) -> None:
        """Call `listener(old, new)` on the loop after each batch that is applied; see `LogFollower.subscribe`."""
        self._follower.subscribe(listener, prepare)

    def on_lease_renewed(self, listener: Callable[[], None]) -> None:
        """Call `listener` on the loop after each extension of the lease."""
        self._session.on_renewed = listener

    def tell_loads(self, take: Callable[[], Loads | None]) -> None:
        """Call `take` for each heartbeat, and send the loads that it returns; None: they have not been looked at."""
        self._session.take_loads = take

    def tell_moves(self, bytes_before: Callable[[], int]) -> None:
        """Call `bytes_before` for each heartbeat: how much has to be in the bucket before partitions can move away."""
        self._session.bytes_before_moves = bytes_before

    def tell_ability(self, is_able: Callable[[], bool]) -> None:
        """Call `is_able` for each heartbeat: whether this broker can open partitions now."""
        self._session.is_able = is_able

    def await_snapshot(self, index: int) -> None:
        """Ask, with each heartbeat, for a published snapshot that has this entry; -1: for none."""
        self._session.awaited_snapshot = index

    async def start(self, check: Callable[[MetadataImage], None] = _accept_any) -> None:
        """Register this process, read the metadata up to its registration, and get the first lease.

        Most of the metadata is read before the registration: the session begins with the
        registration, and could expire while the whole log or a large snapshot is read.

        Args:
            check: called with these metadata before anything has changed; what it raises is raised here.

        Raises:
            RefusedError: the controller does not accept this broker.
            ControllerUnavailableError: it did not answer in `request_timeout_ms`.
        """
        await self._follower.catch_up()
        check(self.image)
        registered_at = await self._session.register()
        while self.image.index < registered_at:
            await self._follower.advance(0)
        await self._session.heartbeat(self.image.index)
        logger.info(
            "broker registered with the controller",
            extra={"broker": self.node_id, "epoch": self.node_epoch},
        )

    async def run(self) -> None:
        """Keep the session and follow the log, until cancelled.

        Raises:
            ExceptionGroup: of NodeFencedError, when this process must stop; of
                MetadataDivergedError or MetadataFormatError, when the log cannot be followed.
        """
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follower.run(), name="metadata-follower")
            tasks.create_task(
                self._session.run(lambda: self.image.index), name="metadata-heartbeats"
            )

    async def serve(self) -> None:
        """Ask to be unfenced, which shows this broker to clients; return when the image says so.

        Raises:
            NodeFencedError: this process must stop.
            ControllerUnavailableError: it was not unfenced in `request_timeout_ms`.
        """
        self._session.aim_to_serve()
        await self._wait_until(self._is_active)

    async def shutdown(self) -> None:
        """End the lease, and the epoch if the controller can be reached. To be called while `run` runs."""
        await self._session.shutdown(self.image.index)

    async def change(
        self, request: Mutation | QuorumRequest, answered: type[_Answered]
    ) -> _Answered:
        """Send a change to the controller; return when the local image includes it.

        Raises:
            RefusedError: the controller refuses, or would not know the request; nothing has changed.
            NodeFencedError: this process must stop.
            ControllerUnavailableError: no answer in time; whether it took effect is unknown.

        Cancellation: the change may still take effect.
        """
        self._session.require_unfenced()
        require_written(type(request), REQUEST_LEVELS, level_of(self.image.features))
        try:
            answer = await self._requester.call(request, self._config.request_timeout_ms)
        except RefusedError as error:
            if isinstance(request, NodeMutation) and error.code in FENCED:
                self._session.fence(error.message)
                self._session.require_unfenced()
            raise
        await self._wait_until(lambda image: image.index >= answer.log_index)
        if not isinstance(answer.body, answered):
            raise _unexpected(answer.body)
        return answer.body

    async def create_topics(
        self, topics: Sequence[NewTopic], *, validate_only: bool = False
    ) -> list[TopicResult]:
        """Create topics, each independently; results are in the order of `topics`."""
        request = CreateTopics(tuple(map(topic_creation, topics)), validate_only)
        try:
            created = await self.change(request, TopicsCreated)
        except MetadataError as error:
            code, message = error_of(error)
            return [TopicResult(topic.name, code, message, None) for topic in topics]
        return [topic_result(result, self.image) for result in created.results]

    async def delete_topics(self, topics: Sequence[str | UUID]) -> list[DeletionResult]:
        """Delete topics by name or id, each independently; results are in the order of `topics`."""
        wanted = tuple(map(topic_deletion, topics))
        try:
            deleted = await self.change(DeleteTopics(wanted), TopicsDeleted)
        except MetadataError as error:
            failed = error_of(error)
            return [DeletionResult(it.name, it.topic_id, *failed) for it in wanted]
        return [
            DeletionResult(it.name, it.topic_id, ErrorCode(it.error_code), it.message)
            for it in deleted.results
        ]

    async def create_partitions(
        self,
        name: str,
        count: int,
        *,
        assignments: Sequence[Sequence[int]] | None = None,
        validate_only: bool = False,
    ) -> tuple[ErrorCode, str | None]:
        """Raise the number of partitions of a topic to `count`."""
        brokers = None if assignments is None else tuple(map(tuple, assignments))
        return await self._admin(CreatePartitions(name, count, brokers, validate_only))

    async def alter_configs(
        self,
        resource_type: int,
        name: str,
        operations: Sequence[ConfigOperation],
        *,
        validate_only: bool = False,
    ) -> tuple[ErrorCode, str | None]:
        """Change configs of one resource, all or none."""
        changes = tuple(map(config_change, operations))
        return await self._admin(AlterConfigs(resource_type, name, changes, validate_only))

    async def allocate_producer_ids(self) -> range:
        """Reserve a block of producer ids that no other broker gets.

        Raises:
            MetadataError: as `change`.
        """
        request = AllocateProducerIds(self.node_id, self.node_epoch)
        block = await self.change(request, ProducerIdBlock)
        return range(block.first_producer_id, block.first_producer_id + block.count)

    async def _admin(self, request: Mutation) -> tuple[ErrorCode, str | None]:
        try:
            await self.change(request, Done)
        except MetadataError as error:
            return error_of(error)
        return ErrorCode.NONE, None

    def _is_active(self, image: MetadataImage) -> bool:
        broker = image.brokers.get(self.node_id)
        return (
            broker is not None
            and broker.epoch == self.node_epoch
            and broker.state == BrokerState.ACTIVE
        )

    async def _wait_until(self, satisfied: Callable[[MetadataImage], bool]) -> None:
        def checked(image: MetadataImage) -> bool:
            self._session.require_unfenced()
            return satisfied(image)

        try:
            async with asyncio.timeout(self._config.request_timeout_ms / 1000):
                await self._follower.wait_until(checked)
        except TimeoutError:
            timeout_ms = self._config.request_timeout_ms
            msg = f"this broker's metadata did not catch up with the controller in {timeout_ms} ms"
            raise ControllerUnavailableError(msg) from None

    def _look_at_own_epoch(self, old: MetadataImage, new: MetadataImage) -> None:
        if old.brokers is not new.brokers:
            self._session.follow(new)

    def _fenced(self, reason: str) -> None:
        self._follower.wake()
        if self._on_fenced is not None:
            self._on_fenced(reason)


def _unexpected(body: object) -> MetadataFormatError:
    return MetadataFormatError(f"unexpected answer of the controller: {type(body).__name__}")
