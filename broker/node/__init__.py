"""Composition: the roles that a node has, what each opens and joins, and what operators are shown of it."""
