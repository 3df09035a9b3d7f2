"""Keeps the shares of brokers even: which partitions move, and why."""
