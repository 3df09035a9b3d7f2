"""Delta WAL: a durable ring on a block device or file. Knows neither Kafka nor objects."""
