"""Mistakes at the ports: what one connection may hold, and who may take whose place."""

from tests.seeded.bug import SeededBug, Simulated

_BROKERS = "tests/unit/metadata/controller/test_brokers.py"
_NET = "tests/integration/test_controller_net.py"

BUGS = (
    SeededBug(
        "ports-01",
        "a request is counted by the length that it declares, not by what has come",
        "headrace/links/accepted.py",
        "AcceptedConnection._may_go_on",
        "min(self._reader.pending_bytes, length)",
        "length",
        f"{_NET}::test_frames_that_are_declared_and_not_sent_hold_nobody_up",
    ),
    SeededBug(
        "ports-02",
        "at the limit no incomplete request goes on, so they block each other",
        "headrace/links/request_bytes.py",
        "RequestBytes.may_go_on",
        "is_first and self._serving_bytes + came_bytes <= self._max_bytes",
        "False",
        "tests/unit/links/test_request_bytes.py"
        "::test_at_the_limit_the_first_one_goes_on_and_the_others_wait",
    ),
    SeededBug(
        "ports-03",
        "each byte of an answer that does not get on counts as a sign of life",
        "headrace/links/dialling.py",
        "DialledConnection.data_received",
        "self._fresh_bytes >= PROGRESS_BYTES",
        "True",
        f"{_NET}::test_an_answer_that_does_not_get_on_is_silence",
    ),
    SeededBug(
        "ports-04",
        "a process takes the place of a living one with its node id",
        "metadata/controller/brokers.py",
        "register_broker",
        "not known.epoch_ended and not set(known.locks) & shown_locks(request)",
        "False",
        f"{_BROKERS}::test_while_a_process_has_a_session_no_other_takes_its_place",
        simulated=Simulated("second processes"),
    ),
    SeededBug(
        "ports-05",
        "two processes that name no lock count as one after the other",
        "metadata/controller/brokers.py",
        "register_broker",
        "not set(known.locks) & shown_locks(request)",
        "set(known.locks) != shown_locks(request)",
        f"{_BROKERS}::test_a_process_that_names_no_lock_proves_nothing",
    ),
    SeededBug(
        "ports-06",
        "a broker registers before it has looked whether its WAL is the one that it used last",
        "broker/node/registration.py",
        "Registration._check_log",
        "is_ours and not self._log_location.is_bucket",
        "False",
        "tests/integration/test_cluster_nodes.py"
        "::test_a_second_broker_with_an_id_in_use_costs_the_first_nothing",
    ),
    SeededBug(
        "ports-07",
        "a second controller with a node id takes the link of the first",
        "metadata/net/peer_service.py",
        "PeerService.refusal",
        "return self._other_refusal(theirs)",
        "return ''",
        f"{_NET}::test_a_second_controller_with_a_node_id_does_not_cut_the_first_one_off",
    ),
    SeededBug(
        "ports-08",
        "a value of a log line may hold a line of its own",
        "broker/telemetry/log_output.py",
        "_printable",
        "_escaped(_UNSAFE_IN_TEXT, _cut(str(_for_json(value))))",
        "_cut(str(_for_json(value)))",
        "tests/unit/broker/telemetry/test_log_output.py"
        "::test_what_a_client_has_named_forges_no_line_and_reaches_no_terminal",
    ),
    SeededBug(
        "ports-09",
        "a connection gets memory for the frame that it claims",
        "protocol/server_connection.py",
        "_LargeFrame._memory",
        "min(self._size_bytes, capacity)",
        "self._size_bytes",
        "tests/unit/protocol/test_server_connection.py"
        "::test_claimed_size_is_not_allocated_before_bytes_come",
    ),
    SeededBug(
        "ports-10",
        "connections that are closed still count for their address",
        "broker/network/connection_bounds.py",
        "ConnectionBounds.closed",
        "self._open[address] -= 1",
        "pass",
        "tests/unit/broker/network/test_connection_bounds.py"
        "::test_what_is_refused_or_gone_leaves_nothing",
    ),
    SeededBug(
        "ports-11",
        "what a lost connection has claimed is never given back",
        "broker/network/session.py",
        "Session.connection_lost",
        "self.closed = True\nself._connection.close()",
        "self.closed = True",
        "tests/unit/broker/network/test_session.py"
        "::test_what_a_lost_connection_claimed_is_given_back",
    ),
    SeededBug(
        "ports-12",
        "a large request is received whole before it is refused",
        "protocol/server_connection.py",
        "_check_size",
        "size_bytes > MAX_REQUEST_BYTES",
        "size_bytes < 0",
        "tests/unit/protocol/test_server_connection.py"
        "::test_a_large_request_is_refused_as_soon_as_its_key_has_come",
    ),
    SeededBug(
        "ports-13",
        "one client that sends fast keeps the loop reading",
        "broker/network/session.py",
        "Session.buffer_updated",
        "nbytes >= SMALL_READ_BYTES and self._sessions.reads.is_used_up()",
        "False",
        "tests/unit/broker/network/test_session.py"
        "::test_large_requests_of_many_connections_are_read_in_many_turns",
    ),
)
