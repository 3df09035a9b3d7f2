"""Definitions and values of settings; imports nothing of ours."""
