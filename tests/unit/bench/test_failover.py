"""What the failover benchmark sends and reads, and how it tells the parts of a failover from log lines."""

from kafka.protocol.metadata import MetadataRequest, MetadataResponse
from kafka.protocol.producer import ProduceRequest, ProduceResponse

from bench.cluster_failover import DRAIN_PARTS, DRAINED, FENCED, parts_of, turn
from bench.failover_wire import (
    Appended,
    Leaders,
    appended,
    leaders_of,
    metadata_request,
    produce_request,
)

METADATA, PRODUCE = 5, 7  # versions
SECOND = 10**9


def body_of(message, version):
    """Encode the answer of a server, from its correlation id on."""
    message.API_VERSION = version
    message.with_header(correlation_id=0)
    return bytes(message.encode(header=True))


def partition_of(index, leader, replicas):
    return MetadataResponse.MetadataResponseTopic.MetadataResponsePartition(
        error_code=0,
        partition_index=index,
        leader_id=leader,
        replica_nodes=replicas,
        isr_nodes=replicas[:1],
        offline_replicas=[],
    )


class TestMetadata:
    def test_request(self):
        frame = metadata_request("topic")
        assert len(frame) == 4 + int.from_bytes(frame[:4], "big")
        read = MetadataRequest.decode(frame[4:], version=METADATA, header=True)
        assert [it.name for it in read.topics] == ["topic"]
        assert not read.allow_auto_topic_creation

    def test_answer(self):
        answer = MetadataResponse(
            throttle_time_ms=0,
            brokers=[
                MetadataResponse.MetadataResponseBroker(node_id=2, host="b2", port=9, rack=None),
                MetadataResponse.MetadataResponseBroker(node_id=3, host="b3", port=8, rack="r"),
            ],
            cluster_id="cluster",
            controller_id=2,
            topics=[
                MetadataResponse.MetadataResponseTopic(
                    error_code=0,
                    name="topic",
                    is_internal=False,
                    partitions=[partition_of(0, 1, [1, 2, 3]), partition_of(1, -1, [2])],
                )
            ],
        )
        read = leaders_of(body_of(answer, METADATA))
        assert read == Leaders({2: ("b2", 9), 3: ("b3", 8)}, {0: 1, 1: -1})


class TestProduce:
    def test_request(self):
        frame = produce_request("topic", [4, 7], b"batch", timeout_ms=1000)
        assert len(frame) == 4 + int.from_bytes(frame[:4], "big")
        read = ProduceRequest.decode(frame[4:], version=PRODUCE, header=True)
        assert (read.acks, read.timeout_ms, read.transactional_id) == (-1, 1000, None)
        (topic,) = read.topic_data
        assert topic.name == "topic"
        assert [(it.index, bytes(it.records)) for it in topic.partition_data] == [
            (4, b"batch"),
            (7, b"batch"),
        ]

    def test_answer(self):
        topic = ProduceResponse.TopicProduceResponse
        answer = ProduceResponse(
            responses=[
                topic(
                    name="topic",
                    partition_responses=[
                        topic.PartitionProduceResponse(
                            index=index,
                            error_code=error,
                            base_offset=offset,
                            log_append_time_ms=-1,
                            log_start_offset=0,
                        )
                        for index, error, offset in ((4, 0, 11), (7, 6, -1))
                    ],
                )
            ],
            throttle_time_ms=0,
        )
        assert appended(body_of(answer, PRODUCE)) == [Appended(4, 0, 11), Appended(7, 6, -1)]


def line(second, msg, **fields):
    return {"ts": f"2026-01-01T00:00:{second:06.3f}Z", "msg": msg, **fields}


class TestParts:
    SINCE_NS = 1_767_225_600 * SECOND + 10 * SECOND  # 00:00:10

    def drained(self, second, drain_ms, *parts_ms):
        return line(
            second, DRAINED, drain_ms=drain_ms, **dict(zip(DRAIN_PARTS, parts_ms, strict=True))
        )

    def test_of_one_log(self):
        events = [
            line(5, FENCED[0], broker=1),  # of an earlier loss
            self.drained(6, 1, 1, 1, 1, 1),
            line(16, FENCED[0], broker=1),
            self.drained(17.5, 1_400, 900, 1_100, 50, 30),
        ]
        assert parts_of(events, self.SINCE_NS, [1]) == {
            "detect": 6_000,
            "assign": 100,
            "drain": 1_400,
            "read": 900,
            "upload": 1_100,
            "commit": 50,
            "finish": 30,
        }

    def test_of_several_logs_the_slowest_count(self):
        events = [
            line(16, FENCED[1], broker=1),
            line(16.5, FENCED[0], broker=2),
            self.drained(18, 1_900, 900, 1_100, 60, 30),
            self.drained(18.5, 1_500, 1_000, 700, 50, 40),
        ]
        assert parts_of(events, self.SINCE_NS, [1, 2]) == {
            "detect": 6_500,
            "assign": 500,
            "drain": 1_500,
            "read": 1_000,
            "upload": 1_100,
            "commit": 60,
            "finish": 40,
        }

    def test_without_a_drain_nothing_is_known(self):
        assert parts_of([line(16, FENCED[1], broker=1)], self.SINCE_NS, [1]) == {}
        assert parts_of([line(16, FENCED[1], broker=3)], self.SINCE_NS, [1]) == {}


def test_turns_begin_further_on():
    assert turn([1, 2, 3], 0) == [1, 2, 3]
    assert turn([1, 2, 3], 4) == [2, 3, 1]
