"""Mistakes with the files of the metadata log, and with disks of the quorum that were put back."""

from tests.seeded.bug import SeededBug

_LOG = "tests/unit/metadata/log"

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
        "LogStore.persist",
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
)
