"""The two caches in front of the bucket: LogCache (not yet uploaded), BlockCache (read back)."""
