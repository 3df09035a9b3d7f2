"""The network of a simulated cluster: delay, loss, links that are cut in one direction or both, hosts without power.

Connections are TCP's: bytes arrive in order or not at all. A lost packet is therefore a delay of what was sent from
there on, and what is sent over a link that is cut arrives when it is healed, unless the sender's kernel has given the
connection up before. Sizes of buffers are not simulated: a reader that pauses is not noticed by the writer.
"""

import asyncio
import errno
import hashlib
import itertools
import random
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulation.cluster.process import WORLD, Process

Address = tuple[str, int]
RETRANSMITTED_S = 0.2
IN_ORDER_S = 1e-6
SYN_TIMEOUT_S = 60.0
UNACKNOWLEDGED_DEFAULT_S = 900.0  # the kernel's, of a socket that did not choose


@dataclass(frozen=True, slots=True)
class Links:
    """How the network is: delays in virtual seconds, probability of a loss per write."""

    min_delay_s: float = 0.0002
    max_delay_s: float = 0.001
    loss: float = 0.0


class SimulatedSocket:
    """What is asked of a transport's socket."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.unacknowledged_s = UNACKNOWLEDGED_DEFAULT_S

    def setsockopt(self, level: int, option: int, value: int) -> None:
        if (level, option) == (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT):
            self.unacknowledged_s = value / 1000


class ClusterNetwork:
    """Listening addresses, connections between hosts, and what is wrong with the links."""

    def __init__(self, loop: asyncio.AbstractEventLoop, rng: random.Random, links: Links) -> None:
        self.loop = loop
        self.rng = rng
        self.links = links
        self.trace = hashlib.sha256()  # of everything that has arrived
        self.arrivals = 0
        self.listening: dict[Address, Listening] = {}
        self.dark: set[str] = set()  # hosts without power
        self.slow: dict[str, float] = {}  # hosts whose packets take so many seconds more
        self._cut: set[tuple[str, str]] = set()  # from, to
        self._connections: dict[Transport, None] = {}  # one end of each
        self._ports = itertools.count(30_000)

    def listen(self, process: Process, address: Address) -> "Listening":
        """Let a process listen.

        Raises:
            OSError: the address is in use.
        """
        if address in self.listening:
            raise OSError(errno.EADDRINUSE, f"{address} is in use")
        listening = Listening(self, address, process)
        process.on_end.append(listening.close)
        return listening

    async def connect(
        self, process: Process, factory: Callable[[], Any], address: Address
    ) -> "Transport":
        """Connect a process to an address.

        Raises:
            OSError: nobody listens there.
        """
        answered: asyncio.Future[Listening | None] = self.loop.create_future()

        def syn() -> None:
            there = address[0]
            if self.is_cut(process.host, there) or self.is_cut(there, process.host):
                self.world(RETRANSMITTED_S, syn)
            elif there not in self.dark and not answered.done():
                answered.set_result(self.listening.get(address))

        self.world(2 * (self.delay_s() + self.more_s(process.host, address[0])), syn)
        async with asyncio.timeout(SYN_TIMEOUT_S):
            listening = await answered
        if listening is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"{address} refuses")
        here = (process.host, next(self._ports))
        ours = Transport(self, process, here, address)
        theirs = Transport(self, listening.process, address, here)
        ours.other, theirs.other = theirs, ours
        self._connections[ours] = None
        ours.begin(factory())
        self.loop.call_soon(listening.accept, theirs, context=listening.process.context)
        return ours

    def cut(self, source: str, target: str) -> None:
        """Let nothing get from one host to another."""
        self._cut.add((source, target))
        for one in self._between(source, target):
            for end in (one, one.other):
                self.world(end.socket.unacknowledged_s, end.give_up, self.loop.time())

    def heal(self, source: str, target: str) -> None:
        """Let what was sent meanwhile, and what comes, arrive."""
        self._cut.discard((source, target))
        for one in self._between(source, target):
            for end in (one, one.other):
                end.healed_at_s = self.loop.time()
                if end.host == source:
                    end.retransmit()

    def reset(self, host: str) -> None:
        """End all connections of a host; what is on its way is lost."""
        for one in list(self._connections):
            if host in (one.host, one.other.host):
                one.reset()
                one.other.reset()

    def heal_all(self) -> None:
        for source, target in sorted(self._cut):
            self.heal(source, target)

    def is_cut(self, source: str, target: str) -> bool:
        return (source, target) in self._cut

    def end_process(self, process: Process, *, silently: bool) -> None:
        """Close the connections of a process that has ended; `silently`: its host has no power to say so."""
        for one in list(self._connections):
            for end in (one, one.other):
                if end.process is process and not end.has_ended:
                    end.has_ended = True
                    after_s = end.other.socket.unacknowledged_s if silently else self.delay_s()
                    self.world(after_s, end.other.reset)
                    self.forget(one)

    def forget(self, end: "Transport") -> None:
        self._connections.pop(end, None)

    def delay_s(self) -> float:
        """Return how long the next packet takes."""
        links, rng = self.links, self.rng
        delay_s = rng.uniform(links.min_delay_s, links.max_delay_s)
        if links.loss and rng.random() < links.loss:
            delay_s += RETRANSMITTED_S * rng.choice((1, 1, 1, 3))
        return delay_s

    def more_s(self, source: str, target: str) -> float:
        """Return how much longer a packet takes between slow hosts."""
        return self.slow.get(source, 0.0) + self.slow.get(target, 0.0)

    def world(self, after_s: float, happen: Callable[..., object], *args: Any) -> None:
        """Let something happen later, whoever lives or is stopped then."""
        self.loop.call_at(self.loop.time() + after_s, happen, *args, context=WORLD)

    def note(self, what: str, data: bytes) -> None:
        """Add to the trace."""
        self.arrivals += 1
        self.trace.update(f"{self.loop.time():.9f} {what} {len(data)} ".encode())
        self.trace.update(data)

    def _between(self, source: str, target: str) -> list["Transport"]:
        hosts = {source, target}
        return [it for it in self._connections if {it.host, it.other.host} == hosts]


class Listening:
    """One listening address: a `headrace.network.ListeningAddress`."""

    def __init__(self, network: ClusterNetwork, address: Address, process: Process) -> None:
        self._network = network
        self._address = address
        self._new_protocol: Callable[[], Any] | None = None
        self._backlog: list[Transport] = []
        self.process = process
        network.listening[address] = self

    @property
    def port(self) -> int:
        return self._address[1]

    async def serve(
        self, new_protocol: Callable[[], Any], tls: ssl.SSLContext | None = None
    ) -> None:
        """Accept connections, first those that came before."""
        assert tls is None  # not simulated
        self._new_protocol = new_protocol
        backlog, self._backlog = self._backlog, []
        for transport in backlog:
            self.accept(transport)

    def accept(self, transport: "Transport") -> None:
        """Give a connection to the process, once it serves."""
        if self._new_protocol is None:
            self._backlog.append(transport)
        elif not transport.has_ended:
            transport.begin(self._new_protocol())

    def close(self) -> None:
        if self._network.listening.get(self._address) is self:
            del self._network.listening[self._address]


class HostNetwork:
    """The network as one process has it: a `headrace.network.Network`."""

    max_descriptors = 10_000

    def __init__(self, network: ClusterNetwork, process: Process) -> None:
        self._network = network
        self._process = process

    async def listen(self, host: str, port: int) -> Sequence[Listening]:
        return [self._network.listen(self._process, (host, port))]

    async def connect(
        self,
        new_protocol: Callable[[], Any],
        host: str,
        port: int,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        assert tls is None  # not simulated
        await self._network.connect(self._process, new_protocol, (host, port))

    async def resolve(self, host: str) -> list[str]:
        return [host]


class Transport(asyncio.Transport):
    """One end of a connection."""

    other: "Transport"

    def __init__(
        self, network: ClusterNetwork, process: Process, name: Address, peer: Address
    ) -> None:
        self.socket = SimulatedSocket(name)
        super().__init__({"peername": peer, "sockname": name, "socket": self.socket})
        self._network = network
        self._route = f"{peer[0]}:{peer[1]} to {name[0]}:{name[1]}"
        self._protocol: Any = None
        self._came = bytearray()
        self._is_reading = True
        self._unsent: list[bytes] = []  # while the link is cut
        self._arrives_at_s = 0.0  # what was sent last
        self.process = process
        self.host = process.host
        self.has_ended = False
        self._is_closing = False
        self.healed_at_s = 0.0

    def begin(self, protocol: Any) -> None:
        self._protocol = protocol
        protocol.connection_made(self)
        self._feed()

    def write(self, data: Any) -> None:
        if data and not self.has_ended and not self._is_closing:
            if self._unsent or self._network.is_cut(self.host, self.other.host):
                self._unsent.append(bytes(data))
            else:
                self._send(bytes(data))

    def writelines(self, list_of_data: Any) -> None:
        self.write(b"".join(list_of_data))

    def retransmit(self) -> None:
        """Send what the cut link has held up."""
        unsent, self._unsent = self._unsent, []
        if unsent and not self.has_ended:
            self._send(b"".join(unsent), RETRANSMITTED_S)

    def give_up(self, cut_at_s: float) -> None:
        """End the connection if the link has been cut ever since."""
        other, network = self.other, self._network
        is_cut = network.is_cut(self.host, other.host) or network.is_cut(other.host, self.host)
        if is_cut and self.healed_at_s < cut_at_s:
            self.reset()

    def reset(self) -> None:
        """Tell the process that the connection is gone."""
        if not self.has_ended:
            self._network.loop.call_soon(self._end, None, context=self.process.context)

    def _send(self, data: bytes, more_s: float = 0.0) -> None:
        network = self._network
        more_s += network.more_s(self.host, self.other.host)
        when_s = network.loop.time() + network.delay_s() + more_s
        # Later than what was sent before: timers of one moment go off in any order.
        self._arrives_at_s = when_s = max(when_s, self._arrives_at_s + IN_ORDER_S)
        network.loop.call_at(when_s, self.other._arrive, data, context=self.other.process.context)

    def _arrive(self, data: bytes) -> None:
        if not self.has_ended and not self._is_closing:
            self._network.note(self._route, data)
            self._came += data
            self._feed()

    def _feed(self) -> None:
        protocol, came = self._protocol, self._came
        while came and self._is_reading and not self.has_ended and protocol is not None:
            if isinstance(protocol, asyncio.BufferedProtocol):
                buffer = protocol.get_buffer(len(came))
                size = min(len(buffer), len(came))
                buffer[:size] = came[:size]
                del came[:size]
                protocol.buffer_updated(size)
            else:
                data = bytes(came)
                came.clear()
                protocol.data_received(data)

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        """End it for both; what was sent arrives before."""
        if self.has_ended or self._is_closing:
            return
        network = self._network
        network.loop.call_soon(self._end, None)
        self._is_closing = True
        after_s = max(network.delay_s(), self._arrives_at_s + IN_ORDER_S - network.loop.time())
        network.world(after_s, self._tell_other)

    def _tell_other(self) -> None:
        network, other = self._network, self.other
        if network.is_cut(self.host, other.host):
            if not other.has_ended:
                network.world(RETRANSMITTED_S, self._tell_other)
        else:
            other.reset()

    def _end(self, error: OSError | None) -> None:
        if not self.has_ended:
            self.has_ended = True
            self._network.forget(self)
            self._network.forget(self.other)
            if self._protocol is not None:
                self._protocol.connection_lost(error)

    def pause_reading(self) -> None:
        self._is_reading = False

    def resume_reading(self) -> None:
        if not self._is_reading:
            self._is_reading = True
            self._network.loop.call_soon(self._feed)

    def is_reading(self) -> bool:
        return self._is_reading

    def is_closing(self) -> bool:
        return self.has_ended or self._is_closing

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There is no buffer."""

    def can_write_eof(self) -> bool:
        return False

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def get_protocol(self) -> Any:
        return self._protocol
