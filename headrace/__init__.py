"""Headrace: a Kafka-protocol broker whose data lives in object storage.

The packages are the folders at the top of the repository; here are links to them, so that nothing generic is
installed or imported (docs/adr/0001-top-level-packages.md).
"""
