from uuid import UUID

import pytest

from headrace.metadata.controller.features import MAX_UPDATES, Readers, update_features
from headrace.metadata.errors import RefusedError
from headrace.metadata.levels import (
    METADATA_FEATURE,
    NEWEST,
    OLDEST,
    READ_HERE,
    UNTOLD,
    LevelRange,
    level_of,
)
from headrace.metadata.records.cluster import FeatureRecord
from headrace.metadata.records.members import Member, MembersRecord
from headrace.metadata.rpc.requests import FeatureUpdate, UpdateFeatures, UpgradeType
from headrace.metadata.rpc.responses import Done
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import PureController

UPGRADE = UpgradeType.UPGRADE
OLD = LevelRange(OLDEST, OLDEST)  # of a node of the release before


@pytest.fixture
def controller():
    """At the oldest level: controllers 101 and 102, and broker 1."""
    controller = PureController(level=OLDEST)
    members = (Member(it, UUID(int=it), f"host{it}", 9093, voter=it == 101) for it in (101, 102))
    controller._apply((MembersRecord(tuple(members)),))
    controller.register(1)
    return controller


def readers(controller, *, controllers=None, brokers=None):
    """Everyone reads everything, but for those named here; None: it tells nothing."""
    controllers = {101: READ_HERE, 102: READ_HERE} | (controllers or {})
    told = {it.node_id: READ_HERE for it in controller.image.brokers.values()} | (brokers or {})
    return Readers(
        {it: reads for it, reads in controllers.items() if reads},
        {(it, controller.epochs[it]): reads for it, reads in told.items() if reads},
    )


def decided(controller, told, level, *, name=METADATA_FEATURE, how=UPGRADE, validate_only=False):
    request = UpdateFeatures((FeatureUpdate(name, level, how),), validate_only)
    return update_features(request, told, controller.image, controller.inputs())


def reason_against(controller, told, level, **options):
    with pytest.raises(RefusedError) as refusal:
        decided(controller, told, level, **options)
    assert refusal.value.code == ErrorCode.INVALID_UPDATE_VERSION
    return refusal.value.message


def test_a_level_that_every_node_reads_is_set(controller):
    decision = decided(controller, readers(controller), NEWEST)

    assert decision.records == (FeatureRecord(METADATA_FEATURE, NEWEST),)
    assert controller.commit(decision) == Done()
    assert level_of(controller.image.features) == NEWEST


def test_a_trial_changes_nothing_and_is_refused_all_the_same(controller):
    assert not decided(controller, readers(controller), NEWEST, validate_only=True).records

    old = readers(controller, brokers={1: OLD})
    assert "broker 1" in reason_against(controller, old, NEWEST, validate_only=True)


def test_the_present_level_may_be_asked_for_again(controller):
    for how in UpgradeType:
        assert not decided(controller, readers(controller), OLDEST, how=how).records


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_request_is_repeated_though_a_node_tells_nothing_any_more(controller, validate_only):
    """Its first answer was lost with the leader, say."""
    controller.commit(decided(controller, readers(controller), NEWEST))
    told = readers(controller, controllers={102: None}, brokers={1: None})

    assert not decided(controller, told, NEWEST, validate_only=validate_only).records


def test_a_broker_that_does_not_read_the_level_stands_against_it(controller):
    told = readers(controller, brokers={1: OLD})

    assert reason_against(controller, told, NEWEST) == (
        f"headrace.metadata.version cannot be set to {NEWEST}: broker 1 reads 2..2: upgrade it"
    )


def test_a_controller_that_does_not_read_the_level_stands_against_it(controller):
    """A learner, too: it is to get a vote."""
    told = readers(controller, controllers={102: OLD})

    assert "controller 102 reads 2..2: upgrade it" in reason_against(controller, told, NEWEST)


def test_all_that_stand_against_it_are_named(controller):
    controller.register(2)
    told = readers(controller, controllers={101: OLD}, brokers={1: OLD, 2: OLD})

    reason = reason_against(controller, told, NEWEST)
    for node in ("controller 101", "broker 1", "broker 2"):
        assert node in reason


def test_a_controller_that_does_not_answer_stands_against_it(controller):
    told = readers(controller, controllers={102: None})

    assert "controller 102 does not say what it reads" in reason_against(controller, told, NEWEST)


def test_a_broker_that_has_told_nothing_yet_stands_against_it(controller):
    told = readers(controller, brokers={1: None})

    assert "broker 1 has not said what it reads yet" in reason_against(controller, told, NEWEST)


def test_what_an_earlier_process_of_a_broker_told_does_not_count(controller):
    told = readers(controller)
    controller.fence()
    controller.register(1, reads=OLD)

    assert "broker 1 has not said" in reason_against(controller, told, NEWEST)


def test_a_broker_that_is_not_running_does_not_stand_against_it(controller):
    """It is refused when it comes back."""
    controller.fence()
    controller.commit(decided(controller, readers(controller, brokers={1: None}), NEWEST))

    with pytest.raises(
        RefusedError, match=r"this node reads headrace\.metadata\.version 2\.\.2"
    ) as refusal:
        controller.register(1, reads=OLD)
    assert refusal.value.code == ErrorCode.UNSUPPORTED_VERSION
    assert f"the cluster is at {NEWEST}: upgrade this node" in refusal.value.message
    controller.register(1)


def test_a_level_that_this_release_does_not_know_is_refused(controller):
    for level in (-1, 0, NEWEST + 1):
        assert f"reads {READ_HERE}" in reason_against(controller, readers(controller), level)


@pytest.mark.parametrize("how", list(UpgradeType))
def test_no_level_is_lowered(how):
    controller = PureController(level=NEWEST)
    told = readers(controller)

    assert "a level cannot be lowered" in reason_against(controller, told, OLDEST, how=how)


@pytest.mark.parametrize("how", [UpgradeType.SAFE_DOWNGRADE, UpgradeType.UNSAFE_DOWNGRADE])
def test_a_downgrade_does_not_raise_a_level(controller, how):
    assert "no downgrade" in reason_against(controller, readers(controller), NEWEST, how=how)


def test_other_features_and_types_are_refused(controller):
    told = readers(controller)

    assert "not supported" in reason_against(controller, told, OLDEST, name="group.version")
    assert "type 4 is not known" in reason_against(controller, told, NEWEST, how=4)


def test_one_that_cannot_be_set_keeps_the_others_from_it(controller):
    updates = (FeatureUpdate(METADATA_FEATURE, NEWEST, 1), FeatureUpdate("other", 1, 1))
    with pytest.raises(RefusedError, match="other cannot be set"):
        update_features(
            UpdateFeatures(updates, validate_only=False),
            readers(controller),
            controller.image,
            controller.inputs(),
        )


def test_the_number_of_updates_is_bounded(controller):
    updates = (FeatureUpdate("f", 1, 1),) * (MAX_UPDATES + 1)
    with pytest.raises(RefusedError, match="at most"):
        update_features(
            UpdateFeatures(updates, validate_only=False),
            readers(controller),
            controller.image,
            controller.inputs(),
        )


def test_a_node_that_tells_nothing_is_refused_at_every_level(controller):
    for each in (controller, PureController()):
        with pytest.raises(RefusedError, match=r"this node reads .* 1\.\.1, .* upgrade this node"):
            each.register(2, reads=UNTOLD)
