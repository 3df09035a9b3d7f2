"""Free TCP ports on the loopback interface."""

import socket

_handed_out: set[int] = set()


def free_port() -> int:
    """Return a port that nobody listens on, and that this process was not given before."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if port not in _handed_out:
            _handed_out.add(port)
            return port
