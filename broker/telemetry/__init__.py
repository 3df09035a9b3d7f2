"""Metrics, health and the admin HTTP endpoint."""
