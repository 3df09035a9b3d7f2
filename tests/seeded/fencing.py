"""Mistakes that let two nodes believe that they own the same, or somebody believe what is not so."""

from tests.seeded.bug import SeededBug, Simulated

_CONTROLLER = "tests/unit/metadata/controller"
_FENCING = f"{_CONTROLLER}/test_fencing.py"
_SESSIONS = f"{_CONTROLLER}/test_sessions.py"
_SUPERVISION = "tests/unit/metadata/test_supervision.py"
_SESSION = "tests/unit/metadata/test_session.py"
_APPENDS = "tests/unit/storage/test_append_path.py"
_QUORUM = "tests/unit/metadata/quorum"
_NET = "tests/integration/test_controller_net.py"
_NODES = "tests/integration/test_cluster_nodes.py"
_AGAIN = "tests/integration/test_fenced_again.py"
_ENDS = "tests/unit/broker/node/test_role_ends.py"
_LIFECYCLE = "tests/unit/broker/node/test_lifecycle.py"
_NODE = "tests/unit/broker/node/test_node.py"

BUGS = (
    # The lease
    SeededBug(
        "fence-01",
        "what is durable is acknowledged without asking the lease",
        "storage/append_path.py",
        "AppendPath.on_confirmed",
        "not self._lease.is_lease_valid()",
        "False",
        f"{_APPENDS}::test_without_the_lease_nothing_is_acknowledged_until_it_holds_again",
    ),
    SeededBug(
        "fence-02",
        "what was withheld without the lease is never acknowledged",
        "storage/append_path.py",
        "AppendPath.lease_renewed",
        "self._withheld_wal_end >= 0",
        "False",
        f"{_APPENDS}::test_without_the_lease_nothing_is_acknowledged_until_it_holds_again",
    ),
    SeededBug(
        "fence-03",
        "a lease is as long as the session: clocks may not differ",
        "metadata/follower/lease.py",
        "lease_length_ms",
        "session_timeout_ms - session_timeout_ms // LEASE_MARGIN_DIVISOR",
        "session_timeout_ms",
        f"{_SESSIONS}::test_a_lease_ends_before_its_session_however_long_the_heartbeat_took",
    ),
    SeededBug(
        "fence-04",
        "a broker's lease is made of its own setting, its session of the controller's",
        "metadata/controller/sessions.py",
        "BrokerSessions.begin",
        "max(self._timeout_ms, broker.session_timeout_ms)",
        "self._timeout_ms",
        f"{_SESSIONS}::test_a_session_is_as_long_as_the_leases_of_its_broker_rely_on",
    ),
    SeededBug(
        "fence-05",
        "which session a broker relies on is lost with a snapshot",
        "metadata/snapshot.py",
        "_broker_records",
        """
            RegisterBrokerRecord(
                broker.node_id,
                broker.epoch,
                broker.incarnation_id,
                tuple(BrokerEndpoint(it.name, it.host, it.port) for it in broker.endpoints),
                broker.rack,
                broker.registered_ms,
                broker.replaced_incarnation_id,
                broker.session_timeout_ms,
                broker.locks,
            )
        """,
        """
            RegisterBrokerRecord(
                broker.node_id,
                broker.epoch,
                broker.incarnation_id,
                tuple(BrokerEndpoint(it.name, it.host, it.port) for it in broker.endpoints),
                broker.rack,
                broker.registered_ms,
                broker.replaced_incarnation_id,
                0,
                broker.locks,
            )
        """,
        f"{_SUPERVISION}::test_nobody_is_fenced_within_a_lease_that_its_own_setting_makes_longer",
    ),
    SeededBug(
        "fence-06",
        "leases go by the clock of the wall",
        "broker/node/broker_role.py",
        "BrokerRole._run",
        """
            MetadataClient(
                config.metadata,
                self._transport,
                BrokerIdentity(
                    node_id=config.node_id,
                    endpoints=config.network.advertised_listeners or tuple(bound),
                    rack=config.rack,
                    cluster_id=cluster_id,
                    locks=registration.locks(),
                ),
                boot_clock_ms=self._around.boot_clock_ms,
                rng=self._around.rng,
                on_fenced=self._note_fenced,
                replayed=self._replayed,
            )
        """,
        """
            MetadataClient(
                config.metadata,
                self._transport,
                BrokerIdentity(
                    node_id=config.node_id,
                    endpoints=config.network.advertised_listeners or tuple(bound),
                    rack=config.rack,
                    cluster_id=cluster_id,
                    locks=registration.locks(),
                ),
                boot_clock_ms=self._around.wall_clock_ms,
                rng=self._around.rng,
                on_fenced=self._note_fenced,
                replayed=self._replayed,
            )
        """,
        "tests/integration/test_node_clocks.py"
        "::test_setting_the_clock_of_the_wall_neither_ends_nor_prolongs_a_lease",
    ),
    SeededBug(
        "fence-07",
        "the clock of leases can be set",
        "broker/node/environment.py",
        "NodeEnvironment.boot_clock_ms",
        "time.clock_gettime_ns(time.CLOCK_BOOTTIME)",
        "time.clock_gettime_ns(time.CLOCK_REALTIME)",
        "tests/unit/broker/node/test_environment.py"
        "::test_the_boot_clock_goes_on_in_suspend_and_cannot_be_set",
    ),
    SeededBug(
        "fence-08",
        "a fenced process keeps its lease",
        "metadata/follower/session.py",
        "BrokerSession.fence",
        """
            self.lease.end()
            self._due.set()
        """,
        "self._due.set()",
        f"{_SESSION}::test_a_refused_write_fences_at_once",
    ),
    SeededBug(
        "fence-09",
        "a broker that shuts down keeps its lease while it says so",
        "metadata/follower/session.py",
        "BrokerSession.shutdown",
        """
            self.lease.end()
            if self.node_epoch == NO_EPOCH or self.fenced:
                return
        """,
        """
            if self.node_epoch == NO_EPOCH or self.fenced:
                return
        """,
        f"{_SESSION}::test_a_controlled_shutdown_ends_lease_and_epoch",
    ),
    SeededBug(
        "fence-10",
        "a process whose write was refused for its epoch goes on",
        "metadata/follower/client.py",
        "MetadataClient.change",
        "self._session.fence(error.message)",
        "pass",
        f"{_SESSION}::test_a_refused_write_fences_at_once",
    ),
    SeededBug(
        "fence-30",
        "a process that sees its own end in the metadata waits to be told of it",
        "metadata/follower/client.py",
        "MetadataClient.__init__",
        "self._follower.subscribe(self._look_at_own_epoch)",
        "",
        f"{_SESSION}"
        "::test_a_process_that_sees_in_the_metadata_that_its_epoch_is_over_does_not_wait_to_be_told",
    ),
    SeededBug(
        "fence-31",
        "a session begins before its broker has read the log, and ends before it has",
        "metadata/follower/client.py",
        "MetadataClient.start",
        "await self._follower.catch_up()",
        "",
        f"{_SESSION}::test_a_log_that_takes_longer_to_read_than_a_session_keeps_no_broker_out",
    ),
    SeededBug(
        "fence-11",
        "a broker deletes objects by metadata that may be old, without the lease",
        "broker/adapters/deletable_objects.py",
        "DeletableObjects.find",
        "not self._client.is_lease_valid()",
        "False",
        "tests/unit/broker/adapters/test_storage_metadata.py"
        "::test_objects_are_deleted_when_their_retention_has_passed",
    ),
    # Sessions
    SeededBug(
        "fence-12",
        "a session that has ended is renewed",
        "metadata/controller/sessions.py",
        "BrokerSessions.renew",
        "return False",
        "self.begin(Registered(node_id, epoch, 0), now_ms)",
        f"{_SUPERVISION}::test_no_heartbeat_is_answered_once_fencing_has_begun",
    ),
    SeededBug(
        "fence-13",
        "a heartbeat is answered while the entry that fences its sender is being written",
        "metadata/leader/supervision.py",
        "BrokerSupervision.heartbeat",
        "not self._sessions.is_open(node_id, epoch)",
        "False",
        f"{_SUPERVISION}::test_no_heartbeat_is_answered_once_fencing_has_begun",
    ),
    SeededBug(
        "fence-14",
        "a controller that was stopped fences those whose heartbeats wait in its sockets",
        "metadata/controller/sessions.py",
        "BrokerSessions.tick",
        "late_ms > 0",
        "False",
        f"{_SESSIONS}::test_a_controller_that_was_paused_gives_the_time_back",
    ),
    # Epochs
    SeededBug(
        "fence-15",
        "requests of a process that was replaced are carried out",
        "metadata/controller/brokers.py",
        "require_broker",
        "broker.epoch != node_epoch or broker.epoch_ended",
        "broker.epoch_ended",
        f"{_FENCING}::test_a_repetition_is_refused_once_the_epoch_is_over",
    ),
    SeededBug(
        "fence-16",
        "requests of a fenced process are carried out as long as nobody has taken its place",
        "metadata/controller/brokers.py",
        "require_broker",
        "broker.epoch != node_epoch or broker.epoch_ended",
        "broker.epoch != node_epoch",
        f"{_FENCING}::test_a_repetition_is_refused_once_the_epoch_is_over",
        simulated=Simulated("late commits", seeds=24),
    ),
    SeededBug(
        "fence-17",
        "one of the requests, of nine, does not look at the epoch",
        "metadata/controller/streams.py",
        "trim_stream",
        """
            require_broker(image, request.node_id, request.node_epoch)
            stream = _existing(request.stream_id, image)
            require_writer(stream, request.node_id, request.stream_epoch)
            if not stream.opened:
                raise RefusedError(ErrorCode.INVALID_REQUEST, "...")
        """,
        """
            stream = _existing(request.stream_id, image)
            require_writer(stream, request.node_id, request.stream_epoch)
            if not stream.opened:
                raise RefusedError(ErrorCode.INVALID_REQUEST, "...")
        """,
        f"{_FENCING}::test_a_repetition_is_refused_once_the_epoch_is_over",
    ),
    SeededBug(
        "fence-18",
        "a commit that took effect is repeated with success by a process that was fenced since",
        "metadata/controller/object_commits.py",
        "commit_stream_set_object",
        """
            writer = acting_writer(request, image)
            outputs = _outputs(request, image, inputs.now_ms)
            if _took_effect(outputs, request.compacted_object_ids, image):
                return Decision((), Done())
        """,
        """
            outputs = _outputs(request, image, inputs.now_ms)
            if _took_effect(outputs, request.compacted_object_ids, image):
                return Decision((), Done())
            writer = acting_writer(request, image)
        """,
        f"{_FENCING}::test_a_repetition_is_refused_once_the_epoch_is_over",
    ),
    SeededBug(
        "fence-19",
        "a late repetition of a registration takes the node back",
        "metadata/controller/brokers.py",
        "register_broker",
        "known.replaced_incarnation_id == request.incarnation_id",
        "False",
        f"{_CONTROLLER}/test_brokers.py"
        "::test_a_late_repetition_of_a_replaced_registration_is_refused",
    ),
    # What is said of proposals
    SeededBug(
        "fence-20",
        "another leader's entry in its place counts as the proposal's success",
        "metadata/quorum/waiters.py",
        "EntryWaiters.applied",
        "waiter.term is None or entry.term == waiter.term",
        "True",
        f"{_QUORUM}/test_parts.py::test_who_waits_for_an_entry_is_told_whose_came",
    ),
    SeededBug(
        "fence-21",
        "what the leader has written shows before a majority has it",
        "metadata/quorum/node.py",
        "QuorumNode._take_turn",
        """
            if effects.committed:
                self._applied.committed(effects.committed)
        """,
        """
            if effects.persist is not None and effects.persist.entries:
                self._applied.committed(effects.persist.entries)
        """,
        f"{_QUORUM}/test_three_controllers.py::test_a_leader_without_a_majority_promises_nothing",
    ),
    SeededBug(
        "fence-22",
        "who asked a leader that was deposed at once is never answered",
        "metadata/leader/leadership.py",
        "Leadership.end",
        """
            self._over.set()
            self.committer.stop()
        """,
        "self._over.set()",
        "tests/unit/metadata/test_leadership.py"
        "::test_who_asked_is_answered_though_it_was_over_before_its_work_began",
    ),
    SeededBug(
        "fence-23",
        "what is put back behind an entry of the members counts as written",
        "metadata/leader/commits.py",
        "Committer._commit",
        "group.proposals.clear()",
        "",
        "tests/unit/metadata/test_commits.py"
        "::test_what_was_put_back_for_an_entry_of_the_members_has_not_taken_effect",
    ),
    SeededBug(
        "fence-24",
        "a request whose outcome is unknown is repeated though that does harm",
        "metadata/follower/requester.py",
        "Requester.call",
        "isinstance(request, ONCE_ONLY) and not isinstance(error, NotReachedError)",
        "False and not isinstance(error, NotReachedError)",
        "tests/unit/metadata/test_requester.py"
        "::test_an_unknown_outcome_is_reported_where_a_repetition_would_do_harm",
    ),
    # Connections
    SeededBug(
        "fence-25",
        "a request whose connection broke counts as not sent",
        "headrace/links/requests.py",
        "RequestLink.ended",
        "ConnectionResetError(str(reason))",
        "NotSentError(str(reason))",
        f"{_NET}::test_a_controller_killed_in_the_middle_of_a_request_leaves_its_outcome_unknown",
    ),
    SeededBug(
        "fence-26",
        "controllers and brokers of another cluster are let in",
        "headrace/links/listener.py",
        "LinkListener._refusal",
        """
            theirs = hello.party
            if self.is_other_cluster(theirs):
                return "..."
        """,
        """
            theirs = hello.party
            if False:
                return "..."
        """,
        f"{_NET}::test_another_cluster_is_refused_and_both_sides_say_so",
    ),
    SeededBug(
        "fence-29",
        "who came before a controller knew its cluster stays, of whatever cluster it is",
        "headrace/links/accepted.py",
        "AcceptedConnection._take",
        "self._connections.is_strange(self.hello.party)",
        "False",
        f"{_NET}::test_another_cluster_is_let_go_by_who_did_not_know_its_own_when_it_came",
    ),
    SeededBug(
        "fence-27",
        "a broker does not say which cluster it has come to know",
        "broker/node/broker_role.py",
        "BrokerRole._follow_quorum",
        "self._cluster_id = new.cluster_id",
        "",
        f"{_NODES}::test_a_broker_does_not_speak_to_another_cluster_where_its_controllers_were",
    ),
    SeededBug(
        "fence-28",
        "a controller speaks in another's name",
        "metadata/net/peer_service.py",
        "PeerService.received",
        "(message.source, message.source_directory) != (party.node_id, party.directory_id)",
        "False",
        f"{_NET}::test_hostile_bytes_end_their_connection_only",
    ),
    # A role that was fenced, and the next one
    SeededBug(
        "fence-32",
        "a broker begins again although something else has failed beside the fencing",
        "broker/node/role_ends.py",
        "was_fenced",
        "all(map(is_fencing, leaves(failure)))",
        "any(map(is_fencing, leaves(failure)))",
        f"{_ENDS}::test_any_other_failure_is_none_also_beside_one",
    ),
    SeededBug(
        "fence-33",
        "a log in a bucket that was taken over ends the node",
        "broker/node/role_ends.py",
        "_reasons",
        "failure = failure.__cause__",
        "return",
        f"{_ENDS}::test_a_fencing_is_known_through_all_that_pass_it_on",
    ),
    SeededBug(
        "fence-34",
        "a broker that is fenced again and again before it serves never gives up",
        "broker/node/role_restarts.py",
        "RoleRestarts.pause_ms",
        "self._unserved >= MAX_UNSERVED_ROLES",
        "False",
        f"{_ENDS}::test_roles_that_do_not_come_to_serve_are_followed_ever_later_and_then_no_more",
    ),
    SeededBug(
        "fence-35",
        "a broker that is fenced each minute never gives up",
        "broker/node/role_restarts.py",
        "RoleRestarts.pause_ms",
        "len(recent_ms) >= MAX_RESTARTS",
        "False",
        f"{_ENDS}::test_too_many_in_a_short_time_end_the_process_and_older_ones_do_not_count",
    ),
    SeededBug(
        "fence-36",
        "what a role showed at the admin endpoint stays there",
        "broker/node/admin.py",
        "RoleAdmin.take_back",
        "self._additions.close()",
        "pass",
        f"{_AGAIN}::test_ten_fencings_lose_nothing_and_leave_nothing",
    ),
    SeededBug(
        "fence-37",
        "a WAL is written without its lock, so that the next role need not wait for the last one",
        "wal/device/file_device.py",
        "_lock",
        "fcntl.flock(file.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        f"{_AGAIN}::test_the_next_role_begins_once_the_device_of_the_last_one_is_given_back_and_never_before",
    ),
    SeededBug(
        "fence-38",
        "a broker begins again in a node of which another part has failed",
        "broker/node/node.py",
        "Node._may_begin_again",
        "stop.is_set() or task.cancelling()",
        "stop.is_set()",
        f"{_NODE}::test_a_role_that_ends_because_another_part_of_the_node_failed_is_not_followed",
    ),
    SeededBug(
        "fence-39",
        "a broker begins again at another port than clients know",
        "broker/node/node.py",
        "Node._run_broker",
        "config = replace(config, network=replace(config.network, listeners=broker.bound))",
        "pass",
        f"{_NODE}::test_a_fenced_role_is_followed_by_one_at_the_same_port",
    ),
    SeededBug(
        "fence-40",
        "a broker that was fenced while it was to stop begins again",
        "broker/node/node.py",
        "Node._may_begin_again",
        "stop.is_set() or task.cancelling()",
        "task.cancelling()",
        f"{_NODE}::test_a_node_that_is_to_stop_does_not_begin_again",
    ),
    SeededBug(
        "fence-41",
        "a second fencing cuts the end of a role short",
        "broker/node/lifecycle.py",
        "to_the_end",
        "cancelled = error",
        "raise",
        f"{_LIFECYCLE}::test_an_end_is_whole_however_often_its_caller_is_cancelled",
    ),
    SeededBug(
        "fence-42",
        "nothing bounds the end of a role whose device was taken",
        "broker/node/broker_role.py",
        "BrokerRole._note_failure",
        "failure is not None and was_fenced(failure)",
        "False",
        "tests/unit/broker/node/test_device_fence.py"
        "::test_a_node_whose_device_is_taken_while_it_serves_acknowledges_nothing_more_and_begins_again",
    ),
)
