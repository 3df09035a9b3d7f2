"""Mistakes in the log of a coordinator: what is written again, what lies before and is given up, how it is read."""

from tests.seeded.bug import SeededBug

_TESTS = "tests/unit/broker/coordinator/test_rewriting.py"
_PROPERTY = (
    "tests/property/test_log_rewriting.py"
    "::test_a_log_gives_the_same_state_wherever_its_rewriting_ends"
)
_RUNS = "tests/unit/broker/coordinator/test_record_runs.py"
_DIFFERS = (
    "lead != known_lead or delta & mask != delta_length or found != known_owner"
    " or begin != known_begin or metadata != _NO_METADATA or tail != known_tail"
)

BUGS = (
    SeededBug(
        "offsets-01",
        "a rewrite writes what was live when it began, behind what was committed since",
        "broker/coordinator/rewriting.py",
        "LogRewriter.add_slice",
        "shard.live.read()",
        "iter(list(shard.live.read()))",
        f"{_TESTS}::test_a_commit_during_a_rewrite_is_not_overwritten_by_it",
    ),
    SeededBug(
        "offsets-02",
        "the log is given up when the last live record is queued, not when it is durable",
        "broker/coordinator/rewriting.py",
        "LogRewriter._when_written",
        "newest.when_durable(lambda: self._begin_deletion(rewrite))",
        "self._begin_deletion(rewrite)",
        f"{_TESTS}::test_nothing_is_given_up_before_the_last_rewritten_record_is_durable",
    ),
    SeededBug(
        "offsets-03",
        "the log is given up as far as it goes, the rewritten records with it",
        "broker/coordinator/rewriting.py",
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
        "broker/coordinator/shard_driver.py",
        "ShardDriver._rewrite",
        """
            if not self._must_reload:
                self._rewriter.add_slice(self._shard, self._clock())
        """,
        "self._rewriter.add_slice(self._shard, self._clock())",
        f"{_TESTS}::test_after_a_fault_of_the_core_its_memory_is_not_written",
    ),
    SeededBug(
        "offsets-05",
        "a load begins where a deletion that was cut short has left nothing",
        "broker/coordinator/coordinator_logs.py",
        "PartitionLog.read",
        "max(self._partition.reads.log_start_offset, self._partition.writes.deleting_before)",
        "self._partition.reads.log_start_offset",
        "tests/unit/broker/coordinator/test_coordinator_logs.py"
        "::test_a_load_begins_where_a_deletion_was_to_end",
    ),
    SeededBug(
        "offsets-06",
        "records that a newer version wrote, and this one does not know, are given up",
        "broker/coordinator/loading.py",
        "replay_log",
        """
            if decoded is None:
                unknown += 1
            else:
                replay(decoded)
        """,
        """
            if decoded is not None:
                replay(decoded)
        """,
        f"{_TESTS}::test_records_of_a_newer_version_are_kept",
    ),
    SeededBug(
        "offsets-07",
        "damage in the log of a coordinator keeps its groups from being served",
        "broker/coordinator/coordinator_logs.py",
        "PartitionLog.read",
        "yield damaged",
        "raise",
        "tests/unit/broker/coordinator/test_coordinator_logs.py"
        "::test_a_load_passes_over_what_is_damaged_or_missing_and_the_partition_tells_it",
    ),
    SeededBug(
        "offsets-08",
        "what a load passed over stays in a short log, and every load meets it",
        "broker/coordinator/rewriting.py",
        "LogRewriter.loaded",
        "bool(log.damage)",
        "False",
        f"{_TESTS}::test_after_a_load_past_damage_a_short_log_is_rewritten_and_the_damage_given_up",
    ),
    SeededBug(
        "offsets-09",
        "an offset is taken for one of the group and topic of the record before it",
        "broker/coordinator/record_runs.py",
        "_read_run",
        _DIFFERS,
        _DIFFERS.replace("found != known_owner or ", ""),
        f"{_RUNS}::test_a_run_ends_with_its_group_and_topic_and_with_anything_else",
    ),
    SeededBug(
        "offsets-10",
        "an offset gets the topic id of the record before it",
        "broker/coordinator/record_runs.py",
        "_read_run",
        _DIFFERS,
        _DIFFERS.replace(" or tail != known_tail", ""),
        f"{_RUNS}::test_an_offset_has_the_topic_id_of_its_own_record",
    ),
)
