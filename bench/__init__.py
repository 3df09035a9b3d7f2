"""Benchmarks: repeatable, against a baseline in the same run, printed as a table. They are not tests."""
