"""The admin HTTP server of a node: metrics, health, compaction and resizing on request."""
