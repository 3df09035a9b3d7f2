"""A broker's transport to the current leader of the quorum.

Requests go to one target until it fails or answers that it is not the leader. Then the target is the
leader that it names, or else the next known controller: the one in this process, the members of the
quorum, and the configured bootstrap addresses. A leader that is not reached gets requests through another controller,
until a probe of this node reaches it (`headrace.metadata.net.routes`).
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Final, NamedTuple

import msgspec

from headrace.invariants import require
from headrace.links.ends import Address, Party
from headrace.links.errors import NotSentError
from headrace.links.requests import RequestTarget
from headrace.metadata.errors import MetadataFormatError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.net.kinds import RPC
from headrace.metadata.net.routes import Route, Routes
from headrace.metadata.rpc.frames import (
    LeaderAddress,
    decode_answer,
    encode_relay,
    encode_request,
)
from headrace.metadata.rpc.requests import TellLevels
from headrace.metadata.rpc.responses import LevelsTold, Relayed
from headrace.metadata.transport import Transport
from headrace.network import Network
from headrace.protocol.errors import ErrorCode

logger = logging.getLogger("headrace.metadata")

# While another controller passes requests on: how often a probe asks the leader itself, and how long it waits.
PROBE_MS: Final = 2_000
PROBE_WITHIN_MS: Final = 1_000

# While there is no leader, the target changes several times per second.
MAX_REPORTS: Final = 6  # log lines about changed targets in this many seconds:
REPORTS_S: Final = 60.0


class LocalController(NamedTuple):
    """The controller in this process."""

    node_id: int
    transport: Transport
    image: Callable[[], MetadataImage]  # of committed entries
    lock_name: str = ""  # of its directory; see `headrace.wal.device.lock_names`


class TransportStatistics(msgspec.Struct, frozen=True):
    """Totals since the start."""

    requests: int
    failures: int  # requests that were not answered, or not sent
    redirects: int  # an answer named another leader
    dials: int  # that succeeded
    relayed: int  # requests that another controller has passed on to the leader


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
        self._identity = identity
        self._network = network
        self._local = local
        self._routes = Routes(bootstrap, has_local=local is not None)
        self._remotes: dict[Address, RequestTarget] = {}
        # Of which answers are still owed; as one that is silent ends, a few at most.
        self._replaced: list[RequestTarget] = []
        self._correlations = count(1)
        self._probe: asyncio.Task[None] | None = None
        self._probed_at_s = float("-inf")
        self._reports_since_s = float("-inf")
        self._reports = 0  # since then, logged or not
        self._requests = self._failures = self._redirects = self._dials = self._relayed = 0

    @property
    def statistics(self) -> TransportStatistics:
        """Counters since the start."""
        dials = self._dials + sum(remote.dials for remote in self._remotes.values())
        return TransportStatistics(
            self._requests, self._failures, self._redirects, dials, self._relayed
        )

    async def request(self, frame: bytes, *, within_ms: int | None = None) -> bytes:
        """Send a frame to the target and wait for the answer.

        Raises:
            NotSentError: the target could not be reached, or does not reach the leader.
            RefusedError: THROTTLING_QUOTA_EXCEEDED, the target passes on as much as it can: ask it again.
            OSError: the connection broke, or the target stopped answering, or did not answer in time.
        """
        route = self._routes.route
        self._requests += 1
        try:
            async with asyncio.timeout(None if within_ms is None else within_ms / 1000):
                if route.leader is None:
                    return await self._transport(route.target).request(frame)
                self._probe_when_due(route.leader)
                return await self._through(route.target, frame, may_wait=within_ms is None)
        except OSError as error:
            self._failures += 1
            reason = str(error) or f"no answer in {within_ms} ms"
            self._routes.failed(route, _now_s())
            self._follow(route, reason)
            if isinstance(error, TimeoutError) and not str(error):
                raise TimeoutError(reason) from None
            raise

    def redirect(self, leader: LeaderAddress | None) -> None:
        """Record that the controller asked last is not the leader; `leader` is, if that is known."""
        before = self._routes.route
        if leader is None:
            self._routes.leaderless(_now_s())
            self._follow(before, "it knows no leader")
            return
        is_local = self._local is not None and leader.node_id == self._local.node_id
        target = None if is_local else Address(leader.host, leader.port)
        self._redirects += self._routes.redirect(target, _now_s())
        self._follow(before, f"node {leader.node_id} leads")

    def set_addresses(self, addresses: Mapping[int, Address]) -> None:
        """Set the addresses of the quorum's members, from the metadata."""
        members = dict(addresses)
        if self._local is not None:
            members.pop(self._local.node_id, None)
        self._routes.set_members(members)

    def close(self) -> None:
        """End every connection; pending requests fail."""
        if self._probe is not None:
            self._probe.cancel()
        for remote in (*self._remotes.values(), *self._replaced):
            remote.close()

    async def _through(self, target: Address | None, frame: bytes, *, may_wait: bool) -> bytes:
        """Let another controller pass a request on to the leader.

        One that has no room is asked again, but for what cannot wait: there is more room for heartbeats, and if that is
        used up, the lease needs another controller.
        """
        correlation = next(self._correlations)
        relay = encode_relay(correlation, frame)
        try:
            answer = decode_answer(await self._transport(target).request(relay), correlation)
        except MetadataFormatError as error:
            raise ConnectionAbortedError(str(error)) from error
        if isinstance(answer.body, Relayed):
            self._relayed += 1
            return answer.body.frame
        reason = f"{_name(target)} does not pass requests on: {answer.message}"
        if answer.error == ErrorCode.THROTTLING_QUOTA_EXCEEDED and may_wait:
            raise RefusedError(answer.error, reason)
        if answer.error in (ErrorCode.NONE, ErrorCode.REQUEST_TIMED_OUT):
            raise ConnectionResetError(reason)
        raise NotSentError(reason)

    def _probe_when_due(self, leader: Address) -> None:
        """Ask the leader itself, beside the requests: none of them waits for it."""
        is_running = self._probe is not None and not self._probe.done()
        if not is_running and _now_s() >= self._probed_at_s + PROBE_MS / 1000:
            self._probed_at_s = _now_s()
            self._probe = asyncio.get_running_loop().create_task(self._ask_itself(leader))

    async def _ask_itself(self, leader: Address) -> None:
        probe = RequestTarget(RPC, leader, self._identity, self._network)
        try:
            async with asyncio.timeout(PROBE_WITHIN_MS / 1000):
                answer = decode_answer(await probe.request(encode_request(1, TellLevels())), 1)
        except (OSError, MetadataFormatError):
            return
        finally:
            probe.close()
        if not isinstance(answer.body, LevelsTold) and answer.error != ErrorCode.INVALID_REQUEST:
            return
        before = self._routes.route
        self._routes.reached(leader, _now_s())
        if self._routes.route != before:
            # What is sent over the old connection now may get there late, or never; what was sent is still waited for.
            old = self._remotes.pop(leader, None)
            if old is not None:
                self._dials += old.dials
                old.retire()
                self._replaced = [it for it in (*self._replaced, old) if it.connected]
        self._follow(before, "it is reached again")

    def _follow(self, before: Route, reason: str) -> None:
        """Leave the controllers that are not on the route any more."""
        route = self._routes.route
        if route == before:
            return
        self._report(before, route, reason)
        for address, remote in list(self._remotes.items()):
            if address != route.target:
                remote.retire()
                if not remote.connected:
                    self._dials += remote.dials
                    del self._remotes[address]

    def _report(self, before: Route, route: Route, reason: str) -> None:
        now_s = _now_s()
        details = {"from": _name(before.target), "to": _name(route.target), "reason": reason}
        if route.leader is not None:
            details["passes_on_to"] = _name(route.leader)
        if now_s >= self._reports_since_s + REPORTS_S:
            details["not_reported_before"] = str(max(0, self._reports - MAX_REPORTS))
            self._reports_since_s, self._reports = now_s, 0
        self._reports += 1
        if self._reports > MAX_REPORTS:
            return
        if route.leader is None:
            logger.info("switching to another controller", extra=details)
        else:
            logger.warning(
                "the leading controller is not reached, another one passes requests on",
                extra=details,
            )

    def _transport(self, target: Address | None) -> Transport | RequestTarget:
        if target is None:
            assert self._local is not None
            return self._local.transport
        if target not in self._remotes:
            self._remotes[target] = RequestTarget(RPC, target, self._identity, self._network)
        return self._remotes[target]


def _now_s() -> float:
    return asyncio.get_running_loop().time()


def _name(target: Address | None) -> str:
    return "this process" if target is None else f"{target.host}:{target.port}"
