"""Topics to Iceberg tables by Structured Streaming, exactly once: docs/tables.md."""
