import msgspec
import pytest

from headrace.config.node import StorageConfig
from headrace.metadata.controller.objects import MAX_EXPIRED_PER_DECISION, MAX_PREPARE_TTL_MS
from headrace.metadata.rpc.requests import ForgetObjects, PrepareObjects
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import stream_range

replace = msgspec.structs.replace


@pytest.fixture
def streams(controller):
    """Two open streams."""
    return controller.opened_stream("a"), controller.opened_stream("b")


# Prepare


def test_prepared_ids_are_consecutive_and_never_given_again(controller):
    first = controller.prepare(3)
    second = controller.prepare(1)
    controller.now_ms += 100_000
    controller.expire()
    controller.forget(*range(first, second + 1))

    assert second == first + 3
    assert not controller.image.objects.by_id
    assert controller.prepare() == second + 1


@pytest.mark.parametrize(("count", "ttl_ms"), [(0, 1), (10_001, 1), (1, 0), (1, 10**12)])
def test_what_cannot_be_prepared(controller, count, ttl_ms):
    request = PrepareObjects(*controller.sender(), count, ttl_ms)

    assert controller.refusal(request) == ErrorCode.INVALID_REQUEST


def test_only_what_has_expired_is_expired(controller):
    early = controller.prepare(2, ttl_ms=1_000)
    late = controller.prepare(1, ttl_ms=2_000)
    controller.now_ms += 999
    before = controller.image
    controller.expire()
    assert controller.image is before

    controller.now_ms += 1
    controller.expire()

    assert set(controller.image.objects.prepared) == {late}
    assert set(controller.image.objects.destroyed) == {early, early + 1}


def test_expiry_is_bounded(controller):
    controller.prepare(MAX_EXPIRED_PER_DECISION + 1)
    controller.now_ms += 100_000

    controller.expire()

    assert len(controller.image.objects.destroyed) == MAX_EXPIRED_PER_DECISION


# Deletion


def test_only_destroyed_objects_are_forgotten(controller, streams):
    a, _ = streams
    committed = controller.upload(stream_range(a, 0, 10)).object_id
    prepared = controller.prepare()
    for object_id in (committed, prepared):
        request = ForgetObjects(*controller.sender(), (object_id,))
        assert controller.refusal(request) == ErrorCode.INVALID_REQUEST

    controller.trim(a, 10)
    controller.forget(committed)
    controller.forget(committed)

    assert committed not in controller.image.objects.by_id
    assert committed not in controller.image.objects.destroyed


def test_the_time_to_live_of_brokers_is_not_refused():
    assert StorageConfig().object_prepare_ttl_ms <= MAX_PREPARE_TTL_MS
