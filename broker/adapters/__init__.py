"""What storage and WAL ask of the rest of the system, answered: metadata, buckets, devices."""
