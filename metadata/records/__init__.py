"""Records of the metadata log: one frozen struct each, and their encoding. Pure."""
