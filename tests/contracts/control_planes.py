"""The control planes that the adapter of the stream engine is tested on: a real controller, and the one in memory."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol, TypeVar

from headrace.metadata.controller.decision import Decision
from headrace.metadata.errors import ControllerUnavailableError
from headrace.metadata.follower.client import MetadataClient
from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.frames import decode_request
from headrace.metadata.rpc.responses import Done
from headrace.metadata.transport import LocalTransport
from headrace.storage.errors import RetriableStorageError
from tests.simulation.control_plane import MemoryClient
from tests.unit.metadata.pure_controller import PureController
from tests.unit.metadata.running_cluster import Clock, Cluster

T = TypeVar("T")


class Place(Protocol):
    """A controller, and clients of it."""

    wall: Clock

    def controller(self) -> AbstractAsyncContextManager[object]:
        """Run the controller."""

    def client(
        self, node_id: int = 1, *, serve: bool = True
    ) -> AbstractAsyncContextManager[MetadataClient]:
        """Register a broker."""

    def lose_answer(self, request: type) -> None:
        """Lose the next answer to a request of this kind."""

    async def mark_expired(self) -> None:
        """Have the controller look at its deadlines."""

    async def write(self, *records: object) -> None:
        """Append an entry that no request can ask for (yet)."""

    def image(self) -> MetadataImage:
        """The controller's."""


class _LosingTransport(LocalTransport):
    """Loses the answers to requests of the kinds in `lost`, once each."""

    def __init__(self, handle: Callable[[bytes], Awaitable[bytes]], lost: list[type]) -> None:
        super().__init__(handle)
        self._lost = lost

    async def request(self, frame: bytes, *, within_ms: int | None = None) -> bytes:
        answer = await super().request(frame, within_ms=within_ms)
        kind = type(decode_request(frame).request)
        if kind in self._lost:
            self._lost.remove(kind)
            raise ConnectionResetError("lost on the way back")
        return answer


class RealController:
    """One controller with a log on disk, in this process."""

    def __init__(self, directory: Path) -> None:
        self.cluster = Cluster(directory)
        self.wall = self.cluster.wall
        self._lost: list[type] = []

    def controller(self):
        return self.cluster.controller()

    def client(self, node_id: int = 1, *, serve: bool = True):
        transport = _LosingTransport(self.cluster.handle, self._lost)
        return self.cluster.client(node_id, serve=serve, transport=transport)

    def lose_answer(self, request: type) -> None:
        self._lost.append(request)

    async def mark_expired(self) -> None:
        await self.cluster.node.check_deadlines()

    async def write(self, *records) -> None:
        await self.cluster.node.propose(lambda image, inputs: Decision(records, Done()))

    def image(self) -> MetadataImage:
        return self.cluster.node.image


class MemoryController:
    """The controller's rules in memory."""

    def __init__(self) -> None:
        self.wall = Clock()
        self._controller = PureController()
        self._clients: list[MemoryClient] = []

    @asynccontextmanager
    async def controller(self) -> AsyncIterator[PureController]:
        yield self._controller

    @asynccontextmanager
    async def client(self, node_id: int = 1, *, serve: bool = True) -> AsyncIterator[MemoryClient]:
        self._controller.register(node_id, serve=serve)
        client = MemoryClient(self._controller, node_id, clock_ms=self.wall)
        self._clients.append(client)
        yield client

    def lose_answer(self, request: type) -> None:
        self._clients[-1].faults[request].after.append(ControllerUnavailableError("lost"))

    async def mark_expired(self) -> None:
        self._controller.now_ms = self.wall()
        self._controller.expire()

    async def write(self, *records) -> None:
        self._controller.apply(*records)

    def image(self) -> MetadataImage:
        return self._controller.image


async def until_answered(call: Callable[[], Awaitable[T]]) -> T:
    """Repeat a call whose answer may get lost, as the engine does."""
    try:
        return await call()
    except RetriableStorageError:
        return await call()
