"""Looks at logs from outside, prepares and measures devices: what no running broker needs."""
