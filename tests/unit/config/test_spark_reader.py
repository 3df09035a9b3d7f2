"""Options of Spark's reader."""

from headrace.config.spark_reader import reader_options


def test_the_sizes_are_larger_than_kafkas_defaults():
    options = reader_options("a:1,b:2")
    assert options.pop("kafka.bootstrap.servers") == "a:1,b:2"
    sizes = {name: int(value) for name, value in options.items()}
    assert sizes["kafka.max.partition.fetch.bytes"] > 1 << 20
    assert sizes["kafka.fetch.max.bytes"] > 50 << 20
    assert sizes["kafka.max.poll.records"] > 500
