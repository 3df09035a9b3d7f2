"""A controller as a member of the quorum: performs what `metadata.raft` decides, and keeps the image."""
