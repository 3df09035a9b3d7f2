"""The runtime of coordinators: drives shards of any kind, and keeps in a log what they decide."""
