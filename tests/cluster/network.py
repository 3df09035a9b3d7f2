"""The addresses of a cluster's nodes, and the links between them that a test can cut.

| | `NamespaceNetwork` | `LoopbackNetwork` |
|---|---|---|
| needs | root, Linux, iproute2, `nsenter` | nothing |
| a node has | a network namespace, its link on a bridge, an address of a private subnet | an address 127.x.y.z |
| links can be cut | any, in both directions or one | none: tests that need it are skipped |
| after a killed run | the next one removes what it left, by the dead run's process id | nothing is left |

A link is cut in one direction by telling the sender's kernel a hardware address of the receiver that nobody
has: packets leave and arrive nowhere, and the sender hears of no error. That takes 3 ms, and needs no firewall.
"""

import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from tests.cluster.run_identity import own_label, stale_labels
from tests.environment.paths import MissingComponentError

_NAMESPACES = Path("/run/netns")
_NOBODY = "02:00:00:00:00:01"
_HUB = "hub"
_OUTSIDE = "outside"  # the tests themselves: they speak to all nodes, and their links stay
_MAX_SUBNETS = 200
_numbers = itertools.count()  # of the networks of this process


class Network(Protocol):
    """What a cluster needs of either kind of network."""

    can_cut: bool

    def join(self, name: str) -> str:
        """Add a node, and return its address."""
        ...

    def command(self, name: str, command: Sequence[object]) -> list[str]:
        """Return the command line that runs a program as that node."""
        ...

    def cut(self, source: str, target: str) -> None:
        """Lose whatever `source` sends to `target`, from now on; the other direction stays."""
        ...

    def mend(self, source: str, target: str) -> None:
        """Let what `source` sends to `target` arrive again."""
        ...

    def heal(self) -> None:
        """Mend all links."""
        ...

    def close(self) -> None:
        """Remove the network. Its nodes' processes have ended."""
        ...


def open_network() -> Network:
    """Return the better kind of network that is allowed here."""
    try:
        return NamespaceNetwork()
    except MissingComponentError:
        return LoopbackNetwork()


class NamespaceNetwork:
    """Namespaces on a bridge, which itself lies in one; the tests have an interface on it."""

    can_cut = True

    def __init__(self) -> None:
        """Make the bridge.

        Raises:
            MissingComponentError: that is not allowed here, or a program is missing.
        """
        for program in ("ip", "nsenter"):
            if shutil.which(program) is None:
                msg = f"`{program}` is not here (Debian: iproute2, util-linux)"
                raise MissingComponentError(msg)
        remove_stale_namespaces()
        self._label = f"{own_label()}-{next(_numbers)}"
        self._addresses: dict[str, str] = {}
        self._cuts: set[tuple[str, str]] = set()
        self._interface = ""
        try:
            self._make_hub()
        except subprocess.CalledProcessError as error:
            self.close()
            msg = f"no network namespaces here (they need root): {error.stderr.strip()}"
            raise MissingComponentError(msg) from error

    def join(self, name: str) -> str:
        """Add a node with a namespace of its own."""
        number = len(self._addresses) + 1
        address = f"{self._subnet}.{number}"
        space, hub = self._space(name), self._space(_HUB)
        _ip(f"netns add {space}")
        _ip(f"-n {hub} link add port{number} type veth peer name eth0 netns {space}")
        _ip(f"-n {hub} link set port{number} master bridge up")
        _ip(f"-n {space} addr add {address}/24 dev eth0")
        _ip(f"-n {space} link set eth0 up")
        _ip(f"-n {space} link set lo up")
        self._addresses[name] = address
        return address

    def command(self, name: str, command: Sequence[object]) -> list[str]:
        """Run it within the node's namespace; its process is the program's own."""
        return ["nsenter", f"--net={_NAMESPACES / self._space(name)}", *map(str, command)]

    def cut(self, source: str, target: str) -> None:
        """Tell `source` a hardware address of `target` that nobody has."""
        if (source, target) not in self._cuts:
            self._cuts.add((source, target))
            where = f"{self._addresses[target]} lladdr {_NOBODY} dev eth0 nud permanent"
            _ip(f"-n {self._space(source)} neigh replace {where}")

    def mend(self, source: str, target: str) -> None:
        """Let `source` find out the address of `target` again."""
        if (source, target) in self._cuts:
            self._cuts.remove((source, target))
            _ip(f"-n {self._space(source)} neigh del {self._addresses[target]} dev eth0")

    def heal(self) -> None:
        """Let everybody find out the addresses again."""
        for source, target in list(self._cuts):
            self.mend(source, target)

    def close(self) -> None:
        """Remove all namespaces; interfaces go with them."""
        for name in (*self._addresses, _HUB):
            subprocess.run(
                ["ip", "netns", "del", self._space(name)], capture_output=True, check=False
            )

    def _make_hub(self) -> None:
        hub = self._space(_HUB)
        _ip(f"netns add {hub}")
        _ip(f"-n {hub} link add bridge type bridge")
        _ip(f"-n {hub} link set bridge up")
        for number in itertools.count():
            self._interface, self._subnet = f"headrace{number}", f"10.96.{number}"
            # The name of the interface is the lock that keeps two runs off the same subnet.
            made = _try_ip(
                f"-n {hub} link add outside type veth peer name {self._interface} netns {os.getpid()}"
            )
            if made.returncode == 0:
                break
            if "exists" not in made.stderr or number == _MAX_SUBNETS:
                made.check_returncode()
        _ip(f"-n {hub} link set {_OUTSIDE} master bridge up")
        _ip(f"addr add {self._subnet}.254/24 dev {self._interface}")
        _ip(f"link set {self._interface} up")

    def _space(self, name: str) -> str:
        return f"{self._label}-{name}"


