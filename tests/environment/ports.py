"""Free TCP ports on the loopback interface."""

import itertools
import os
import socket
from collections.abc import Iterator
from typing import Final

# Below those that the kernel gives to connections and to listeners on port 0 (net.ipv4.ip_local_port_range): one of
# these could take the port of a server before it starts, or while it is stopped.
FIRST_PORT: Final = 10_000
PORTS: Final = 22_000
# Processes that run at once have process ids close to each other, and begin so far apart.
_PORTS_OF_A_PROCESS: Final = 997


def _candidates() -> Iterator[int]:
    begin = os.getpid() * _PORTS_OF_A_PROCESS
    return (FIRST_PORT + (begin + number) % PORTS for number in itertools.count())


_ports = _candidates()


def free_port() -> int:
    """Return a port that nobody listens on, and that this process was not given before."""
    for port in itertools.islice(_ports, PORTS):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    msg = f"no port from {FIRST_PORT} to {FIRST_PORT + PORTS - 1} is free"
    raise OSError(msg)
