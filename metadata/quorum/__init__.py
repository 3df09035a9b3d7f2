"""A controller as a member of the quorum: performs what `headrace.metadata.raft` decides, and keeps the image."""
