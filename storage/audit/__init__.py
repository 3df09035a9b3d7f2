"""Looks at a bucket from outside of a broker: what it holds, whether that is intact, what it costs."""
