"""Commands that run a node, and check its configuration."""
