"""The admin HTTP server of a node: metrics, health, the logs, compaction and resizing on request."""
