"""PySpark jobs that read topics, through the broker or straight from the bucket."""
