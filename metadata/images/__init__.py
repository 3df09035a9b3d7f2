"""Immutable images of metadata, one module per kind, with the deltas that produce the next image. Pure."""
