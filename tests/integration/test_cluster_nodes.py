"""Whole nodes of one cluster inside the test's process, with the network between them."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest

from headrace.broker.node import registration
from headrace.broker.node.environment import NodeEnvironment
from headrace.broker.node.node import Node, NodeAddress
from headrace.config.node import (
    Endpoint,
    MetadataConfig,
    NetworkConfig,
    NodeConfig,
    TelemetryConfig,
    Voter,
)
from headrace.links.accepted import AcceptedConnection
from headrace.links.ends import Party
from headrace.links.framing import Hello, encode_hello
from headrace.links.kinds import REFUSED
from headrace.links.listener import LinkListener
from headrace.links.services import Service
from headrace.metadata.errors import MetadataLogFailedError, RefusedError
from headrace.metadata.log.store import LogStore
from headrace.metadata.net.kinds import MAX_REQUEST_BODY_BYTES, PEER, RPC
from headrace.metadata.records.members import NO_DIRECTORY
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.errors import ErrorCode
from headrace.protocol.messages import AddRaftVoterRequest, CreateTopicsRequest
from headrace.wal.errors import WalIdentityError, WalLockedError, WalMissingError
from tests.environment.ports import free_port
from tests.integration.test_node import Client, config, leaf

FIRST = 101
PATIENCE_S = 30
SESSION_S = 2.5
NOT_LEADER_OR_FOLLOWER = 6


class Scene:
    """Settings of nodes that share a bucket, and those of them that run."""

    def __init__(self, directory: Path, **metadata: Any) -> None:
        self.directory = directory
        self.voters = tuple(Voter(FIRST + number, "127.0.0.1", free_port()) for number in range(3))
        self._metadata = metadata
        self._running: dict[int, tuple[asyncio.Task[None], asyncio.Event]] = {}

    def controller(self, node_id: int) -> NodeConfig:
        """One of those that found the cluster, or one that is added to it."""
        founder = next((it for it in self.voters if it.node_id == node_id), None)
        port = founder.port if founder else 0
        found = {"quorum_voters": self.voters} if founder else self._found()
        return NodeConfig(
            node_id=node_id,
            process_roles=("controller",),
            network=NetworkConfig(listeners=()),
            metadata=MetadataConfig(
                log_dir=str(self.directory / f"controller{node_id}"),
                controller_listeners=(Endpoint("CONTROLLER", "127.0.0.1", port),),
                **found,
                **self._metadata,
            ),
            telemetry=TelemetryConfig(admin_port=-1),
        )

    def broker(self, node_id: int) -> NodeConfig:
        """One that is nothing else."""
        settings = config(self.directory / f"broker{node_id}", node_id)
        return replace(
            settings,
            process_roles=("broker",),
            storage=replace(settings.storage, bucket_uri=f"file://{self.directory / 'bucket'}"),
            metadata=MetadataConfig(**self._found(), **self._metadata),
        )

    def both(self, node_id: int) -> NodeConfig:
        """One that is a controller, too."""
        controller, broker = self.controller(node_id), self.broker(node_id)
        return replace(broker, process_roles=("broker", "controller"), metadata=controller.metadata)

    def begin(self, settings: NodeConfig) -> "asyncio.Future[NodeAddress]":
        """Start a node; the result comes when it serves."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[NodeAddress] = loop.create_future()
        stop = asyncio.Event()
        task = loop.create_task(Node(settings, NodeEnvironment()).run(ready.set_result, stop))
        self._running[settings.node_id] = (task, stop)
        return ready

    async def start(self, *all_settings: NodeConfig) -> list[NodeAddress]:
        """Start nodes and wait until they serve."""
        return await asyncio.gather(*map(self.begin, all_settings))

    async def stop(self, node_id: int) -> None:
        """Ask a node to stop, and wait until it has."""
        task, stop = self._running.pop(node_id)
        stop.set()
        await task

    async def stop_all(self) -> None:
        """Brokers first."""
        for node_id in sorted(self._running):
            await self.stop(node_id)

    def task(self, node_id: int) -> asyncio.Task[None]:
        """A node that runs, or has ended by itself."""
        return self._running[node_id][0]

    def _found(self) -> dict[str, Any]:
        return {"quorum_bootstrap_servers": tuple((it.host, it.port) for it in self.voters)}


