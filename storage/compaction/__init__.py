"""Rewriting of Stream Set Objects and Stream Objects into fewer, larger ones."""
