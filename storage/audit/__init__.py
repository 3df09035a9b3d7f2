"""Looks at a bucket from outside of a broker: what lies there, whether it is whole, what it costs."""
