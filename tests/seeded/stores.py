"""Mistakes with what is written once, tried again, deleted late, and told when it fails."""

import errno

from tests.seeded.bug import SeededBug

_UNIT = "tests/unit/storage"
_ADAPTERS = "tests/unit/broker/adapters"
_GIVEN_UP = "tests/contracts/test_attempts_given_up.py"

BUGS = (
    SeededBug(
        "stores-01",
        "a request that makes an object writes over what is there",
        "storage/object_store/s3_conditions.py",
        "Conditions.publish",
        """
        if self.are_known:
            try:
                return await send(IF_ABSENT)
            except StorageError as error:
                if _status_of(error) != _NOT_IMPLEMENTED:
                    raise
                self.are_known = False
                logger.info(
                    "the bucket does not know If-None-Match: a PUT that comes late replaces an object "
                    "by the same bytes",
                    extra={"reason": str(error)},
                )
        """,
        "",
        f"{_GIVEN_UP}::test_whatever_request_it_hung_in[parts-known]",
    ),
    SeededBug(
        "stores-02",
        "an upload is completed over what is there",
        "storage/object_store/s3_multipart.py",
        "S3Multipart._complete",
        "await self._conditions.publish(complete)",
        "await complete({})",
        f"{_GIVEN_UP}::test_whatever_request_it_hung_in[parts-known]",
    ),
    SeededBug(
        "stores-03",
        "whatever is found under a key counts as published",
        "storage/object_store/s3_multipart.py",
        "S3Multipart.require_same",
        """
        if not is_same:
            raise ObjectStoreError(f"{key} exists and has another content")
        """,
        "del is_same",
        f"{_GIVEN_UP}::test_a_key_with_another_content_is_refused[1000]",
    ),
    SeededBug(
        "stores-04",
        "an entry whose fsync failed counts as durable after the next",
        "storage/object_store/filesystem.py",
        "_link",
        """
        if not filecmp.cmp(path, temporary, shallow=False):
            raise ObjectStoreError(f"bucket directory: {path} exists and has another content")
        temporary.rename(path)
        """,
        """
        if not filecmp.cmp(path, temporary, shallow=False):
            raise ObjectStoreError(f"bucket directory: {path} exists and has another content")
        """,
        f"{_UNIT}/object_store/test_filesystem.py"
        "::test_an_entry_whose_fsync_failed_is_made_anew[00/c-put]",
    ),
    SeededBug(
        "stores-05",
        "objects are deleted by the wall clock alone",
        "broker/adapters/deletable_objects.py",
        "DeletableObjects._over",
        "not self._destroyed.is_retained(object_id, elapsed_ms)",
        "True",
        "tests/contracts/test_control_plane_contract.py"
        "::test_a_wall_clock_that_is_set_forward_deletes_nothing_sooner",
    ),
    SeededBug(
        "stores-06",
        "a retention that a client gives is added to without a bound",
        "broker/coordinator/group/shard.py",
        "GroupShard.commit_offsets",
        "min(now.wall_ms + request.retention_time_ms, MAX_TIMESTAMP_MS)",
        "now.wall_ms + request.retention_time_ms",
        "tests/unit/broker/api/test_offset_commit.py"
        "::test_no_number_of_a_client_reloads_the_groups_of_others[2-9223372036854775807]",
    ),
    SeededBug(
        "stores-07",
        "a kernel that is short of memory for a moment ends the node",
        "wal/device/aio_device.py",
        "AioDevice._hand_over",
        "failure in _PASSING and submits < _MAX_SUBMITS",
        "False",
        "tests/unit/wal/test_devices.py"
        f"::test_a_kernel_that_is_short_of_something_is_asked_again[{errno.EAGAIN}]",
    ),
    SeededBug(
        "stores-08",
        "a mistake while an index is read is nobody's",
        "storage/cache/index_cache.py",
        "ObjectIndexCache._loaded",
        "report_unexpected(task, StorageError)",
        "pass",
        f"{_UNIT}/cache/test_index_cache.py"
        "::test_only_what_nobody_expected_is_handed_to_the_loop[error1]",
    ),
    SeededBug(
        "stores-09",
        "an append that broke off within the WAL leaves the engine going",
        "storage/append_path.py",
        "AppendPath.append",
        """
        self.fail(failure)
        raise failure from error
        """,
        "raise failure from error",
        f"{_UNIT}/test_append_path.py"
        "::test_an_append_that_breaks_off_within_the_wal_fails_the_engine",
    ),
    SeededBug(
        "stores-10",
        "a mistake while groups are loaded is only logged",
        "broker/coordinator/runtime/driver.py",
        "ShardDriver._load",
        'report_error(f"load of coordinator partition {self._name}", error)',
        'logger.exception("load of coordinator partition %s", self._name)',
        "tests/unit/broker/coordinator/runtime/test_driver.py"
        "::test_a_mistake_while_a_log_is_loaded_is_handed_to_the_loop",
    ),
    SeededBug(
        "stores-11",
        "a mistake at a deadline of groups is only logged",
        "broker/coordinator/runtime/driver.py",
        "ShardDriver._expire",
        'report_error(f"deadline of coordinator partition {self._name}", error)',
        'logger.exception("deadline of coordinator partition %s", self._name)',
        "tests/unit/broker/coordinator/runtime/test_driver.py"
        "::test_a_mistake_at_a_deadline_is_handed_to_the_loop",
    ),
    SeededBug(
        "stores-12",
        "how a start ended whose caller is cancelled is nobody's",
        "broker/node/lifecycle.py",
        "unless_stopped",
        "working.add_done_callback(lambda done: report_unexpected(done, *EXPECTED_FAILURES))",
        "working.add_done_callback(asyncio.Task.exception)",
        "tests/unit/broker/node/test_lifecycle.py"
        "::test_what_nobody_expected_of_a_start_whose_caller_is_cancelled_is_reported[error0-True]",
    ),
    SeededBug(
        "stores-13",
        "objects are deleted that the newest published snapshot names",
        "broker/adapters/deletable_objects.py",
        "DeletableObjects.find",
        "[it for it in over if it not in waiting]",
        "over",
        f"{_ADAPTERS}/test_storage_metadata.py"
        "::test_an_object_stays_until_the_newest_snapshot_has_its_destruction",
    ),
    SeededBug(
        "stores-14",
        "any snapshot counts for what was destroyed after it",
        "broker/adapters/destroyed_objects.py",
        "DestroyedObjects.is_published",
        "self._newest_index >= self._seen[object_id].metadata_index",
        "self._newest_index > _NOTHING_PROVEN",
        f"{_ADAPTERS}/test_destroyed_objects.py"
        "::test_a_rebuild_at_any_moment_finds_every_object_that_it_names",
    ),
    SeededBug(
        "stores-15",
        "the first snapshot is not waited for while it is on its way",
        "broker/adapters/destroyed_objects.py",
        "DestroyedObjects.awaits_snapshot",
        "elapsed_ms - self._seen[object_id].elapsed_ms < FIRST_SNAPSHOT_MS",
        "False",
        f"{_ADAPTERS}/test_destroyed_objects.py"
        "::test_a_rebuild_at_any_moment_finds_every_object_that_it_names",
    ),
    SeededBug(
        "stores-16",
        "a snapshot of metadata that this broker does not have counts",
        "broker/adapters/destroyed_objects.py",
        "DestroyedObjects.take_listing",
        "newest_index <= metadata_index",
        "True",
        f"{_ADAPTERS}/test_storage_metadata.py"
        "::test_a_snapshot_of_metadata_that_are_not_ours_proves_nothing",
    ),
    SeededBug(
        "stores-17",
        "an empty listing of long ago still counts",
        "broker/adapters/deletable_objects.py",
        "DeletableObjects._list_snapshots",
        "is_due and not all(map(self._destroyed.is_published, over))",
        "self._listed_ms == _NEVER_MS",
        f"{_ADAPTERS}/test_storage_metadata.py"
        "::test_without_any_snapshot_an_object_waits_for_one_that_may_be_on_its_way",
    ),
    SeededBug(
        "stores-18",
        "who waits for a snapshot has every change published at once",
        "metadata/leader/publishing.py",
        "SnapshotPublisher.run",
        "step_ms = min(left_ms, SHORTEST_INTERVAL_MS)",
        "step_ms = min(left_ms, 1)",
        "tests/unit/metadata/test_publishing.py"
        "::test_who_waits_for_a_snapshot_gets_it_within_the_shortest_interval",
    ),
    SeededBug(
        "stores-19",
        "where direct IO ends, what follows the refused pages is forgotten",
        "storage/object_store/direct_append.py",
        "_write_pages",
        "return [bytes(refused), rest, *parts[number + 1 :]]",
        "return [bytes(refused), *parts[number + 1 :]]",
        "tests/unit/storage/object_store/test_direct_append.py"
        "::test_where_it_is_refused_behind_what_was_written",
    ),
    SeededBug(
        "stores-20",
        "where direct IO ends, what was written is written again",
        "storage/object_store/direct_append.py",
        "_write_pages",
        "return [bytes(refused), rest, *parts[number + 1 :]]",
        "return parts",
        "tests/unit/storage/object_store/test_direct_append.py"
        "::test_where_it_is_refused_behind_what_was_written",
    ),
    SeededBug(
        "stores-21",
        "what compaction writes goes through the page cache behind the first piece that ends within a page",
        "storage/object_store/filesystem.py",
        "put_stream",
        """
            async for step in cut_stream(chunks, STEP_BYTES):
                await self._append(self._background, temporary, step)
        """,
        """
            async for step in chunks:
                await self._append(self._background, temporary, step)
        """,
        "tests/unit/storage/object_store/test_filesystem.py"
        "::test_every_step_of_compaction_begins_on_a_page_whatever_the_sizes_of_its_pieces",
    ),
)
