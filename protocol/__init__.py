"""Kafka's wire format: frames, headers, messages, record batches. No loop, no socket."""
