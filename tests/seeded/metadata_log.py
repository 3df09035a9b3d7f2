"""Mistakes with the files of the metadata log, and with disks of the quorum that were put back."""

from tests.seeded.bug import SeededBug

_LOG = "tests/unit/metadata/log"
_RAFT = "tests/unit/metadata/raft"
_THREE = "tests/unit/metadata/quorum/test_three_controllers.py"

BUGS = (
    SeededBug(
        "log-01",
        "the end of the log is not proven when it is closed",
        "metadata/log/store.py",
        "LogStore._close",
        "self._prove()",
        "pass",
        f"{_LOG}/test_store.py::test_after_an_orderly_stop_no_byte_of_the_log_is_cut_off",
    ),
    SeededBug(
        "log-02",
        "the end of the log is not proven while nothing is written",
        "metadata/log/store.py",
        "LogStore._expect_idle",
        "self._proof_timer is None and not self._is_closed",
        "False",
        f"{_LOG}/test_store.py::test_after_an_idle_moment_and_a_kill_no_byte_is_cut_off",
    ),
    SeededBug(
        "log-03",
        "a proof is asked of another segment than it was written for",
        "metadata/log/entry_format.py",
        "scan_segment",
        "end_index is None and proven_end.segment_id == header.segment_id",
        "end_index is None",
        f"{_LOG}/test_store.py::test_what_was_truncated_before_the_stop_is_not_asked_for",
    ),
    SeededBug(
        "log-04",
        "a start replaces the one slot of the vote that is whole first",
        "metadata/log/hard_state.py",
        "HardStateFile.open",
        "SLOT_POSITIONS[::-1] if newest_first else SLOT_POSITIONS",
        "SLOT_POSITIONS",
        f"{_LOG}/test_hard_state.py::test_a_start_replaces_the_damaged_slot_first",
    ),
    # Directories that were put back from a copy
    SeededBug(
        "log-05",
        "a vote of an old copy of a directory counts",
        "metadata/raft/disks.py",
        "Disks._is_old_copy",
        "known is None or not is_older(sender, known)",
        "True",
        f"{_RAFT}/test_disks.py::test_a_copy_asks_for_votes_in_vain_and_is_told",
    ),
    SeededBug(
        "log-06",
        "a member goes on with a directory that others remember as newer",
        "metadata/raft/disks.py",
        "Disks._misses",
        "is_older(self._own, told)",
        "False",
        f"{_THREE}::test_a_directory_that_was_put_back_from_a_copy_ends_its_controller",
    ),
    SeededBug(
        "log-07",
        "what a disk held is forgotten: a copy of a running member passes for it",
        "metadata/raft/leading.py",
        "LeaderState._begin_round",
        "self._note_disks()",
        "pass",
        f"{_RAFT}/test_disks.py::test_a_copy_of_a_running_member_is_known_by_what_it_held",
    ),
    SeededBug(
        "log-08",
        "what is remembered of the other directories does not outlive a restart",
        "metadata/log/store.py",
        "LogStore._prove",
        "self._hard_state.prove(self._files.end, disks)",
        "self._hard_state.prove(self._files.end, ())",
        f"{_THREE}::test_a_directory_that_was_put_back_from_a_copy_ends_its_controller",
    ),
    SeededBug(
        "log-09",
        "a start is not counted: a copy and the directory are alike",
        "metadata/log/hard_state.py",
        "HardStateFile.open",
        "next_start(newest.start, random32)",
        "newest.start",
        f"{_LOG}/test_hard_state.py::test_what_was_written_last_is_read",
    ),
    SeededBug(
        "log-10",
        "what is not committed counts as held: who truncates it ends as an old copy",
        "metadata/raft/leading.py",
        "LeaderState._note_disks",
        "disks.kept(member.directory_id, min(known.match_index, log.commit_index))",
        "disks.kept(member.directory_id, known.match_index)",
        f"{_RAFT}/test_disks.py::test_what_is_truncated_was_not_held",
    ),
    SeededBug(
        "log-14",
        "an old copy that was refused is started again, and passes for a later start",
        "metadata/log/store.py",
        "LogStore._open",
        """
            self._lock = lock_directory(self._directory)
            refuse_old_copy(self._directory)
        """,
        "self._lock = lock_directory(self._directory)",
        f"{_THREE}::test_a_directory_that_was_put_back_from_a_copy_ends_its_controller",
    ),
    # Snapshots that others read
    SeededBug(
        "log-11",
        "a snapshot is removed under its reader",
        "metadata/log/served_snapshots.py",
        "ServedSnapshots.replaced",
        "[it for it in self._files if it != index]",
        "list(self._files)",
        f"{_LOG}/test_files.py::test_a_snapshot_that_is_being_read_outlives_the_next_one",
    ),
    SeededBug(
        "log-12",
        "the entries behind a snapshot are dropped while it is being read",
        "metadata/quorum/snapshots.py",
        "Snapshots.run",
        "self._store.is_snapshot_being_read and self._store.log_bytes < max_bytes",
        "False",
        "tests/unit/metadata/test_driver.py"
        "::test_a_reader_that_is_slower_than_the_log_grows_catches_up",
    ),
    SeededBug(
        "log-13",
        "readers hold snapshots up for ever, and the log grows without end",
        "metadata/quorum/snapshots.py",
        "Snapshots.run",
        "self._store.is_snapshot_being_read and self._store.log_bytes < max_bytes",
        "self._store.is_snapshot_being_read",
        "tests/unit/metadata/test_driver.py::test_readers_hold_no_snapshot_up_for_ever",
    ),
)
