"""Mistakes with how brokers reach the leading controller, and with who may speak for one."""

from tests.seeded.bug import SeededBug, Simulated

_PROOF = "tests/unit/metadata/test_proof.py"
_RELAYS = "tests/unit/metadata/test_relays.py"
_ROUTES = "tests/unit/metadata/net/test_routes.py"
_FRAMES = "tests/unit/metadata/rpc/test_frames.py"
_SESSION = "tests/unit/metadata/test_session.py"
_NET = "tests/integration/test_controller_net.py"

BUGS = (
    # Who speaks
    SeededBug(
        "reach-01",
        "a proof must be there, and is not compared",
        "metadata/proof.py",
        "_require_proof",
        "not hmac.compare_digest(found, incarnation_id.bytes)",
        "not found",
        f"{_PROOF}::test_no_stranger_speaks_for_a_living_registration",
    ),
    SeededBug(
        "reach-02",
        "who leaves the proof out counts as of the first release",
        "metadata/proof.py",
        "_require_proof",
        "incarnation_id.version != _DIGEST_VERSION",
        "incarnation_id.version != _DIGEST_VERSION or secret is None",
        f"{_PROOF}::test_a_stranger_that_tries_every_epoch_ends_nobody",
    ),
    SeededBug(
        "reach-03",
        "what is recorded proves who registered",
        "metadata/proof.py",
        "_require_proof",
        "incarnation_of(secret).bytes",
        "secret",
        f"{_PROOF}::test_no_stranger_speaks_for_a_living_registration",
    ),
    SeededBug(
        "reach-04",
        "a request for an epoch that is not there yet waits until it is",
        "metadata/proof.py",
        "require_sender",
        "node_epoch > image.index",
        "False",
        f"{_PROOF}::test_an_epoch_that_is_not_there_yet_is_refused_before_it_comes",
    ),
    SeededBug(
        "reach-05",
        "who knows what is recorded of a lock takes the place of a living broker",
        "metadata/proof.py",
        "shown_locks",
        "not name.startswith(_LOCK_DIGEST)",
        "True",
        f"{_PROOF}::test_who_knows_what_is_recorded_cannot_take_a_living_brokers_place",
    ),
    SeededBug(
        "reach-09",
        "who knows what is recorded of a lock reports that a living broker has ended",
        "metadata/proof.py",
        "is_lock_known",
        "not request.lock.startswith(_LOCK_DIGEST)",
        "True",
        "tests/unit/metadata/controller/test_brokers.py"
        "::TestReportedEnd::test_what_is_recorded_of_a_lock_proves_nothing_without_its_name",
    ),
    SeededBug(
        "reach-06",
        "the names of locks are recorded",
        "metadata/follower/session.py",
        "BrokerSession.register",
        "tuple(map(recorded_lock, identity.locks))",
        "identity.locks",
        f"{_PROOF}::test_nothing_that_is_recorded_proves_anything",
    ),
    SeededBug(
        "reach-07",
        "registrations are not asked for their proof",
        "metadata/leader/service.py",
        "ControllerService._require_sender",
        "require_own_id(request, secret)",
        "pass",
        f"{_PROOF}::test_a_repeated_registration_needs_the_proof_too",
    ),
    SeededBug(
        "reach-08",
        "what a record's bytes look like is taken for a proof",
        "metadata/rpc/frames.py",
        "_without_proof",
        "len(_ITEMS_DECODER.decode(body)[-1]) != size",
        "False",
        f"{_FRAMES}::test_bytes_that_look_like_a_proof_are_none",
    ),
    # Relays
    SeededBug(
        "reach-10",
        "a relay answers with what the leader has answered before",
        "metadata/leader/relays.py",
        "Relays.pass_on",
        "return await self._network.request(leader_id, frame)",
        """
            if self._reported_at_s > 0 and hasattr(self, "_answer"):
                return self._answer
            self._answer = await self._network.request(leader_id, frame)
            return self._answer
        """,
        f"{_RELAYS}::test_every_answer_is_asked_for",
    ),
    SeededBug(
        "reach-11",
        "a controller that does not lead answers a relayed request itself",
        "metadata/leader/service.py",
        "ControllerService._relay",
        "leader is None",
        "True",
        f"{_RELAYS}::test_a_request_is_passed_on_once",
    ),
    SeededBug(
        "reach-12",
        "relays pass relays on, back and forth",
        "metadata/leader/service.py",
        "ControllerService._relay",
        "kind is Relay",
        "False",
        f"{_RELAYS}::test_a_request_is_passed_on_once",
    ),
    SeededBug(
        "reach-13",
        "what a relay keeps waiting is not bounded",
        "metadata/leader/relays.py",
        "Relays._is_full",
        "self._inflight >= limit",
        "False",
        f"{_RELAYS}::test_what_waits_is_bounded",
    ),
    SeededBug(
        "reach-14",
        "what a relay has sent and not heard of counts as not sent, and is repeated",
        "metadata/leader/relays.py",
        "Relays.pass_on",
        "raise ControllerUnavailableError(msg) from error",
        "raise RefusedError(ErrorCode.NOT_CONTROLLER, msg) from error",
        f"{_RELAYS}::test_what_was_not_sent_is_told_from_what_may_have_taken_effect",
    ),
    SeededBug(
        "reach-15",
        "a relay whose tag is encoded longer than it need be is passed on",
        "metadata/rpc/frames.py",
        "kind_of",
        "msgspec.msgpack.decode(items[0]) if items else None",
        "bytes(items[0])[0] if items else None",
        f"{_RELAYS}::test_a_relay_in_a_relay_is_refused_however_it_is_encoded",
    ),
    SeededBug(
        "reach-16",
        "heartbeats find no room where others wait for answers",
        "metadata/leader/relays.py",
        "Relays._is_full",
        "kind is Heartbeat",
        "False",
        f"{_RELAYS}::test_heartbeats_have_room_that_others_do_not_use_up",
    ),
    SeededBug(
        "reach-17",
        "reads that wait for entries take all places of a relay",
        "metadata/leader/relays.py",
        "Relays.pass_on",
        "self._inflight_reads >= MAX_RELAYED_READS",
        "False",
        f"{_RELAYS}::test_reads_that_wait_for_entries_leave_half_for_others",
    ),
    # Routes
    SeededBug(
        "reach-20",
        "a leader that is not reached is asked itself, for ever",
        "metadata/net/routes.py",
        "Routes.redirect",
        "leader in self._unreached and leader != before.target",
        "False",
        f"{_ROUTES}::test_a_leader_that_is_not_reached_gets_requests_through_who_names_it",
        simulated=Simulated("one-way cuts"),
    ),
    SeededBug(
        "reach-21",
        "a leader is not left while its connection is open, though it does not answer heartbeats",
        "metadata/net/quorum_transport.py",
        "QuorumTransport.request",
        "None if within_ms is None else within_ms / 1000",
        "None",
        f"{_NET}::test_one_that_does_not_answer_in_time_is_left_though_its_connection_lives",
    ),
    SeededBug(
        "reach-22",
        "a detour is never left",
        "metadata/net/routes.py",
        "Routes.reached",
        "self.route.leader == leader",
        "False",
        f"{_ROUTES}::test_a_probe_that_reaches_the_leader_ends_the_detour",
    ),
    SeededBug(
        "reach-23",
        "one that passes nothing on is asked again and again",
        "metadata/net/routes.py",
        "Routes.failed",
        "route is not self.route",
        "route.leader is not None",
        f"{_ROUTES}::test_one_that_does_not_pass_requests_on_is_left_for_the_next",
    ),
    SeededBug(
        "reach-24",
        "a lease runs from the answer, which a relay can hold up",
        "metadata/follower/session.py",
        "BrokerSession._reach_leader",
        "return sent_at_ms",
        "return self._boot_clock_ms()",
        f"{_SESSION}::test_a_slow_answer_gives_a_shorter_lease",
    ),
    SeededBug(
        "reach-25",
        "what was asked of a leader before a detour makes it count as not reached after it",
        "metadata/net/routes.py",
        "Routes.failed",
        "route is not self.route",
        "route != self.route",
        f"{_ROUTES}::test_what_was_asked_before_a_detour_says_nothing_of_the_leader_after_it",
    ),
    SeededBug(
        "reach-26",
        "what a leader still owes is given up when it is reached again",
        "metadata/net/quorum_transport.py",
        "QuorumTransport._ask_itself",
        """
            old.retire()
            self._replaced = [it for it in (*self._replaced, old) if it.connected]
        """,
        "old.close()",
        f"{_NET}::test_what_a_leader_owes_is_still_waited_for_when_it_is_reached_again",
    ),
)
