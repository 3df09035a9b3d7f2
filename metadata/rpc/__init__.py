"""Messages between brokers and the controller, and their frames. Pure."""
