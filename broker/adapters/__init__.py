"""Implements what storage and WAL need from the rest of the system: metadata, buckets, devices."""
