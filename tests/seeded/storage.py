"""Mistakes on the way from the WAL to the bucket, in its objects, and on the way back to readers."""

from tests.seeded.bug import SeededBug, Simulated

_UNIT = "tests/unit/storage"
_INVARIANTS = f"{_UNIT}/test_invariants.py"
_AUDIT = f"{_UNIT}/test_object_audit.py"
_HISTORIES = f"{_AUDIT}::test_the_bucket_holds_what_was_appended_in_every_history"
_OBJECTS = f"{_UNIT}/objects"
_COMMITS = "tests/unit/metadata/controller/test_object_commits.py"

_UPLOAD = (
    SeededBug(
        "storage-01",
        "the WAL is trimmed when a block is archived, not when it is committed",
        "storage/upload/pipeline.py",
        "UploadPipeline._start",
        """
            if self._commits is None or self._commits.done():
                self._commits = asyncio.create_task(self._commit_in_order())
                self._own(self._commits)
        """,
        """
            self._on_committed([], block.wal_end_offset)
            if self._commits is None or self._commits.done():
                self._commits = asyncio.create_task(self._commit_in_order())
                self._own(self._commits)
        """,
        f"{_INVARIANTS}::test_s3_no_trim_before_the_commit_is_known",
    ),
    SeededBug(
        "storage-02",
        "the WAL is trimmed to what is confirmed by now, not to the end of what is committed",
        "storage/engine.py",
        "StorageEngine._on_committed",
        "wal_end_offset - 1",
        "self._path.confirmed_wal_end - 1",
        _HISTORIES,
        simulated=Simulated("kills"),
    ),
    SeededBug(
        "storage-03",
        "acknowledged before it can be read",
        "storage/append_path.py",
        "AppendPath.on_confirmed",
        """
            for group in group_by_buffer(confirmed):
                self._cache.put(group, now_ms)
            self._confirmed_wal_end = confirmed[-1].wal_end_offset
            self._acknowledge(acknowledgement)
        """,
        """
            self._acknowledge(acknowledgement)
            for group in group_by_buffer(confirmed):
                self._cache.put(group, now_ms)
            self._confirmed_wal_end = confirmed[-1].wal_end_offset
        """,
        f"{_INVARIANTS}::test_s1_acknowledged_means_readable_at_once",
    ),
    SeededBug(
        "storage-04",
        "uploads are committed in the order in which they complete",
        "storage/upload/pipeline.py",
        "UploadPipeline._commit_in_order",
        "upload = self._inflight[0]",
        """
            while not any(it.task.done() for it in self._inflight):
                await asyncio.sleep(0)
            upload = next(it for it in self._inflight if it.task.done())
            self._inflight.remove(upload)
            self._inflight.appendleft(upload)
        """,
        f"{_INVARIANTS}::test_s4_commits_follow_the_wal",
    ),
    SeededBug(
        "storage-05",
        "a second commit under other ids of what may have been committed",
        "storage/upload/commit.py",
        "UploadCommitter.commit",
        "attempt = partial(self._objects.commit_stream_set_object, commit)",
        """
            prepared_ms = uploaded.prepared_ms


            async def attempt(commit: StreamSetCommit = commit) -> None:
                if self._uploads.may_have_expired(prepared_ms):
                    raise ObjectNotPreparedError
                await partial(self._objects.commit_stream_set_object, commit)()
        """,
        f"{_UNIT}/upload/test_commit.py"
        "::test_an_attempt_that_may_have_taken_effect_is_repeated_as_it_was_however_late",
    ),
    SeededBug(
        "storage-06",
        "an object's id is used after its preparation has expired",
        "storage/upload/object_upload.py",
        "ObjectUpload.may_have_expired",
        "2 * (self._clock_ms() - prepared_ms) > self._prepare_ttl_ms",
        "2 * (self._clock_ms() - prepared_ms) < 0",
        f"{_UNIT}/upload/test_object_upload.py::test_a_put_after_a_long_outage_uses_a_fresh_id",
    ),
    SeededBug(
        "storage-07",
        "an upload that is tried again sends nothing",
        "storage/upload/object_upload.py",
        "ObjectUpload._upload_object",
        "await self._store.put(key, tuple(written.parts))",
        """
            parts = [*written.parts]
            written.parts.clear()
            await self._store.put(key, tuple(parts))
        """,
        f"{_UNIT}/upload/test_object_upload.py"
        "::test_a_failed_put_is_repeated_under_the_same_id_and_with_the_same_bytes",
    ),
    SeededBug(
        "storage-08",
        "LogCache evicts what is archived, before it is committed",
        "storage/cache/log_cache.py",
        "LogCache.archive",
        "self._archived.append(block)",
        """
            self._archived.append(block)
            self._evictable.extend(block.groups)
            block.groups = []
        """,
        f"{_UNIT}/cache/test_log_cache.py::TestMemory::test_uncommitted_records_are_never_evicted",
    ),
    SeededBug(
        "storage-09",
        "appends between admission and confirmation are not counted: memory without a bound",
        "storage/open_appends.py",
        "OpenAppends.reserved_bytes",
        "return max_charge(self._payload_bytes, len(self._open))",
        "return 0",
        f"{_UNIT}/test_open_appends.py::test_reservations_follow_what_is_open",
    ),
)

