"""The cluster as the API handlers use it: the view through a listener, creation of topics, producer ids."""
