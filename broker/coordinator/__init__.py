"""Coordinators: a runtime for shards of any kind, and the kinds."""
