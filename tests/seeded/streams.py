"""Mistakes in opening, closing and naming the streams of many partitions."""

from tests.seeded.bug import SeededBug

_LEADERSHIP = "tests/unit/broker/partition/test_leadership.py"
_CONTROLLER = "tests/unit/metadata/controller/test_streams.py"
_CONTRACT = "tests/contracts/test_control_plane_contract.py"

BUGS = (
    SeededBug(
        "streams-01",
        "one stream that cannot be closed keeps all others of its request open",
        "metadata/controller/streams.py",
        "_decide_each",
        "outcomes.append(StreamOutcome(error.code, error.message))",
        "raise error",
        f"{_CONTROLLER}::test_many_are_closed_by_one_entry_and_each_has_its_own_outcome",
    ),
    SeededBug(
        "streams-02",
        "a partition that waits for another broker to close its streams is not woken by that",
        "broker/partition/leadership.py",
        "PartitionLeadership._image_changed",
        """
            self._streams_changed = True
            self._changed.set()
        """,
        "self._streams_changed = True",
        f"{_LEADERSHIP}"
        "::test_a_partition_opens_at_once_when_the_image_says_that_the_other_broker_has_closed_it",
    ),
    SeededBug(
        "streams-03",
        "a partition is opened when one of its two streams is closed by the other broker",
        "broker/partition/leadership.py",
        "PartitionLeadership._is_elsewhere",
        """
        any(
            found is not None and found.opened and found.node_id != self._node_id
            for found in map(streams.get, (partition.data_stream_id, partition.meta_stream_id))
        )
        """,
        """
        all(
            found is not None and found.opened and found.node_id != self._node_id
            for found in map(streams.get, (partition.data_stream_id, partition.meta_stream_id))
        )
        """,
        f"{_LEADERSHIP}"
        "::test_a_partition_opens_at_once_when_the_image_says_that_the_other_broker_has_closed_it",
    ),
    SeededBug(
        "streams-04",
        "a partition whose opening was refused sleeps on although the image has changed",
        "broker/partition/leadership.py",
        "PartitionLeadership._follow_one",
        """
            if led is None or led[1] is not pause.led:
                pause.over.set()
        """,
        """
            if led is None:
                pause.over.set()
        """,
        f"{_LEADERSHIP}"
        "::test_a_failed_opening_is_repeated_at_once_when_the_partition_is_led_at_a_newer_epoch",
    ),
    SeededBug(
        "streams-06",
        "the streams of a partition are closed by an entry of the metadata log each",
        "broker/partition/partition.py",
        "Partition.close",
        """
        outcomes = await asyncio.gather(
            self._data.close(), self._meta.close(), return_exceptions=True
        )
        """,
        "outcomes = (await self._data.close(), await self._meta.close())",
        f"{_LEADERSHIP}::test_both_streams_of_a_partition_that_moves_are_closed_together",
    ),
    SeededBug(
        "streams-07",
        "the outcomes of a request are those of other streams",
        "metadata/controller/streams.py",
        "close_streams",
        "StreamsClosed(outcomes)",
        "StreamsClosed(outcomes[::-1])",
        f"{_CONTRACT}::test_each_stream_that_is_closed_has_an_outcome_of_its_own_and_all_go_with_one_entry",
    ),
    SeededBug(
        "streams-08",
        "compaction takes what was trimmed of a range for live, and gives its bytes back never",
        "broker/adapters/storage_metadata.py",
        "_live_range",
        "max(piece.start_offset, stream.start_offset)",
        "piece.start_offset",
        f"{_CONTRACT}::test_compaction_sees_no_offsets_below_the_start_of_a_stream",
    ),
    SeededBug(
        "streams-09",
        "a late copy of a close closes a stream that its broker has opened again",
        "metadata/controller/streams.py",
        "_open",
        """
            if stream.epoch == it.stream_epoch and stream.opened:
                return (), outcome
        """,
        """
            if stream.epoch == it.stream_epoch:
                reopened = () if stream.opened else (_state(stream, StreamState.OPENED),)
                return reopened, outcome
        """,
        f"{_CONTROLLER}::TestAnEpochOfAStreamIsOpenedOnce"
        "::test_a_late_close_does_not_close_a_stream_that_is_in_use",
    ),
    SeededBug(
        "streams-10",
        "a late copy of the request that began a log begins it again after its end",
        "metadata/controller/logs.py",
        "begin_log",
        "same_epoch and known is not None and known.state == LogState.EMPTY",
        "False",
        "tests/unit/metadata/controller/test_late_requests.py::test_a_late_copy_changes_nothing[BeginLog]",
    ),
)
