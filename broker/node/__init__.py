"""Composition: the roles of a node, the parts that each role opens, and the admin endpoint."""
