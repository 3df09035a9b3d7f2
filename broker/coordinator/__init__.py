"""Group coordination: state kept in the log of `__consumer_offsets`, and what drives it."""
