"""Mistakes at the ports: what one connection may hold, and who may take whose place."""

from tests.seeded.bug import SeededBug

_NET = "tests/integration/test_controller_net.py"

BUGS = (
    SeededBug(
        "ports-01",
        "a request is counted by the length that it declares, not by what has come",
        "metadata/net/accepted.py",
        "AcceptedConnection._may_go_on",
        "min(self._reader.pending_bytes, length)",
        "length",
        f"{_NET}::test_frames_that_are_declared_and_not_sent_hold_nobody_up",
    ),
    SeededBug(
        "ports-02",
        "at the limit no incomplete request goes on, so they block each other",
        "metadata/net/request_bytes.py",
        "RequestBytes.may_go_on",
        "is_first and self._serving_bytes + came_bytes <= self._max_bytes",
        "False",
        "tests/unit/metadata/net/test_request_bytes.py"
        "::test_at_the_limit_the_first_one_goes_on_and_the_others_wait",
    ),
    SeededBug(
        "ports-03",
        "each byte of an answer that does not get on counts as a sign of life",
        "metadata/net/dialling.py",
        "DialledConnection.data_received",
        "self._fresh_bytes >= PROGRESS_BYTES",
        "True",
        f"{_NET}::test_an_answer_that_does_not_get_on_is_silence",
    ),
)
