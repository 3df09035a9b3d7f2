"""Options of the data source: what they mean, and what is refused by name."""

import pytest

from headrace.pipeline.source.catalog import TopicPartition
from headrace.pipeline.source.errors import OptionError
from headrace.pipeline.source.options import EARLIEST, LATEST, read_options

NEEDED = {"bucket": "file:///b", "subscribe": "a"}


def test_defaults() -> None:
    found = read_options(NEEDED)
    assert (found.starting.offset, found.ending.offset) == (EARLIEST, LATEST)
    assert found.columns == (
        "key", "value", "topic", "partition", "offset", "timestamp", "timestampType",
    )  # fmt: skip
    assert found.fails_on_loss


def test_names_are_those_of_the_kafka_source_in_any_case() -> None:
    found = read_options(
        {
            "BUCKET": "file:///b",
            "subscribe": "a, b",
            "startingoffsets": '{"a": {"0": -2, "1": 7}}',
            "INCLUDEHEADERS": "True",
            "maxPartitionBytes": "2m",
            "kafka.bootstrap.servers": "nobody:9092",
            "kafkaConsumer.pollTimeoutMs": "1",
        },
    )
    assert found.subscribe == ("a", "b")
    assert found.starting.offsets == {TopicPartition("a", 0): -2, TopicPartition("a", 1): 7}
    assert found.columns[-1] == "headers"
    assert found.max_partition_bytes == 2 << 20


def test_metadata_of_nodes() -> None:
    nodes = {"metadata": "broker", "adminListener": "a:9644, b:9644"}
    assert read_options({**NEEDED, **nodes}).admin_listeners == ("a:9644", "b:9644")
    assert read_options({**NEEDED, "metadata": "bucket"}).admin_listeners == ()
    for wrong in ({"metadata": "broker"}, {"adminListener": "a:1"}, {**nodes, "metadata": "none"}):
        with pytest.raises(OptionError, match="metadata"):
            read_options({**NEEDED, **wrong})
    with pytest.raises(OptionError, match="and not 'http://a:1'"):
        read_options({**NEEDED, **nodes, "adminListener": "http://a:1"})


def test_the_tail_of_brokers() -> None:
    brokers = {"kafka.bootstrap.servers": "a:9092, [::1]:9093"}
    assert read_options({**NEEDED, **brokers}).tail_brokers == ()
    found = read_options({**NEEDED, **brokers, "TAIL": "Broker", "kafka.client.id": "c"})
    assert found.tail_brokers == ("a:9092", "[::1]:9093")
    for options, message in (
        ({"tail": "broker"}, "tail=broker needs the option kafka.bootstrap.servers"),
        ({"tail": "brokers", **brokers}, "option tail is none or broker"),
        ({"tail": "broker", "kafka.bootstrap.servers": "a"}, "is HOST:PORT,..., and not 'a'"),
        ({"tail": "broker", **brokers, "kafka.security.protocol": "SSL"}, "speaks PLAINTEXT"),
    ):
        with pytest.raises(OptionError, match=message):
            read_options({**NEEDED, **options})


def test_isolation() -> None:
    assert not read_options(NEEDED).is_read_committed
    level = {"KAFKA.isolation.level": "read_committed"}
    assert read_options({**NEEDED, **level}).is_read_committed
    with pytest.raises(OptionError, match="read_uncommitted or read_committed, not 'all'"):
        read_options({**NEEDED, "kafka.isolation.level": "all"})


def test_times_go_before_offsets() -> None:
    found = read_options({**NEEDED, "startingOffsets": "earliest", "startingTimestamp": "5"})
    assert found.starting.timestamp_ms == 5
    assert found.starting.offset is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"startingOffset": "earliest"}, "unknown option startingOffset: is startingOffsets meant"),
        (
            {"kafka.isolations.level": "x"},
            "unknown .*isolations.level: is kafka.isolation.level meant",
        ),
        ({"isolation.level": "read_committed"}, "is kafka.isolation.level meant"),
        ({"zzz": "1"}, "unknown option zzz; known: adminListener, assign"),
        ({"bucket": ""}, "option bucket is missing"),
        ({"subscribePattern": "a"}, "exactly one of the options"),
        ({"startingOffsets": "latest"}, "startingOffsets of a batch cannot be latest"),
        ({"endingOffsets": "earliest"}, "endingOffsets of a batch cannot be earliest"),
        ({"startingOffsets": '{"a": {"0": -1}}'}, "-1 means nothing for a-0"),
        ({"startingOffsets": '{"a": {"0": "x"}}'}, "looks like"),
        ({"startingOffsets": "soon"}, "is no JSON"),
        ({"startingTimestamp": "noon"}, "is a number, not 'noon'"),
        ({"startingOffsetsByTimestampStrategy": "guess"}, "is error or latest"),
        ({"minPartitions": "0"}, "is at least 1"),
        ({"maxPartitionBytes": "0"}, "number of bytes"),
        ({"failOnDataLoss": "perhaps"}, "is true or false"),
        ({"columns": "value,value"}, "once each"),
        ({"columns": "payload"}, "names some of"),
    ],
)
def test_what_means_nothing_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        read_options({**NEEDED, **options})


def test_assigned_partitions() -> None:
    found = read_options({"bucket": "file:///b", "assign": '{"a": [1, 0]}'})
    assert found.assign == (TopicPartition("a", 1), TopicPartition("a", 0))
    with pytest.raises(OptionError, match="assign looks like"):
        read_options({"bucket": "file:///b", "assign": '{"a": ["x"]}'})
