"""S3Stream: append-only streams whose data at rest are objects in a bucket. Knows no Kafka."""
