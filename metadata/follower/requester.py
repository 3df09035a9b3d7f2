"""Requests of a broker to the controller: bounded in number, time and attempts.

| outcome of an attempt                           | then                                              |
|-------------------------------------------------|---------------------------------------------------|
| answered                                        | returned                                          |
| not sent: no controller could be reached        | tried again: it has not taken effect              |
| refused for now (stopping, overloaded)          | tried again, likewise                             |
| sent to a controller that is not the leader     | tried again, likewise: at once if the answer      |
|                                                 | names a leader that was not named before          |
| no answer, or a time-out at the controller      | tried again, if the request is idempotent;        |
|                                                 | else an error: it may have taken effect           |
| refused                                         | an error                                          |
"""

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Final

from headrace.links.errors import NotSentError
from headrace.metadata.errors import ControllerUnavailableError, MetadataFormatError, RefusedError
from headrace.metadata.rpc.frames import Answer, LeaderAddress, decode_answer, encode_request
from headrace.metadata.rpc.requests import (
    AlterConfigs,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    RegisterBroker,
    RemoveVoter,
    Request,
    Speaking,
    UnregisterBroker,
)
from headrace.metadata.transport import Transport
from headrace.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

MAX_INFLIGHT: Final = 256  # beyond that, requests wait
MIN_BACKOFF_MS: Final = 20
# An election takes some 700 ms: a longer pause would notice its end much too late.
MAX_BACKOFF_MS: Final = 200

# A retry of these after a success would be refused, or would undo later changes.
ONCE_ONLY: Final = (
    CreateTopics,
    DeleteTopics,
    CreatePartitions,
    AlterConfigs,
    UnregisterBroker,
    RemoveVoter,
)
NOT_NOW: Final = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.THROTTLING_QUOTA_EXCEEDED})


class NotLeadingError(RefusedError):
    """The controller that answered is not the leader; `leader` is, if it knows."""

    def __init__(self, message: str, leader: LeaderAddress | None) -> None:
        super().__init__(ErrorCode.NOT_CONTROLLER, message)
        self.leader = leader


class NotReachedError(ControllerUnavailableError):
    """The request was not sent; nothing has changed."""


class Requester:
    """Sends requests and returns their answers."""

    def __init__(self, transport: Transport, rng: "Random", secret: bytes | None = None) -> None:
        """Make it; `secret` is sent with what speaks for the registration of this process."""
        self._transport = transport
        self._secret = secret
        self._rng = rng
        self._correlations = count(1)
        self._slots = asyncio.Semaphore(MAX_INFLIGHT)

    async def call(self, request: Request, timeout_ms: int) -> Answer:
        """Send a request, with retries, until it is answered or fails for good.

        Raises:
            RefusedError: the controller refuses it; nothing has changed.
            ControllerUnavailableError: no answer in time; whether it took effect is unknown.
        """
        reason = "no answer"
        try:
            async with asyncio.timeout(timeout_ms / 1000), self._slots:
                backoff_ms = MIN_BACKOFF_MS
                named: set[LeaderAddress] = set()
                while True:
                    try:
                        return await self.attempt(request)
                    except NotLeadingError as error:
                        reason = error.message
                        if error.leader is not None and error.leader not in named:
                            named.add(error.leader)
                            continue
                    except RefusedError as error:
                        if error.code not in NOT_NOW:
                            raise
                        reason = error.message
                    except ControllerUnavailableError as error:
                        if isinstance(request, ONCE_ONLY) and not isinstance(
                            error, NotReachedError
                        ):
                            raise
                        reason = str(error)
                    await asyncio.sleep(self._rng.uniform(0.5, 1) * backoff_ms / 1000)
                    backoff_ms = min(2 * backoff_ms, MAX_BACKOFF_MS)
        except TimeoutError:
            msg = f"no answer of the controller in {timeout_ms} ms: {reason}"
            raise ControllerUnavailableError(msg) from None

    async def attempt(self, request: Request, *, within_ms: int | None = None) -> Answer:
        """Send a request once; a controller that does not answer in `within_ms` is asked no further.

        Raises:
            NotLeadingError: another controller leads; the next attempt goes there.
            RefusedError: the controller refuses it, or refuses it for now; or it is too large.
            NotReachedError: it was not sent.
            ControllerUnavailableError: there was no answer; whether it took effect is unknown.
        """
        correlation = next(self._correlations)
        try:
            encoded = encode_request(correlation, request, self._proof(request))
        except MetadataFormatError as error:
            raise RefusedError(ErrorCode.RECORD_LIST_TOO_LARGE, str(error)) from error
        try:
            frame = await self._transport.request(encoded, within_ms=within_ms)
            answer = decode_answer(frame, correlation)
        except NotSentError as error:
            raise NotReachedError(f"no controller can be reached: {error}") from error
        except (OSError, MetadataFormatError) as error:
            raise ControllerUnavailableError(f"the controller did not answer: {error}") from error
        if answer.error == ErrorCode.NOT_CONTROLLER:
            self._transport.redirect(answer.leader)
            raise NotLeadingError(answer.message or "it is not the leader", answer.leader)
        if answer.error == ErrorCode.REQUEST_TIMED_OUT:
            raise ControllerUnavailableError(answer.message or "the controller timed out")
        if answer.error != ErrorCode.NONE:
            raise RefusedError(answer.error, answer.message or answer.error.name)
        return answer

    def _proof(self, request: Request) -> bytes | None:
        return self._secret if isinstance(request, Speaking | RegisterBroker) else None
