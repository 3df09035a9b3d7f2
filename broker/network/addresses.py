"""Addresses to listen at: their sockets listen at once, though nobody may accept for a while."""

import asyncio
import socket
from contextlib import ExitStack
from typing import Final

BACKLOG: Final = 1024

Address = tuple[socket.AddressFamily, tuple[str, int]]


async def listen(host: str, port: int) -> list[socket.socket]:
    """Bind every address of a host name, or any IPv4 address when it is empty; the sockets listen.

    Raises:
        OSError: an address is in use, or not an address of this machine.
    """
    addresses = await _resolve(host, port)
    with ExitStack() as closing:  # all, when one cannot be bound
        listening = [closing.enter_context(_listen(address)) for address in addresses]
        closing.pop_all()
    return listening


async def _resolve(host: str, port: int) -> list[Address]:
    """Addresses to bind: those of the host name, or any IPv4 address when there is none."""
    if not host:
        return [(socket.AF_INET, ("", port))]
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    addresses = [(family, (str(address[0]), port)) for family, _, _, _, address in found]
    return list(dict.fromkeys(addresses))


def _listen(address: Address) -> socket.socket:
    family, (host, port) = address
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
