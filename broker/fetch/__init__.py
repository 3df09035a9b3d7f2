"""Parts of the fetch path that are pure: fetch sessions (KIP-227)."""
