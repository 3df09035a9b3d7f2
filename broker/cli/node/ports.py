"""Free ports: finding one, and finding out that one is taken before anything is started."""

import errno
import socket

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.output import talk

MAX_PORTS_TRIED = 50


def choose_port(host: str, wanted: int | None, preferred: int, option: str) -> int:
    """Choose a port: the wanted one, or the first free one from the preferred one on.

    Args:
        host: address to listen on.
        wanted: what the user asked for; 0 is any free port, None is no wish.
        preferred: where to begin when there is no wish.
        option: how the user asks for one.

    Raises:
        CommandFailedError: the wanted port is taken, or nothing near the preferred one is free.
    """
    if wanted is not None:
        if wanted and not port_is_free(host, wanted):
            raise CommandFailedError(
                f"port {wanted} on {host} is taken",
                hint=f"Stop what listens there, choose another, or leave {option} out.",
            )
        return wanted
    for port in range(preferred, preferred + MAX_PORTS_TRIED):
        if port_is_free(host, port):
            if port != preferred:
                talk(f"port {preferred} is taken, using {port} instead")
            return port
    raise CommandFailedError(
        f"no port from {preferred} to {preferred + MAX_PORTS_TRIED - 1} is free on {host}",
        hint=f"Choose one with {option}; {option} 0 takes any free one.",
    )


def port_is_free(host: str, port: int) -> bool:
    """Try to bind; the port may be taken again before the broker binds it, which then says so."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise CommandFailedError(
                f"cannot listen on {host}:{port}: {error.strerror}",
                hint="It must be an address of this machine.",
            ) from error
    return True
