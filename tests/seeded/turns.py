"""Mistakes by which one request takes the event loop, or memory, from everybody."""

from tests.seeded.bug import SeededBug

_API = "tests/unit/broker/api"
_SESSION = "tests/unit/broker/network/test_session.py"
_SHARE = "tests/unit/headrace/test_turns.py"

BUGS = (
    SeededBug(
        "turns-01",
        "any number of tagged fields is skipped",
        "protocol/primitives.py",
        "skip_tagged_fields",
        """
            count, position = read_uvarint(data, position)
            _check_tagged_fields(count)
        """,
        "count, position = read_uvarint(data, position)",
        "tests/unit/protocol/test_primitives.py"
        "::test_a_struct_has_a_bounded_number_of_tagged_fields",
    ),
    SeededBug(
        "turns-02",
        "a group is described as often as the request names it",
        "broker/api/describe_groups.py",
        "DescribeGroupsHandler.handle",
        "dict.fromkeys(request.groups)",
        "request.groups",
        f"{_API}/test_describe_groups.py::test_a_group_that_is_named_often_is_answered_once",
    ),
    SeededBug(
        "turns-03",
        "a topic is described as often as the request names it",
        "broker/api/metadata.py",
        "MetadataHandler._asked_for",
        "{(it.name, it.topic_id): None async for it in turns.each(topics)}",
        "[(it.name, it.topic_id) async for it in turns.each(topics)]",
        f"{_API}/test_metadata.py::test_a_topic_that_is_named_often_is_answered_once",
    ),
    SeededBug(
        "turns-04",
        "an answer may be of any size",
        "protocol/message_writing.py",
        "Output._check",
        "self._size_bytes + len(self.buffer) > self._max_bytes",
        "False",
        "tests/unit/protocol/messages/test_encoding.py"
        "::test_an_answer_beyond_its_bound_is_given_up",
    ),
    SeededBug(
        "turns-05",
        "a request whose share of a turn is used up goes on",
        "headrace/turns.py",
        "Turns.pause",
        """
        if self.is_used_up():
            await self.another()
        """,
        "",
        f"{_SHARE}::test_those_that_wait_get_a_turn_each_in_their_order",
    ),
    SeededBug(
        "turns-06",
        "all requests that wait go on in the same turn",
        "headrace/turns.py",
        "Turns._next_turn",
        """
            left -= 1
            waiter.set_result(None)
        """,
        "waiter.set_result(None)",
        f"{_SHARE}::test_those_that_wait_get_a_turn_each_in_their_order",
    ),
    SeededBug(
        "turns-07",
        "a connection starts all requests that have come in one turn",
        "broker/network/session.py",
        "Session._advance",
        "not is_due and self._sessions.turns.is_used_up()",
        "False",
        f"{_SESSION}::test_requests_that_are_answered_at_once_share_the_loop_with_others",
    ),
    SeededBug(
        "turns-08",
        "a change of the metadata is applied in one turn, however many records it has",
        "metadata/replay.py",
        "replay_steps",
        "number % STEP_RECORDS == 0",
        "False",
        "tests/unit/metadata/test_commits.py"
        "::test_a_change_of_many_records_lets_others_have_their_turn",
    ),
    SeededBug(
        "turns-09",
        "the description of a topic outlives the brokers that it was made of",
        "broker/api/described_topics.py",
        "DescribedTopics._find",
        "kept is None or kept.topic is not topic or kept.brokers is not seen.image.brokers",
        "kept is None or kept.topic is not topic",
        f"{_API}/test_described_topics.py"
        "::test_partitions_of_a_broker_that_was_fenced_lose_their_leader",
    ),
    SeededBug(
        "turns-10",
        "descriptions of topics are kept without a bound",
        "broker/api/described_topics.py",
        "DescribedTopics._keep",
        "self.kept_bytes > self._max_bytes",
        "False",
        f"{_API}/test_described_topics.py"
        "::test_what_is_kept_is_bounded_and_the_least_recently_used_goes",
    ),
    SeededBug(
        "turns-11",
        "each request that waits for a description makes it again",
        "broker/api/described_topics.py",
        "DescribedTopics.describe",
        """
            async with self._making:
                found = self._find(key, seen, topic)
                if found is None:
                    steps = _description_steps(seen, topic, context.version, operations)
                    found = await context.turns.run(steps)
                    self._keep(key, _Kept(topic, seen.image.brokers, found))
        """,
        """
            steps = _description_steps(seen, topic, context.version, operations)
            found = await context.turns.run(steps)
            self._keep(key, _Kept(topic, seen.image.brokers, found))
        """,
        f"{_API}/test_described_topics.py::test_a_topic_that_many_ask_for_is_described_once",
    ),
    SeededBug(
        "turns-12",
        "all requests of a full buffer are decoded in one turn",
        "protocol/server_connection.py",
        "ServerConnection._parse",
        "len(frames) == FRAMES_AT_ONCE",
        "False",
        "tests/unit/protocol/test_server_connection.py"
        "::test_frames_of_one_read_are_given_some_at_a_time",
    ),
    SeededBug(
        "turns-13",
        "a connection reads on while what it has received waits for another turn",
        "broker/network/session.py",
        "Session._continue_later",
        """
            self._continues = True
            self._set_reading(reading=False)
        """,
        "self._continues = True",
        f"{_SESSION}::test_what_comes_when_the_share_is_used_up_is_not_even_decoded",
    ),
    SeededBug(
        "turns-14",
        "each connection has a share of a turn of its own",
        "broker/network/session.py",
        "Session._advance",
        "not is_due and self._sessions.turns.is_used_up()",
        "not is_due and Turns(lambda: 0.0, 1.0).is_used_up()",
        f"{_SESSION}"
        "::test_all_connections_together_have_one_share_of_a_turn_and_start_requests_in_turn",
    ),
    SeededBug(
        "turns-15",
        "answers of all connections are written in the turn in which their records are acknowledged",
        "broker/network/session.py",
        "Session._flush",
        """
        if self._sessions.turns.is_used_up():
            self._continue_later()
            return
        """,
        "",
        f"{_SESSION}::test_answers_of_many_connections_are_written_in_many_turns",
    ),
    SeededBug(
        "turns-16",
        "requests that have waited for the same are answered in one turn",
        "broker/api/dispatch.py",
        "ApiDispatcher._answer_later",
        """
            found = await response
            await self._turns.pause()
        """,
        "found = await response",
        f"{_API}/test_dispatch.py"
        "::test_small_requests_of_many_connections_share_the_turns_of_the_loop",
    ),
    SeededBug(
        "turns-17",
        "all topics of a Produce are decoded in one turn",
        "protocol/produce.py",
        "decode_produce_steps",
        "(yield from _decode_flexible(version, body))",
        "completed(_decode_flexible(version, body))",
        "tests/unit/protocol/test_produce.py::test_what_names_many_partitions_is_decoded_in_steps",
    ),
    SeededBug(
        "turns-18",
        "topics of a Produce without partitions are no work",
        "broker/api/produce.py",
        "ProduceHandler._append",
        """
            responses.append(ProduceTopicResponse(topic.name, topic.topic_id, answers))
            number += 1
            if number % SLICE_PARTITIONS == 0:
                yield Slice.LOOP
        """,
        "responses.append(ProduceTopicResponse(topic.name, topic.topic_id, answers))",
        f"{_API}/test_produce.py::test_a_request_of_many_topics_lets_others_have_their_turn",
    ),
    SeededBug(
        "turns-19",
        "all short answers that have waited for the same are made in one turn",
        "broker/api/dispatch.py",
        "ApiDispatcher._answer_settled",
        "self._turns.is_used_up()",
        "False",
        f"{_API}/test_dispatch.py"
        "::test_short_answers_that_wait_for_the_same_share_the_turns_of_the_loop",
    ),
)