_RECOVERY = (
    SeededBug(
        "storage-10",
        "recovery takes what lies behind a hole",
        "storage/recovery_plan.py",
        "RecoveryPlan._judge",
        """
            if batch.base_offset > progress.end_offset:
                return Verdict.DISCONTINUOUS
        """,
        """
            if batch.base_offset > progress.end_offset:
                return Verdict.TAKE
        """,
        f"{_UNIT}/test_recovery.py"
        "::test_what_follows_a_lost_unacknowledged_record_is_dropped_and_counted",
    ),
    SeededBug(
        "storage-11",
        "recovery takes what is committed already",
        "storage/recovery_plan.py",
        "RecoveryPlan._judge",
        "batch.end_offset <= progress.end_offset",
        "batch.end_offset < progress.end_offset",
        f"{_UNIT}/test_recovery.py::test_records_that_are_committed_already_are_dropped",
    ),
    SeededBug(
        "storage-12",
        "the WAL is emptied before all that it held is committed",
        "storage/engine.py",
        "StorageEngine.start",
        """
            report = await drain.run(self._cache.put_committed)
            await self._wal.reset()
        """,
        """
            await self._wal.reset()
            report = await drain.run(self._cache.put_committed)
        """,
        f"{_UNIT}/test_recovery.py::test_the_wal_is_reset_only_after_the_last_commit",
        simulated=Simulated("kills"),
    ),
    SeededBug(
        "storage-13",
        "recovery commits under the epoch of the records, not of the opening",
        "storage/drain.py",
        "WalDrain._bring",
        "plan_upload(segment.streams, segment.sizes_bytes, self._stream_split_bytes, epochs)",
        "plan_upload(segment.streams, segment.sizes_bytes, self._stream_split_bytes)",
        f"{_UNIT}/test_recovery.py::test_ranges_are_committed_under_the_epoch_of_the_opening",
    ),
)

_FORMAT = (
    SeededBug(
        "storage-14",
        "the checksum of a block is not checked",
        "storage/objects/data_block.py",
        "verify_block",
        """
            if actual != expected:
                raise CorruptObjectError("...")
        """,
        """
            if actual < 0:
                raise CorruptObjectError("...")
        """,
        f"{_OBJECTS}/test_reader.py::test_every_flipped_bit_is_detected",
    ),
    SeededBug(
        "storage-15",
        "the checksum of the index is not checked",
        "storage/objects/reader.py",
        "decode_index",
        "crc32c(view) != footer.index_crc",
        "crc32c(view) < 0",
        f"{_OBJECTS}/test_reader.py::test_every_flipped_bit_is_detected",
    ),
    SeededBug(
        "storage-16",
        "the checksum of the footer is not checked",
        "storage/objects/footer.py",
        "decode_footer",
        "crc32c(view[: _BODY.size]) != footer_crc",
        "crc32c(view[: _BODY.size]) < 0",
        f"{_OBJECTS}/test_footer.py::test_every_flipped_bit_is_detected",
    ),
    SeededBug(
        "storage-17",
        "a span of offsets that overflows its field is cut to the field's width",
        "storage/objects/index_block.py",
        "encode_entry",
        """
            if not 1 <= delta <= MAX_END_OFFSET_DELTA or entry.start_offset < 0:
                raise ValueError("...")
        """,
        """
            delta &= MAX_END_OFFSET_DELTA
            if delta < 1 or entry.start_offset < 0:
                raise ValueError("...")
        """,
        f"{_OBJECTS}/test_index_block.py::test_what_does_not_fit_is_not_encoded",
    ),
    SeededBug(
        "storage-18",
        "the writer goes on with a block whose span of offsets overflows",
        "storage/objects/writer.py",
        "ObjectWriter._make_room",
        """
            (
                BLOCK_HEADER_BYTES + self._data_bytes + size > self._max_block_bytes
                or end - self._block_start > MAX_END_OFFSET_DELTA
            )
        """,
        "BLOCK_HEADER_BYTES + self._data_bytes + size > self._max_block_bytes",
        f"{_OBJECTS}/test_writer.py::test_a_span_of_offsets_that_does_not_fit_starts_a_new_block",
    ),
    SeededBug(
        "storage-19",
        "a range is looked for from the first block that begins in it",
        "storage/objects/index_block.py",
        "ObjectIndex.find",
        "ordinal = max(ordinal - 1, 0)",
        "",
        f"{_OBJECTS}/test_index_block.py::test_find_agrees_with_a_scan",
    ),
)

