"""Record batches to Arrow columns, with the rows that Spark's Kafka source would give."""
