"""Decisions of the controller: request + image + time -> records and a response. Pure."""