def in_scene(
    test: Callable[[Scene], Coroutine[Any, Any, None]], directory: Path, **metadata: Any
) -> None:
    async def main() -> None:
        scene = Scene(directory, **metadata)
        try:
            async with asyncio.timeout(PATIENCE_S):
                await test(scene)
        finally:
            await scene.stop_all()

    asyncio.run(main())


@asynccontextmanager
async def client(address: NodeAddress) -> AsyncIterator[Client]:
    assert address.broker is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", address.broker.kafka_port)
    try:
        yield Client(reader, writer)
    finally:
        writer.close()


def directory_id(log_dir: Path) -> UUID:
    lines = (log_dir / "meta.properties").read_text().splitlines()
    return UUID(next(it.partition("=")[2] for it in lines if it.startswith("directory.id=")))


async def create_topic(address: NodeAddress, name: str, leader: int) -> None:
    """Create a topic of one partition that this broker leads."""
    topic_class = CreateTopicsRequest.CreatableTopic
    assignment = topic_class.CreatableReplicaAssignment(partition_index=0, broker_ids=[leader])
    topic = topic_class(
        name=name, num_partitions=-1, replication_factor=-1, assignments=[assignment], configs=[]
    )
    async with client(address) as connection:
        answer = await connection.ask(
            ApiKey.CREATE_TOPICS, 5, CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        )
    assert [it.error_code for it in answer.topics] == [0]  # type: ignore[attr-defined]


async def produce(address: NodeAddress, topic: str, *values: bytes) -> None:
    """Produce until it is acknowledged."""
    async with client(address) as connection:
        while (await connection.produce(*values, topic=topic))[0]:
            await asyncio.sleep(0.05)


async def produce_where_it_is_led(
    addresses: Iterable[NodeAddress], topic: str, value: bytes
) -> NodeAddress:
    """Produce until one of the brokers acknowledges it: the partitions of one that stops move."""
    while True:
        for address in addresses:
            async with client(address) as connection:
                if not (await connection.produce(value, topic=topic))[0]:
                    return address
        await asyncio.sleep(0.05)


async def read(address: NodeAddress, topic: str) -> list[bytes | None]:
    async with client(address) as connection:
        return await connection.values(topic=topic)


