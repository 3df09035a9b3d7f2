"""One commit: repeated until it is known to have taken effect, once."""

import asyncio

import pytest

from headrace.metadata.rpc.requests import CommitStreamSetObject
from headrace.storage.errors import CommitRefusedError, FencedError, ObjectNotPreparedError
from headrace.storage.upload.commit import UploadCommitter
from tests.simulation.virtual_time import run
from tests.unit.storage.fakes import SMALL, PassingError
from tests.unit.storage.upload.test_object_upload import Rig, plan_of


async def committer_of(rig: Rig) -> UploadCommitter:
    for stream_id in (1, 2):
        await rig.control.open_stream(stream_id, 1)
    return UploadCommitter(rig.uploads, rig.control, rig.counters)


def test_a_lost_reply_is_asked_for_again_and_commits_once():
    async def scenario():
        rig = Rig()
        committer = await committer_of(rig)
        rig.control.faults[CommitStreamSetObject].after = [PassingError(), TimeoutError()]
        plan = plan_of((1, 3, 10), (2, 3, 10))
        commit = await committer.commit(plan, await committer.upload(plan))
        assert len(rig.control.journal.of("commit")) == 1
        assert rig.control.is_committed(commit.object_id)
        assert rig.counters.retries_total == 2

    run(scenario())


def test_old_objects_are_uploaded_again_before_they_are_committed():
    """Another block was in the way for longer than a preparation lives."""

    async def scenario():
        rig = Rig()
        committer = await committer_of(rig)
        plan = plan_of((1, 3, 10), (2, 3, 10))
        uploaded = await committer.upload(plan)
        await asyncio.sleep(SMALL.object_prepare_ttl_ms / 1000)
        commit = await committer.commit(plan, uploaded)
        assert commit.object_id != uploaded.commit.object_id
        assert commit.ranges == uploaded.commit.ranges
        assert len(rig.control.journal.of("commit")) == 1
        assert rig.counters.expired_total == 1

    run(scenario())


def test_objects_are_not_relied_on_for_their_whole_time_to_live():
    """The control plane's clock may be ahead: a commit must not race with the expiry."""

    async def scenario():
        rig = Rig()
        committer = await committer_of(rig)
        plan = plan_of((1, 3, 10), (2, 3, 10))
        uploaded = await committer.upload(plan)
        await asyncio.sleep(0.6 * SMALL.object_prepare_ttl_ms / 1000)
        commit = await committer.commit(plan, uploaded)
        assert commit.object_id != uploaded.commit.object_id

    run(scenario())


def test_refused_as_not_prepared_is_uploaded_again():
    """The control plane's clock is the one that counts."""

    async def scenario():
        rig = Rig()
        committer = await committer_of(rig)
        plan = plan_of((1, 3, 10), (2, 3, 10))
        uploaded = await committer.upload(plan)
        rig.control.controller.now_ms = 1 << 60
        rig.control.controller.expire()
        commit = await committer.commit(plan, uploaded)
        assert commit.object_id != uploaded.commit.object_id
        assert len(rig.control.journal.of("commit")) == 1

    run(scenario())


def test_an_attempt_that_may_have_taken_effect_is_repeated_as_it_was_however_late():
    """With new ids it would be refused, or, worse, commit the same records twice."""

    async def scenario():
        rig = Rig()
        committer = await committer_of(rig)
        plan = plan_of((1, 3, 10), (2, 3, 10))
        uploaded = await committer.upload(plan)
        rig.control.faults[CommitStreamSetObject].after = [PassingError()]
        down = [PassingError() for _ in range(400)]
        rig.control.faults[CommitStreamSetObject].before = [None, *down]
        commit = await committer.commit(plan, uploaded)
        assert asyncio.get_running_loop().time() > 1_000 + SMALL.object_prepare_ttl_ms / 2000
        assert commit == uploaded.commit
        assert len(rig.control.journal.of("commit")) == 1
        assert rig.counters.expired_total == 0

    run(scenario())


@pytest.mark.parametrize("error", [CommitRefusedError("elsewhere"), FencedError("replaced")])
def test_refusals_are_final(error):
    async def scenario():
        rig = Rig()
        committer = await committer_of(rig)
        rig.control.faults[CommitStreamSetObject].before = [error]
        plan = plan_of((1, 3, 10), (2, 3, 10))
        with pytest.raises(type(error)):
            await committer.commit(plan, await committer.upload(plan))
        assert rig.counters.retries_total == 0

    run(scenario())


def test_not_prepared_is_a_refusal_for_whoever_does_not_know_it():
    assert issubclass(ObjectNotPreparedError, CommitRefusedError)
