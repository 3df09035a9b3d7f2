"""Options with which Spark's Kafka connector reads from a broker whose records are in object storage. Pure."""

# A Fetch that brings more is one request to the broker instead of several, and fewer, larger reads of the bucket.
MAX_PARTITION_FETCH_BYTES = 8 << 20  # 1 MiB by default
FETCH_MAX_BYTES = 64 << 20  # 50 MiB by default
# Spark asks for both ends of the partition after each poll: two more requests for so many records.
MAX_POLL_RECORDS = 5_000  # 500 by default


def reader_options(bootstrap: str) -> dict[str, str]:
    """Return the options of `spark.read.format("kafka")` for a cluster, beside those that choose topics and offsets.

    Spark has no setting of the session for them: they are given to each reader.

    Args:
        bootstrap: HOST:PORT of brokers, separated by commas.
    """
    return {
        "kafka.bootstrap.servers": bootstrap,
        "kafka.max.poll.records": str(MAX_POLL_RECORDS),
        "kafka.max.partition.fetch.bytes": str(MAX_PARTITION_FETCH_BYTES),
        "kafka.fetch.max.bytes": str(FETCH_MAX_BYTES),
    }
