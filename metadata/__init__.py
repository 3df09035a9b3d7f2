"""Control plane: the controller's state machine, its replicated log, images, and the broker's client."""
