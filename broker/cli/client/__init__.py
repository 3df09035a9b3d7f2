"""Commands that talk to a cluster as any Kafka client does: topics, records, groups, nodes."""
