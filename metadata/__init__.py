"""Control plane: the controller, its replicated log, images, and the broker's client."""
