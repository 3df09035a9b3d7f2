"""The network of controllers and brokers: frames, the controller's listener, and its clients."""
