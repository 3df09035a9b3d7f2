"""Controllers and brokers on the network: frames, the controller's listener, and who dials it."""
