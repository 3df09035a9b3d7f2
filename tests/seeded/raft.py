"""Mistakes in the quorum's core."""

from tests.seeded.bug import SeededBug

_SIMULATION = "tests/property/test_raft_simulation.py::test_the_same_seeds_each_time"
_UNIT = "tests/unit/metadata/raft"
_KNOWN = f"{_UNIT}/test_known_bugs.py"
_PAPER = f"{_UNIT}/test_paper.py"
_RAFT = "metadata/raft"

BUGS = (
    SeededBug(
        "raft-01",
        "votes twice in a term",
        f"{_RAFT}/node_state.py",
        "NodeState.may_vote_for",
        """
            if self.voted_for == NOBODY:
                return self.leader_id == NOBODY
            return self.voted_for == candidate_id
        """,
        """
            if self.voted_for == NOBODY:
                return self.leader_id == NOBODY
            return True
        """,
        _SIMULATION,
    ),
    SeededBug(
        "raft-02",
        "a vote in a term that was entered before is not written",
        f"{_RAFT}/node_state.py",
        "NodeState.take_persist",
        "before == self.told_disk",
        "before.term == self.told_disk.term",
        _SIMULATION,
    ),
    SeededBug(
        "raft-03",
        "the term is written first, and the vote with what is written next",
        f"{_RAFT}/node_state.py",
        "NodeState.take_persist",
        "before, self.told_disk = self.told_disk, self.hard_state",
        """
            before = self.told_disk
            known = self.voted_for if before.term == self.term else NOBODY
            self.told_disk = HardState(self.term, known)
        """,
        f"{_KNOWN}::test_hashicorp_661_term_and_vote_are_one_write",
    ),
    SeededBug(
        "raft-04",
        "a vote is forgotten when a leader is heard of",
        f"{_RAFT}/node_state.py",
        "NodeState.leader_contacted",
        "self._heard_ms = self.now_ms",
        """
            self.voted_for = NOBODY
            self._heard_ms = self.now_ms
        """,
        _SIMULATION,
    ),
    SeededBug(
        "raft-05",
        "votes for any log",
        f"{_RAFT}/elections.py",
        "Elections._grants",
        "(request.last_term, request.last_index) >= (log.last_term, log.last_index)",
        "True",
        _SIMULATION,
    ),
    SeededBug(
        "raft-06",
        "votes for the longer log, though its own is newer",
        f"{_RAFT}/elections.py",
        "Elections._grants",
        "(request.last_term, request.last_index) >= (log.last_term, log.last_index)",
        "request.last_index >= log.last_index",
        f"{_PAPER}::test_5_4_1_a_vote_goes_only_to_a_log_that_is_as_new",
    ),
    SeededBug(
        "raft-07",
        "entries of earlier terms are committed by counting",
        f"{_RAFT}/core.py",
        "RaftCore._advance_commit",
        "self._log.term_at(index) == self._state.term",
        "index > 0",
        _SIMULATION,
    ),
    SeededBug(
        "raft-08",
        "a leader serves before the entry that opens its term is committed",
        f"{_RAFT}/leading.py",
        "LeaderState.serving",
        "self._state.log.commit_index >= self.opening_index",
        "True",
        _SIMULATION,
    ),
    SeededBug(
        "raft-09",
        "a follower commits as far as its leader says, beyond what it has compared",
        f"{_RAFT}/following.py",
        "append_new",
        "min(request.commit_index, verified_index)",
        "min(request.commit_index, log.last_index)",
        f"{_KNOWN}::test_copycat_265_an_empty_request_commits_no_further_than_the_entry_it_names",
    ),
    SeededBug(
        "raft-10",
        "a request that was overtaken removes what came after it",
        f"{_RAFT}/following.py",
        "append_new",
        """
            if log.term_at(entry.index) != entry.term:
                log.replace_from(entries[position:])
                break
        """,
        """
            log.replace_from(entries[position:])
            break
        """,
        _SIMULATION,
    ),
    SeededBug(
        "raft-11",
        "a follower agrees to all that it has, compared or not",
        f"{_RAFT}/following.py",
        "append_new",
        "Verdict(success=True, match_index=verified_index)",
        "Verdict(success=True, match_index=log.last_index)",
        _SIMULATION,
    ),
    SeededBug(
        "raft-12",
        "a leader counts itself before its own disk has the entry",
        f"{_RAFT}/leading.py",
        "LeaderState.agreed_index",
        "self._state.log.durable_index",
        "self._state.log.last_index",
        _SIMULATION,
    ),
    SeededBug(
        "raft-13",
        "what was sent to a follower counts as what it has",
        f"{_RAFT}/sending.py",
        "_replicate",
        "known.inflight.append(known.next_index - 1)",
        """
            known.match_index = known.next_index - 1
            known.inflight.append(known.next_index - 1)
        """,
        _SIMULATION,
    ),
    SeededBug(
        "raft-14",
        "answers go out before what they rest on is written",
        f"{_RAFT}/core.py",
        "RaftCore.take_effects",
        "state.take_persist()",
        "None if state.outbox else state.take_persist()",
        _SIMULATION,
    ),
    SeededBug(
        "raft-15",
        "a late write is credited to what took the place of its entries",
        f"{_RAFT}/log.py",
        "RaftLog._truncate",
        """
            self._credit_index = min(self._credit_index, index - 1)
            self.durable_index = min(self.durable_index, index - 1)
        """,
        "self.durable_index = min(self.durable_index, index - 1)",
        f"{_KNOWN}::test_openraft_1964_etcd_aba_a_late_write_is_not_credited_to_what_replaced_it",
    ),
    SeededBug(
        "raft-16",
        "the disk is not told to cut the log",
        f"{_RAFT}/log.py",
        "RaftLog._truncate",
        "self._unsaved_from = self._truncate_from = index",
        "self._unsaved_from = index",
        _SIMULATION,
    ),
    SeededBug(
        "raft-17",
        "a read is answered without a round",
        f"{_RAFT}/leading.py",
        "LeaderState.serve_reads",
        """
            self.reads.begin(self._begin_round(), self._state.log.commit_index)
            self._confirm_reads()
        """,
        """
            self.reads.begin(self._begin_round(), self._state.log.commit_index)
            self._state.reads_ready.extend(self.reads.confirmed(self._rounds.newest))
        """,
        f"{_UNIT}/test_reads.py::test_a_read_waits_for_a_round_that_began_after_it",
    ),
    SeededBug(
        "raft-18",
        "a round that began before the read was asked for confirms it",
        f"{_RAFT}/leading.py",
        "LeaderState.serve_reads",
        "self.reads.begin(self._begin_round(), self._state.log.commit_index)",
        "self.reads.begin(self._rounds.newest, self._state.log.commit_index)",
        f"{_KNOWN}::test_etcd_raft_397_an_answer_to_an_earlier_round_confirms_no_later_read",
    ),
    SeededBug(
        "raft-19",
        "a new disk speaks as the member whose disk was lost",
        f"{_RAFT}/plausibility.py",
        "is_foreign",
        "configuration.accepts(message.source, message.source_directory)",
        "configuration.member(message.source) is not None",
        f"{_UNIT}/test_membership.py::test_another_disk_of_a_member_neither_votes_nor_acknowledges",
    ),
    SeededBug(
        "raft-20",
        "an empty disk votes for a log that does not name it",
        f"{_RAFT}/elections.py",
        "Elections._grants",
        "log.last_index == 0 and request.last_index > 0 and not named",
        "log.last_index < 0",
        f"{_KNOWN}::test_etcd_20269_nor_while_no_entry_names_anybodys_disk",
    ),
    SeededBug(
        "raft-21",
        "a leader whom nobody answers goes on",
        f"{_RAFT}/core.py",
        "RaftCore._pass_time",
        "self._leadership is not None and not self._leadership.has_quorum",
        "self._leadership is None",
        _SIMULATION,
    ),
    SeededBug(
        "raft-22",
        "two changes of the members at once",
        f"{_RAFT}/leading.py",
        "LeaderState.change_members",
        "log.configuration_index > log.commit_index",
        "log.configuration_index < 0",
        _SIMULATION,
    ),
    SeededBug(
        "raft-23",
        "members are changed before an entry of the term is committed",
        f"{_RAFT}/leading.py",
        "LeaderState.change_members",
        """
            if not self.serving:
                raise ChangeRefusedError("...")
        """,
        """
            if False:
                raise ChangeRefusedError("...")
        """,
        f"{_KNOWN}::test_etcd_raft_372_no_member_is_changed_before_an_entry_of_the_term_is_committed",
    ),
    SeededBug(
        "raft-24",
        "learners count",
        f"{_RAFT}/configuration.py",
        "Configuration.voters",
        "(member.node_id for member in self.members if member.voter)",
        "(member.node_id for member in self.members)",
        _SIMULATION,
    ),
    SeededBug(
        "raft-25",
        "members of an entry that was removed stay members",
        f"{_RAFT}/log.py",
        "RaftLog._truncate",
        """
            while self._named[-1].index >= index:
                self._named.pop()
        """,
        "",
        f"{_UNIT}/test_membership.py::test_a_change_counts_from_its_entry_on_and_is_undone_with_it",
    ),
    SeededBug(
        "raft-26",
        "a leader that was removed goes on",
        f"{_RAFT}/core.py",
        "RaftCore._advance_commit",
        "self._leave(leadership)",
        "leadership.serve_reads()",
        f"{_KNOWN}::test_kafka_17604_a_leader_removes_itself_and_steps_down_when_that_is_committed",
    ),
    SeededBug(
        "raft-27",
        "a voter whose removal only it has does not stand: nobody is ever elected",
        f"{_RAFT}/node_state.py",
        "NodeState.may_campaign",
        "any(self._counts_in(it) for it in self.log.possible_configurations)",
        "self.is_voter",
        f"{_UNIT}/test_membership.py::test_a_voter_whose_removal_only_it_has_stands_and_finishes_it",
    ),
    SeededBug(
        "raft-28",
        "the founder's log begins without the members' names: torn there, nobody votes for it",
        f"{_RAFT}/leading.py",
        "LeaderState.open",
        """
            self._record_directories(votes)
            self.opening_index = self._append([open_term(self._state.term, last_index)]).index
        """,
        """
            self.opening_index = self._append([open_term(self._state.term, last_index)]).index
            self._record_directories(votes)
        """,
        f"{_KNOWN}::test_a_founding_write_that_is_torn_leaves_a_log_that_names_its_electors",
    ),
    SeededBug(
        "raft-29",
        "entries stay behind a snapshot of the leader",
        f"{_RAFT}/log.py",
        "RaftLog.install",
        "self._reset(snapshot, configuration)",
        """
            kept = [it for it in self._entries if it.index > snapshot.index]
            self._reset(snapshot, configuration)
            self._append(kept)
        """,
        f"{_KNOWN}::test_scylladb_9551_nothing_stays_behind_a_snapshot_of_the_leader",
    ),
    SeededBug(
        "raft-30",
        "entries are taken in while a snapshot is fetched in place of all",
        f"{_RAFT}/following.py",
        "Following.on_append",
        """
            if not self.fetching:
                taken = take_in(self._state.log, request)
                if taken is None:
                    return
                verdict = taken
        """,
        """
            if True:
                taken = take_in(self._state.log, request)
                if taken is None:
                    return
                verdict = taken
        """,
        f"{_UNIT}/test_snapshots.py::test_a_follower_says_so_while_it_fetches_and_takes_nothing_else_in",
    ),
    SeededBug(
        "raft-31",
        "a snapshot is installed though the log has that point and more",
        f"{_RAFT}/following.py",
        "Following.on_offer",
        "log.term_at(offer.snapshot_index) == offer.snapshot_term",
        "False",
        f"{_KNOWN}::test_a_snapshot_that_is_offered_where_the_log_has_that_point_is_not_fetched",
    ),
    SeededBug(
        "raft-32",
        "committed entries are skipped when they are too large to hand over at once",
        f"{_RAFT}/log.py",
        "RaftLog.take_committed",
        "self.handed_index += len(entries)",
        "self.handed_index = self.commit_index",
        _SIMULATION,
    ),
    SeededBug(
        "raft-33",
        "a node that hears nothing enters new terms on its own",
        f"{_RAFT}/core.py",
        "RaftCore.tick",
        """
            if self._may_campaign:
                self._elections.start_pre_vote()
                self._start_election_if_pre_vote_won()
            else:
                self._state.role = Role.FOLLOWER
                self._state.rearm()
        """,
        """
            if self._may_campaign:
                self._elections.start_election(transfer=False)
                self._start_election_if_pre_vote_won()
            else:
                self._state.role = Role.FOLLOWER
                self._state.rearm()
        """,
        _SIMULATION,
    ),
    SeededBug(
        "raft-34",
        "a pre-vote takes the term that it asks about",
        f"{_RAFT}/core.py",
        "RaftCore._enter_term",
        "isinstance(message, VoteRequest) and message.pre",
        "False",
        _SIMULATION,
    ),
    SeededBug(
        "raft-35",
        "a node that hears its leader votes for another all the same",
        f"{_RAFT}/node_state.py",
        "NodeState.has_live_leader",
        "silent_ms < self.settings.election_timeout_ms",
        "silent_ms < 0",
        f"{_PAPER}::test_thesis_4_2_3_a_node_that_hears_its_leader_does_not_listen_to_candidates",
    ),
    SeededBug(
        "raft-36",
        "a directory that was put back does not learn that it is an old copy",
        f"{_RAFT}/disks.py",
        "Disks.hear",
        "ours is not None and self._misses(ours, last_index)",
        "False",
        _SIMULATION,
    ),
)
