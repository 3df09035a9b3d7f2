from headrace.metadata.controller.key_values import MAX_KEYS, MAX_VALUE_BYTES
from headrace.metadata.rpc.requests import PutKeyValues
from headrace.protocol.errors import ErrorCode


def put(controller, *items):
    return PutKeyValues(*controller.sender(), items)


def test_keys_are_set_and_removed(controller):
    controller.do(put(controller, ("a", b"1"), ("b", b"2")))
    controller.do(put(controller, ("a", None), ("b", b"3"), ("never", None)))

    assert dict(controller.image.key_values) == {"b": b"3"}


def test_what_is_so_already_takes_no_record(controller):
    controller.do(put(controller, ("a", b"1")))

    assert controller.decide(put(controller, ("a", b"1"), ("b", None))).records == ()


def test_values_and_keys_are_bounded(controller):
    big = put(controller, ("a", bytes(MAX_VALUE_BYTES + 1)))
    assert controller.refusal(big) == ErrorCode.INVALID_REQUEST

    controller.do(put(controller, *((str(it), b"") for it in range(MAX_KEYS))))
    assert controller.refusal(put(controller, ("more", b""))) == ErrorCode.POLICY_VIOLATION
    controller.do(put(controller, ("more", b""), ("0", None)))
    assert len(controller.image.key_values) == MAX_KEYS
