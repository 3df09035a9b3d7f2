"""The network of a node: what listens and what connects goes through it.

A port and its implementation with the kernel's sockets; a simulation has another one. This module stands below all
packages: Kafka's listeners, the controllers' connections and the admin endpoint use it.
"""

import asyncio
import resource
import socket
import ssl
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final, Protocol, TypedDict

BACKLOG: Final = 1024
MAX_HANDSHAKE_S: Final = 10.0  # of TLS; who takes longer is disconnected
MAX_FAREWELL_S: Final = 10.0  # until the other side of TLS has confirmed the end

ProtocolFactory = Callable[[], asyncio.BaseProtocol]


class _TlsBounds(TypedDict, total=False):
    ssl_handshake_timeout: float
    ssl_shutdown_timeout: float


class ListeningAddress(Protocol):
    """An address that listens: an early client waits in the backlog, and no other process can bind it."""

    @property
    def port(self) -> int:
        """The actual port."""
        ...

    async def serve(self, new_protocol: ProtocolFactory, tls: ssl.SSLContext | None = None) -> None:
        """Accept connections from now on, each with a protocol of its own. Called once.

        With `tls` a protocol gets its transport when the handshake has succeeded; one that fails is closed, and the
        protocol never hears of it. Handshakes that go on are counted by the kernel alone, as descriptors.
        """
        ...

    def close(self) -> None:
        """Listen no more; connections that were accepted continue. May be repeated."""
        ...


class Network(Protocol):
    """The network as one process has it."""

    @property
    def max_descriptors(self) -> int:
        """How many connections and files this process may have open."""
        ...

    async def listen(self, host: str, port: int) -> Sequence[ListeningAddress]:
        """Bind every address of a host name, or any IPv4 address when it is empty; at least one.

        Raises:
            OSError: an address is in use, or not an address of this machine; then none is bound.
        """
        ...

    async def connect(
        self,
        new_protocol: ProtocolFactory,
        host: str,
        port: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Connect; the protocol gets the transport. With `tls` the certificate of the other side must be for `host`.

        Raises:
            OSError: there is no answer, the name is not known, or the handshake of TLS fails.
            ValueError, OverflowError: the name or the port is invalid.
        """
        ...

    async def resolve(self, host: str) -> list[str]:
        """Return the addresses of a host name.

        Raises:
            OSError: the name is not known.
        """
        ...


class SocketNetwork:
    """The kernel's."""

    @property
    def max_descriptors(self) -> int:
        """See `Network.max_descriptors`."""
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return descriptors

    async def listen(self, host: str, port: int) -> Sequence[ListeningAddress]:
        """See `Network.listen`."""
        families = [(socket.AF_INET, "")]
        if host:
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )
            families = [(family, str(address[0])) for family, _, _, _, address in found]
        with ExitStack() as closing:  # all, when one cannot be bound
            listening = [
                closing.enter_context(_listen(family, address, port))
                for family, address in dict.fromkeys(families)
            ]
            closing.pop_all()
        return [_ListeningSocket(each) for each in listening]

    async def connect(
        self,
        new_protocol: ProtocolFactory,
        host: str,
        port: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """See `Network.connect`."""
        await asyncio.get_running_loop().create_connection(
            new_protocol, host, port, ssl=tls, **_bounds_of(tls)
        )

    async def resolve(self, host: str) -> list[str]:
        """See `Network.resolve`."""
        found = await asyncio.get_running_loop().getaddrinfo(host, 0, type=socket.SOCK_STREAM)
        return [str(address[0]) for *_, address in found]


class _ListeningSocket:
    """A `ListeningAddress`; the socket listens since before a server has it."""

    def __init__(self, listening: socket.socket) -> None:
        self._socket = listening
        self._server: asyncio.Server | None = None
        self.port: int = listening.getsockname()[1]

    async def serve(self, new_protocol: ProtocolFactory, tls: ssl.SSLContext | None = None) -> None:
        self._server = await asyncio.get_running_loop().create_server(
            new_protocol, sock=self._socket, backlog=BACKLOG, ssl=tls, **_bounds_of(tls)
        )

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._socket.close()


def _bounds_of(tls: ssl.SSLContext | None) -> _TlsBounds:
    """What the loop takes only together with TLS."""
    if tls is None:
        return {}
    return {"ssl_handshake_timeout": MAX_HANDSHAKE_S, "ssl_shutdown_timeout": MAX_FAREWELL_S}


def _listen(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
        listening.setblocking(False)  # noqa: FBT003  # the standard library's signature
    except OSError as error:
        listening.close()
        raise OSError(error.errno, f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listening
