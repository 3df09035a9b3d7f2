"""The kernel's sockets behind the network of a node."""

import asyncio
import socket
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest
import uvloop

from headrace.network import SocketNetwork


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test on the loop that production uses, and on asyncio's own."""

    @pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop])
    def run(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(asyncio.wait_for(test(), timeout=20))

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.transport.write(data)


class Caller(asyncio.Protocol):
    def __init__(self) -> None:
        self.heard = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(b"early")

    def data_received(self, data: bytes) -> None:
        self.heard.set_result(data)


@on_a_loop
async def test_a_client_that_comes_before_it_is_served_is_answered_later() -> None:
    network = SocketNetwork()
    (listening,) = await network.listen("127.0.0.1", 0)
    caller = Caller()
    try:
        await network.connect(lambda: caller, "127.0.0.1", listening.port)
        await listening.serve(Echo)
        assert await caller.heard == b"early"
    finally:
        caller.transport.close()
        listening.close()


@on_a_loop
async def test_an_address_that_listens_is_nobody_elses_until_it_is_closed() -> None:
    network = SocketNetwork()
    (first,) = await network.listen("127.0.0.1", 0)

    with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{first.port}"):
        await network.listen("127.0.0.1", first.port)
    first.close()
    first.close()

    (second,) = await network.listen("127.0.0.1", first.port)
    second.close()


@on_a_loop
async def test_nobody_reaches_an_address_that_was_closed() -> None:
    network = SocketNetwork()
    (unserved,) = await network.listen("127.0.0.1", 0)
    (served,) = await network.listen("127.0.0.1", 0)
    await served.serve(Echo)

    for listening in (unserved, served):
        listening.close()
        with pytest.raises(ConnectionRefusedError):
            await network.connect(Caller, "127.0.0.1", listening.port)


@on_a_loop
async def test_of_several_addresses_none_is_kept_when_one_cannot_be_bound() -> None:
    network = SocketNetwork()
    (taken,) = await network.listen("127.0.0.1", 0)
    addresses = [("127.0.0.2", 0), ("127.0.0.1", 0)]

    async def resolved(*_: object, **__: object) -> list[tuple[Any, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", address) for address in addresses]

    loop = asyncio.get_running_loop()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(type(loop), "getaddrinfo", resolved)
        with pytest.raises(OSError, match=r"cannot listen on 127\.0\.0\.1"):
            await network.listen("both", taken.port)
    taken.close()

    (free,) = await network.listen("127.0.0.2", taken.port)
    free.close()


@on_a_loop
async def test_no_host_means_any_address() -> None:
    network = SocketNetwork()
    (listening,) = await network.listen("", 0)
    await listening.serve(Echo)
    caller = Caller()
    try:
        await network.connect(lambda: caller, "127.0.0.1", listening.port)
        assert await caller.heard == b"early"
    finally:
        caller.transport.close()
        listening.close()


@on_a_loop
async def test_names_have_addresses() -> None:
    assert "127.0.0.1" in await SocketNetwork().resolve("127.0.0.1")
