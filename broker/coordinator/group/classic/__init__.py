"""Classic groups: members, rebalances, sessions. Pure."""
