"""Links of controllers and brokers: what they register, and how a broker finds the leader."""
