"""The ring of blocks on a device: the log of a broker with a disk."""
