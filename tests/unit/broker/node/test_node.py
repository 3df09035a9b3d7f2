"""How a node goes on when the role of its broker has ended. The roles are scripted."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from headrace.broker.node import node as module
from headrace.broker.node.address import BrokerAddress
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Fencing, Node
from headrace.broker.node.role_ends import leaves
from headrace.broker.node.role_restarts import MAX_UNSERVED_ROLES
from headrace.broker.telemetry.unexpected_errors import UnexpectedErrors
from headrace.config.node import (
    Endpoint,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    StorageConfig,
    TelemetryConfig,
    WalConfig,
)
from headrace.metadata.errors import NodeFencedError
from headrace.wal.errors import WalLockedError
from headrace.wal.port import Medium

DEADLINE_S = 10
FENCED = ExceptionGroup("", [NodeFencedError("expired")])
ADDRESS = BrokerAddress("127.0.0.1", 9092, "file:///bucket", "wal", Medium.DIRECT)

Script = Callable[["Role"], Coroutine[Any, Any, None]]


@dataclass
class Role:
    """One that does what the script says."""

    scripts: ClassVar[list[Script]]
    made: ClassVar[list["Role"]]
    config: NodeConfig
    environment: NodeEnvironment
    admin: object
    local: object = None
    on_fenced: Callable[[str], None] = print
    bound: tuple[Endpoint, ...] = ()
    has_log: bool = True
    has_served: bool = False
    ready: Callable[[str, BrokerAddress], None] = field(init=False)
    stop: asyncio.Event = field(init=False)

    def __post_init__(self) -> None:
        self.made.append(self)

    async def run(self, ready: Callable[[str, BrokerAddress], None], stop: asyncio.Event) -> None:
        self.ready, self.stop = ready, stop
        await self.scripts[min(len(self.made), len(self.scripts)) - 1](self)


async def serves(role: Role) -> None:
    role.has_served = True
    role.bound = (Endpoint("PLAINTEXT", "127.0.0.1", 4711),)
    role.ready("cluster", ADDRESS)


async def is_fenced(_role: Role) -> None:
    raise FENCED


async def serves_and_is_fenced(role: Role) -> None:
    await serves(role)
    raise FENCED


async def is_stopped(role: Role) -> None:
    await serves(role)
    role.stop.set()


async def finds_the_log_in_use(role: Role) -> None:
    role.has_log = False
    raise WalLockedError("somebody writes")


class Told:
    """What is told beside how the node ends."""

    def __init__(self) -> None:
        self.ready = self.ended = self.served = 0
        self.stop = asyncio.Event()

    def fencing(self) -> Fencing:
        return Fencing(end=self._ended, served=self._served)

    def is_ready(self, _address: object) -> None:
        self.ready += 1

    def _ended(self, _failure: BaseException) -> None:
        self.ended += 1

    def _served(self) -> None:
        self.served += 1


def settings(directory: Path) -> NodeConfig:
    return NodeConfig(
        node_id=1,
        process_roles=("broker",),
        network=NetworkConfig(listeners=(Endpoint("PLAINTEXT", "127.0.0.1", 0),)),
        wal=WalConfig(path=str(directory / "wal")),
        storage=StorageConfig(bucket_uri=f"file://{directory / 'bucket'}"),
        metadata=MetadataConfig(
            log_dir=str(directory / "metadata"),
            quorum_bootstrap_servers=(("127.0.0.1", 9121),),
        ),
        telemetry=TelemetryConfig(admin_port=-1),
    )


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Told, list[BaseException]]]:
    monkeypatch.setattr(module, "BrokerRole", Role)
    monkeypatch.setattr("headrace.broker.node.role_restarts.MIN_PAUSE_MS", 1)

    def run_scripts(*scripts: Script, **changes: object) -> tuple[Told, list[BaseException]]:
        Role.scripts, Role.made = list(scripts), []

        async def main() -> tuple[Told, list[BaseException]]:
            told = Told()
            unexpected = UnexpectedErrors(lambda _: None)
            node = Node(
                replace(settings(tmp_path), **changes), NodeEnvironment(), unexpected=unexpected
            )
            with unexpected.watching(asyncio.get_running_loop()):
                try:
                    async with asyncio.timeout(DEADLINE_S):
                        await node.run(told.is_ready, told.stop, fencing=told.fencing())
                except Exception as failure:
                    return told, leaves(failure)
            return told, []

        return asyncio.run(main())

    return run_scripts


def kinds(failures: list[BaseException]) -> list[type[BaseException]]:
    return [type(it) for it in failures]


def test_a_fenced_role_is_followed_by_one_at_the_same_port(run: Any) -> None:
    told, failures = run(serves_and_is_fenced, serves_and_is_fenced, is_stopped)
    assert not failures
    assert (told.ready, told.ended, told.served) == (1, 2, 2)
    assert [it.config.network.listeners[0].port for it in Role.made] == [0, 4711, 4711]


def test_a_node_is_ready_when_its_first_role_that_serves_does(run: Any) -> None:
    told, failures = run(is_fenced, is_stopped)
    assert not failures
    assert (told.ready, told.ended, told.served) == (1, 1, 0)


def test_any_other_failure_ends_the_node(run: Any) -> None:
    async def fails(_role: Role) -> None:
        raise ExceptionGroup("", [NodeFencedError("expired"), OSError("the disk")])

    told, failures = run(serves_and_is_fenced, fails)
    assert kinds(failures) == [NodeFencedError, OSError]
    assert told.ended == 1


def test_a_node_whose_roles_do_not_come_to_serve_ends_as_fenced(run: Any) -> None:
    told, failures = run(is_fenced)
    assert kinds(failures) == [NodeFencedError]
    assert len(Role.made) == MAX_UNSERVED_ROLES == told.ended + 1


def test_a_node_whose_log_is_still_in_use_ends_as_fenced(run: Any) -> None:
    _, failures = run(serves_and_is_fenced, finds_the_log_in_use)
    assert kinds(failures) == [NodeFencedError]
    assert isinstance(failures[0].__cause__, WalLockedError)


def test_a_log_that_another_process_has_at_the_start_is_no_fencing(run: Any) -> None:
    _, failures = run(finds_the_log_in_use)
    assert kinds(failures) == [WalLockedError]


def test_a_node_that_is_to_stop_does_not_begin_again(run: Any) -> None:
    async def is_stopped_and_fenced(role: Role) -> None:
        role.stop.set()
        raise FENCED

    told, failures = run(is_stopped_and_fenced)
    assert kinds(failures) == [NodeFencedError]
    assert told.ended == 0


def test_a_node_can_be_stopped_between_two_roles(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.broker.node.role_restarts.MIN_PAUSE_MS", 5_000)

    async def stopped_soon(role: Role) -> None:
        asyncio.get_running_loop().call_later(0.01, role.stop.set)
        raise FENCED

    told, failures = run(stopped_soon)
    assert not failures
    assert len(Role.made) == 1 == told.ended


def test_a_role_that_is_fenced_beside_an_unexpected_error_is_not_followed(run: Any) -> None:
    async def script(_role: Role) -> None:
        loop = asyncio.get_running_loop()
        loop.call_exception_handler({"message": "a callback", "exception": KeyError("a bug")})
        raise FENCED

    told, failures = run(script)
    assert NodeFencedError in kinds(failures)
    assert told.ended == 0


def test_a_role_that_ends_because_another_part_of_the_node_failed_is_not_followed(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task group forgets that it was cancelled when its body fails in another way."""
    failing = asyncio.Event()

    async def fails(_admin: object) -> None:
        await failing.wait()
        raise OSError("the endpoint")

    async def is_cancelled_and_fenced(_role: Role) -> None:
        failing.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise FENCED from None

    monkeypatch.setattr(module.NodeAdmin, "serve", fails)
    told, failures = run(is_cancelled_and_fenced, is_stopped)
    assert OSError in kinds(failures)
    assert told.ended == 0
    assert len(Role.made) == 1


def test_a_bucket_in_memory_ends_with_the_role_that_has_it_and_so_does_the_node(run: Any) -> None:
    storage = StorageConfig(bucket_uri="mem://")
    told, failures = run(serves_and_is_fenced, storage=storage)
    assert kinds(failures) == [NodeFencedError]
    assert told.ended == 0
