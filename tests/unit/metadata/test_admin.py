import pytest

from headrace.metadata.admin import error_of
from headrace.metadata.errors import (
    ControllerUnavailableError,
    MetadataFormatError,
    NodeFencedError,
    RefusedError,
)
from headrace.protocol.errors import ErrorCode


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RefusedError(ErrorCode.POLICY_VIOLATION, "no"), ErrorCode.POLICY_VIOLATION),
        (ControllerUnavailableError("away"), ErrorCode.REQUEST_TIMED_OUT),
        (NodeFencedError("over"), ErrorCode.REQUEST_TIMED_OUT),
        (MetadataFormatError("odd"), ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_every_failure_has_a_code_and_a_reason(error, code):
    found, message = error_of(error)

    assert found == code
    assert message


def test_what_a_repetition_may_answer_is_retriable():
    """A node that was fenced in the middle does not know whether its request took effect."""
    for error in (ControllerUnavailableError("away"), NodeFencedError("over")):
        assert error_of(error)[0].is_retriable
