"""The fetch path: sessions (KIP-227), reads of many partitions, cold reads."""
