"""Headrace: a Kafka-protocol broker whose data lives in object storage.

The packages are the folders at the top of the repository. This folder holds links to them, so that no generic
name is installed or imported (docs/adr/0001-top-level-packages.md). Modules that all of them use are beside the links.
"""
