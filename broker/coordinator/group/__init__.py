"""Classic consumer groups and committed offsets as pure cores: no clock, no loop, no entropy."""
