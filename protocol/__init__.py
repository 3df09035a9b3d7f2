"""Kafka's wire format: frames, headers, messages, record batches. No loop, no socket."""

from headrace.protocol import kafka_python as kafka_python  # before anything imports a part of it
