"""Raft without IO: messages, time and completed writes are calls, the effects to perform are values. Pure."""
