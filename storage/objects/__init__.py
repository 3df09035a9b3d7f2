"""Formats of the objects in the bucket (data block, index block, footer) and their keys. Pure."""
