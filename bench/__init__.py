"""Benchmarks: repeatable, against a baseline in the same run, printed as a table. Nothing here is a test."""
