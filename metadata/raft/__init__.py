"""Consensus without IO: messages, time and durability come in as calls, what is to be done goes out as values. Pure."""
