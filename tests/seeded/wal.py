"""Mistakes in the write-ahead log."""

from tests.seeded.bug import SeededBug

_CRASHES = "tests/property/test_wal_crash.py::test_what_was_acknowledged_survives_every_crash"
_DAMAGE = "tests/property/test_wal_crash.py::test_damage_is_harmless_or_refused"
_UNIT = "tests/unit/wal"

BUGS = (
    SeededBug(
        "wal-01",
        "acknowledged before the write is done",
        "wal/ring/ring_writer.py",
        "RingWriter._pump",
        "self._submissions.write(position, block.memory, partial(self._on_written, block))",
        """
            self._submissions.write(position, block.memory, lambda error: None)
            self._call_soon(self._on_written, block, None)
        """,
        _CRASHES,
    ),
    SeededBug(
        "wal-02",
        "acknowledged out of order, over a hole",
        "wal/ring/group_commit.py",
        "GroupCommit.completed",
        "writing[0].written",
        "any(each.written for each in writing)",
        _CRASHES,
    ),
    SeededBug(
        "wal-03",
        "written without O_DSYNC: durable only in the disk's volatile cache",
        "wal/device/file_device.py",
        "_open_descriptor",
        "os.O_RDWR | os.O_DSYNC",
        "os.O_RDWR",
        "tests/integration/test_wal_power_cut.py::test_what_was_acknowledged_survives_a_power_cut[loop-aio-uvloop]",
        in_process=False,
    ),
    SeededBug(
        "wal-04",
        "superblock chosen by the wall clock",
        "wal/layout.py",
        "newest_superblock",
        "lambda superblock: superblock.sequence",
        "lambda superblock: superblock.last_write_ms",
        f"{_UNIT}/test_layout.py::test_the_highest_sequence_wins_and_never_the_clock",
    ),
    SeededBug(
        "wal-05",
        "the older superblock chosen",
        "wal/layout.py",
        "newest_superblock",
        "lambda superblock: superblock.sequence",
        "lambda superblock: -superblock.sequence",
        _CRASHES,
    ),
    SeededBug(
        "wal-06",
        "both superblocks written to one slot",
        "wal/layout.py",
        "Superblock.slot_position",
        "(self.sequence % SUPERBLOCK_SLOTS) * PAGE_BYTES",
        "0",
        "tests/property/test_wal_crash.py::test_lost_superblocks",
    ),
    SeededBug(
        "wal-07",
        "ring reused before the trim is durable",
        "wal/ring/group_commit.py",
        "GroupCommit.trim",
        "return self._extents.release(offset)",
        """
            self._durable_head = self._extents.release(offset)
            return self._durable_head
        """,
        _CRASHES,
    ),
    SeededBug(
        "wal-08",
        "trimmed too far: a block goes with its first record",
        "wal/ring/live_extents.py",
        "LiveExtents.release",
        "extents[0].last_record_offset",
        "extents[0].start",
        _CRASHES,
    ),
    SeededBug(
        "wal-09",
        "a released record comes back",
        "wal/ring/recovery.py",
        "Scan._read_block",
        "offset > trim_offset",
        "offset >= trim_offset",
        f"{_UNIT}/test_recovery.py::test_released_records_are_skipped",
    ),
    SeededBug(
        "wal-10",
        "a block of an earlier lap accepted at its place: no check of the logical offset",
        "wal/ring/recovery.py",
        "Scan.feed",
        "page = classify(header, self._at, self._superblock)",
        """
            header = header and header._replace(offset=self._at)
            page = classify(header, self._at, self._superblock)
        """,
        _CRASHES,
    ),
    SeededBug(
        "wal-11",
        "no checksum of the body",
        "wal/ring/recovery.py",
        "Scan._read_block",
        "not body_is_intact(body, record.body_crc, seed)",
        "body_is_intact(body, record.body_crc, seed) is None",
        _CRASHES,
    ),
    SeededBug(
        "wal-12",
        "the scan ends at the first page that is no block",
        "wal/ring/recovery.py",
        "CASES",
        'Case("search", _OTHER, Is.ANY, Is.ANY, Is.YES, Is.ANY, Verdict.PROBE)',
        'Case("search", _OTHER, Is.ANY, Is.ANY, Is.YES, Is.ANY, Verdict.STOP)',
        _CRASHES,
    ),
    SeededBug(
        "wal-13",
        "the scan ends a page behind the first gap, though the window is wider",
        "wal/ring/recovery.py",
        "Scan._scan_end",
        "self._gap_start() + window_bytes + proof_bytes",
        "self._gap_start() + PAGE_BYTES",
        _CRASHES,
    ),
    SeededBug(
        "wal-14",
        "the hole at the end of a lap not skipped: taken for a loss",
        "wal/ring/recovery.py",
        "Scan._apply",
        """
            if header.previous_end != self._expected:
                lost_from = self._gap_start()
        """,
        """
            if header.offset != self._expected:
                lost_from = self._gap_start()
        """,
        _CRASHES,
    ),
    SeededBug(
        "wal-15",
        "window used before it is durable",
        "wal/ring/group_commit.py",
        "GroupCommit._may_go",
        """
            self.window_wanted_bytes = max(self.window_wanted_bytes, wanted)
            return False
        """,
        "self.window_wanted_bytes = max(self.window_wanted_bytes, wanted)",
        _CRASHES,
    ),
    SeededBug(
        "wal-16",
        "generation id not renewed by a reset",
        "wal/ring/generations.py",
        "Generations.after",
        "require(fresh.generation_id != old.generation_id)",
        'object.__setattr__(fresh, "generation_id", old.generation_id)',
        "tests/property/test_wal_crash.py::test_every_reset_and_resize_begins_another_life",
    ),
    SeededBug(
        "wal-17",
        "offsets handed out again after a reset",
        "wal/ring/generations.py",
        "Generations.after",
        "old.head_offset + 2 * old.ring.size_bytes",
        "old.head_offset",
        _CRASHES,
    ),
    SeededBug(
        "wal-18",
        "a reset renews one superblock only",
        "wal/ring/superblock_store.py",
        "SuperblockStore.write_both",
        "(superblock, last)",
        "(last,)",
        _DAMAGE,
    ),
    SeededBug(
        "wal-19",
        "blocks do not tell what was confirmed: corruption passes for a torn tail",
        "wal/ring/group_commit.py",
        "GroupCommit.next_write",
        """
            block.stamp(
                generation_id=self._generation_id,
                confirmed_offset=self.confirmed_offset,
                superblock_sequence=self._superblock_sequence,
            )
        """,
        """
            block.stamp(
                generation_id=self._generation_id,
                confirmed_offset=0,
                superblock_sequence=self._superblock_sequence,
            )
        """,
        _DAMAGE,
    ),
    SeededBug(
        "wal-20",
        "blocks tell of more than was confirmed: a crash passes for corruption",
        "wal/ring/group_commit.py",
        "GroupCommit.next_write",
        """
            block.stamp(
                generation_id=self._generation_id,
                confirmed_offset=self.confirmed_offset,
                superblock_sequence=self._superblock_sequence,
            )
        """,
        """
            block.stamp(
                generation_id=self._generation_id,
                confirmed_offset=block.previous_end,
                superblock_sequence=self._superblock_sequence,
            )
        """,
        _CRASHES,
    ),
    SeededBug(
        "wal-21",
        "an IO error ignored",
        "wal/ring/ring_writer.py",
        "RingWriter._is_over",
        "error is not None",
        "isinstance(error, TimeoutError)",
        _CRASHES,
    ),
    SeededBug(
        "wal-22",
        "a failed write tried again",
        "wal/ring/ring_writer.py",
        "RingWriter._on_written",
        """
            if self._is_over(error):
                return
            commit = self.commit
            moved = commit.completed(block)
        """,
        """
            if error is not None and self.failure is None:
                position = self._ring.position(block.offset)
                self._submissions.write(position, block.memory, partial(self._on_written, block))
                return
            if self._is_over(error):
                return
            commit = self.commit
            moved = commit.completed(block)
        """,
        f"{_UNIT}/test_log.py::test_after_the_first_error_nothing_is_confirmed",
    ),
    SeededBug(
        "wal-23",
        "a short write taken for a whole one",
        "wal/device/thread_device.py",
        "ThreadDevice._write",
        "written != len(data)",
        "written > len(data)",
        f"{_UNIT}/test_devices.py::test_a_short_write_is_an_error",
    ),
    SeededBug(
        "wal-24",
        "a buffer reused before its write is done",
        "wal/ring/group_commit.py",
        "GroupCommit._seal",
        "self._arena_at += size_bytes",
        "self._arena_at += 0",
        _CRASHES,
    ),
    SeededBug(
        "wal-25",
        "every shutdown called graceful",
        "wal/ring/ring_writer.py",
        "RingWriter.drain",
        "ShutdownType.UNGRACEFUL if commit.used_bytes else ShutdownType.GRACEFUL",
        "ShutdownType.GRACEFUL",
        _CRASHES,
    ),
    SeededBug(
        "wal-26",
        "a resize cuts the file off before the superblock says so",
        "wal/ring/resizer.py",
        "Resizer._switch",
        """
            try:
                fresh = await self._store.write_both(self._generations.after(old, capacity_bytes))
            except OSError as error:
                raise writer.fail(error) from error
        """,
        """
            self._size.shrink(capacity_bytes)
            try:
                fresh = await self._store.write_both(self._generations.after(old, capacity_bytes))
            except OSError as error:
                raise writer.fail(error) from error
        """,
        _CRASHES,
    ),
    SeededBug(
        "wal-27",
        "a resize switches a ring that is not empty",
        "wal/ring/resizer.py",
        "Resizer._switch",
        """
            if writer.commit.used_bytes:
                msg = "..."
                raise WalStateError(msg)
        """,
        """
            if writer.commit.used_bytes > self._device.size_bytes:
                msg = "..."
                raise WalStateError(msg)
        """,
        f"{_UNIT}/test_resize.py::test_a_ring_that_is_not_empty_is_not_switched",
    ),
    SeededBug(
        "wal-28",
        "zeros written over records",
        "wal/ring/group_commit.py",
        "GroupCommit._may_go",
        "self.barrier_offset is None or end <= self.barrier_offset",
        "True",
        f"{_UNIT}/test_group_commit.py::test_a_barrier_holds_back_what_would_cross_it",
    ),
    SeededBug(
        "wal-29",
        "a second writer let in",
        "wal/device/file_device.py",
        "_lock",
        "fcntl.LOCK_EX | fcntl.LOCK_NB",
        "fcntl.LOCK_SH | fcntl.LOCK_NB",
        f"{_UNIT}/test_file_device.py::test_the_lock_is_held_until_closing",
    ),
    SeededBug(
        "wal-30",
        "a device called blank by its first pages alone",
        "wal/ring/content.py",
        "examine",
        "_is_zero(head) and _is_zero(tail)",
        "_is_zero(head[: 3 * PAGE_BYTES])",
        f"{_UNIT}/test_content.py::test_a_single_byte_at_either_end_is_not_blank",
    ),
    SeededBug(
        "wal-31",
        "an older superblock believed, though a block tells of a newer one",
        "wal/ring/recovery.py",
        "classify",
        "header.superblock_sequence > superblock.sequence",
        "header.superblock_sequence < 0",
        f"{_UNIT}/test_recovery.py::test_a_block_that_tells_of_a_newer_superblock_is_refused",
    ),
    SeededBug(
        "wal-32",
        "what a misdirected block tells ignored",
        "wal/ring/recovery.py",
        "Scan._read_block",
        "self._absorb_misdirected(memory)",
        "pass",
        f"{_UNIT}/test_recovery.py::test_a_block_that_went_into_another_tells_what_it_has_damaged",
    ),
    SeededBug(
        "wal-33",
        "what a misdirected superblock tells ignored",
        "wal/ring/recovery.py",
        "Scan._absorb_superblock",
        "memory[: len(MAGIC)] != MAGIC",
        "memory",
        f"{_UNIT}/test_recovery.py::test_a_superblock_that_went_into_the_ring_is_known_to_be_lost",
    ),
    SeededBug(
        "wal-34",
        "the log of another node opened",
        "wal/ring/superblock_store.py",
        "check_identity",
        "found != (owner.cluster_id, owner.node_id)",
        "found[0] != owner.cluster_id",
        f"{_UNIT}/test_log.py::test_the_log_of_somebody_else_is_refused",
    ),
    SeededBug(
        "wal-35",
        "a timer that fired counts as set: what has gathered meanwhile waits for a completion, however late",
        "wal/ring/ring_writer.py",
        "RingWriter._wake",
        "self._wake_at_ns = None",
        "",
        "tests/unit/wal/test_log_pace.py::test_the_pace_moves_on_with_each_write_and_its_timer_is_rarely_set",
    ),
    SeededBug(
        "wal-36",
        "a file system whose partition table is gone not looked for",
        "wal/ring/superblock_store.py",
        "_examine",
        "zip(ranges, memories, strict=True)",
        "zip(ranges[:0], memories[:0], strict=True)",
        "tests/integration/test_wal_devices.py"
        "::test_a_file_system_in_a_partition_is_found_though_the_table_is_gone",
    ),
    SeededBug(
        "wal-37",
        "nobody asks whether this is the log that the node used last",
        "wal/ring/log.py",
        "_check_owner",
        "registry.require(path, None if found is None else found.node_epoch)",
        "registry.require",
        "tests/contracts/test_wal_contract.py::test_a_log_that_is_not_the_right_one_is_left_as_it_is",
    ),
    SeededBug(
        "wal-38",
        "a log that was shut down with records in it is not missed any more",
        "wal/ring/log.py",
        "DeltaWal.shutdown",
        "not self._writer.commit.used_bytes",
        "self._writer.commit.used_bytes >= 0",
        "tests/contracts/test_wal_contract.py"
        "::test_a_registry_hears_of_a_log_from_before_the_first_append_until_it_is_empty",
    ),
    # Old copies
    SeededBug(
        "wal-39",
        "a commit does not tell how far the WAL is uploaded: an old copy of it is not known",
        "storage/upload/pipeline.py",
        "UploadPipeline._start",
        """
            plan = plan_upload(
                block.streams,
                block.sizes_bytes,
                self._stream_split_bytes,
                wal_end_offset=block.wal_end_offset,
            )
        """,
        "plan = plan_upload(block.streams, block.sizes_bytes, self._stream_split_bytes)",
        "tests/unit/storage/upload/test_pipeline.py"
        "::test_each_commit_tells_the_wal_offset_below_which_everything_is_uploaded",
    ),
    SeededBug(
        "wal-41",
        "nobody asks whether the log that was read is an old copy",
        "wal/ring/log.py",
        "DeltaWal.recover",
        """
            self._registry.require_end(
                self.device.path,
                LogEnd(
                    self.superblock.node_epoch,
                    self.superblock.generation_id,
                    scan.summary.known_offset,
                ),
            )
        """,
        "pass",
        "tests/contracts/test_wal_contract.py::test_an_old_copy_is_left_as_it_is",
    ),
    SeededBug(
        "wal-42",
        "a log ends where the superblock says: after a kill a good one is taken for an old copy",
        "wal/ring/recovery.py",
        "ScanSummary.known_offset",
        "max(self.confirmed_offset, self.end_offset)",
        "self.confirmed_offset",
        "tests/property/test_wal_crash.py::test_what_was_acknowledged_survives_every_crash",
    ),
    SeededBug(
        "wal-43",
        "a log of a later start is measured by what an earlier one has uploaded",
        "broker/adapters/wal_registry.py",
        "require_whole_wal",
        "log is None or end.node_epoch != log.epoch or end.offset >= log.uploaded_offset",
        "log is None or end.offset >= log.uploaded_offset",
        "tests/unit/broker/adapters/test_wal_registry.py"
        "::test_only_the_registration_that_uploaded_is_measured_by_it",
    ),
    SeededBug(
        "wal-44",
        "the commits of a recovery tell an offset, in the name of a registration that wrote nothing yet",
        "storage/drain.py",
        "WalDrain._bring",
        "plan_upload(segment.streams, segment.sizes_bytes, self._stream_split_bytes, epochs)",
        "plan_upload(segment.streams, segment.sizes_bytes, self._stream_split_bytes, epochs, 1)",
        "tests/unit/storage/test_recovery.py::test_the_commits_of_a_recovery_tell_no_wal_offset",
    ),
    SeededBug(
        "wal-45",
        "a single record waits for the kernel's workers, as larger writes do",
        "wal/device/sized_device.py",
        "SizedDevice.write",
        "len(data) <= SMALL_BYTES",
        "len(data) < 0",
        f"{_UNIT}/test_sized_device.py::test_the_size_of_a_write_chooses_and_all_of_them_are_there",
    ),
    SeededBug(
        "wal-46",
        "a start without threads for the WAL keeps its lock for as long as the process lives",
        "wal/device/open_device.py",
        "_sized",
        "other.close()",
        "pass",
        f"{_UNIT}/test_sized_device.py::test_without_threads_aio_alone_does_it_and_nothing_stays[threads]",
    ),
)
