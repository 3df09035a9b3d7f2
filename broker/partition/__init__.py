"""Partitions that this broker leads: validation, idempotence, indexes, checkpoints, and their streams."""
