"""What somebody is told whose change of the members is not made."""

from uuid import UUID

from headrace.metadata.rpc.requests import AddVoter, RemoveVoter
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.quorum.three_controllers import ask, controllers, scenario

NOBODY, OTHER_DIRECTORY = 4, UUID(int=4)


@scenario
async def test_who_adds_a_controller_that_is_not_there_is_told_what_to_look_at(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        answer = await ask(leader, AddVoter("", NOBODY, OTHER_DIRECTORY, "host4", 9093))
        assert answer.error == ErrorCode.REQUEST_TIMED_OUT
        assert (
            f"Check that node 4 runs at host4:9093 with directory id {OTHER_DIRECTORY}"
            in answer.message
        )


@scenario
async def test_who_removes_the_wrong_controller_is_told_which_there_are(tmp_path):
    async with controllers(tmp_path) as scene:
        leader = await scene.leader()
        gone = scene.others(leader)[0]
        answer = await ask(leader, RemoveVoter("", NOBODY, OTHER_DIRECTORY))
        assert answer.message == "controller 4 is not a member of the quorum"
        answer = await ask(leader, RemoveVoter("", scene.id_of(gone), OTHER_DIRECTORY))
        assert str(gone.directory_id) in answer.message
