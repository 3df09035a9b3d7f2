"""Object WAL: the write-ahead log as a dense sequence of objects in a bucket, for machines without a disk."""
