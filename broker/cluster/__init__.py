"""The cluster as the APIs see it: the view of a listener, topics made on demand, producer ids."""
