"""Mistakes in the log of a coordinator: what is written again, what lies before and is given up, how it is read."""

from tests.seeded.bug import SeededBug

_TESTS = "tests/unit/broker/coordinator/runtime/test_rewriting.py"
_PROPERTY = (
    "tests/property/test_log_rewriting.py"
    "::test_a_log_gives_the_same_state_wherever_its_rewriting_ends"
)
_COUNTERS = "tests/unit/broker/coordinator/runtime/test_counters.py"
_RUNS = "tests/unit/broker/coordinator/group/test_record_runs.py"
_DIFFERS = (
    "lead != known_lead or delta & mask != delta_length or found != known_owner"
    " or begin != known_begin or metadata != _NO_METADATA or tail != known_tail"
)

BUGS = (
    SeededBug(
        "offsets-01",
        "a rewrite writes what was live when it began, behind what was committed since",
        "broker/coordinator/runtime/rewriting.py",
        "LogRewriter.add_slice",
        "live.read()",
        "iter(list(live.read()))",
        f"{_TESTS}::test_a_commit_during_a_rewrite_is_not_overwritten_by_it",
    ),
    SeededBug(
        "offsets-02",
        "the log is given up when the last live record is queued, not when it is durable",
        "broker/coordinator/runtime/rewriting.py",
        "LogRewriter._when_written",
        "newest.when_durable(lambda: self._begin_deletion(rewrite))",
        "self._begin_deletion(rewrite)",
        f"{_TESTS}::test_nothing_is_given_up_before_the_last_rewritten_record_is_durable",
    ),
    SeededBug(
        "offsets-03",
        "the log is given up as far as it goes, the rewritten records with it",
        "broker/coordinator/runtime/rewriting.py",
        "LogRewriter._delete",
        """
            await self._log.delete_before(rewrite.first_offset)
            break
        """,
        """
            await self._log.delete_before(self._log.end_offset)
            break
        """,
        _PROPERTY,
    ),
    SeededBug(
        "offsets-04",
        "a rewrite reads a memory that is ahead of what was decided",
        "broker/coordinator/runtime/driver.py",
        "ShardDriver._rewrite",
        """
            if not self._must_reload:
                self._rewriter.add_slice(self._shard.live, self._clock())
        """,
        "self._rewriter.add_slice(self._shard.live, self._clock())",
        f"{_TESTS}::test_after_a_fault_of_the_core_its_memory_is_not_written",
    ),
    SeededBug(
        "offsets-05",
        "a load begins where a deletion that was cut short has left nothing",
        "broker/coordinator/runtime/topic_logs.py",
        "PartitionLog.read",
        "max(self._partition.reads.log_start_offset, self._partition.writes.deleting_before)",
        "self._partition.reads.log_start_offset",
        "tests/unit/broker/coordinator/runtime/test_topic_logs.py"
        "::test_a_load_begins_where_a_deletion_was_to_end",
    ),
    SeededBug(
        "offsets-06",
        "records that a newer version wrote, and this one does not know, are given up",
        "broker/coordinator/runtime/loading.py",
        "replay_log",
        """
            if decoded is None:
                unknown += 1
            else:
                replay(offset, producer_id, producer_epoch, decoded)
        """,
        """
            if decoded is not None:
                replay(offset, producer_id, producer_epoch, decoded)
        """,
        f"{_TESTS}::test_records_of_a_newer_version_are_kept",
    ),
    SeededBug(
        "offsets-07",
        "damage in the log of a coordinator keeps its groups from being served",
        "broker/coordinator/runtime/topic_logs.py",
        "PartitionLog.read",
        "yield damaged",
        "raise",
        "tests/unit/broker/coordinator/runtime/test_topic_logs.py"
        "::test_a_load_passes_over_what_is_damaged_or_missing_and_the_partition_tells_it",
    ),
    SeededBug(
        "offsets-08",
        "what a load passed over stays in a short log, and every load meets it",
        "broker/coordinator/runtime/rewriting.py",
        "LogRewriter.loaded",
        "bool(log.damage)",
        "False",
        f"{_TESTS}::test_after_a_load_past_damage_a_short_log_is_rewritten_and_the_damage_given_up",
    ),
    SeededBug(
        "offsets-09",
        "an offset is taken for one of the group and topic of the record before it",
        "broker/coordinator/group/record_runs.py",
        "_read_run",
        _DIFFERS,
        _DIFFERS.replace("found != known_owner or ", ""),
        f"{_RUNS}::test_a_run_ends_with_its_group_and_topic_and_with_anything_else",
    ),
    SeededBug(
        "offsets-10",
        "an offset gets the topic id of the record before it",
        "broker/coordinator/group/record_runs.py",
        "_read_run",
        _DIFFERS,
        _DIFFERS.replace(" or tail != known_tail", ""),
        f"{_RUNS}::test_an_offset_has_the_topic_id_of_its_own_record",
    ),
    SeededBug(
        "offsets-11",
        "the records of an atomic decision are spread over batches",
        "broker/coordinator/runtime/driver.py",
        "ShardDriver._absorb",
        "self._pending.add(decision.records, now.wall_ms, is_atomic=decision.is_atomic)",
        "self._pending.add(decision.records, now.wall_ms, is_atomic=False)",
        f"{_COUNTERS}::test_the_records_of_an_atomic_decision_are_in_one_batch",
    ),
    SeededBug(
        "offsets-12",
        "who is parked is never answered when the shard is unloaded",
        "broker/coordinator/runtime/driver.py",
        "ShardDriver._unload",
        """
            if not parked.done():
                parked.set_exception(error)
        """,
        "pass",
        f"{_COUNTERS}::test_who_is_parked_is_sent_away_when_the_shard_is_unloaded",
    ),
    SeededBug(
        "offsets-13",
        "an atomic decision that is too large is in memory, and not in the log",
        "broker/coordinator/runtime/batching.py",
        "PendingBatches.add",
        "whole_bytes > MAX_BATCH_BYTES",
        "False",
        f"{_COUNTERS}::test_an_atomic_decision_that_is_too_large_changes_nothing",
    ),
    SeededBug(
        "offsets-14",
        "records of a transaction count before its end",
        "broker/coordinator/runtime/loading.py",
        "replay_log",
        """
            if header.is_transactional:
                producer_id, producer_epoch = header.producer_id, header.producer_epoch
        """,
        "pass",
        f"{_COUNTERS}::test_records_of_a_transaction_count_from_its_end_on",
    ),
    SeededBug(
        "offsets-15",
        "topics that are deleted while a shard is loaded are not given to it",
        "broker/coordinator/runtime/driver.py",
        "ShardDriver._activate",
        """
            self.state = ShardState.ACTIVE
            self._settled.set()
            self._has_new_image = bool(self._deleted_topics)
        """,
        """
            self.state = ShardState.ACTIVE
            self._settled.set()
            self._has_new_image = False
        """,
        f"{_COUNTERS}::test_deleted_topics_are_given_until_the_shard_is_done_with_them",
    ),
)
