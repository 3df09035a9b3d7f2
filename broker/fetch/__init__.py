"""The fetch path: fetch sessions (KIP-227), and reads from memory and from the bucket."""
