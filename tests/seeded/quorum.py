"""Mistakes with what stands around the Raft core: what is answered, when, and by whom."""

from tests.seeded.bug import SeededBug

_QUORUM = "tests/unit/metadata/quorum"
_THREE = f"{_QUORUM}/test_three_controllers.py"
_MEMBERS = f"{_QUORUM}/test_membership.py"

BUGS = (
    SeededBug(
        "quorum-01",
        "a heartbeat is answered without a round of the quorum",
        "metadata/leader/supervision.py",
        "BrokerSupervision.heartbeat",
        "await self._quorum.confirm_leadership()",
        "",
        f"{_QUORUM}/test_clients.py"
        "::test_a_broker_that_reaches_only_a_deposed_leader_stops_before_it_is_fenced",
    ),
    SeededBug(
        "quorum-02",
        "a leader that was deposed without knowing it refuses, by what it has",
        "metadata/leader/commits.py",
        "Committer._commit",
        "await self._log.confirm_leadership()",
        "pass",
        "tests/unit/metadata/test_commits.py"
        "::test_a_refusal_costs_no_write_but_the_certainty_that_we_lead",
    ),
    SeededBug(
        "quorum-03",
        "a reader that is ahead of a deposed leader is told that it has diverged",
        "metadata/leader/log_reads.py",
        "LogReads.entries",
        "await self._leading.confirm_leading()",
        "pass",
        f"{_THREE}::test_a_follower_that_reads_ahead_of_a_deposed_leader"
        "_is_not_told_that_it_diverged",
    ),
    SeededBug(
        "quorum-04",
        "a leader serves before an entry of its term is applied",
        "metadata/quorum/node.py",
        "QuorumNode._notice",
        "self._leading_term is None and leads and _has_opened_term(core, self.image)",
        "self._leading_term is None and leads",
        f"{_THREE}::test_a_leader_serves_nothing_before_its_own_entry_is_committed",
    ),
    SeededBug(
        "quorum-05",
        "an entry is put behind another one than it was decided for",
        "metadata/quorum/node.py",
        "QuorumNode.replicate",
        """
            if core.last_index != entries[0].index - 1:
                return False
        """,
        "",
        f"{_THREE}::test_an_entry_is_put_nowhere_but_where_it_was_decided_for",
    ),
    SeededBug(
        "quorum-06",
        "who waits is not told that the leader has lost the quorum",
        "metadata/quorum/node.py",
        "QuorumNode._notice",
        """
            if self._leading_term is not None and not (leads and core.term == self._leading_term):
                self._depose("...")
            elif self._leading_term is None and leads and _has_opened_term(core, self.image):
                self._leading_term = core.term
                self._hooks.on_leading()
        """,
        """
            if self._leading_term is not None and not (leads and core.term == self._leading_term):
                pass
            elif self._leading_term is None and leads and _has_opened_term(core, self.image):
                self._leading_term = core.term
                self._hooks.on_leading()
        """,
        f"{_THREE}::test_a_disk_that_hangs_under_the_leader_costs_it_the_quorum",
    ),
    SeededBug(
        "quorum-07",
        "a change that was written counts as certainly not made when the leader is deposed",
        "metadata/leader/commits.py",
        "_Group.may_take_effect",
        "position >= len(self.outcomes) or (self.written and position in self.changing)",
        "False",
        "tests/unit/metadata/test_commits.py"
        "::test_lost_leadership_ends_it_and_leaves_open_what_was_written",
    ),
    SeededBug(
        "quorum-08",
        "messages are sent before what they rest on is durable",
        "metadata/quorum/node.py",
        "QuorumNode._take_turn",
        """
            if effects.persist is not None:
                await self._persist(effects.persist)
            for message in effects.messages:
                self._network.send(message)
        """,
        """
            for message in effects.messages:
                self._network.send(message)
            if effects.persist is not None:
                await self._persist(effects.persist)
        """,
        f"{_THREE}::test_nothing_is_said_before_it_is_durable",
    ),
    SeededBug(
        "quorum-09",
        "an image that was precomputed is taken for another leader's entry",
        "metadata/quorum/applied.py",
        "AppliedLog.compute",
        "foreseen is not None and foreseen.term == batch[-1].term",
        "foreseen is not None",
        f"{_QUORUM}/test_parts.py"
        "::test_what_was_precomputed_is_not_replayed_again_but_for_entries_of_another_leader",
    ),
    SeededBug(
        "quorum-10",
        "a leader that removes itself is not answered any more",
        "metadata/quorum/addresses.py",
        "MemberAddresses._publish",
        "leader_id in self._told",
        "False",
        f"{_MEMBERS}::test_a_leader_can_be_removed",
    ),
    SeededBug(
        "quorum-11",
        "a member of another cluster goes on",
        "metadata/leader/driver.py",
        "ControllerNode._accept",
        "check_image(image, self._cluster_id)",
        "",
        f"{_THREE}::test_a_member_of_another_cluster_ends",
    ),
    SeededBug(
        "quorum-12",
        "a cluster whose first start was cut short never gets a name",
        "metadata/leader/driver.py",
        "ControllerNode._open_term",
        """
            del last_index
            cluster_id = None
            if self._started().quorum.holds_members_only and not self.image.cluster_id:
                cluster_id = self._cluster_id or new_cluster_id(self._rng)
        """,
        """
            cluster_id = None
            if last_index == 0:
                cluster_id = self._cluster_id or new_cluster_id(self._rng)
        """,
        "tests/unit/metadata/test_driver.py::test_a_first_start_that_was_cut_short_is_made_up_for",
    ),
    SeededBug(
        "quorum-13",
        "a reader is answered by a round that began before it came",
        "metadata/quorum/read_rounds.py",
        "ReadRounds.join",
        "self._next.append",
        "(self._inflight or self._next).append",
        f"{_QUORUM}/test_parts.py::test_readers_share_a_round_that_begins_after_they_came",
    ),
    SeededBug(
        "quorum-14",
        "a session that was open before the leader changed is not begun afresh",
        "metadata/leader/supervision.py",
        "BrokerSupervision.__init__",
        "BrokerSessions(session_timeout_ms, map(_registered, live), boot_clock_ms())",
        """
            BrokerSessions(
                session_timeout_ms,
                map(_registered, live),
                boot_clock_ms() - session_timeout_ms // 2,
            )
        """,
        f"{_THREE}::test_a_new_leader_fences_nobody_before_a_whole_session",
    ),
    SeededBug(
        "quorum-15",
        "a cluster whose founding is not known to be committed is founded again, at a level that nobody asked for",
        "metadata/leader/driver.py",
        "ControllerNode._open_term",
        "self._started().quorum.holds_members_only and not self.image.cluster_id",
        "not self.image.cluster_id",
        f"{_THREE}::test_a_cluster_that_a_log_names_is_not_founded_again",
    ),
)
