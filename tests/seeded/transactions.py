"""Mistakes with transactions: what a leader knows of them, and what readers are shown."""

from tests.seeded.bug import SeededBug

_PARTITION = "tests/unit/broker/partition/test_transactional_partition.py"
_PURE = "tests/unit/broker/partition/test_transactions.py"
_FETCH = "tests/unit/broker/api/test_fetch_of_transactions.py"
_DRAINED = "tests/unit/broker/partition/test_log_checkpoints.py"

BUGS = (
    SeededBug(
        "transactions-01",
        "a drain keeps the headers of batches, and forgets how transactions ended",
        "broker/partition/log_checkpoints.py",
        "LogCheckpoints._state_at",
        "(tail.markers.get(offset), header.partition_leader_epoch)",
        "(None, header.partition_leader_epoch)",
        f"{_DRAINED}::test_how_transactions_ended_is_known_after_a_failover",
    ),
    SeededBug(
        "transactions-02",
        "an opening replays the headers of batches, and not their markers",
        "broker/partition/opening.py",
        "_Replay._apply",
        "decode_end(batch.payload) if header.is_control else None",
        "None",
        f"{_PARTITION}::test_a_partition_that_is_opened_again_knows_its_transactions",
    ),
    SeededBug(
        "transactions-03",
        "a checkpoint has no transactions",
        "broker/partition/checkpoint.py",
        "restore",
        "state.restore_transactions(checkpoint.ongoing, checkpoint.aborted)",
        "pass",
        f"{_PARTITION}::test_a_partition_moves_with_its_transactions",
    ),
    SeededBug(
        "transactions-04",
        "a transaction counts as decided before its marker is acknowledged",
        "broker/partition/transactions.py",
        "Transactions.end",
        "self._ended.append(_Ended(offset, first_offset))",
        "pass",
        f"{_PARTITION}::test_the_last_stable_offset_is_where_the_first_ongoing_transaction_begins",
    ),
    SeededBug(
        "transactions-05",
        "of transactions whose markers come at once the later one is acknowledged with the earlier",
        "broker/partition/transactions.py",
        "Transactions.end",
        "self._ended[-1].first_offset > first_offset",
        "self._ended[-1].first_offset < first_offset",
        f"{_PURE}::test_it_tells_what_the_whole_log_tells",
    ),
    SeededBug(
        "transactions-06",
        "a transaction that was aborted is not named where an earlier one lasted longer",
        "broker/partition/transactions.py",
        "Transactions.aborted_between",
        "it.stable_offset >= end_offset",
        "it.first_offset >= end_offset",
        f"{_PURE}::test_it_tells_what_the_whole_log_tells",
    ),
    SeededBug(
        "transactions-07",
        "a coordinator that has a successor ends a transaction",
        "broker/partition/write_side.py",
        "WriteSide._check_marker",
        "marker.coordinator_epoch < newest",
        "False",
        f"{_PARTITION}::test_producers_and_coordinators_that_have_a_successor_are_refused",
    ),
    SeededBug(
        "transactions-08",
        "clients may end transactions",
        "broker/partition/append_rules.py",
        "_check_attributes",
        "header.is_control and origin is not AppendOrigin.MARKER",
        "header.is_control and origin is AppendOrigin.COORDINATOR",
        f"{_PARTITION}::test_what_an_origin_may_not_append",
    ),
    SeededBug(
        "transactions-09",
        "what the bucket has of a transaction that began meanwhile is shown",
        "broker/fetch/reader.py",
        "FetchReader._read_cold",
        "planned.batches = read.bounded(planned.batches)",
        "pass",
        f"{_FETCH}::test_what_comes_while_the_bucket_is_read_is_not_shown_before_it_is_decided",
    ),
    SeededBug(
        "transactions-10",
        "records that are deleted while they are read are shown, aborted or not",
        "broker/fetch/reader.py",
        "_has_forgotten",
        "found.reads.log_start_offset > read.target.fetch_offset",
        "False",
        f"{_FETCH}::test_what_is_deleted_while_it_is_read_is_out_of_range",
    ),
    SeededBug(
        "transactions-11",
        "a session reads again and again what is not decided",
        "broker/fetch/session.py",
        "FetchSession.settle",
        "target.fetch_offset < read.readable_end",
        "target.fetch_offset < read.high_watermark",
        f"{_FETCH}::test_a_session_tells_of_what_was_decided_and_rests_meanwhile",
    ),
    SeededBug(
        "transactions-12",
        "a Fetch under read_committed that waits reads again with each record that is not decided",
        "broker/fetch/reader.py",
        "FetchReader.count",
        "offset < read.readable_end and size_bytes < max(1, target.max_bytes)",
        "offset < read.high_watermark and size_bytes < max(1, target.max_bytes)",
        "tests/unit/broker/fetch/test_reader.py"
        "::test_what_is_not_decided_is_neither_counted_nor_read_to_know",
    ),
    SeededBug(
        "transactions-13",
        "ListOffsets finds by time what may not be read",
        "broker/api/list_offsets.py",
        "ListOffsetsHandler._offset",
        "found is None or found[0] >= partition.reads.readable_end(isolation)",
        "found is None",
        "tests/unit/broker/api/test_list_offsets.py"
        "::test_under_read_committed_nothing_undecided_is_found",
    ),
    SeededBug(
        "transactions-14",
        "a producer that is quiet within its transaction is forgotten, and repeats its records",
        "broker/partition/producer_state.py",
        "ProducerStates.expire",
        "entry.updated_ms < limit and pid not in self.busy",
        "entry.updated_ms < limit",
        f"{_PARTITION}::test_producers_in_a_transaction_are_not_forgotten",
    ),
)
