from uuid import UUID

import pytest

from headrace.metadata.errors import ControllerUnavailableError, LeadershipLostError, RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.leader.commits import Committed
from headrace.metadata.leader.service import ControllerService
from headrace.metadata.levels import READ_HERE
from headrace.metadata.rpc.frames import Answer, LeaderAddress, decode_answer, encode_request
from headrace.metadata.rpc.requests import (
    AddVoter,
    BrokerGoal,
    DescribeBalance,
    DescribeQuorum,
    FetchEntries,
    FetchSnapshot,
    Heartbeat,
    RemoveVoter,
    UnregisterBroker,
)
from headrace.metadata.rpc.responses import (
    BalanceDescribed,
    Done,
    Entries,
    HeartbeatAnswer,
    QuorumDescribed,
    SnapshotChunk,
)
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.running_cluster import scenario

BALANCE = BalanceDescribed(None, (), (), 0, (), (), None)


class Controller:
    """Succeeds at everything, or fails as told."""

    leader_address = LeaderAddress(3, "h", 9093)
    image = MetadataImage(index=1)

    def __init__(self, failure=None):
        self.failure = failure

    async def propose(self, decide):
        if self.failure is not None:
            raise self.failure
        return Committed(Done(), 7)

    async def heartbeat(self, request):
        return Committed(HeartbeatAnswer(fenced=False), 8)

    async def fetch_entries(self, request):
        return Entries((), 9, -1)

    async def fetch_snapshot(self, request):
        return SnapshotChunk(10, 0, 3, b"abc")

    async def describe(self, request):
        if isinstance(request, DescribeBalance):
            return Committed(BALANCE, 13)
        return Committed(QuorumDescribed(1, 2, 11, (), ()), 11)

    async def change_quorum(self, request):
        if self.failure is not None:
            raise self.failure
        return 12


@pytest.mark.parametrize(
    ("request_", "body", "log_index"),
    [
        (UnregisterBroker(1), Done(), 7),
        (Heartbeat(1, 1, 1, BrokerGoal.SERVE), HeartbeatAnswer(fenced=False), 8),
        (FetchEntries(1, 1, 1, READ_HERE), Entries((), 9, -1), 9),
        (FetchSnapshot(1, 1, 1, READ_HERE), SnapshotChunk(10, 0, 3, b"abc"), 10),
        (DescribeQuorum(), QuorumDescribed(1, 2, 11, (), ()), 11),
        (DescribeBalance(False), BALANCE, 13),
        (AddVoter("", 4, UUID(int=4), "h", 1), Done(), 12),
        (RemoveVoter("", 4, UUID(int=4)), Done(), 12),
    ],
)
def test_each_request_gets_its_answer(request_, body, log_index):
    @scenario
    async def run():
        frame = await ControllerService(Controller()).handle(encode_request(5, request_))
        assert decode_answer(frame, 5) == Answer(ErrorCode.NONE, None, log_index, body)

    run()


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (RefusedError(ErrorCode.POLICY_VIOLATION, "no"), ErrorCode.POLICY_VIOLATION),
        (ControllerUnavailableError("stopped"), ErrorCode.REQUEST_TIMED_OUT),
        (LeadershipLostError("deposed"), ErrorCode.REQUEST_TIMED_OUT),
    ],
)
def test_failures_are_answered(failure, code):
    @scenario
    async def run():
        service = ControllerService(Controller(failure))
        answer = decode_answer(await service.handle(encode_request(5, UnregisterBroker(1))), 5)
        assert answer.error == code
        assert answer.message
        assert answer.leader is None

    run()


@scenario
async def test_who_leads_is_told_where_this_one_does_not():
    refusal = RefusedError(ErrorCode.NOT_CONTROLLER, "not here")
    service = ControllerService(Controller(refusal))

    answer = decode_answer(await service.handle(encode_request(5, UnregisterBroker(1))), 5)

    assert answer.error == ErrorCode.NOT_CONTROLLER
    assert answer.leader == LeaderAddress(3, "h", 9093)


@pytest.mark.parametrize(
    ("frame", "correlation"),
    [
        (b"", 0),
        (b"\x01", 0),
        (b"\x07" + bytes(20), 0),
        (encode_request(5, UnregisterBroker(1))[:-1], 5),
        (encode_request(5, UnregisterBroker(1)) + b"\0", 5),
        (encode_request(5, UnregisterBroker(1))[:9] + b"\xc1", 5),
    ],
)
def test_malformed_frames_are_answered(frame, correlation):
    @scenario
    async def run():
        answer = decode_answer(await ControllerService(Controller()).handle(frame), correlation)
        assert answer.error == ErrorCode.INVALID_REQUEST

    run()
