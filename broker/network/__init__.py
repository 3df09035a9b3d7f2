"""Kafka listener and connections. Knows bytes and order, not what a request means."""
