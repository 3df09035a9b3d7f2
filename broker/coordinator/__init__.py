"""Group coordination: state in the log of `__consumer_offsets`, and its drivers."""