def test_brokers_serve_their_share_and_wait_for_whoever_leads(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        brokers = [scene.begin(scene.broker(node_id)) for node_id in (1, 2)]  # before anybody leads
        await scene.start(*map(scene.controller, (101, 102, 103)))
        one, two = await asyncio.gather(*brokers)
        assert one.cluster_id == two.cluster_id
        await create_topic(one, "of-one", 1)
        await create_topic(one, "of-two", 2)
        await produce(one, "of-one", b"a")
        await produce(two, "of-two", b"b")
        for node_id in (101, 102, 103):  # whichever leads, it is among the first two
            await scene.stop(node_id)
            if node_id != 103:
                await scene.start(scene.controller(node_id))
                await produce(one, "of-one", b"c%d" % node_id)
        assert await read(one, "of-one") == [b"a", b"c101", b"c102"]
        await scene.start(scene.controller(103))
        await scene.stop(2)
        (two,) = await scene.start(scene.broker(2))
        leader = await produce_where_it_is_led((one, two), "of-two", b"d")
        assert await read(leader, "of-two") == [b"b", b"d"]

    in_scene(test, tmp_path)


def test_every_node_passes_the_acceptance_of_a_loss_on_to_the_leader(tmp_path: Path) -> None:
    body = {"log_id": 1, "generation": "another", "damaged_only": False}

    async def answer(session: aiohttp.ClientSession, node: NodeAddress) -> tuple[int, str]:
        async with session.post(f"{node.admin_url}/logs/accept-loss", json=body) as response:
            return response.status, (await response.json())["error"]

    async def test(scene: Scene) -> None:
        nodes = [*map(scene.controller, (101, 102, 103)), scene.broker(1)]
        telemetry = TelemetryConfig(admin_port=0)
        addresses = await scene.start(*(replace(it, telemetry=telemetry) for it in nodes))
        async with aiohttp.ClientSession() as session:
            for address in addresses:
                status, error = await answer(session, address)
                assert status == 422, error
                assert "log 1 is in generation" in error

    in_scene(test, tmp_path)


def test_nodes_of_both_roles_are_a_cluster(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        ids = (101, 102, 103)
        nodes = dict(zip(ids, await scene.start(*map(scene.both, ids)), strict=True))
        for node_id in ids:
            await create_topic(nodes[101], f"of-{node_id}", node_id)
        for node_id in ids:
            await scene.stop(node_id)
            (nodes[node_id],) = await scene.start(scene.both(node_id))
            leader = await produce_where_it_is_led(nodes.values(), f"of-{node_id}", b"again")
            assert await read(leader, f"of-{node_id}") == [b"again"]
        # The last one has nobody to tell what it uploads, and does not wait for that for long.

    in_scene(test, tmp_path, broker_session_timeout_ms=2_000, broker_heartbeat_interval_ms=500)


def test_frames_that_are_begun_and_not_finished_cost_no_broker_its_controller(
    tmp_path: Path,
) -> None:
    async def test(scene: Scene) -> None:
        await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
        (one,) = await scene.start(scene.broker(1))
        held = []
        hello = encode_hello(Hello(RPC.number, Party("", -1, NO_DIRECTORY)))
        for voter in scene.voters:
            for _ in range(4):
                reader, writer = await asyncio.open_connection(voter.host, voter.port)
                writer.write(hello + MAX_REQUEST_BODY_BYTES.to_bytes(4, "big"))
                await reader.readexactly(len(hello))  # it answers with its own
                held.append((reader, writer))
        await create_topic(one, "meanwhile", 1)
        await produce(one, "meanwhile", b"value")
        for reader, writer in held:
            await reader.read()  # each is closed, long before a session of a broker ends
            writer.close()
        assert not scene.task(1).done()

    in_scene(test, tmp_path)


def test_a_quorum_that_is_away_for_longer_than_a_lease_ends_no_broker(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        controllers = [scene.controller(it.node_id) for it in scene.voters]
        await scene.start(*controllers)
        (one,) = await scene.start(scene.broker(1))
        await create_topic(one, "kept", 1)
        await produce(one, "kept", b"before")
        for settings in controllers:
            await scene.stop(settings.node_id)
        async with client(one) as connection:
            values = [b"before"]
            while True:  # the lease goes on for a while
                value = b"%d" % len(values)
                answer = asyncio.create_task(connection.produce(value, topic="kept"))
                answered, _ = await asyncio.wait((answer,), timeout=SESSION_S)
                if not answered:
                    break  # it was written as the lease ended: its answer waits for the next one
                error, _ = answer.result()
                if error:
                    break
                values.append(value)
                await asyncio.sleep(0.01)
            assert not answered or error == NOT_LEADER_OR_FOLLOWER
            await scene.start(*controllers)
            if not answered:
                assert (await answer)[0] == 0
                values.append(value)
        await produce(one, "kept", b"after")
        assert await read(one, "kept") == [*values, b"after"]
        assert not scene.task(1).done()

    in_scene(
        test,
        tmp_path,
        broker_session_timeout_ms=int(SESSION_S * 1000),
        broker_heartbeat_interval_ms=400,
    )


def test_a_broker_does_not_speak_to_another_cluster_where_its_controllers_were(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(scene: Scene) -> None:
        controllers = [scene.controller(it.node_id) for it in scene.voters]
        await scene.start(*controllers)
        (one,) = await scene.start(scene.broker(1))
        await create_topic(one, "ours", 1)
        for settings in controllers:
            await scene.stop(settings.node_id)
            shutil.rmtree(settings.metadata.log_dir)
        await scene.start(*controllers)
        (two,) = await scene.start(scene.broker(2))
        assert two.cluster_id != one.cluster_id
        refused = f"belongs to cluster {two.cluster_id}, this node to {one.cluster_id}"
        while sum(refused in str(vars(it)) for it in caplog.records) < 3:
            assert not scene.task(1).done()
            await asyncio.sleep(0.05)

        # They do not know it. If they had been asked, it would have ended for that.
        assert not scene.task(1).done()

    in_scene(
        test,
        tmp_path,
        broker_session_timeout_ms=int(SESSION_S * 1000),
        broker_heartbeat_interval_ms=400,
    )


def test_a_broker_with_somebody_elses_wal_costs_nobody_its_place(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        alone = config(tmp_path / "alone")  # node 1 of a cluster of its own
        await scene.start(alone)
        await scene.stop(1)
        await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
        one, _ = await scene.start(scene.broker(1), scene.broker(2))
        await create_topic(one, "kept", 1)
        await scene.stop(2)
        for wal, reason in (
            (alone.wal, "is not of this cluster.*wal format --force"),
            (scene.broker(2).wal, "belongs to node 2 of cluster .*, not to node 1"),
        ):
            twin = replace(scene.broker(1), wal=wal)
            with pytest.raises((WalIdentityError, ExceptionGroup)) as refused:
                await Node(twin, NodeEnvironment()).run(lambda _: None, asyncio.Event())
            error = leaf(refused.value)
            assert isinstance(error, WalIdentityError)
            assert re.search(reason, str(error))
            await produce(one, "kept", b"value")
        assert not scene.task(1).done()

    in_scene(test, tmp_path)


async def refusal_of(twin: NodeConfig) -> BaseException:
    """Start a node that must not come up; return why it ends."""
    with pytest.raises(BaseException) as refused:
        await Node(twin, NodeEnvironment()).run(lambda _: None, asyncio.Event())
    return leaf(refused.value)


def test_a_second_broker_with_an_id_in_use_costs_the_first_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration, "LOG_LOCK_WAIT_MS", 0)
    monkeypatch.setattr(registration, "ASK_AGAIN_MS", 10)

    async def test(scene: Scene) -> None:
        await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
        (one,) = await scene.start(scene.broker(1))
        settings = scene.broker(1)
        with_its_wal = settings
        with_another = replace(
            settings, wal=replace(settings.wal, path=str(tmp_path / "another.wal"))
        )
        assert isinstance(await refusal_of(with_its_wal), WalLockedError)
        # While no stream is open, no WAL is missing: it is the controller that refuses.
        error = await refusal_of(with_another)
        assert isinstance(error, RefusedError)
        assert error.code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
        assert "another process is registered as broker 1" in error.message
        assert "Give each node an id of its own" in error.message

        await create_topic(one, "kept", 1)
        await produce(one, "kept", b"value")
        assert isinstance(await refusal_of(with_another), WalMissingError)

        await produce(one, "kept", b"again")
        assert await read(one, "kept") == [b"value", b"again"]
        assert not scene.task(1).done()

    in_scene(test, tmp_path, registration_timeout_ms=50)


def test_a_second_controller_with_an_id_in_use_cuts_no_link_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    greeted: list[tuple[Hello, int]] = []
    greet = LinkListener.greet

    def noting(
        self: LinkListener, connection: AcceptedConnection, hello: Hello
    ) -> tuple[Hello, Service | None]:
        answer, service = greet(self, connection, hello)
        if hello.kind == PEER.number:
            greeted.append((hello, answer.kind))
        return answer, service

    monkeypatch.setattr(LinkListener, "greet", noting)

    async def test(scene: Scene) -> None:
        await scene.start(*(scene.controller(it.node_id) for it in scene.voters))
        (one,) = await scene.start(scene.broker(1))
        victim = scene.controller(102)
        while sum(hello.party.node_id == 102 for hello, _ in greeted) < 2:
            await asyncio.sleep(0.01)  # it has both of its links
        greeted.clear()
        port = victim.metadata.controller_listeners[0].port
        twin = replace(
            victim.metadata,
            log_dir=str(tmp_path / "twin"),
            controller_listeners=(Endpoint("CONTROLLER", "127.0.0.9", port),),
        )
        stop = asyncio.Event()
        running = asyncio.create_task(
            Node(replace(victim, metadata=twin), NodeEnvironment()).run(lambda _: None, stop)
        )
        while len(greeted) < 6:
            await asyncio.sleep(0.01)
        stop.set()
        await running
        assert {kind for _, kind in greeted} == {REFUSED}
        assert {hello.party.directory_id for hello, _ in greeted} == {
            directory_id(tmp_path / "twin")
        }
        reasons = [str(getattr(it, "reason", "")) for it in caplog.records]
        told = next(it for it in reasons if "a second controller with this node id" in it)
        assert str(directory_id(tmp_path / "twin")) in told
        assert str(directory_id(tmp_path / "controller102")) in told
        await create_topic(one, "meanwhile", 1)

    in_scene(test, tmp_path)


def test_a_controller_that_was_not_there_from_the_start_is_added(tmp_path: Path) -> None:
    async def test(scene: Scene) -> None:
        await scene.start(*map(scene.controller, (101, 102, 103)))
        (one,) = await scene.start(scene.broker(1))
        (fourth,) = await scene.start(scene.controller(104))
        host, port = fourth.controller.rsplit(":", 1)
        listener = AddRaftVoterRequest.Listener(name="CONTROLLER", host=host, port=int(port))
        request = AddRaftVoterRequest(
            cluster_id=one.cluster_id,
            timeout_ms=10_000,
            voter_id=104,
            voter_directory_id=directory_id(tmp_path / "controller104"),
            listeners=[listener],
        )
        async with client(one) as connection:
            answer = await connection.ask(ApiKey.ADD_RAFT_VOTER, 0, request)
        assert answer.error_code == 0, answer.error_message  # type: ignore[attr-defined]
        # Of four, three are a majority: without one of the founders it is needed.
        await scene.stop(101)
        await create_topic(one, "by-four", 1)

    in_scene(test, tmp_path)


def test_a_node_that_waits_for_a_quorum_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(registration, "WAITING_LOG_MS", 50)

    async def test(scene: Scene) -> None:
        ready = scene.begin(scene.both(101))
        while "waiting for a controller" not in caplog.text:
            await asyncio.sleep(0.01)
        await scene.stop(101)
        assert not ready.done()

    in_scene(test, tmp_path)


def test_a_log_that_cannot_be_written_ends_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def test(scene: Scene) -> None:
        (first,) = await scene.start(replace(config(tmp_path / "alone"), node_id=1))

        async def full(*_: object) -> None:
            raise MetadataLogFailedError("no space left on device")

        monkeypatch.setattr(LogStore, "persist", full)
        async with client(first) as connection:
            asking = asyncio.create_task(connection.produce(b"x", topic="new"))
            with pytest.raises(BaseException) as failure:
                await scene.task(1)
            asking.cancel()
            await asyncio.wait([asking])
        assert isinstance(leaf(failure.value), MetadataLogFailedError)
        assert "the controller has failed" in caplog.text
        scene._running.clear()

    in_scene(test, tmp_path)