class LoopbackNetwork:
    """Addresses of the loopback interface, whose links cannot be cut."""

    can_cut = False

    def __init__(self) -> None:
        self._subnet = next(filter(_is_free, (f"127.96.{number}" for number in range(256))))
        self._lock = socket.create_server((f"{self._subnet}.254", _LOCK_PORT))
        self._count = 0

    def join(self, name: str) -> str:
        """Hand out the next address."""
        self._count += 1
        return f"{self._subnet}.{self._count}"

    def command(self, name: str, command: Sequence[object]) -> list[str]:
        """Run it as it is."""
        return list(map(str, command))

    def cut(self, source: str, target: str) -> None:
        """Fail: there is nothing here that could be cut without root."""
        msg = f"the link from {source} to {target} cannot be cut: no network namespaces here"
        raise MissingComponentError(msg)

    def mend(self, source: str, target: str) -> None:
        """Do nothing: no link can be cut."""

    def heal(self) -> None:
        """Do nothing: no link can be cut."""

    def close(self) -> None:
        """Let another run have the addresses."""
        self._lock.close()


_LOCK_PORT = 9099


def _is_free(subnet: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((f"{subnet}.254", _LOCK_PORT)) != 0


def remove_stale_namespaces() -> None:
    """Remove what runs that were killed have left: their nodes' processes, and the namespaces."""
    if not _NAMESPACES.is_dir():
        return
    names = [path.name for path in _NAMESPACES.iterdir()]
    for label in stale_labels(names):
        for name in filter(re.compile(rf"{re.escape(label)}-").match, names):
            ran = subprocess.run(
                ["ip", "netns", "pids", name], capture_output=True, text=True, check=False
            )
            for process_id in map(int, ran.stdout.split()):
                _kill(process_id)
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _kill(process_id: int) -> None:
    try:
        os.kill(process_id, signal.SIGKILL)
    except ProcessLookupError:
        return


def _ip(arguments: str) -> None:
    _try_ip(arguments).check_returncode()


def _try_ip(arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["ip", *arguments.split()], capture_output=True, text=True, check=False)
