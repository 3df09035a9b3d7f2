"""Consumer groups and committed offsets: the first kind of shard."""
