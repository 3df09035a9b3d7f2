"""A demonstration on real data: librdkafka writes, kafka-python, kcat and Spark read."""
