"""Immutable images of metadata, one module per kind, with the deltas that make the next image. Pure."""
