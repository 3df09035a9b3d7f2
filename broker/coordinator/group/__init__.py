"""Classic consumer groups and committed offsets. Pure."""
