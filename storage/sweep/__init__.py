"""Removes from the bucket what neither metadata nor any node knows of any more."""
