"""Mistakes with fetch sessions: what is read again, what is counted, and who listens for how long."""

from tests.seeded.bug import SeededBug

_SESSION = "tests/unit/broker/fetch/test_session.py"
_MANY = "tests/unit/broker/api/test_fetch_of_many_partitions.py"

BUGS = (
    SeededBug(
        "fetch-01",
        "what moves while a Fetch reads it is not read again",
        "broker/fetch/session.py",
        "FetchSession.settle",
        "target not in moved",
        "True",
        f"{_SESSION}::test_what_moves_while_it_is_read_is_read_again",
    ),
    SeededBug(
        "fetch-02",
        "records that the limits left for later are not read until more are published",
        "broker/fetch/session.py",
        "FetchSession.settle",
        "read.error != 0 or target.fetch_offset < read.high_watermark",
        "read.error != 0",
        f"{_SESSION}::test_a_partition_with_nothing_to_tell_is_read_again_when_it_moves",
    ),
    SeededBug(
        "fetch-03",
        "partitions keep the listeners of sessions that were closed",
        "broker/fetch/session.py",
        "SessionPartition.leave",
        "self._log is not None",
        "False",
        f"{_SESSION}::test_nothing_listens_for_a_partition_that_has_left",
    ),
    SeededBug(
        "fetch-04",
        "without the lease, an incremental Fetch names only partitions that have moved",
        "broker/api/fetch.py",
        "FetchHandler._answer",
        "not result.has_lease",
        "False",
        f"{_MANY}::test_without_a_valid_lease_every_partition_says_so",
    ),
    SeededBug(
        "fetch-05",
        "sessions hear of a partition that moved away only when it is closed",
        "broker/partition/registry.py",
        "PartitionRegistry.remove",
        "partition.retire()",
        "pass",
        "tests/unit/broker/partition/test_registry.py"
        "::test_readers_of_a_partition_that_is_removed_are_woken_before_it_is_closed",
    ),
    SeededBug(
        "fetch-06",
        "sessions do not hear of a log start that has moved",
        "broker/partition/write_side.py",
        "WriteSide.delete_before",
        """
            self._state.trim(self._data.start_offset, self._data.next_offset)
            self._reads.wake_readers()
        """,
        """
            self._state.trim(self._data.start_offset, self._data.next_offset)
        """,
        f"{_MANY}::test_a_log_start_that_moves_is_told",
    ),
    SeededBug(
        "fetch-07",
        "a waiting Fetch counts what it has counted before once more",
        "broker/fetch/waiting.py",
        "WaitingFetch.count",
        "found.size_bytes - (before.size_bytes if before else 0)",
        "found.size_bytes",
        "tests/unit/broker/fetch/test_waiting.py::test_it_adds_up_what_comes",
    ),
    SeededBug(
        "fetch-08",
        "a Fetch that waits counts every partition that has news when one moves",
        "broker/fetch/waiting.py",
        "WaitingFetch.count",
        "moved = self._session.moved",
        "moved = set(self._session.changed)",
        f"{_MANY}::test_a_wait_for_many_bytes_counts_only_what_has_moved",
    ),
    SeededBug(
        "fetch-09",
        "all that wait for one record are answered in the turn in which it comes",
        "broker/api/fetch.py",
        "_Wait.until",
        "await turns.pause()",
        "pass",
        f"{_MANY}::test_those_that_wait_for_the_same_record_are_answered_in_many_turns",
    ),
    SeededBug(
        "fetch-10",
        "a session that is closed leaves all of its partitions in one turn",
        "broker/fetch/session.py",
        "FetchSession.leave",
        "min(STEP_PARTITIONS, len(self.partitions))",
        "len(self.partitions)",
        f"{_SESSION}::TestManyPartitions::test_a_session_that_is_closed_leaves_them_some_at_a_time",
    ),
    SeededBug(
        "fetch-11",
        "a session that was closed while it took in partitions is counted for ever",
        "broker/fetch/session_cache.py",
        "FetchSessions._continue",
        """
            yield from session.update(request)
            if session.is_closed:
                return context
        """,
        "yield from session.update(request)",
        f"{_SESSION}"
        "::TestManyPartitions::test_what_is_closed_while_it_changes_takes_in_nothing_more",
    ),
    SeededBug(
        "fetch-12",
        "all partitions of a topic are decoded in one turn",
        "protocol/fetch/request.py",
        "_decode_flexible",
        """
            position = _flexible_partitions(body, position, some, partitions)
            count, room = count - some, room - some
            if count:
                yield
        """,
        """
            position = _flexible_partitions(body, position, some, partitions)
            count, room = count - some, room - some
        """,
        "tests/unit/protocol/fetch/test_request.py::test_a_long_request_is_decoded_in_steps",
    ),
    SeededBug(
        "fetch-20",
        "all who listen to what one confirmation has moved are called in one turn",
        "broker/partition/wakeups.py",
        "Wakeups._call",
        """
                    if self._turns.is_over():
                        break
        """,
        "",
        f"{_MANY}::test_sessions_hear_of_what_one_confirmation_has_moved_in_many_turns",
    ),
    SeededBug(
        "fetch-21",
        "a Fetch does not see what was acknowledged as long as its session has not heard of it",
        "broker/api/fetch.py",
        "FetchHandler.start",
        """
        if self._wakeups.is_behind:
            return self._go_on(steps, reply)
        """,
        "",
        f"{_MANY}::test_what_was_acknowledged_is_answered_before_all_sessions_have_heard_of_it",
    ),
    SeededBug(
        "fetch-22",
        "the records of each partition are a buffer of their own, however small they are",
        "protocol/fetch/response.py",
        "_encode_partitions",
        "records_bytes > COPIED_BYTES and records",
        "records",
        "tests/unit/protocol/fetch/test_response.py"
        "::test_small_records_take_no_buffers_of_their_own",
    ),
    SeededBug(
        "fetch-23",
        "a session that once had news of thousands of partitions goes through all of them each time",
        "broker/fetch/session.py",
        "FetchSession.look",
        "self.changed = set(found)",
        "pass",
        f"{_SESSION}::TestManyPartitions::test_how_many_once_had_news_costs_nothing_later",
    ),
    SeededBug(
        "fetch-24",
        "what moved while a Fetch that goes on waiting was read is forgotten: it is not woken",
        "broker/fetch/waiting.py",
        "WaitingFetch.begin",
        """
            self._counted = {}
            self.available_bytes = 0
            self.must_read = False
        """,
        """
            self._counted = {}
            self.available_bytes = 0
            self.must_read = False
            self._session.moved.clear()
        """,
        "tests/unit/broker/fetch/test_waiting.py"
        "::test_what_moves_while_it_is_read_is_counted_once_it_waits",
    ),
    SeededBug(
        "fetch-25",
        "a partition that was forgotten is counted by the Fetch that waits",
        "broker/fetch/session.py",
        "FetchSession._forget",
        """
            self.changed.discard(gone)
            self.moved.discard(gone)
            gone.leave()
        """,
        """
            self.changed.discard(gone)
            gone.leave()
        """,
        f"{_SESSION}::test_what_is_forgotten_has_not_moved_any_more",
    ),
    SeededBug(
        "fetch-26",
        "a partition that is forgotten while it is read comes back into the session",
        "broker/fetch/session.py",
        "FetchSession._to_the_end",
        "self.partitions.pop(key, None) is not None",
        "self.partitions.pop(key, target) is not None",
        f"{_SESSION}::test_what_is_forgotten_while_it_is_read_does_not_come_back",
    ),
    SeededBug(
        "fetch-27",
        "a request that was overtaken between two slices of its answer takes in the rest of it",
        "broker/fetch/session.py",
        "IncrementalContext.news",
        """
            if self.session.epoch != self._epoch:
                return reads
            return self.session.settle(reads, in_turns=True)
        """,
        "return self.session.settle(reads, in_turns=True)",
        f"{_SESSION}::test_a_request_that_is_overtaken_while_it_is_answered_takes_nothing_more_in",
    ),
    SeededBug(
        "fetch-28",
        "fetch sessions of clients that are gone keep their partitions for as long as there are free slots",
        "broker/fetch/session_cache.py",
        "FetchSessions.remove_abandoned",
        "self._close_later(self._take(session_id))",
        "pass",
        f"{_SESSION}::test_the_session_of_a_client_that_is_gone_is_removed_with_its_partitions",
    ),
)
