"""Removes objects and uploads from the bucket that neither the metadata nor any node knows any more."""
