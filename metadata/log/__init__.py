"""The metadata log on disk: formats, files, identity, and the asynchronous store above them."""
