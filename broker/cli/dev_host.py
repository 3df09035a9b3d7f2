"""What `headrace dev` needs of its host: a data directory of its own, free ports, and the banner."""

import errno
import fcntl
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from broker.cli.failures import CommandFailedError
from broker.cli.output import talk, wants_colour
from broker.cli.version import program_version

if TYPE_CHECKING:
    from broker.app import NodeAddress

PORTS_TRIED_MAX = 50
CLIENT_PORT = 9092  # what the other commands assume when they are told nothing


def default_data_dir() -> Path:
    """Give the directory of the development cluster, by the XDG base directory rules."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "headrace" / "dev"


class DataDirLock:
    """The lock on a data directory, with the address of whoever holds it inside."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def note_address(self, address: str) -> None:
        """Write where this broker answers, for one that finds the directory taken."""
        self._file.seek(0)
        self._file.truncate()
        self._file.write(address.encode())
        self._file.flush()


@contextmanager
def hold_data_dir(directory: Path) -> Iterator[DataDirLock]:
    """Create the directory and lock it against a second broker.

    Raises:
        CommandFailedError: it cannot be created, or another broker uses it.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        file = (directory / "dev.lock").open("a+b")
    except OSError as error:
        raise CommandFailedError(
            f"{directory} cannot be used: {error.strerror}", hint="Name another with --data-dir."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
            file.seek(0)
            address = file.read(256).decode(errors="replace").strip()
            where = f" at {address}" if address else ""
            raise CommandFailedError(
                f"a broker runs on {directory} already{where}",
                hint="Use it, stop it, or start another one with --data-dir DIR.",
            ) from error
        lock = DataDirLock(file)
        lock.note_address("")
        yield lock


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
        if wanted and not _is_free(host, wanted):
            raise CommandFailedError(
                f"port {wanted} on {host} is taken",
                hint=f"Stop what listens there, choose another, or leave {option} out.",
            )
        return wanted
    for port in range(preferred, preferred + PORTS_TRIED_MAX):
        if _is_free(host, port):
            if port != preferred:
                talk(f"port {preferred} is taken, so this is {port}")
            return port
    raise CommandFailedError(
        f"no port from {preferred} to {preferred + PORTS_TRIED_MAX - 1} is free on {host}",
        hint=f"Choose one with {option}; {option} 0 takes any free one.",
    )


def _is_free(host: str, port: int) -> bool:
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
                f"cannot listen on {host}: {error.strerror}",
                hint="Check --host: it must be an address of this machine.",
            ) from error
    return True


class Banner:
    """What the user sees when the broker is ready: where it is, what it stands on, what to try."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def show(self, address: "NodeAddress") -> None:
        """Print the banner on standard output."""
        for line in self.lines(address):
            click.echo(line)
        sys.stdout.flush()

    def lines(self, address: "NodeAddress") -> list[str]:
        """Write the banner, at most 12 lines."""
        kafka = f"{address.kafka_host}:{address.kafka_port}"
        program = program_name()
        target = "" if address.kafka_port == CLIENT_PORT else f" -b {kafka}"
        title = f"Headrace {program_version()}"
        notes = f" ({', '.join(address.notes)})" if address.notes else ""
        lines = [
            f"{_bold(title)}  node {address.node_id}, cluster {address.cluster_id}",
            f"  Kafka   {kafka}",
            f"  Admin   {address.admin_url or 'off'}",
            f"  Bucket  {address.bucket}",
            f"  WAL     {address.wal}{notes}",
            "Try, in another terminal:",
            f"  {program} topic create orders --partitions 3{target}",
            f"  echo 'hello' | {program} produce orders{target}",
            f"  {program} consume orders --from-beginning{target}",
            f"Stop with Ctrl-C. Data stays in {self._directory}.",
        ]
        return lines


def program_name() -> str:
    """Tell how this program can be called again from the same place."""
    invoked = Path(sys.argv[0])
    if invoked.name == "__main__.py":
        return f"{_short(sys.executable)} -m broker"
    found = shutil.which(invoked.name)
    if found and Path(found).resolve() == invoked.resolve():
        return invoked.name
    return _short(str(invoked))


def _short(path: str) -> str:
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else path


def _bold(text: str) -> str:
    return click.style(text, bold=True) if wants_colour() else text
