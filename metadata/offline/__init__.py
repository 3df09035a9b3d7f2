"""Metadata that no process owns: it is read, described, and rebuilt from a snapshot."""
