"""Fences of WAL devices: how a broker makes sure that nobody else writes to a device any more."""
