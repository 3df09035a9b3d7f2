"""Mistakes with who a client is, and with clients that are told to wait."""

from tests.seeded.bug import SeededBug

_MUTED = "tests/unit/broker/network/test_muted_session.py"
_API = "tests/unit/broker/api"
_TELLS = "test_an_answer_tells_its_client_to_wait_as_long_as_its_reply_says"

BUGS = (
    SeededBug(
        "clients-01",
        "a client that was told to wait is read on",
        "broker/network/session.py",
        "Session._may_read",
        """
            return (
                self._writable
                and not (self._waiting or connection.has_more or connection.error)
                and not self._finishing
                and not self._rests
                and not self._muted
            )
        """,
        """
            return (
                self._writable
                and not (self._waiting or connection.has_more or connection.error)
                and not self._finishing
                and not self._rests
            )
        """,
        f"{_MUTED}::test_the_answer_goes_out_at_once_and_nothing_is_read_until_the_time_is_up",
    ),
    SeededBug(
        "clients-02",
        "what had come with the request of a client that was told to wait is served at once",
        "broker/network/session.py",
        "Session._has_room",
        "self.closed or self._finishing or self._muted or not self._writable",
        "self.closed or self._finishing or not self._writable",
        f"{_MUTED}::test_what_had_come_with_the_request_waits_as_well",
    ),
    SeededBug(
        "clients-03",
        "a shorter wait takes the place of one that is not over",
        "broker/network/session.py",
        "Session._mute",
        "self._muted is not None and self._muted.when() >= until_s",
        "False",
        f"{_MUTED}::test_produces_that_were_started_before_are_answered_meanwhile",
    ),
    SeededBug(
        "clients-04",
        "a client is told to wait for as long as a quota likes",
        "broker/network/reply.py",
        "Reply.throttle",
        "min(max(self.throttle_ms, throttle_ms), MAX_THROTTLE_MS)",
        "max(self.throttle_ms, throttle_ms)",
        f"{_MUTED}::test_of_several_quotas_the_longest_time_counts_within_a_bound",
    ),
    SeededBug(
        "clients-05",
        "a client that is not read is closed for saying nothing",
        "broker/network/session.py",
        "Session.has_stood_still_since",
        "(self._inflight or self._muted) and not self.closed",
        "self._inflight and not self.closed",
        f"{_MUTED}::test_a_muted_client_is_not_idle",
    ),
    SeededBug(
        "clients-06",
        "the answer to a Produce of one batch tells nobody to wait",
        "broker/api/produce.py",
        "ProduceHandler.start",
        "is_one and not reply.throttle_ms",
        "is_one",
        f"{_API}/test_produce.py::{_TELLS}",
    ),
    SeededBug(
        "clients-07",
        "the answer to a Fetch of many partitions tells nobody to wait",
        "broker/api/fetch.py",
        "FetchHandler._answer",
        """
            encode_fetch_in_slices(
                version, correlation_id, throttle_ms, session_id, topics, endpoints
            )
        """,
        "encode_fetch_in_slices(version, correlation_id, 0, session_id, topics, endpoints)",
        f"{_API}/test_fetch_of_many_partitions.py"
        "::test_an_answer_in_slices_tells_its_client_to_wait",
    ),
    SeededBug(
        "clients-08",
        "a client that came over TLS counts as one without protection",
        "broker/network/listener.py",
        "Listener.serve",
        "SecurityProtocol.PLAINTEXT if context is None else SecurityProtocol.SSL",
        "SecurityProtocol.PLAINTEXT",
        "tests/unit/broker/network/test_listener.py"
        "::test_a_listener_may_use_tls_and_its_clients_are_known_for_it",
    ),
    SeededBug(
        "clients-09",
        "a fetch session never hears that its client has gone",
        "broker/network/session.py",
        "Session.connection_lost",
        "self.activity.closed = True",
        "pass",
        "tests/unit/broker/network/test_session.py"
        "::test_what_is_kept_of_a_connection_tells_when_it_has_ended",
    ),
)
