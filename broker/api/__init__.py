"""One module per API key, and the table that lists them."""
