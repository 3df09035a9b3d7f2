"""TLS behind the network of a node: who is served, who is not, and what that costs others."""

import asyncio
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

from headrace import network as module
from headrace.network import SocketNetwork
from tests.environment.certificates import ADDRESS, Certificate, make_certificate
from tests.unit.headrace.test_network import Caller, Echo

LOOPS = pytest.mark.parametrize("new_loop", [uvloop.new_event_loop, asyncio.new_event_loop])
NewLoop = Callable[[], asyncio.AbstractEventLoop]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


class Served:
    """An address that echoes over TLS, and counts what the loop calls unexpected."""

    def __init__(self, certificate: Certificate) -> None:
        self.certificate = certificate
        self.network = SocketNetwork()
        self.sessions: list[Echo] = []
        self.unexpected: list[dict[str, Any]] = []

    async def begin(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: self.unexpected.append(context))
        (self.listening,) = await self.network.listen(ADDRESS, 0)
        await self.listening.serve(self.new_session, self.certificate.server())

    def new_session(self) -> Echo:
        self.sessions.append(Echo())
        return self.sessions[-1]

    async def call(self, tls: ssl.SSLContext | None) -> Caller:
        caller = Caller()
        await self.network.connect(lambda: caller, ADDRESS, self.listening.port, tls)
        return caller

    async def serves(self) -> None:
        caller = await self.call(self.certificate.client())
        assert await caller.heard == b"early"
        caller.transport.close()


def on_loop(new_loop: NewLoop, served: Served, test: Callable[[], Any]) -> None:
    async def run() -> None:
        await served.begin()
        try:
            await test()
        finally:
            served.listening.close()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(asyncio.wait_for(run(), timeout=20))
    assert not served.unexpected, "such an error ends the node"


@LOOPS
def test_a_client_that_trusts_the_certificate_is_served(
    new_loop: NewLoop, certificate: Certificate
) -> None:
    served = Served(certificate)

    async def test() -> None:
        caller = await served.call(certificate.client())
        assert await caller.heard == b"early"
        assert caller.transport.get_extra_info("cipher") is not None
        assert served.sessions[0].transport.get_extra_info("peername")[0] == ADDRESS
        caller.transport.close()

    on_loop(new_loop, served, test)


@LOOPS
def test_a_client_that_trusts_another_certificate_does_not_connect(
    new_loop: NewLoop, certificate: Certificate, tmp_path: Path
) -> None:
    served = Served(certificate)

    async def test() -> None:
        with pytest.raises(OSError, match=r"(?i)certificate"):
            await served.call(make_certificate(tmp_path).client())
        await served.serves()

    on_loop(new_loop, served, test)


@LOOPS
@pytest.mark.parametrize("said", [b"\0\0\0\x12\0\x03\0\0\0\0\0\x01\0\x04test\0\0\0\0", b""])
def test_a_client_that_speaks_no_tls_reaches_no_protocol(
    new_loop: NewLoop, certificate: Certificate, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that says something else is disconnected for it, one that says nothing when its time is up."""
    if not said:
        monkeypatch.setattr(module, "MAX_HANDSHAKE_S", 0.1)
    served = Served(certificate)

    async def test() -> None:
        reader, writer = await asyncio.open_connection(ADDRESS, served.listening.port)
        writer.write(said)
        try:
            while await reader.read(100):  # an alert of TLS
                pass
        except ConnectionError:
            pass
        writer.close()
        assert all(not hasattr(it, "transport") for it in served.sessions)
        await served.serves()

    on_loop(new_loop, served, test)
