"""Fences of WAL devices: how a broker makes sure that no other writes to a device any more."""
