"""Mistakes by which what a cluster has very much of takes the event loop in one piece."""

from tests.seeded.bug import SeededBug

_OFFSETS = "tests/unit/broker/coordinator/group/test_many_offsets.py"
_TUNING = "tests/unit/broker/telemetry/test_runtime_tuning.py"

BUGS = (
    SeededBug(
        "turns-30",
        "a string of a request may be of any length",
        "protocol/primitives.py",
        "check_string",
        "size_bytes > MAX_STRING_BYTES",
        "False",
        "tests/unit/protocol/messages/test_decoding.py"
        "::test_a_string_is_as_long_as_one_of_kafka_at_most",
    ),
    SeededBug(
        "turns-31",
        "all requests may have as many elements as any",
        "protocol/messages/codec.py",
        "decode_request",
        "return read(Reader(body, MAX_ELEMENTS.get(api_key, MAX_ARRAY_ELEMENTS)))",
        "return read(Reader(body))",
        "tests/unit/protocol/messages/test_decoding.py"
        "::test_number_of_elements_is_bounded_over_all_arrays",
    ),
    SeededBug(
        "turns-32",
        "a batch of a group's records has any number of records",
        "broker/coordinator/runtime/batching.py",
        "PendingBatch.has_room",
        "len(self._records) + count <= MAX_BATCH_RECORDS",
        "True",
        f"{_OFFSETS}::test_a_batch_has_a_bounded_number_of_records",
    ),
    SeededBug(
        "turns-33",
        "a group that is being deleted in parts is served",
        "broker/coordinator/group/coordinator.py",
        "GroupCoordinator._delete_group",
        """
            self._deleting.add(group_id)
            try:
                await self.runtime.turns.pause()
            finally:
                self._deleting.discard(group_id)
        """,
        "await self.runtime.turns.pause()",
        f"{_OFFSETS}::test_a_group_of_many_offsets_is_deleted_some_at_a_time",
    ),
    SeededBug(
        "turns-34",
        "the offsets of a group are read as they are when each is asked for",
        "broker/coordinator/group/offsets.py",
        "CommittedOffsets.find_all",
        "dict(partitions)",
        "partitions",
        f"{_OFFSETS}::test_offsets_that_are_read_are_those_of_one_moment",
    ),
    SeededBug(
        "turns-35",
        "a large change of the metadata is decoded in one turn",
        "metadata/records/codec.py",
        "decode_records_steps",
        "len(payload) <= _STEP_BYTES",
        "True",
        "tests/unit/metadata/records/test_codec.py::test_a_large_batch_is_decoded_in_steps",
    ),
    SeededBug(
        "turns-36",
        "the deletion of a topic is decided in one turn, however many partitions it has",
        "metadata/controller/streams.py",
        "remove_streams",
        "number % STEP_STREAMS == 0",
        "False",
        "tests/unit/metadata/controller/test_topics.py"
        "::test_a_topic_of_many_partitions_is_deleted_in_steps",
    ),
    SeededBug(
        "turns-37",
        "who waits for a topic's partitions goes on when the first of them is open",
        "broker/partition/registry.py",
        "_Waiter.settle",
        "self._has_all and not self.keys and not self.done.done()",
        "not self.done.done()",
        "tests/unit/broker/partition/test_leadership.py"
        "::test_who_waits_for_a_topic_is_told_that_it_is_gone",
    ),
    SeededBug(
        "turns-38",
        "all partitions of a deleted topic are left in one turn",
        "broker/partition/leadership.py",
        "PartitionLeadership._leave_deleted",
        "len(partitions) % DROPS_AT_ONCE == 0",
        "not partitions",
        "tests/unit/broker/partition/test_leadership.py"
        "::test_a_topic_of_many_partitions_is_left_in_steps_before_its_deletion_is_seen",
    ),
    SeededBug(
        "turns-40",
        "what is gone from the metadata is freed although a reader has the image before",
        "metadata/follower/freeing.py",
        "PartsFreeing._step",
        "sys.getrefcount(parts[-1]) > _UNUSED",
        "False",
        "tests/unit/metadata/test_freeing.py"
        "::test_parts_are_freed_in_many_turns_once_nothing_else_uses_them",
    ),
    SeededBug(
        "turns-41",
        "a snapshot replaces the image of a broker, which is freed in one turn",
        "metadata/follower/follower.py",
        "LogFollower._load_snapshot",
        "self._change(image, still_used=MetadataImage())",
        "self._change(image, still_used=self._image)",
        "tests/unit/metadata/test_freeing.py"
        "::test_a_follower_keeps_what_is_gone_for_the_last_reader_of_an_image",
    ),
    SeededBug(
        "turns-42",
        "the partitions of a deleted topic are freed in one turn",
        "metadata/follower/freeing.py",
        "parts_gone",
        "gone += topic.partitions",
        "pass",
        "tests/unit/metadata/test_freeing.py"
        "::test_partitions_and_streams_that_are_gone_are_collected_in_steps",
    ),
    SeededBug(
        "turns-43",
        "a refusal of the controller keeps the image that was decided on until the collector finds it",
        "metadata/leader/commits.py",
        "_Group.decide",
        "error.with_traceback(None)",
        "error",
        "tests/unit/metadata/test_commits.py::test_a_refusal_leaves_no_cycle_of_references",
    ),
    SeededBug(
        "turns-44",
        "the collector looks at all objects again and again",
        "broker/telemetry/runtime_tuning.py",
        "freeze_what_is_left",
        """
            if phase == "stop" and info["generation"] > 0:
                gc.freeze()
                small_objects.check()
        """,
        "pass",
        f"{_TUNING}::test_the_collector_looks_at_no_object_for_ever",
    ),
    SeededBug(
        "turns-45",
        "what became garbage late is never collected",
        "broker/telemetry/runtime_tuning.py",
        "watch_memory",
        """
            gc.unfreeze()
            looks = 0
        """,
        "looks = 0",
        f"{_TUNING}::test_an_idle_node_collects_what_is_new_and_once_an_hour_everything",
    ),
    SeededBug(
        "turns-46",
        "the configs of 10,000 new topics are described and held 10,000 times",
        "broker/api/create_topics.py",
        "CreateTopicsHandler._answer",
        "known_as not in described",
        "True",
        "tests/unit/broker/api/test_create_topics.py"
        "::test_topics_with_the_same_configs_are_described_once",
    ),
    SeededBug(
        "turns-47",
        "a flood of small objects takes arenas, which it never gives back",
        "broker/telemetry/small_objects.py",
        "SmallObjects.check",
        "are_few != self.are_in_arenas",
        "False",
        "tests/unit/broker/telemetry/test_small_objects.py"
        "::test_a_node_holds_the_bound_from_its_start_on",
    ),
    SeededBug(
        "turns-48",
        "a compact array of a request may have any number of elements",
        "protocol/message_reading.py",
        "read_c_count",
        "count = r.uvarint() - 1\nr.begin_array(count, min_element_bytes)",
        "count = r.uvarint() - 1",
        "tests/unit/protocol/messages/test_decoding.py"
        "::test_number_of_elements_is_bounded_over_all_arrays",
    ),
    SeededBug(
        "turns-49",
        "an answer of any length is written in one step",
        "protocol/message_writing.py",
        "Output.elements_ended",
        "self._elements_of_step < STEP_ELEMENTS",
        "True",
        "tests/unit/protocol/messages/test_encoding.py::test_steps_give_the_message_in_pieces",
    ),
)