_READS = (
    SeededBug(
        "storage-20",
        "a cached block is served for another object: the key lacks the object's id",
        "storage/cache/data_blocks.py",
        "DataBlockCache.load",
        """
            block = self._blocks.get((object_id, entry.position))
            if block is None:
                missing.append(entry)
            else:
                self._touch(block)
                found[entry.position] = block
        """,
        """
            at_position = [it for it in self._blocks if it[1] == entry.position]
            block = self._blocks[at_position[0]] if at_position else None
            if block is None:
                missing.append(entry)
            else:
                self._touch(block)
                found[entry.position] = block
        """,
        f"{_AUDIT}::test_blocks_of_two_objects_are_told_apart",
    ),
    SeededBug(
        "storage-21",
        "ids of streams are given again: a cache serves a deleted topic's records under a new topic id",
        "metadata/controller/topics.py",
        "_TopicsCreation.__init__",
        """
            self._next_stream_id = image.next_stream_id
            self._partitions_left = MAX_PARTITIONS_PER_REQUEST
        """,
        """
            self._next_stream_id = max(image.streams, default=-1) + 1
            self._partitions_left = MAX_PARTITIONS_PER_REQUEST
        """,
        f"{_AUDIT}::test_nothing_of_a_deleted_topic_is_served_under_its_name",
    ),
    SeededBug(
        "storage-22",
        "a partition of a deleted topic is served under the id of its successor",
        "broker/partition/registry.py",
        "PartitionRegistry.find_by_id",
        "partition = self.get((topic_id, index))",
        "partition = next((it for it in self.all() if it.index == index), None)",
        "tests/unit/broker/partition/test_registry.py::test_what_is_not_open_says_why",
    ),
    SeededBug(
        "storage-23",
        "a reader that meets a 404 does not plan again",
        "storage/cache/block_cache.py",
        "BlockCache.read",
        "replan == MAX_REPLANS",
        "replan >= 0",
        f"{_UNIT}/cache/test_block_cache.py::TestObjectsThatGo::test_it_is_read_from_where_it_went",
    ),
    SeededBug(
        "storage-24",
        "offsets that are not there are skipped",
        "storage/stream.py",
        "_require_contiguous",
        "batch.base_offset == expected",
        "batch.base_offset >= expected",
        f"{_UNIT}/test_stream.py::TestFetch::test_what_does_not_fit_together_is_never_served",
    ),
    SeededBug(
        "storage-25",
        "a reader that gives up keeps its share of the read budget",
        "storage/request_budget.py",
        "RequestBudget._acquire",
        """
            if not waiter.cancelled():
                self.release(charge)
            elif (waiter, charge) in self._waiters:
                self._waiters.remove((waiter, charge))
                self._wake()
        """,
        """
            if not waiter.cancelled():
                pass
            elif (waiter, charge) in self._waiters:
                self._waiters.remove((waiter, charge))
                self._wake()
        """,
        f"{_UNIT}/test_request_budget.py::test_a_waiter_that_gives_up_leaks_nothing",
    ),
    SeededBug(
        "storage-26",
        "a stream serves what it has not acknowledged",
        "storage/stream.py",
        "Stream.fetch_cached",
        "self._cache.get(self.stream_id, start, confirm_offset, max_bytes)",
        "self._cache.get(self.stream_id, start, 2**63, max_bytes)",
        f"{_INVARIANTS}::test_s1_acknowledged_means_readable_at_once",
    ),
)

