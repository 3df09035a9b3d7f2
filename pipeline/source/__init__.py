"""`format("headrace")`: Spark reads topics from the bucket, without a broker."""
