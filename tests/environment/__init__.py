"""What the tests need beside Python packages: Java, Kafka's and Spark's jars, kcat and an S3 server."""