_COMPACTION = (
    SeededBug(
        "storage-27",
        "compaction drops what it hands over before the last block",
        "storage/compaction/rewrite.py",
        "Rewriter._chunks",
        """
            if output.pending_bytes >= CHUNK_BYTES:
                yield output.drain()
        """,
        """
            if output.pending_bytes >= CHUNK_BYTES:
                output.drain()
                yield ()
        """,
        f"{_UNIT}/compaction/test_rewrite.py::test_output_is_handed_over_in_pieces",
    ),
    SeededBug(
        "storage-28",
        "a copy within the bucket lacks each source's last block",
        "storage/compaction/copy.py",
        "_shifted",
        "CopiedRange(source.key, first.position, last.position + last.size)",
        "CopiedRange(source.key, first.position, last.position)",
        f"{_UNIT}/compaction/test_copy.py::test_it_is_what_a_writer_would_have_made_of_the_same_blocks",
    ),
    SeededBug(
        "storage-29",
        "offsets that are in two sources are written twice",
        "storage/compaction/plan.py",
        "_runs",
        "piece.range.start_offset < end",
        "piece.range.start_offset < 0",
        f"{_UNIT}/compaction/test_plan.py::TestRuns::test_offsets_in_two_sources_are_refused",
    ),
    SeededBug(
        "storage-30",
        "compaction commits an output without looking what is in it",
        "storage/compaction/rewrite.py",
        "_Output.finish",
        """
            (
                found.stream_id != planned.stream_id
                or found.start_offset > planned.start_offset
                or found.end_offset != planned.end_offset
            )
        """,
        "(found.stream_id != planned.stream_id or found.start_offset > planned.start_offset)",
        f"{_UNIT}/compaction/test_rewrite.py"
        "::test_an_output_that_is_not_what_was_planned_is_refused",
    ),
    SeededBug(
        "storage-31",
        "a damaged block is copied into the new object",
        "storage/compaction/source.py",
        "_verified",
        "verify_block(content)",
        "entry.record_count, content[14:]",
        f"{_UNIT}/compaction/test_source.py::test_damage_names_the_object",
    ),
)

