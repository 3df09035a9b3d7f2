"""What `headrace dev` needs of its host: a data directory of its own, and the banner."""

import errno
import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import BOOTSTRAP_DEFAULT
from headrace.broker.cli.output import wants_colour
from headrace.broker.cli.version import program_version

if TYPE_CHECKING:
    from headrace.broker.node.address import NodeAddress

_MEDIA = {
    "DIRECT": "O_DIRECT",
    "CACHED": "no O_DIRECT here: through the page cache",
    "MEMORY": "in memory: lost with the machine",
    "OBJECTS": "objects: a record is acknowledged once the bucket has it",
}
EVERY_ADDRESS = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not bound


def default_data_dir() -> Path:
    """Give the directory of the development cluster, by the XDG base directory rules."""
    base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(base).expanduser() / "headrace" / "dev"


class DataDirLock:
    """The lock on a data directory, which contains the address of its holder."""

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
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
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
                f"a broker is already running on {directory}{where}",
                hint="Use it, stop it, or start another one with --data-dir DIR.",
            ) from error
        lock = DataDirLock(file)
        lock.note_address("")
        yield lock


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
        """Write the banner of a node that serves clients, at most 12 lines."""
        from headrace.storage.object_store.factory import is_bucket_in_memory

        place = address.broker
        assert place is not None
        # Who listens everywhere is reached on the loopback address, too.
        host = "127.0.0.1" if place.kafka_host in EVERY_ADDRESS else place.kafka_host
        kafka = f"{host}:{place.kafka_port}"
        program = program_name()
        target = "" if kafka == BOOTSTRAP_DEFAULT else f" -b {kafka}"
        how = _MEDIA[place.wal_medium.name]
        bucket = (
            f"{place.bucket} ({_MEDIA['MEMORY']})"
            if is_bucket_in_memory(place.bucket)
            else place.bucket
        )
        return [
            f"{_bold(f'Headrace {program_version()}')}"
            f"  node {address.node_id}, cluster {address.cluster_id}",
            f"  Kafka   {kafka}",
            f"  Admin   {address.admin_url or 'off'}",
            f"  Bucket  {bucket}",
            f"  WAL     {place.wal} ({how})",
            "Try, in another terminal:",
            f"  {program} topic create orders --partitions 3{target}",
            f"  echo 'hello' | {program} produce orders{target}",
            f"  {program} consume orders --from-beginning{target}",
            f"Stop with Ctrl-C. Data stays in {self._directory}.",
        ]


def program_name() -> str:
    """Return the command that starts this program again from the same directory."""
    invoked = Path(sys.argv[0])
    if invoked.name == "__main__.py":
        return f"{_short(sys.executable)} -m headrace.broker"
    found = shutil.which(invoked.name)
    if found and Path(found).resolve() == invoked.resolve():
        return invoked.name
    return _short(str(invoked))


def _short(path: str) -> str:
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else path


def _bold(text: str) -> str:
    return click.style(text, bold=True) if wants_colour() else text
