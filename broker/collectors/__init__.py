"""Prometheus metrics of the parts of a node, collected when they are scraped."""