_COMMITS_AND_DELETION = (
    SeededBug(
        "storage-32",
        "the id of an object that was forgotten is given again",
        "metadata/controller/objects.py",
        "prepare_objects",
        "image.objects.next_object_id",
        "max(image.objects.by_id, default=-1) + 1",
        "tests/unit/metadata/controller/test_objects.py::test_prepared_ids_are_consecutive_and_never_given_again",
    ),
    SeededBug(
        "storage-33",
        "a commit that is repeated is refused",
        "metadata/controller/object_commits.py",
        "commit_stream_set_object",
        """
            if _took_effect(outputs, request.compacted_object_ids, image):
                return Decision((), Done())
            if not request.compacted_object_ids and _upload_took_effect(outputs, writer, image):
                return Decision((), Done())
        """,
        "",
        f"{_COMMITS}::test_repeating_a_commit_succeeds_and_changes_nothing",
    ),
    SeededBug(
        "storage-34",
        "offsets are committed twice",
        "metadata/controller/object_commits.py",
        "_require_continuity",
        "piece.start_offset != end",
        "piece.start_offset > end",
        f"{_COMMITS}::test_a_range_must_start_where_its_stream_ends",
    ),
    SeededBug(
        "storage-35",
        "an upload under an old epoch of its stream is committed",
        "metadata/controller/object_commits.py",
        "_require_continuity",
        """
            require_writer(stream, writer, piece.epoch)
            end = ends.get(piece.stream_id, stream.end_offset)
        """,
        """
            require_writer(stream, writer, stream.epoch)
            end = ends.get(piece.stream_id, stream.end_offset)
        """,
        f"{_COMMITS}::test_a_range_must_carry_the_epoch_of_its_stream",
    ),
    SeededBug(
        "storage-36",
        "a compaction that loses a stream is committed",
        "metadata/controller/coverage.py",
        "LiveOffsets.require_same",
        "held.keys() | offered.keys()",
        "offered.keys()",
        f"{_COMMITS}::test_a_swap_that_loses_repeats_or_adds_offsets_is_refused",
    ),
    SeededBug(
        "storage-37",
        "objects are deleted at once: a reader's plan points to nothing",
        "broker/adapters/deletable_objects.py",
        "DeletableObjects._over",
        "destroyed_ms + self._retention_ms",
        "destroyed_ms",
        "tests/unit/broker/adapters/test_storage_metadata.py"
        "::test_objects_are_deleted_when_their_retention_has_passed",
    ),
    SeededBug(
        "storage-38",
        "what the bucket did not delete is forgotten: it leaks",
        "storage/deletion.py",
        "ObjectDeleter._delete",
        "[it for it in object_ids if it not in left]",
        "[*object_ids]",
        f"{_UNIT}/test_deletion.py::test_what_the_bucket_keeps_holds_up_nothing_else",
    ),
    SeededBug(
        "storage-39",
        "the sweep ends an upload that goes on",
        "storage/sweep/rules.py",
        "is_abandoned",
        "entry.state != KnownState.PREPARED",
        "entry.state != KnownState.COMMITTED",
        f"{_UNIT}/sweep/test_rules.py::test_uploads_whose_object_nobody_can_commit",
    ),
    SeededBug(
        "storage-40",
        "the sweep deletes an object that is about to be committed",
        "storage/audit/comparison.py",
        "_judge",
        """
            match entry:
                case None:
                    return finding(Problem.UNKNOWN, "...")
                case KnownObject(state=KnownState.COMMITTED) if entry.size_bytes != one.size_bytes:
                    return finding(Problem.WRONG_SIZE, "...")
                case KnownObject(state=KnownState.PREPARED) if entry.since_ms <= now_ms:
                    return finding(Problem.EXPIRED, "...")
                case KnownObject(state=KnownState.DESTROYED) if (
                    entry.since_ms + overdue_ms <= now_ms
                ):
                    return finding(Problem.OVERDUE, "...")
        """,
        """
            match entry:
                case None:
                    return finding(Problem.UNKNOWN, "...")
                case KnownObject(state=KnownState.COMMITTED) if entry.size_bytes != one.size_bytes:
                    return finding(Problem.WRONG_SIZE, "...")
                case KnownObject(state=KnownState.PREPARED):
                    return finding(Problem.UNKNOWN, "...")
                case KnownObject(state=KnownState.DESTROYED) if (
                    entry.since_ms + overdue_ms <= now_ms
                ):
                    return finding(Problem.OVERDUE, "...")
        """,
        f"{_UNIT}/sweep/test_rules.py::test_what_was_forgotten_goes_and_nothing_else",
    ),
    SeededBug(
        "storage-41",
        "a completion whose answer was lost is taken for a failure",
        "storage/object_store/s3_multipart.py",
        "S3Multipart._settle",
        "found == size_bytes and (failure is None or await self._ends_with(key, found, written.tail))",
        """
            found == size_bytes and failure is None and (
                True or await self._ends_with(key, found, written.tail)
            )
        """,
        f"{_UNIT}/object_store/test_s3_multipart.py"
        "::test_a_completion_whose_answer_was_lost_counts_if_the_object_is_there",
    ),
    SeededBug(
        "storage-42",
        "an answer that is no page of a list is taken for its end",
        "storage/object_store/s3_listing.py",
        "_page",
        'not isinstance(answer.get("IsTruncated"), bool)',
        'answer.setdefault("IsTruncated", False) is None',
        "tests/integration/test_s3_lists.py::test_what_is_no_page_of_a_list_makes_no_shorter_list",
    ),
    SeededBug(
        "storage-43",
        "a large object whose PUT broke off is sent whole again",
        "storage/object_store/s3.py",
        "S3ObjectStore._put_large",
        "key in self._broken_off",
        "False and key in self._broken_off",
        "tests/integration/test_s3_uploads.py"
        "::test_what_was_broken_off_is_sent_in_small_parts_of_which_one_is_repeated",
    ),
    SeededBug(
        "storage-44",
        "a commit whose objects are forgotten is taken for one that never was",
        "metadata/controller/object_commits.py",
        "commit_stream_set_object",
        "not request.compacted_object_ids",
        "not outputs",
        f"{_UNIT}/test_lost_answers.py"
        "::test_the_commit_is_recognised_although_its_objects_are_forgotten",
    ),
    SeededBug(
        "storage-45",
        "a cold read that outlasts its Fetch begins anew for the next one",
        "broker/fetch/cold_reads.py",
        "ColdReads._detach",
        """
            self._left[place] = read
            self._bound()
        """,
        "self._forget(place, read)",
        "tests/unit/broker/api/test_fetch.py"
        "::test_a_read_that_takes_longer_than_its_fetch_goes_on_for_the_next",
    ),
    SeededBug(
        "storage-46",
        "an object that lacks a range holds up compaction for ever",
        "storage/compaction/executor.py",
        "Compactor._blaming",
        """
            try:
                yield
            except LackingSourceError as error:
                raise DamagedSourceError(object_ids[error.source], error) from error
            except (RewriteError, ValueError) as error:
                self._damaged.update(object_ids)
                raise DamagedSourceError(object_ids[0], error) from error
        """,
        """
            try:
                yield
            except (RewriteError, ValueError) as error:
                self._damaged.update(object_ids)
                raise DamagedSourceError(object_ids[0], error) from error
        """,
        f"{_UNIT}/compaction/test_rounds.py::TestAnIndexThatLacksARange::test_it_alone_is_left_out",
    ),
)

