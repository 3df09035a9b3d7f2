"""Links between nodes: one transport, whose users register kinds of messages."""
