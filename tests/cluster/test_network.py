"""The harness's own instruments do what the scenarios believe of them."""

import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.network import LoopbackNetwork, NamespaceNetwork, remove_stale_namespaces
from tests.cluster.run_identity import own_label, stale_labels
from tests.cluster.small_disk import SmallDisk, remove_stale_mounts

MIB = 1 << 20
PORT = 7000
SILENCE_S = 0.2
# Datagrams `say ADDRESS` make a node send `hello` there; when it hears that, it tells who asked it last.
NODE = """
import socket, sys
node = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
node.bind((sys.argv[1], 7000))
print("bound", flush=True)
asked_by = None
while True:
    said, sender = node.recvfrom(100)
    if said.startswith(b"say "):
        node.sendto(b"hello", (said[4:].decode(), 7000))
    elif said == b"tell me":
        asked_by = sender
        node.sendto(b"yes", sender)
    elif asked_by:
        node.sendto(b"heard " + sender[0].encode(), asked_by)
"""


class Conversation:
    """Nodes a and b, and an ear of the test that each tells what it hears."""

    def __init__(self, network: NamespaceNetwork) -> None:
        self.addresses = {name: network.join(name) for name in ("a", "b")}
        self.processes: list[subprocess.Popen[bytes]] = []
        for name, address in self.addresses.items():
            command = network.command(name, [sys.executable, "-c", NODE, address])
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
            self.processes.append(process)
            assert process.stdout
            assert process.stdout.readline() == b"bound\n"
        self.ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.ear.settimeout(5)
        for address in self.addresses.values():
            self.ear.sendto(b"tell me", (address, PORT))
            assert self.ear.recv(100) == b"yes"

    def is_heard(self, source: str, target: str) -> bool:
        """Whether what `source` says arrives at `target`."""
        self.ear.settimeout(SILENCE_S)
        self.ear.sendto(b"say " + self.addresses[target].encode(), (self.addresses[source], PORT))
        try:
            assert self.ear.recv(100) == b"heard " + self.addresses[source].encode()
        except TimeoutError:
            return False
        return True

    def end(self) -> None:
        """End the nodes."""
        self.ear.close()
        for process in self.processes:
            process.kill()
            process.communicate()


@pytest.fixture
def network(component: Callable[[Callable[[], object]], None]) -> Iterator[NamespaceNetwork]:
    opened: list[NamespaceNetwork] = []
    component(lambda: opened.append(NamespaceNetwork()))
    yield opened[0]
    opened[0].close()


def test_links_are_cut_in_one_direction_and_mended(network: NamespaceNetwork) -> None:
    nodes = Conversation(network)
    try:
        assert nodes.is_heard("a", "b")
        assert nodes.is_heard("b", "a")
        network.cut("b", "a")
        assert not nodes.is_heard("b", "a")
        assert nodes.is_heard("a", "b")
        network.cut("a", "b")
        assert not nodes.is_heard("a", "b")
        network.mend("a", "b")
        assert nodes.is_heard("a", "b")
        assert not nodes.is_heard("b", "a")
        network.heal()
        assert nodes.is_heard("b", "a")
    finally:
        nodes.end()


def test_a_process_has_several_networks(network: NamespaceNetwork) -> None:
    first = network.join("a")
    second = NamespaceNetwork()
    try:
        assert second.join("a") != first
    finally:
        second.close()
    assert subprocess.run(network.command("a", ["true"]), check=False).returncode == 0


def test_a_killed_run_s_namespaces_and_processes_go_with_the_next_run(
    network: NamespaceNetwork,
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    space = f"hr-{dead.pid}-1-left"
    subprocess.run(["ip", "netns", "add", space], check=True)
    waiting = ("sh", "-c", "echo inside; exec sleep 60")
    left = subprocess.Popen(
        ["nsenter", f"--net=/run/netns/{space}", *waiting], stdout=subprocess.PIPE
    )
    assert left.stdout
    assert left.stdout.readline() == b"inside\n"
    remove_stale_namespaces()
    left.communicate(timeout=5)
    assert left.returncode == -signal.SIGKILL
    names = [path.name for path in Path("/run/netns").iterdir()]
    assert space not in names
    own = [name for name in names if name.startswith(own_label())]
    assert own, "those of a living run stay"


def test_a_label_is_stale_when_its_process_has_ended() -> None:
    own = own_label()
    reused = f"{own.rpartition('-')[0]}-1"
    assert stale_labels([f"{own}-a", f"{reused}-b", "others", "hr-x"]) == {reused}


def test_without_root_nodes_have_addresses_of_their_own() -> None:
    first, second = LoopbackNetwork(), LoopbackNetwork()
    try:
        addresses = [first.join("a"), first.join("b"), second.join("a")]
        assert len(set(addresses)) == 3
        assert all(address.startswith("127.") for address in addresses)
        assert not first.can_cut
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize("in_file", [False, True])
def test_a_small_disk_is_full_until_it_is_emptied(
    component: Callable[[Callable[[], object]], None], tmp_path: Path, in_file: bool
) -> None:
    disk = SmallDisk(tmp_path / "disk", MIB, in_file=in_file)
    component(disk.mount)
    try:
        kept = disk.directory / "kept"
        kept.write_bytes(bytes(1000))
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            (disk.directory / "more").write_bytes(bytes(10_000))
        disk.empty()
        (disk.directory / "more").write_bytes(bytes(10_000))
        assert kept.read_bytes() == bytes(1000)
    finally:
        disk.close()
    assert list(disk.directory.iterdir()) == []


@pytest.mark.parametrize("in_file", [False, True])
def test_mounts_of_a_living_run_stay(
    component: Callable[[Callable[[], object]], None], tmp_path: Path, in_file: bool
) -> None:
    disk = SmallDisk(tmp_path / "with space", MIB, in_file=in_file)
    component(disk.mount)
    try:
        (disk.directory / "file").write_bytes(b"x")
        remove_stale_mounts()
        assert (disk.directory / "file").exists()
    finally:
        disk.close()