_PARTITION = "tests/unit/broker/partition/test_retention.py"
_RETENTION = (
    SeededBug(
        "storage-47",
        "records are deleted before a checkpoint keeps what they tell",
        "broker/partition/checkpoint_log.py",
        "CheckpointLog.cover",
        "self._durable_offset >= offset or await self.write_durably()",
        "True",
        f"{_PARTITION}::TestDeleteBefore::test_producers_of_deleted_records_are_known_after_a_crash",
    ),
    SeededBug(
        "storage-48",
        "retention deletes what was due before its topic was told to keep it",
        "broker/partition/retention.py",
        "Retention._delete",
        "(start := self._due(partition))",
        "(start := partition.writes.committed_offset)",
        f"{_PARTITION}::test_what_is_due_goes_by_the_configuration_at_its_turn",
    ),
    SeededBug(
        "storage-49",
        "a segment of the time index that is joined with its neighbour forgets its newest record",
        "broker/partition/time_index.py",
        "TimeIndex._join_segments",
        "second._replace(max_ms=first.max_ms, max_offset=first.max_offset)",
        "second",
        "tests/unit/broker/partition/test_time_index.py::test_each_step_knows_its_newest_batch",
    ),
)

_GIVEN_UP = (
    SeededBug(
        "storage-50",
        "an upload empties the list that an attempt was handed",
        "storage/upload/object_upload.py",
        "ObjectUpload._upload_object",
        "await self._store.put(key, tuple(written.parts))",
        "await self._store.put(key, written.parts)",
        f"{_UNIT}/upload/test_object_upload.py"
        "::test_an_attempt_that_was_given_up_keeps_what_it_was_handed",
    ),
    SeededBug(
        "storage-51",
        "a file is published over what is there",
        "storage/object_store/filesystem.py",
        "_link",
        """
            try:
                path.hardlink_to(temporary)
            except FileExistsError:
                pass
            except OSError as error:
                if error.errno not in _WITHOUT_LINKS:
                    raise
                if not path.exists():
                    temporary.rename(path)
                    return
            else:
                return
        """,
        """
            try:
                temporary.replace(path)
            except FileExistsError:
                pass
            except OSError as error:
                if error.errno not in _WITHOUT_LINKS:
                    raise
                if not path.exists():
                    temporary.rename(path)
                    return
            else:
                return
        """,
        f"{_UNIT}/object_store/test_attempts_given_up.py::test_whatever_call_it_hung_in[small]",
    ),
    SeededBug(
        "storage-52",
        "an exception behind the confirmation leaves the engine going",
        "storage/append_path.py",
        "AppendPath.on_confirmed",
        "self._fail(failure, acknowledgement.left())",
        "del failure",
        f"{_UNIT}/test_append_path.py"
        "::test_an_exception_behind_the_confirmation_fails_the_engine[cache]",
    ),
    SeededBug(
        "storage-53",
        "a confirm offset jumps over what was never acknowledged",
        "storage/append_path.py",
        "AppendPath._acknowledge",
        "target.confirm_offset != batch.base_offset",
        "False",
        f"{_UNIT}/test_append_path.py::test_a_confirm_offset_never_jumps",
    ),
)

BUGS = (
    *_UPLOAD,
    *_RECOVERY,
    *_FORMAT,
    *_READS,
    *_COMPACTION,
    *_COMMITS_AND_DELETION,
    *_RETENTION,
    *_GIVEN_UP,
)
