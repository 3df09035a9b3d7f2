import asyncio
import random

import pytest

from headrace.links.errors import NotSentError
from headrace.metadata.errors import (
    ControllerUnavailableError,
    RefusedError,
)
from headrace.metadata.follower import requester as module
from headrace.metadata.follower.requester import ONCE_ONLY, Requester
from headrace.metadata.rpc import frames
from headrace.metadata.rpc.frames import (
    Answer,
    LeaderAddress,
    decode_correlation,
    decode_request,
    encode_answer,
)
from headrace.metadata.rpc.requests import (
    AlterConfigs,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    PrepareObjects,
    RemoveVoter,
    UnregisterBroker,
)
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import MAX_MESSAGE_CHARACTERS, ErrorCode
from tests.unit.metadata.running_cluster import scenario

REPEATABLE = PrepareObjects(1, 1, 1, 1)
BOB, CAROL = LeaderAddress(2, "bob", 9093), LeaderAddress(3, "carol", 9093)
SUCCESS = Answer(ErrorCode.NONE, None, 3, Done())


class Controller:
    """Answers with what it is told, in turn; the last for ever."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.requests = []
        self.redirected = []

    def redirect(self, leader):
        self.redirected.append(leader)

    async def request(self, frame, *, within_ms=None):
        self.requests.append(decode_request(frame).request)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, bytes):
            return outcome
        return encode_answer(decode_correlation(frame), outcome)


def refused(code):
    return Answer(code, "because", -1, None)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(module, "MIN_BACKOFF_MS", 0)
    monkeypatch.setattr(module, "MAX_BACKOFF_MS", 0)


async def call(controller, request=REPEATABLE, timeout_ms=5_000):
    return await Requester(controller, random.Random(1)).call(request, timeout_ms)


@scenario
async def test_an_answer_is_returned():
    controller = Controller(SUCCESS)

    assert await call(controller) == SUCCESS
    assert controller.requests == [REPEATABLE]


@scenario
async def test_a_refusal_is_final():
    controller = Controller(refused(ErrorCode.INVALID_REQUEST), SUCCESS)

    with pytest.raises(RefusedError) as error:
        await call(controller)
    assert (error.value.code, error.value.message) == (ErrorCode.INVALID_REQUEST, "because")
    assert len(controller.requests) == 1


@pytest.mark.parametrize(
    "request_",
    [
        REPEATABLE,
        CreateTopics((), False),
        DeleteTopics(()),
        CreatePartitions("a", 1, None, False),
        AlterConfigs(2, "a", (), False),
    ],
)
def test_what_has_certainly_not_taken_effect_is_repeated(request_):
    @scenario
    async def run():
        controller = Controller(
            refused(ErrorCode.NOT_CONTROLLER),
            refused(ErrorCode.THROTTLING_QUOTA_EXCEEDED),
            SUCCESS,
        )
        assert await call(controller, request_) == SUCCESS
        assert len(controller.requests) == 3

    run()


AMBIGUOUS = [
    ConnectionResetError("gone"),
    TimeoutError("slow"),
    refused(ErrorCode.REQUEST_TIMED_OUT),
    b"not a frame",
]


@pytest.mark.parametrize("outcome", AMBIGUOUS, ids=repr)
def test_an_unknown_outcome_is_settled_by_repeating(outcome):
    @scenario
    async def run():
        controller = Controller(outcome, SUCCESS)
        assert await call(controller) == SUCCESS
        assert controller.requests == [REPEATABLE, REPEATABLE]

    run()


@pytest.mark.parametrize("outcome", AMBIGUOUS, ids=repr)
def test_an_unknown_outcome_is_reported_where_a_repetition_would_do_harm(outcome):
    @scenario
    async def run():
        controller = Controller(outcome, SUCCESS)
        with pytest.raises(ControllerUnavailableError):
            await call(controller, CreateTopics((), False))
        assert len(controller.requests) == 1

    run()


@scenario
async def test_what_was_not_sent_is_sent_again_whatever_it_is():
    controller = Controller(NotSentError("nobody listens"), SUCCESS)

    assert await call(controller, CreateTopics((), False)) == SUCCESS
    assert len(controller.requests) == 2


def not_leading(leader):
    return Answer(ErrorCode.NOT_CONTROLLER, "not me", -1, None, leader)


@scenario
async def test_a_leader_that_is_named_is_asked_at_once(monkeypatch):
    monkeypatch.setattr(module, "MIN_BACKOFF_MS", 60_000)
    monkeypatch.setattr(module, "MAX_BACKOFF_MS", 60_000)
    controller = Controller(not_leading(BOB), not_leading(CAROL), SUCCESS)

    assert await call(controller, CreateTopics((), False)) == SUCCESS
    assert controller.redirected == [BOB, CAROL]


@pytest.mark.parametrize("answers", [[BOB, CAROL, BOB], [BOB, BOB], [None]], ids=repr)
def test_a_leader_that_is_not_new_is_not_asked_at_once(monkeypatch, answers):
    monkeypatch.setattr(module, "MIN_BACKOFF_MS", 60_000)
    monkeypatch.setattr(module, "MAX_BACKOFF_MS", 60_000)

    @scenario
    async def run():
        controller = Controller(*map(not_leading, answers), SUCCESS)
        with pytest.raises(ControllerUnavailableError, match="not me"):
            await call(controller, timeout_ms=20)
        assert controller.redirected == answers  # and then it waits

    run()


def test_what_may_not_be_repeated():
    assert set(ONCE_ONLY) == {
        CreateTopics,
        DeleteTopics,
        CreatePartitions,
        AlterConfigs,
        UnregisterBroker,
        RemoveVoter,
    }


@scenario
async def test_a_request_too_large_to_send_is_refused_at_once(monkeypatch):
    monkeypatch.setattr(frames, "MAX_REQUEST_BYTES", 5)
    controller = Controller(SUCCESS)

    with pytest.raises(RefusedError) as error:
        await call(controller)

    assert error.value.code == ErrorCode.RECORD_LIST_TOO_LARGE
    assert not controller.requests


@scenario
async def test_attempts_end_with_the_time_allowed():
    controller = Controller(ConnectionRefusedError("nobody listens"))

    with pytest.raises(ControllerUnavailableError, match="nobody listens"):
        await call(controller, timeout_ms=20)
    assert len(controller.requests) > 1


@scenario
async def test_an_answer_that_never_comes():
    class Silent:
        async def request(self, frame, *, within_ms=None):
            await asyncio.Event().wait()

    with pytest.raises(ControllerUnavailableError):
        await call(Silent(), timeout_ms=20)


def test_the_message_of_a_refusal_is_cut():
    """It goes into answers, some of which have 32,767 bytes for it."""
    error = RefusedError(ErrorCode.INVALID_CONFIG, "x" * 100_000)
    assert error.message == "x" * MAX_MESSAGE_CHARACTERS
    assert str(error) == f"INVALID_CONFIG: {error.message}"
