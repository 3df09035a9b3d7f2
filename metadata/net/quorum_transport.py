"""A broker's transport to the current leader of the quorum.

Requests go to one target until it fails or answers that it is not the leader. Then the target is the
leader that it names, or else the next known controller: the one in this process, the members of the
quorum, and the configured bootstrap addresses.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from headrace.invariants import require
from headrace.metadata.image import MetadataImage
from headrace.metadata.net.framing import Party
from headrace.metadata.net.rpc_link import RpcTarget
from headrace.metadata.rpc.frames import LeaderAddress
from headrace.metadata.transport import Address, Transport
from headrace.network import Network

logger = logging.getLogger("headrace.metadata")

# A controller that knows no leader stays the target for this time: an election takes a while, and
# answers to earlier requests arrive late.
LEADERLESS_MS: Final = 100

# While there is no leader, the target changes several times per second.
MAX_REPORTS: Final = 6  # log lines about changed targets in this many seconds:
REPORTS_S: Final = 60.0


class LocalController(NamedTuple):
    """The controller in this process."""

    node_id: int
    transport: Transport
    image: Callable[[], MetadataImage]  # of committed entries
    lock_name: str = ""  # of its directory; see `headrace.wal.lock_names`


class TransportStatistics(msgspec.Struct, frozen=True):
    """Totals since the start."""

    requests: int
    failures: int  # requests that were not answered, or not sent
    redirects: int  # an answer named another leader
    dials: int  # that succeeded


class QuorumTransport:
    """Sends requests to the leader, a `headrace.metadata.transport.Transport`."""

    def __init__(
        self,
        bootstrap: Sequence[Address],
        identity: Callable[[], Party],
        network: Network,
        *,
        local: LocalController | None = None,
    ) -> None:
        """Create the transport without dialling yet.

        Args:
            bootstrap: configured addresses of controllers.
            identity: returns this node's current identity.
            network: that reaches the controllers.
            local: the controller in this process, if there is one.
        """
        require(bootstrap or local, "there is at least one controller")
        self._bootstrap = tuple(bootstrap)
        self._identity = identity
        self._network = network
        self._local = local
        self._members: dict[int, Address] = {}
        self._remotes: dict[Address, RpcTarget] = {}
        self._target: Address | None = None if local else self._bootstrap[0]  # None: the local one
        self._turned_at_s = float("-inf")
        self._reports_since_s = float("-inf")
        self._reports = 0  # since then, logged or not
        self._requests = self._failures = self._redirects = self._dials = 0

    @property
    def statistics(self) -> TransportStatistics:
        """Counters since the start."""
        dials = self._dials + sum(remote.dials for remote in self._remotes.values())
        return TransportStatistics(self._requests, self._failures, self._redirects, dials)

    async def request(self, frame: bytes) -> bytes:
        """Send a frame to the target and wait for the answer.

        Raises:
            NotSentError: the target could not be reached.
            OSError: the connection broke, or the target stopped answering.
        """
        target = self._target
        self._requests += 1
        try:
            if target is None:
                assert self._local is not None
                return await self._local.transport.request(frame)
            return await self._remote(target).request(frame)
        except OSError as error:
            self._failures += 1
            if target == self._target:
                self._turn(self._after(target), str(error))
            raise

    def redirect(self, leader: LeaderAddress | None) -> None:
        """Record that the controller asked last is not the leader; `leader` is, if that is known."""
        if leader is None:
            now_s = asyncio.get_running_loop().time()
            if now_s >= self._turned_at_s + LEADERLESS_MS / 1000:
                self._turn(self._after(self._target), "it knows no leader")
            return
        is_local = self._local is not None and leader.node_id == self._local.node_id
        target = None if is_local else Address(leader.host, leader.port)
        if target != self._target:
            self._redirects += 1
            self._turn(target, f"node {leader.node_id} leads")

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """Set the addresses of the quorum's members, from the metadata."""
        self._members = dict(addresses)
        if self._local is not None:
            self._members.pop(self._local.node_id, None)

    def close(self) -> None:
        """End every connection; pending requests fail."""
        for remote in self._remotes.values():
            remote.close()

    def _candidates(self) -> list[Address | None]:
        local = [] if self._local is None else [None]
        return list(dict.fromkeys([*local, *self._members.values(), *self._bootstrap]))

    def _after(self, target: Address | None) -> Address | None:
        candidates = self._candidates()
        if target not in candidates:
            return candidates[0]
        return candidates[(candidates.index(target) + 1) % len(candidates)]

    def _turn(self, target: Address | None, reason: str) -> None:
        self._turned_at_s = asyncio.get_running_loop().time()
        if target == self._target:
            return
        self._report(target, reason)
        self._target = target
        for address, remote in list(self._remotes.items()):
            if address != target:
                remote.retire()
                if not remote.connected:
                    self._dials += remote.dials
                    del self._remotes[address]

    def _report(self, target: Address | None, reason: str) -> None:
        details = {"from": _name(self._target), "to": _name(target), "reason": reason}
        if self._turned_at_s >= self._reports_since_s + REPORTS_S:
            details["not_reported_before"] = str(max(0, self._reports - MAX_REPORTS))
            self._reports_since_s, self._reports = self._turned_at_s, 0
        self._reports += 1
        if self._reports <= MAX_REPORTS:
            logger.info("switching to another controller", extra=details)

    def _remote(self, address: Address) -> RpcTarget:
        if address not in self._remotes:
            self._remotes[address] = RpcTarget(address, self._identity, self._network)
        return self._remotes[address]


def _name(target: Address | None) -> str:
    return "this process" if target is None else f"{target.host}:{target.port}"
