"""Buckets: `s3://`, `file://` and `mem://` behind one port, with bounded retries."""
