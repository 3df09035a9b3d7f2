"""`headrace wal`: looks at, checks, prepares and measures write-ahead logs."""
